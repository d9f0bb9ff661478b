//! Localized descent: one pass over each of a few disjoint parts, each record paired with its predecessor.
//!
//! A part of m records makes m − 1 steps, step t on the pair (t + 1, t). A record is touched at two steps in a row, the
//! first and last at one. Parts shrink by half and step sizes by four; each phase starts at the noisy average of the
//! one before, so that the whole costs what one phase does.
//!
//! # Reference
//! After Yang, Lei, Wang, Yang and Ying (2021); reconstructed, with sensitivities of our own.

use super::Phase;
use crate::error::{StabilityError, positive};

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
