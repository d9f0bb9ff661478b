//! Epochs of disjoint pairs: each epoch is a matching, so it touches a record at most once.
//!
//! This is the gentlest schedule per step: after K epochs a record has been touched K times, exactly, where independent
//! draws would touch some record many more times. The bound holds for every sequence of matchings; for the sequence
//! drawn, [`pair_path`](super::pair_path) is at most as large.
//!
//! # Guarantee
//! Each epoch adds to the output at most what its worst position for a touch does, plus, for losses with jumps, the root of
//! what untouched steps add in quadrature.
//! Proof: `proofs/one_pass_and_matching.md`.

use super::{PathBound, mean_above};
use crate::error::{StabilityError, finite};
use crate::geometry::Geometry;
use crate::path::{Linear, Output, Rates, Steps};
use pairdp_units::directed::{larger, smaller, up_by};

/// Sensitivity of any `epochs` matchings of n records; a record left over in an odd table sits the epoch out.
///
/// # Cost
/// O(epochs·n).
///
/// # Errors
/// Fewer than two records, no epochs, or step sizes that no rule covers.
pub fn matching_bound(
    geometry: &Geometry,
    n_records: usize,
    epochs: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<PathBound, StabilityError> {
    if n_records < 2 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
    }
    let per_epoch = n_records / 2;
    let n_steps = per_epoch.saturating_mul(epochs);
    let window = output.window(n_steps)?;
    let steps = Steps::new(geometry, rates, n_steps)?;
    let Linear { weight, common } = Linear::new(&steps, window, n_steps);
    let touches: f64 = weight[1..=n_steps]
        .chunks(per_epoch)
        .map(|epoch| epoch.iter().fold(0.0, |most, &weight| larger(most, weight)))
        .sum();
    let sum = up_by(geometry.replaced() * touches, epochs as f64 + 2.0) + common;
    let sensitivity = smaller(mean_above(sum, window.divisor, 1.0), geometry.diameter());
    let sensitivity = finite(sensitivity)?;
    Ok(PathBound { sensitivity, rule: steps.rule() })
}
