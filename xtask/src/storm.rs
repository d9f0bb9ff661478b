//! Storms: the command is killed, starved and lied to at random moments, and nothing may be lost.
//!
//! Every kind of fault is tried in turn until the time is over. After each, the ledger must be sound and within its grant, every
//! run that is done must have its model or its numbers, a model that is there must verify and be known to the ledger by its
//! digest, and no command may panic or hang.

mod kinds;
mod place;

use crate::{cargo, root, run as execute};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the small form takes, which is part of the test command.
const SMALL: Duration = Duration::from_secs(20);

/// `cargo xtask storm [--minutes M]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let minutes: f64 = match arguments {
        [] => 1.0,
        [flag, minutes] if flag == "--minutes" => minutes.parse().context("--minutes takes a number")?,
        _ => bail!("usage: cargo xtask storm [--minutes M]"),
    };
    storm(Duration::from_secs_f64(60.0 * minutes))
}

/// A storm of some seconds.
pub(crate) fn small() -> Result<()> {
    storm(SMALL)
}

/// What became of the tries of one kind.
#[derive(Default)]
struct Tally {
    tried: u64,
    lost: Vec<String>,
}

fn storm(time: Duration) -> Result<()> {
    // As the tests build it, with the same features, so that nothing is built twice.
    execute(cargo().args(["test", "--quiet", "--workspace", "--test", "cli", "--no-run"]))?;
    let folder = tempfile_folder()?;
    let mut random = Random::new();
    let mut tallies: Vec<Tally> = kinds::ALL.iter().map(|_| Tally::default()).collect();
    let end = Instant::now() + time;
    let mut number = 0;
    while Instant::now() < end {
        number += 1;
        let place = place::Place::new(folder.join(number.to_string()), command())?;
        let mut lost_here = false;
        for _ in 0..kinds::ROUNDS_A_PLACE {
            for (kind, tally) in kinds::ALL.iter().zip(&mut tallies) {
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
    report(&tallies, time)?;
    if tallies.iter().any(|tally| !tally.lost.is_empty()) {
        bail!("something was lost; the files are in {}", folder.display());
    }
    std::fs::remove_dir_all(&folder).context("could not remove the storm's folder")
}

#[expect(clippy::print_stdout, reason = "the result of the command")]
fn report(tallies: &[Tally], time: Duration) -> Result<()> {
    println!(
        "| fault ({:.1} minutes) | tried | survived | lost |\n|---|---:|---:|---:|",
        time.as_secs_f64() / 60.0
    );
    for (kind, Tally { tried, lost }) in kinds::ALL.iter().zip(tallies) {
        let lost_count = u64::try_from(lost.len())?;
        println!("| {} | {tried} | {} | {lost_count} |", kind.name, tried.saturating_sub(lost_count));
    }
    for (kind, tally) in kinds::ALL.iter().zip(tallies) {
        tally.lost.iter().take(5).for_each(|what| println!("LOST {}: {what}", kind.name));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "where cargo puts the programs that are stormed")]
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn command() -> PathBuf {
    target().join("debug/pairdp")
}

fn tempfile_folder() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("pairdp-storm-{}", std::process::id()));
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
