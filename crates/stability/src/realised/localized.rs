//! Localized descent: one pass over each of a few disjoint parts, each record paired with its predecessor.
//!
//! A part of m records makes m − 1 steps, step t on the pair (t + 1, t). A record is touched at two steps in a row, the
//! first and last at one. Parts shrink by half and step sizes by four; each phase starts at the noisy average of the
//! one before, so that the whole costs what one phase does.
//!
//! # Reference
//! After Yang, Lei, Wang, Yang and Ying (2021); reconstructed, with sensitivities of our own.

use super::{PathBound, Phase, pair_path};
use crate::error::{StabilityError, positive};
use crate::geometry::Geometry;
use crate::path::{Output, Rates};

/// Sensitivity of each phase's output. `n_steps` must be one less than `n_records`, as [`localized_phases`] sets it.
///
/// # Cost
/// O(n log n).
///
/// # Errors
/// A phase of other than one step less than its records, or step sizes that no rule covers.
pub fn localized(
    geometry: &Geometry,
    phases: &[Phase],
    output: Output,
) -> Result<Vec<PathBound>, StabilityError> {
    phases
        .iter()
        .map(|phase| {
            if phase.n_records != phase.n_steps.saturating_add(1) {
                return Err(StabilityError::Rates {
                    given: phase.n_steps,
                    steps: phase.n_records.saturating_sub(1),
                });
            }
            let pairs: Vec<(u32, u32)> = (0..).zip(1..).take(phase.n_steps).collect();
            let path = pair_path(geometry, &pairs, phase.n_records, Rates::Constant(phase.rate), output)?;
            Ok(PathBound { sensitivity: path.sensitivity(), rule: path.rule() })
        })
        .collect()
}

/// Parts of ⌊n/2⌋, ⌊n/4⌋, … records while there are at least two; step sizes η/4, η/16, ….
///
/// # Errors
/// Fewer than four records, or a step size that is not positive.
pub fn localized_phases(n_records: usize, rate: f64) -> Result<Vec<Phase>, StabilityError> {
    positive("step size", rate)?;
    if n_records < 4 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 4 });
    }
    let mut phases = Vec::new();
    let (mut size, mut rate) = (n_records / 2, rate / 4.0);
    while size >= 2 {
        phases.push(Phase { n_records: size, rate, n_steps: size - 1 });
        size /= 2;
        rate /= 4.0;
    }
    Ok(phases)
}
