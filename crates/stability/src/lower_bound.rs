//! Losses on which descent really is as unstable as the bounds for jumps allow.
//!
//! The √T in the bounds for losses with kinks is not an artefact: this construction attains it up to a constant. It is
//! convex and 1-Lipschitz, in d + 1 dimensions with d ≥ T. A record is 0 or 1:
//!
//! - f(x, 0) = max(0, max_k x_k − ν) over the first d coordinates, with the subgradient at the first largest one;
//! - f(x, 1) = ⟨r, x⟩, r = (−a/√d, …, −a/√d, −√(1 − a²)), of norm 1, a = 1/10.
//!
//! On a table of zeros the start 0 is a minimum and nothing moves. With a single one, its drift lifts all coordinates above
//! ν at once; from then on every step pushes a *new* coordinate down by η, orthogonally to all before: √T. The last
//! coordinate keeps drifting: T/n. The drift lifts what was pushed down, too, so a is small. For pairs f(x; z, z′) = f(x, max(z, z′)).
//!
//! # Guarantee
//! [`Drift`] is the distance of the two runs on tables that differ in one record: a lower bound on the worst case.
//!
//! # Reference
//! After the lower bound of Bassily, Feldman, Guzmán and Talwar (2020), Theorem 3.2; the details are our own.

use crate::error::StabilityError;
use pairdp_units::directed::smaller;

/// a: how much of the one's pull lifts the first d coordinates.
const LIFT: f64 = 0.1;

/// How far two runs were apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// After the last step.
    pub last: f64,
    /// For the average of all iterates but the last: w₀ … w_{T−1}.
    pub average_before: f64,
    /// For the average of all iterates, the start and the last included.
    pub average_with_start: f64,
}

/// Full-batch descent over n records, one of them a one.
///
/// # Errors
/// Fewer than two records, no steps, or a step size that is not positive.
pub fn gradient_descent(n_records: usize, n_steps: usize, rate: f64) -> Result<Drift, StabilityError> {
    descend(n_records, n_steps, rate, |n| vec![1.0 / n; n_steps])
}

/// Full-batch descent over all ordered pairs of n records, one of them a one.
///
/// # Errors
/// As [`gradient_descent`].
pub fn pairwise_gradient_descent(
    n_records: usize,
    n_steps: usize,
    rate: f64,
) -> Result<Drift, StabilityError> {
    descend(n_records, n_steps, rate, |n| vec![2.0 / n; n_steps])
}

/// Pointwise descent along given records; record 0 is the one.
///
/// # Errors
/// As [`gradient_descent`].
pub fn stochastic_descent(n_records: usize, indices: &[u32], rate: f64) -> Result<Drift, StabilityError> {
    descend(n_records, indices.len(), rate, |_| indices.iter().map(|&index| f64::from(index == 0)).collect())
}

/// Descent along given pairs; record 0 is the one.
///
/// # Errors
/// As [`gradient_descent`].
pub fn pair_descent(n_records: usize, pairs: &[(u32, u32)], rate: f64) -> Result<Drift, StabilityError> {
    descend(n_records, pairs.len(), rate, |_| {
        pairs.iter().map(|&(first, second)| f64::from(first == 0 || second == 0)).collect()
    })
}

/// History descent along given indices; record 0 is the one.
///
/// # Errors
/// As [`gradient_descent`], or fewer than two indices.
pub fn history_descent(n_records: usize, indices: &[u32], rate: f64) -> Result<Drift, StabilityError> {
    if indices.len() < 2 {
        return Err(StabilityError::TooFewSteps { given: indices.len(), least: 2 });
    }
    descend(n_records, indices.len() - 1, rate, |_| {
        let mut drawn = f64::from(indices[0] == 0);
        let mut shares = Vec::with_capacity(indices.len() - 1);
        for (t, &index) in indices.iter().enumerate().skip(1) {
            shares.push(if index == 0 { 1.0 } else { drawn / t as f64 });
            drawn += f64::from(index == 0);
        }
        shares
    })
}

/// The run with the one, which is at share `shares[t]` of the terms of step t. The run without it stays at 0.
///
/// ν is a tenth of the least lift that a step with the one in it gives.
fn descend(
    n_records: usize,
    n_steps: usize,
    rate: f64,
    shares: impl FnOnce(f64) -> Vec<f64>,
) -> Result<Drift, StabilityError> {
    if n_records < 2 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
    }
    if n_steps == 0 {
        return Err(StabilityError::TooFewSteps { given: 0, least: 1 });
    }
    crate::error::positive("step size", rate)?;
    let n = n_records as f64;
    let lift = LIFT * rate / (n_steps as f64).sqrt();
    let shares = shares(n);
    let least = shares.iter().filter(|&&share| share > 0.0).fold(1.0, |least, &share| smaller(least, share));
    let threshold = 0.1 * lift * least;

    let mut x = vec![0.0; n_steps + 1];
    let mut sum = vec![0.0; n_steps + 1];
    for &share in &shares {
        for (sum, x) in sum.iter_mut().zip(&x) {
            *sum += x;
        }
        let (largest, top) = first_largest(&x[..n_steps]);
        for x in &mut x[..n_steps] {
            *x += lift * share;
        }
        x[n_steps] += rate * share * (1.0 - LIFT * LIFT).sqrt();
        if top > threshold {
            x[largest] -= rate * (1.0 - share);
        }
    }
    let steps = n_steps as f64;
    let average_before = norm(sum.iter().copied()) / steps;
    let average_with_start = norm(sum.iter().zip(&x).map(|(sum, x)| sum + x)) / (steps + 1.0);
    Ok(Drift { last: norm(x.into_iter()), average_before, average_with_start })
}

fn first_largest(x: &[f64]) -> (usize, f64) {
    x.iter().enumerate().fold(
        (0, f64::NEG_INFINITY),
        |best, (k, &value)| {
            if value > best.1 { (k, value) } else { best }
        },
    )
}

fn norm(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| x * x).sum::<f64>().sqrt()
}
