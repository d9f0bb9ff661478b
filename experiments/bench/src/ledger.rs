//! How long it takes to reserve a budget: with a history behind it, and with seven other processes at it.

use crate::report::Report;
use pairdp_accountant::{Adjacency, Event, calibrate};
use pairdp_ledger::{Cost, DataSet, Key, Ledger, LedgerError, SchemaDigest};
use pairdp_units::{Budget, Delta};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

fn schema() -> SchemaDigest {
    SchemaDigest::of("a schema")
}

const PROCESSES: usize = 8;
const RESERVATIONS: usize = 200;
/// Marks one of the eight; the path of the ledger follows.
const WORKER: &str = "--worker=";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[expect(clippy::print_stderr, reason = "what went wrong goes to standard error")]
pub(crate) fn run(report: &mut Report) {
    let worker = std::env::args().find_map(|argument| argument.strip_prefix(WORKER).map(str::to_owned));
    let outcome = match worker {
        Some(path) => work(Path::new(&path)),
        None => measure(report),
    };
    if let Err(error) = outcome {
        eprintln!("{error}");
    }
}

fn measure(report: &mut Report) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    for earlier in [250, 2000] {
        let path = folder.path().join(format!("{earlier}.ledger"));
        let mut ledger = new_ledger(&path)?;
        times(earlier - 1, || ledger.reserve("d", schema(), &cost()?))?;
        let details = [("entries", earlier as f64)];
        let alone = times(RESERVATIONS, || ledger.reserve("d", schema(), &cost()?))?;
        report.row("reserve, median", &details, 1e3 * alone[RESERVATIONS / 2], "ms");
        report.row("reserve, 95 of 100", &details, 1e3 * alone[RESERVATIONS * 95 / 100], "ms");
        let opening = times(20, || open(&path))?;
        report.row("open and check, median", &details, 1e3 * opening[10], "ms");
    }

    let path = folder.path().join("shared.ledger");
    let mut ledger = new_ledger(&path)?;
    times(250, || ledger.reserve("d", schema(), &cost()?))?;
    let start = Instant::now();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe()?)
                .args(["ledger".to_owned(), format!("{WORKER}{}", path.display())])
                .stdout(Stdio::piped())
                .spawn()
        })
        .collect::<Result<_, std::io::Error>>()?;
    let mut shared = Vec::new();
    for child in children {
        let text = String::from_utf8(child.wait_with_output()?.stdout)?;
        shared.extend(text.split_whitespace().filter_map(|word| word.parse::<f64>().ok()));
    }
    let elapsed = start.elapsed().as_secs_f64();
    shared.sort_by(f64::total_cmp);
    let details = [("processes", PROCESSES as f64), ("each", RESERVATIONS as f64)];
    if let Some(median) = shared.get(shared.len() / 2) {
        report.row("reserve beside others, median", &details, 1e3 * median, "ms");
        report.row("reserve beside others, 95 of 100", &details, 1e3 * shared[shared.len() * 95 / 100], "ms");
        report.row("reservations a second, all together", &details, shared.len() as f64 / elapsed, "1/s");
    }

    let claim = Budget::new(1.0, 1e-7)?;
    let unit = Event::gaussian_steps(5000, Some(2), 5000, 1.0)?;
    let event = unit.scaled(calibrate::noise_multiplier(&unit, claim)?)?;
    let slow = times(3, || Cost::new(event.clone(), Delta::PURE, claim, "noisy-sgd"))?;
    report.row("cost of a sampled run, before the lock", &[("steps", 5000.0)], 1e3 * slow[1], "ms");
    Ok(())
}

/// One of the eight.
#[expect(clippy::print_stdout, reason = "the times are for the process that started this one")]
fn work(path: &Path) -> Outcome<()> {
    let mut ledger = open(path)?;
    for seconds in times(RESERVATIONS, || ledger.reserve("d", schema(), &cost()?))? {
        println!("{seconds}");
    }
    Ok(())
}

/// Sorted seconds of `count` calls.
fn times<T>(count: usize, mut call: impl FnMut() -> Result<T, LedgerError>) -> Outcome<Vec<f64>> {
    let mut seconds = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        let made = call()?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(made);
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds)
}

/// A run so small that all of them fit, with everything that reserving it takes.
fn cost() -> Result<Cost, LedgerError> {
    let claim = Budget::new(0.1, 1e-6).map_err(|_| LedgerError::Busy)?;
    Cost::new(Event::gaussian_steps(6000, None, 10, 2000.0)?, Delta::PURE, claim, "noisy-gd")
}

fn new_ledger(path: &Path) -> Outcome<Ledger> {
    let mut ledger = Ledger::create(path, Key::beside_or_new(path)?)?;
    let grant = Budget::new(2.0, 1e-6)?;
    ledger.add(
        "d",
        DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(6000), schema: Some(schema()) },
    )?;
    Ok(ledger)
}

fn open(path: &Path) -> Result<Ledger, LedgerError> {
    Ledger::open(path, Key::beside(path)?)
}
