//! Storms: the command is killed, starved and lied to at random moments, and nothing may be lost.
//!
//! Every kind of fault is tried in turn until the time is over. After each, the ledger must be sound and within its grant, every
//! run that is done must have its model or its numbers, a model that is there must verify and be known to the ledger by its
//! digest, and no command may panic or hang.

mod clusters;
mod engines;
mod kinds;
mod place;

use crate::{cargo, root, run as execute};
use anyhow::{Context, Result, bail};
use clusters::Clusters;
use engines::{Engine, Workers};
use place::Place;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the small form takes, which is part of the test command.
const SMALL: Duration = Duration::from_secs(20);

/// `cargo xtask storm [--minutes M]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let minutes = |text: &String| text.parse::<f64>().context("--minutes takes a number");
    let minutes = match arguments {
        [] => 1.0,
        [flag, text] if flag == "--minutes" => minutes(text)?,
        // What the task says to itself where clusters can be started.
        [flag, text, inner, ray] if flag == "--minutes" && inner == clusters::INNER => {
            return storm(Duration::from_secs_f64(60.0 * minutes(text)?), Some(ray == "ray"));
        }
        _ => bail!("usage: cargo xtask storm [--minutes M]"),
    };
    build()?;
    let home = folder("home")?;
    let outcome = match clusters::shelter(&home, minutes)? {
        Some(mut inner) => execute(&mut inner),
        None => storm(Duration::from_secs_f64(60.0 * minutes), None),
    };
    std::fs::remove_dir_all(&home).context("could not remove the home of clusters")?;
    outcome
}

/// A storm of some seconds, without clusters.
pub(crate) fn small() -> Result<()> {
    build()?;
    storm(SMALL, None)
}

/// As the tests build it, with the same features, so that nothing is built twice.
fn build() -> Result<()> {
    execute(cargo().args(["test", "--quiet", "--workspace", "--test", "cli", "--no-run"]))
}

/// What became of the tries of one kind.
#[derive(Default)]
struct Tally {
    tried: u64,
    lost: Vec<String>,
}

/// With clusters, or without; with Ray, or without.
fn storm(time: Duration, ray: Option<bool>) -> Result<()> {
    let folder = folder("storm")?;
    // A copy, so that whoever builds meanwhile does not change what is stormed.
    let command = folder.join("pairdp");
    std::fs::copy(target().join("debug/pairdp"), &command).context("could not copy the command")?;
    let clusters = ray.map(|ray| Clusters::start(&folder, ray)).transpose()?;
    let kinds = kinds::all(&engines(&folder, &command, clusters.as_ref())?);
    let mut random = Random::new();
    let mut tallies: Vec<Tally> = kinds.iter().map(|_| Tally::default()).collect();
    let end = Instant::now() + time;
    let (mut number, mut round) = (0, 0);
    while Instant::now() < end {
        number += 1;
        let place = Place::new(folder.join(number.to_string()), command.clone())?;
        let mut lost_here = false;
        for _ in 0..kinds::ROUNDS_A_PLACE {
            round += 1;
            for (kind, tally) in kinds.iter().zip(&mut tallies).filter(|(kind, _)| round % kind.every == 0) {
                let (tries, lost) = (kind.act)(&place, &mut random)?;
                tally.tried += tries;
                let lost: Vec<String> = lost.into_iter().chain(place.unsound()).collect();
                lost_here |= !lost.is_empty();
                tally.lost.extend(lost);
                if lost_here {
                    break;
                }
            }
            // What was lost once would be missed after every fault that follows.
            if lost_here || Instant::now() >= end {
                break;
            }
        }
        // What went wrong can be looked at.
        if tallies.iter().all(|tally| tally.lost.is_empty()) {
            place.remove();
        }
    }
    report(&kinds, &tallies, time)?;
    if tallies.iter().any(|tally| !tally.lost.is_empty()) {
        bail!("something was lost; the files are in {}", folder.display());
    }
    drop(clusters);
    std::fs::remove_dir_all(&folder).context("could not remove the storm's folder")
}

/// Worker processes always, and clusters that are there.
fn engines(folder: &Path, command: &Path, clusters: Option<&Clusters>) -> Result<Vec<Engine>> {
    let place = Place::new(folder.join("first"), command.to_path_buf())?;
    let mut engines = vec![Engine::new("local:2", "local:2", 1, Workers::Children, &place)?];
    if let Some(clusters) = clusters {
        engines.extend(clusters.engines(&place)?);
    }
    place.remove();
    Ok(engines)
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn report(kinds: &[kinds::Kind], tallies: &[Tally], time: Duration) -> Result<()> {
    println!(
        "| fault ({:.1} minutes) | tried | survived | lost |\n|---|---:|---:|---:|",
        time.as_secs_f64() / 60.0
    );
    for (kind, Tally { tried, lost }) in kinds.iter().zip(tallies) {
        let lost_count = u64::try_from(lost.len())?;
        println!("| {} | {tried} | {} | {lost_count} |", kind.name, tried.saturating_sub(lost_count));
    }
    for (kind, tally) in kinds.iter().zip(tallies) {
        tally.lost.iter().take(5).for_each(|what| println!("LOST {}: {what}", kind.name));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "where cargo puts the programs that are stormed")]
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn folder(name: &str) -> Result<PathBuf> {
    let unique = Random::new().0 % 1_000_000;
    let folder = std::env::temp_dir().join(format!("pairdp-{name}-{}-{unique}", std::process::id()));
    std::fs::create_dir_all(&folder).context("could not make a folder for the storm")?;
    Ok(folder)
}

/// Moments and choices, other ones in every storm.
pub(crate) struct Random(u64);

impl Random {
    fn new() -> Self {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanoseconds = time.map_or(1, |time| u64::from(time.subsec_nanos()) + time.as_secs());
        Self(nanoseconds ^ (u64::from(std::process::id()) << 32))
    }

    /// Below `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }

    fn moment(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(most.as_micros()).unwrap_or(u64::MAX)))
    }
}
