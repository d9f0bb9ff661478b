//! Benchmarks that print ratios measured in one run on one machine: `cargo xtask bench NAME [--json]`.
//!
//! With `--json` each result is one JSON object on a line; without, a row of a table.

mod accountant;
mod algorithms;
mod check;
mod data;
mod everything;
mod kernels;
mod learn;
mod ledger;
mod metrics;
mod networks;
mod noise;
mod persons;
mod race;
mod report;
mod representation;
mod scaling;
mod splits;
mod survival;
mod utility;

use report::Report;
use std::process::ExitCode;

/// Name, what it measures, how to run it.
type Benchmark = (&'static str, &'static str, fn(&mut Report));

const BENCHMARKS: &[Benchmark] = &[
    ("algorithms", "all algorithms on the same splits, for every task", algorithms::run),
    ("accountant", "noise for a budget and ε for a noise, beside dp-accounting", accountant::run),
    ("check", "key ratios next to committed ones: what became slower", check::run),
    ("data", "tables from files, next to reading their bytes", data::run),
    (
        "everything",
        "neighbours that would break a claim, for all that a plan accepts (--tries N)",
        everything::run,
    ),
    ("kernels", "gradients over all pairs, next to reading the table", kernels::run),
    ("learn", "private descent, next to its gradients and without its noise", learn::run),
    ("ledger", "reserving a budget: alone, and in eight processes at once", ledger::run),
    ("networks", "networks beside `auto` on large public sets (--data DIR)", networks::run),
    (
        "persons",
        "models of persons with several records, beside other ways, and what weights cost (--cohorts K)",
        persons::run,
    ),
    ("race", "our side of the race against peers (--job NAME)", race::run),
    ("representation", "learning from ranks, next to moments of as many columns", representation::run),
    ("scaling", "time and memory of training as tables grow", scaling::run),
    (
        "splits",
        "the sets of `algorithms`, or of `utility` (--ranges), as NumPy files (--out DIR)",
        splits::run,
    ),
    (
        "utility",
        "how well models predict under tight, documented and loose ranges (--data DIR)",
        utility::run,
    ),
    ("noise", "safe noise a second, alone and next to unsafe noise", noise::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|a| a == "--json");
    let wanted = arguments.iter().find(|a| !a.starts_with("--"));
    let Some((_, _, benchmark)) =
        BENCHMARKS.iter().find(|(name, ..)| Some(*name) == wanted.map(String::as_str))
    else {
        report::list(BENCHMARKS);
        return ExitCode::FAILURE;
    };
    benchmark(&mut Report::new(json));
    ExitCode::SUCCESS
}
