//! Our side of `cargo xtask bench peers`: what is reached from Rust only, on one thread, with the peers' settings.
//!
//! `--job accountant | noise | gradient`. Times are CPU times, as the peers'.

use crate::report::{Report, best_cpu_seconds};
use anyhow::{Result, bail};
use pairdp_accountant::calibrate::noise_multiplier;
use pairdp_accountant::{Adjacency, Event, Release, Sampling, epsilon_for};
use pairdp_noise::{Scale, Secure, fill_gaussian};
use pairdp_pairwise::kernel::{Par, gradient};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_units::{Budget, Delta};
use serde_json::json;

pub(crate) fn run(report: &mut Report) {
    let outcome = match Report::option("--job").as_deref() {
        Some("accountant") => accountant(report),
        Some("noise") => noise(report),
        Some("gradient") => gradients(report),
        _ => Err(anyhow::anyhow!("--job accountant, noise or gradient")),
    };
    if let Err(error) = outcome {
        Report::failed(&error);
    }
}

/// A sample of 2 of 5000, 5000 times, δ = 1/n². Noise is given over the bound C of a record's gradient, as peers do it.
fn accountant(report: &mut Report) -> Result<()> {
    let (records, delta) = (5000_u64, 4e-8);
    let event = |poisson: bool, over_c: f64| {
        let rate = 2.0 / records as f64;
        let (adjacency, sampling, noise_multiplier) = if poisson {
            (Adjacency::AddRemoveOne, Sampling::PoissonRecords { rate }, over_c)
        } else {
            // Replacing a record moves a sum by 2C.
            (Adjacency::ReplaceOne, Sampling::FixedSize { batch: 2, records }, over_c / 2.0)
        };
        Event::new(adjacency, Release::Gaussian { noise_multiplier, sampling, times: records })
    };
    for (poisson, name) in [(true, "Poisson, add or remove"), (false, "fixed size, replace one")] {
        let (one, target, budget) = (event(poisson, 1.0)?, Delta::new(delta)?, Budget::new(1.0, delta)?);
        let epsilon = epsilon_for(&one, target)?.0.get();
        let seconds = best_cpu_seconds(20, || epsilon_for(&one, target).is_ok());
        line(report, "accountant", &format!("{name}: ε at σ = C"), epsilon, seconds);
        let sigma = noise_multiplier(&one, budget)?;
        let seconds = best_cpu_seconds(20, || noise_multiplier(&one, budget).is_ok());
        line(report, "accountant", &format!("{name}: σ/C for ε = 1"), sigma, seconds);
    }
    Ok(())
}

/// A vector of 10⁵ integers with the secure generator.
fn noise(report: &mut Report) -> Result<()> {
    const SAMPLES: usize = 100_000;
    let mut source = Secure::from_os()?;
    let mut out = vec![0_i64; SAMPLES];
    for (case, bits) in [("integers, scale 1", 0), ("floats, scale 1", 40)] {
        let scale = Scale::power_of_two(bits)?;
        let seconds = best_cpu_seconds(200, || fill_gaussian(&mut source, scale, &mut out));
        line(report, "noise", case, SAMPLES as f64 / seconds, seconds);
    }
    Ok(())
}

/// The gradient of the logistic loss over all pairs, of the very table that `bench/gradient.py` makes.
fn gradients(report: &mut Report) -> Result<()> {
    const D: usize = 50;
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 20.0 }, 1.0)?;
    let mut w: Vec<f64> = (0..D).map(|k| (0.7 * k as f64).sin()).collect();
    let norm = Problem::norm(&w);
    w.iter_mut().for_each(|v| *v *= 20.0 / norm);
    for n in [10_000_usize, 50_000, 1_000_000] {
        let cell = |i: usize| (mixed(i as u64) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let features = (0..n * D).map(|i| cell(i) / (D as f64).sqrt()).collect();
        let records = Records::new(features, D, (0..n).map(|i| i % 7 == 0).collect(), 1.0)?;
        let found = gradient(problem, &records, &w, Par::Sequential);
        if found.iter().any(|v| !v.is_finite()) {
            bail!("a gradient that is not finite");
        }
        let seconds = best_cpu_seconds(20, || gradient(problem, &records, &w, Par::Sequential));
        report.object(&json!({
            "job": "gradient", "case": format!("n = {n}"), "contender": "pairdp", "gradient": found, "seconds": seconds,
        }));
    }
    Ok(())
}

/// The finaliser of SplitMix64: numbers that Python makes alike.
fn mixed(index: u64) -> u64 {
    let mut z = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn line(report: &mut Report, job: &str, case: &str, value: f64, seconds: f64) {
    report.object(
        &json!({ "job": job, "case": case, "contender": "pairdp", "value": value, "seconds": seconds }),
    );
}
