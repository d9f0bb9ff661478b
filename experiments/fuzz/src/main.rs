//! Damaged inputs for every parser: `cargo xtask fuzz TARGET --minutes M`.
//!
//! A loop on stable Rust: take an input that is good, or nearly so, damage it, and give it to a parser, which must
//! answer with a table or an error. It must not panic, take more than seconds or more memory than such an input is
//! worth, or quote a cell. Inputs are at most 1 MiB. What fails is left in a file, whose name is printed at the start.

mod mutate;
mod seeds;
mod targets;

use mutate::Mutator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};

/// A parser that takes longer over 1 MiB hangs.
const LONGEST: Duration = Duration::from_secs(20);
/// In MiB. The matrices of inputs of 1 MiB, unpacked at most fiftyfold, stay below it.
const MOST_MEMORY: u64 = 1024;
/// Inputs that are kept for more damage, and the bytes of the largest of them.
const MOST_INPUTS: usize = 2000;
const LARGEST_INPUT: usize = 1 << 14;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, minutes) = match arguments.as_slice() {
        [name] => (name.as_str(), Some(10.0)),
        [name, flag, minutes] if flag == "--minutes" => (name.as_str(), minutes.parse().ok()),
        _ => ("", None),
    };
    let (Some(target), Some(minutes)) = (TARGETS.iter().find(|target| target.name == name), minutes) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        say(&format!("usage: cargo xtask fuzz TARGET [--minutes M]\n  targets: {}", names.join(", ")));
        return ExitCode::FAILURE;
    };
    let folder = match tempfile::Builder::new().prefix("pairdp-fuzz-").tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            say(&format!("no temporary folder: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let path = folder.path().join(target.file);
    say(&format!("each input is written to {} first", path.display()));
    let end = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_secs());
    match run(target, &path, seed, |_| Instant::now() < end) {
        Ok(summary) => {
            say(&summary);
            ExitCode::SUCCESS
        }
        Err(fault) => {
            let kept = folder.keep().join(target.file);
            say(&format!("FAILED: {fault}\nthe input is in {}", kept.display()));
            ExitCode::FAILURE
        }
    }
}

/// Damages inputs while `go_on` says so of their number.
fn run(target: &Target, path: &Path, seed: u64, go_on: impl Fn(u64) -> bool) -> Result<String, String> {
    let mut inputs = (target.seeds)();
    let seeds = inputs.len();
    let mut mutator = Mutator::new(seed);
    let (mut count, mut accepted) = (0, 0);
    let started = Instant::now();
    let watch = Watch::start();
    while go_on(count) {
        // The first round takes the seeds as they are: a fault there is a fault of the seeds.
        let input = match inputs.get(usize::try_from(count).unwrap_or(usize::MAX)) {
            Some(seed) if count < seeds as u64 => seed.clone(),
            _ => mutator.damaged(&inputs),
        };
        std::fs::write(path, &input).map_err(|error| error.to_string())?;
        watch.begin(started);
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(path)));
        watch.end();
        match outcome {
            Ok(Ok(good)) => {
                accepted += u64::from(good);
                // Damage that is not noticed leads deeper.
                let small = input.len() <= LARGEST_INPUT && inputs.len() < MOST_INPUTS;
                if good && count >= seeds as u64 && small {
                    inputs.push(input);
                }
            }
            Ok(Err(what)) => return Err(what),
            Err(_) => return Err("the parser panicked".into()),
        }
        if let Some(memory) = peak_memory().filter(|memory| *memory > MOST_MEMORY) {
            return Err(format!("the parser used {memory} MiB"));
        }
        count += 1;
    }
    let memory = peak_memory().map_or_else(String::new, |memory| format!(", {memory} MiB at most"));
    let seconds = started.elapsed().as_secs_f64();
    Ok(format!(
        "{}: {count} inputs in {seconds:.0} s, {accepted} of them accepted{memory}; no fault",
        target.name
    ))
}

/// Ends the process when a parser does not end.
struct Watch(std::sync::Arc<AtomicU64>);

impl Watch {
    fn start() -> Self {
        let begun = std::sync::Arc::new(AtomicU64::new(u64::MAX));
        let (watched, started) = (begun.clone(), Instant::now());
        std::thread::spawn(move || {
            // Until the watch is gone.
            while std::sync::Arc::strong_count(&watched) > 1 {
                std::thread::sleep(Duration::from_millis(500));
                let begun = Duration::from_millis(watched.load(Ordering::Relaxed));
                if started.elapsed() > begun.saturating_add(LONGEST) {
                    say("FAILED: the parser hangs; the input is in the file named above");
                    std::process::exit(1);
                }
            }
        });
        Self(begun)
    }

    fn begin(&self, started: Instant) {
        let now = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.store(now, Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.store(u64::MAX, Ordering::Relaxed);
    }
}

/// The most memory that this process ever had, in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

#[expect(clippy::print_stderr, reason = "a command-line tool reports on standard error")]
fn say(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_parser_survives_damaged_inputs() {
        let folder = tempfile::tempdir().unwrap();
        for target in TARGETS {
            let path = folder.path().join(target.file);
            let summary = run(target, &path, 7, |count| count < 300).unwrap();
            assert!(!summary.contains(", 0 of them accepted"), "{summary}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_parser_survives_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
            let folder = tempfile::tempdir().unwrap();
            for target in TARGETS {
                let path = folder.path().join(target.file);
                std::fs::write(&path, &bytes).unwrap();
                prop_assert!((target.run)(&path).is_ok());
            }
        }
    }
}
