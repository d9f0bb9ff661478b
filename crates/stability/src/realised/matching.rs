//! Epochs of disjoint pairs: each epoch is a matching, so it touches a record at most once.
//!
//! This is the gentlest schedule per step: after K epochs a record has been touched K times, exactly, where independent
//! draws would touch some record many more times. The bound holds for every sequence of matchings; for the sequence
//! drawn, [`pair_path`](super::pair_path) is at most as large.
//!
//! # Guarantee
//! With m = ⌊n/2⌋ steps an epoch, after t steps in epoch k the distance is at most the root of what t untouched steps
//! add in quadrature, plus ηD for each epoch so far, contracted as if every touch came as late as it could.
//! Proof: `proofs/one_pass_and_matching.md`.

use super::{PathBound, mean_above};
use crate::error::{StabilityError, finite};
use crate::geometry::Geometry;
use crate::path::{Output, Rates, Steps, raise};
use crate::touch::Touch;
use pairdp_units::directed::smaller;

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
    let touch = Touch::every(geometry);

    let mut square = 0.0;
    let mut errors = 0.0;
    // From touches of earlier epochs, and the largest that this epoch's touch can be by now.
    let (mut earlier, mut current) = (0.0, 0.0);
    let mut sum = 0.0;
    for t in 1..=n_steps {
        let step = steps.get(t);
        let c = step.contraction();
        if (t - 1) % per_epoch == 0 {
            (earlier, current) = (raise(earlier + current), 0.0);
        }
        earlier = raise(c * earlier);
        let kept = raise(c * current);
        let fresh = raise(step.rate() * touch.same);
        current = if kept > fresh { kept } else { fresh };
        square = (c * c * square + step.variance()) * (1.0 + 8.0 * f64::EPSILON);
        errors = raise(c * errors + step.error());
        let distance = smaller(raise(square.sqrt() + earlier + current + errors), step.cap());
        if t >= window.first {
            sum += distance;
        }
    }
    let sensitivity = finite(mean_above(sum, window.divisor, n_steps as f64))?;
    Ok(PathBound { sensitivity, rule: steps.rule() })
}
