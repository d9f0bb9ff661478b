//! Descent in phases over disjoint parts of the table.
//!
//! Each phase descends along the full mean of its own part, from a start that earlier phases have released with noise.
//! A record is in one part, so each phase needs noise for its own sensitivity and the whole costs what one phase
//! does: later phases only process what was released.
//!
//! # Reference
//! Xue, Yang, Huai and Wang (2021), Algorithm 3.

use crate::error::{StabilityError, positive};
use serde::{Deserialize, Serialize};

/// One phase: its share of the records, its step size and its steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Records in this part.
    pub n_records: usize,
    /// Step size.
    pub rate: f64,
    /// Steps.
    pub n_steps: usize,
}

/// Parts of ⌊n/2⌋, ⌊n/4⌋, … records with at least two each, the rest in the last; step sizes η/4, η/16, …; as many
/// steps as records.
///
/// The paper's sizes n/2^i end at one record, which has no pairs, and do not add up to n; here they are 2 and n.
///
/// # Errors
/// Fewer than two records, or a step size that is not positive.
pub fn halving_phases(n_records: usize, rate: f64) -> Result<Vec<Phase>, StabilityError> {
    positive("step size", rate)?;
    if n_records < 2 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
    }
    let mut sizes = Vec::new();
    let mut size = n_records / 2;
    while size >= 2 {
        sizes.push(size);
        size /= 2;
    }
    let rest = n_records - sizes.iter().sum::<usize>();
    match sizes.last_mut() {
        Some(last) => *last += rest,
        None => sizes.push(rest),
    }
    let mut rate = rate;
    Ok(sizes
        .into_iter()
        .map(|n_records| {
            rate /= 4.0;
            Phase { n_records, rate, n_steps: n_records }
        })
        .collect())
}
