//! Runs whose table is in parts elsewhere: what is killed is the command, or one of those that work for it.

use super::Random;
use super::kinds::{killed_and_gone_on, wrong};
use super::place::{Place, ended, train};
use anyhow::{Result, ensure};
use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An engine that is there.
#[derive(Clone)]
pub(super) struct Engine {
    /// As a line of the table calls it.
    pub(super) name: &'static str,
    pub(super) address: String,
    /// Faults in every so manieth round: a run on a cluster takes seconds.
    pub(super) every: u32,
    /// How long a whole run takes.
    whole: Duration,
    /// Where, besides the command itself, the processes that work for it come from.
    workers: Workers,
}

/// How processes that hold parts are found.
#[derive(Clone)]
pub(super) enum Workers {
    /// They are children of the command.
    Children,
    /// By the title that Ray gives them; it has a namespace of processes to itself.
    Titled(&'static str),
    /// By what is on their command line, among all that this process started.
    Below(u32, &'static str),
}

impl Engine {
    /// Sees how long a run takes on it.
    pub(super) fn new(
        name: &'static str,
        address: &str,
        every: u32,
        workers: Workers,
        place: &Place,
    ) -> Result<Self> {
        let start = Instant::now();
        let words = train(&parts(place), "model.json", &format!("--force --engine {address}"));
        let run = place.run(&words)?;
        ensure!(run.code == Some(0), "{address}: {}", run.err);
        ensure!(place.unsound().is_none(), "{address}: {:?}", place.unsound());
        let address = address.to_owned();
        Ok(Self { name, address, every, whole: start.elapsed(), workers })
    }

    fn words(&self, place: &Place) -> String {
        train(&parts(place), "model.json", &format!("--force --engine {}", self.address))
    }

    pub(super) fn kill_run(&self, place: &Place, random: &mut Random) -> Result<(u64, Vec<String>)> {
        let moment = random.moment(self.whole.mul_f64(1.2));
        Ok((1, wrong(&[place.killed(&self.words(place), moment)?])))
    }

    /// The run goes on and has its model. Nothing was tried where there was nobody to kill.
    pub(super) fn kill_worker(&self, place: &Place, random: &mut Random) -> Result<(u64, Vec<String>)> {
        let mut child = place.command(&self.words(place)).spawn()?;
        while child.try_wait()?.is_none() && self.victims(child.id()).is_empty() {
            std::thread::sleep(Duration::from_micros(500));
        }
        std::thread::sleep(random.moment(self.whole));
        let victims = self.victims(child.id());
        let chosen = usize::try_from(random.below(victims.len() as u64)).unwrap_or(0);
        let killed = victims.get(chosen).is_some_and(|victim| kill(*victim));
        let run = ended(child)?;
        let mut lost = wrong(std::slice::from_ref(&run));
        if run.code != Some(0) || !place.path("model.json").exists() {
            lost.push(format!("a run ended with its worker: {}", run.err.trim()));
        }
        Ok((u64::from(killed), lost))
    }

    /// Those that work for a command: what it started itself, and workers of its cluster.
    fn victims(&self, command: u32) -> Vec<u32> {
        let processes = processes();
        let below = |process: u32, above: u32| {
            let parent = |process: &u32| processes.get(process).map(|(parent, _)| *parent);
            std::iter::successors(Some(process), parent).take(64).skip(1).any(|one| one == above)
        };
        let is_victim = |process: u32, parent: u32, line: &str| {
            parent == command
                || match self.workers {
                    Workers::Children => false,
                    Workers::Titled(title) => line.starts_with(title),
                    Workers::Below(above, part) => line.contains(part) && below(process, above),
                }
        };
        let mut found: Vec<u32> = processes
            .iter()
            .filter(|(process, (parent, line))| is_victim(**process, *parent, line))
            .map(|(process, _)| *process)
            .collect();
        found.sort_unstable();
        found
    }
}

/// Killed on one engine and gone on with any other, or with none.
pub(super) fn change_engines(
    engines: &[Engine],
    place: &Place,
    random: &mut Random,
) -> Result<(u64, Vec<String>)> {
    killed_and_gone_on(place, random, &|random| {
        let chosen = usize::try_from(random.below(engines.len() as u64 + 1)).unwrap_or(0);
        match engines.get(chosen) {
            Some(engine) => (parts(place), format!("--engine {}", engine.address), engine.whole),
            None => (parts(place), String::new(), place.whole),
        }
    })
}

/// Workers of clusters are at home in other folders.
fn parts(place: &Place) -> String {
    place.path("parts").display().to_string()
}

/// Every process with its parent and its command line.
fn processes() -> HashMap<u32, (u32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let one = |entry: std::fs::DirEntry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name, in brackets, may hold anything; state and parent follow.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((process, (parent, String::from_utf8_lossy(&line).replace('\0', " "))))
    };
    entries.filter_map(one).collect()
}

fn kill(process: u32) -> bool {
    let killed = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
    killed.is_ok_and(|status| status.success())
}
