//! Compares our samplers with OpenDP's exact ones: `cargo run --release --manifest-path oracle/Cargo.toml`.
//!
//! Both sides draw from the operating system, so every run is a new experiment. A two-sample χ² test on integer cells
//! fails for equal laws with probability below 10⁻⁶ (Laurent and Massart 2000, Lemma 1). At S = 64 OpenDP's discrete
//! Gaussian and our rounded one are 5·10⁻⁶ apart in total variation, which this many samples cannot show.

use dashu::rational::RBig;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use pairdp_noise::{LaplaceScale, Scale, Secure, fill_discrete_laplace, fill_gaussian};
use std::collections::BTreeMap;
use std::error::Error;

const SAMPLES: usize = 1_000_000;
const SCALE: u32 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let mut source = Secure::from_os()?;
    let mut ours = vec![0; SAMPLES];
    let mut passed = true;

    fill_gaussian(&mut source, Scale::from_sixteenths(u64::from(16 * SCALE))?, &mut ours);
    let theirs = collect(|| sample_discrete_gaussian(RBig::from(SCALE)))?;
    passed &= compare("Gaussian", &ours, &theirs);

    fill_discrete_laplace(&mut source, LaplaceScale::from_ratio(u64::from(SCALE), 1)?, &mut ours);
    let theirs = collect(|| sample_discrete_laplace(RBig::from(SCALE)))?;
    passed &= compare("discrete Laplace", &ours, &theirs);

    if passed { Ok(()) } else { Err("a sampler disagrees with OpenDP".into()) }
}

fn collect<T, E: std::fmt::Debug>(mut draw: impl FnMut() -> Result<T, E>) -> Result<Vec<i64>, Box<dyn Error>>
where
    i64: TryFrom<T>,
{
    (0..SAMPLES)
        .map(|_| {
            let sample = draw().map_err(|error| format!("OpenDP: {error:?}"))?;
            i64::try_from(sample).map_err(|_| "a sample beyond 64 bits".into())
        })
        .collect()
}

/// Two-sample χ² on cells with at least 20 samples, the others in one cell together.
fn compare(name: &str, ours: &[i64], theirs: &[i64]) -> bool {
    let mut counts: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
    for (side, samples) in [ours, theirs].into_iter().enumerate() {
        for sample in samples {
            counts.entry(*sample).or_default()[side] += 1.0;
        }
    }
    let (mut statistic, mut freedom, mut rest) = (0.0, 0.0, [0.0; 2]);
    for [a, b] in counts.into_values() {
        if a + b < 20.0 {
            rest = [rest[0] + a, rest[1] + b];
        } else {
            statistic += (a - b) * (a - b) / (a + b);
            freedom += 1.0;
        }
    }
    statistic += (rest[0] - rest[1]) * (rest[0] - rest[1]) / (rest[0] + rest[1] + 1.0);
    let x = 1e6_f64.ln();
    let limit = freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x;
    println!("{name}: χ² = {statistic:.1} over {freedom} degrees of freedom, limit {limit:.1}");
    statistic < limit
}
