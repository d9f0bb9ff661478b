//! A loss of the user's own, made safe by clipping. It is never certified.
//!
//! A certified loss has its constants proved. For any other, the slope of each pair is clipped to a public bound c, so that
//! a pair's gradient has norm at most 2κc whatever the loss does, and replacing a record moves the mean over all ordered
//! pairs by at most 4·2κc/n: 2(n−1) of n(n−1) ordered pairs change, each by at most twice its bound.

use crate::kernel::score;
use crate::{Element, ProblemError, Records, Sensitivity};
use pairdp_units::ReplaceOne;
use pairdp_units::directed::{larger, smaller, up_by};

/// The slope of a pair's loss, for an ordered pair of records.
pub trait PairLoss: Sync {
    /// d(loss)/d(margin) at margin = score(first) − score(second), given both targets.
    fn slope(&self, margin: f64, first: f64, second: f64) -> f64;
}

/// The mean over all ordered pairs of the user's gradient, every slope clipped to ±`clip`; what is not a number counts
/// as 0. O(n²).
pub fn gradient<E: Element>(loss: &impl PairLoss, clip: f64, records: &Records<E>, w: &[f64]) -> Vec<f64> {
    let n = records.len();
    let scores: Vec<f64> = (0..n).map(|i| score(records.row(i), w)).collect();
    let targets = records.targets();
    let clipped = |i: usize, j: usize| {
        let slope = loss.slope(scores[i] - scores[j], targets[i], targets[j]);
        if slope.is_nan() { 0.0 } else { larger(-clip, smaller(slope, clip)) }
    };
    let mut gradient = vec![0.0; records.columns()];
    if n < 2 {
        return gradient;
    }
    for i in 0..n {
        let charge: f64 = (0..n).filter(|j| *j != i).map(|j| clipped(i, j) - clipped(j, i)).sum();
        for (sum, x) in gradient.iter_mut().zip(records.row(i)) {
            *sum += charge * x.wide();
        }
    }
    let pairs = n as f64 * (n as f64 - 1.0);
    gradient.iter_mut().for_each(|value| *value /= pairs);
    gradient
}

/// How far replacing one of n records can move the exact mean that [`gradient`] computes: 8κ·clip/n. Rounding, at most
/// 4n·2⁻⁵² of 2κ·clip in each table, is the caller's to add; records must have been clipped to κ.
///
/// # Errors
/// [`ProblemError`] when a bound is not a finite positive number or there are fewer than two records.
pub fn sensitivity(feature_bound: f64, clip: f64, n: usize) -> Result<Sensitivity<ReplaceOne>, ProblemError> {
    for (what, value) in [("feature bound", feature_bound), ("clipping bound", clip)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(ProblemError::Range { what, range: "a finite number above 0", value });
        }
    }
    if n < 2 {
        return Err(ProblemError::TooFewRecords(n));
    }
    Ok(Sensitivity::new(up_by(8.0 * feature_bound * clip / n as f64, 4.0)))
}
