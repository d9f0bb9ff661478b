//! Benchmarks that print ratios measured in one run on one machine: `cargo xtask bench NAME [--json]`.
//!
//! With `--json` each result is one JSON object on a line; without, a row of a table.

mod accountant;
mod report;

use report::Report;
use std::process::ExitCode;

/// Name, what it measures, how to run it.
type Benchmark = (&'static str, &'static str, fn(&mut Report));

const BENCHMARKS: &[Benchmark] =
    &[("accountant", "noise for a budget and ε for a noise, beside dp-accounting", accountant::run)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|a| a == "--json");
    let wanted = arguments.iter().find(|a| !a.starts_with("--"));
    let found = BENCHMARKS.iter().find(|(name, ..)| Some(*name) == wanted.map(String::as_str));
    if let Some((_, _, benchmark)) = found {
        benchmark(&mut Report::new(json));
        ExitCode::SUCCESS
    } else {
        report::list(BENCHMARKS);
        ExitCode::FAILURE
    }
}
