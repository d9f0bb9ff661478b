//! Full-batch descent: every record is in every step.

use super::{PathBound, mean_above};
use crate::error::{StabilityError, finite};
use crate::geometry::Geometry;
use crate::path::{Output, Rates, Steps};
use crate::touch::Touch;

/// Descent along the mean over all ordered pairs of n records, normalised by n(n − 1).
///
/// A replaced record changes that mean by at most D_sym/n; the other 1 − 2/n of the pairs are untouched. Without
/// projections and with a loss linear in w this is attained.
///
/// # Cost
/// O(steps).
///
/// # Errors
/// Fewer than two records, no steps, or step sizes that no rule covers.
pub fn full_batch_pairs(
    geometry: &Geometry,
    n_records: usize,
    n_steps: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<PathBound, StabilityError> {
    every_step(geometry, Touch::all_pairs(geometry, n_records)?, n_steps, rates, output)
}

/// Descent along the mean over n records, one term each: a record changes it by at most D/n.
///
/// # Cost
/// O(steps).
///
/// # Errors
/// As [`full_batch_pairs`].
pub fn full_batch_records(
    geometry: &Geometry,
    n_records: usize,
    n_steps: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<PathBound, StabilityError> {
    every_step(geometry, Touch::all_records(geometry, n_records)?, n_steps, rates, output)
}

fn every_step(
    geometry: &Geometry,
    touch: Touch,
    n_steps: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<PathBound, StabilityError> {
    let window = output.window(n_steps)?;
    let steps = Steps::new(geometry, rates, n_steps)?;
    let mut distance = 0.0;
    let mut sum = 0.0;
    for t in 1..=n_steps {
        distance = steps.get(t).after(distance, touch);
        if t >= window.first {
            sum += distance;
        }
    }
    let sensitivity = finite(mean_above(sum, window.divisor, n_steps as f64))?;
    Ok(PathBound { sensitivity, rule: steps.rule() })
}
