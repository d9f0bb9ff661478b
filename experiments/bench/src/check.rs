//! Whether anything became slower: key ratios next to committed ones, with generous bounds. Not a test: a busy machine fails it.
//!
//! Every ratio is of two times of one run, so that machines compare: a gradient over two reads of its table, a training over its
//! gradients, an account over a fixed amount of arithmetic.

use crate::report::{Report, best_cpu_seconds};
use crate::{kernels, representation};
use pairdp_accountant::calibrate::noise_multiplier;
use pairdp_accountant::{Adjacency, Event, Release, Sampling, epsilon_for};
use pairdp_noise::{Scale, Secure, fill_gaussian};
use pairdp_units::{Budget, Delta};
use serde_json::Value;

/// What is committed.
const EXPECTED: &str = include_str!("../ratios.json");
/// From this factor on a ratio is called worse, or better.
const SLACK: f64 = 1.4;
/// Multiplications in the yardstick of arithmetic.
const YARDSTICK: u32 = 20_000_000;

pub(crate) fn run(report: &mut Report) {
    match measure() {
        Ok(found) => compare(report, &found),
        Err(error) => Report::failed(&error),
    }
}

/// A name and a ratio, the smaller the better.
type Ratio = (String, f64);

fn measure() -> anyhow::Result<Vec<Ratio>> {
    let mut ratios = Vec::new();
    for (n, columns) in [(100_000, 8), (100_000, 50), (1_000_000, 8), (1_000_000, 50)] {
        let [logistic, hinge] = kernels::over_two_reads(n, columns);
        ratios.push((format!("logistic gradient, {n} × {columns}, over two reads"), logistic));
        ratios.push((format!("hinge gradient, {n} × {columns}, over two reads"), hinge));
    }
    let [both, first] = representation::over_moments()?;
    ratios.push(("both releases over moments of as many columns".into(), both));
    ratios.push(("first release over moments of as many columns".into(), first));
    let yardstick = best_cpu_seconds(5, multiplications);
    let (poisson, pairs) =
        (Sampling::PoissonRecords { rate: 4e-4 }, Sampling::FixedSize { batch: 2, records: 5000 });
    for (name, adjacency, sampling) in
        [("Poisson", Adjacency::AddRemoveOne, poisson), ("pairs", Adjacency::ReplaceOne, pairs)]
    {
        let event =
            Event::new(adjacency, Release::Gaussian { noise_multiplier: 1.0, sampling, times: 5000 })?;
        let (delta, budget) = (Delta::new(4e-8)?, Budget::new(1.0, 4e-8)?);
        let account = best_cpu_seconds(10, || epsilon_for(&event, delta).is_ok());
        let calibrate = best_cpu_seconds(10, || noise_multiplier(&event, budget).is_ok());
        ratios.push((format!("account of {name} over {YARDSTICK} multiplications"), account / yardstick));
        ratios.push((format!("noise for {name} over {YARDSTICK} multiplications"), calibrate / yardstick));
    }
    let mut samples = vec![0_i64; 100_000];
    let (mut source, scale) = (Secure::from_os()?, Scale::power_of_two(30)?);
    let noise = best_cpu_seconds(50, || fill_gaussian(&mut source, scale, &mut samples));
    ratios.push((format!("100000 samples over {YARDSTICK} multiplications"), noise / yardstick));
    Ok(ratios)
}

/// One after the other, each waiting for the last.
fn multiplications() -> f64 {
    let mut value = std::hint::black_box(1.0_f64);
    for _ in 0..YARDSTICK {
        value *= 1.000_000_01;
    }
    value
}

#[expect(clippy::print_stderr, reason = "what got worse is for people")]
fn compare(report: &mut Report, found: &[Ratio]) {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap_or_default();
    let mut worse = 0;
    for (name, ratio) in found {
        let before = expected[name].as_f64();
        report.row(name, &[("before", before.unwrap_or(f64::NAN))], *ratio, "ratio");
        match before {
            Some(before) if *ratio > SLACK * before => {
                worse += 1;
                eprintln!("worse: {name}: {ratio:.3}, was {before:.3}");
            }
            Some(before) if ratio * SLACK < before => {
                eprintln!("better: {name}: {ratio:.3}, was {before:.3}");
            }
            Some(_) => {}
            None => eprintln!("new: {name}: {ratio:.3} is not in experiments/bench/ratios.json"),
        }
    }
    eprintln!(
        "{worse} of {} ratios are worse by more than {SLACK}; run it again on an idle machine before you believe it",
        found.len()
    );
}
