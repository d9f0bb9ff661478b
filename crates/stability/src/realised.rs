//! Sensitivities of the very path that was drawn.
//!
//! Index-randomised optimisers are usually given noise for a typical, or nearly worst, sequence of indices, by a tail
//! bound that costs logarithms and a share of δ. None of that is needed: indices do not depend on the data, so one may
//! draw them first, compute how far a record can move *this* path, and calibrate the noise to that. What comes out
//! is private because each sequence's mechanism is, and a mixture of (ε, δ)-private mechanisms with data-independent
//! weights is (ε, δ)-private; publishing the indices as well changes nothing.
//!
//! The sensitivity must hold for every neighbour, so it is the *largest* over all records, not that of an average one:
//! [`RealisedPath::sensitivity`].
//!
//! | function | steps | cost |
//! |---|---|---|
//! | [`history_path`] | a new record against all before it, the new one drawn by index | O(T·n) |
//! | [`pair_path`] | one given pair | O(T log T + n) at a constant step size, else O(T·n) |
//! | [`record_path`] | one given record | the same |
//! | [`full_batch_pairs`], [`full_batch_records`] | the whole mean | O(T) |
//! | [`one_pass()`] | each record against all before it, in a fixed order | O(n) |
//!
//! # Guarantee
//! For all tables that differ in record r, the outputs for these indices are at most `per_record[r]` apart. Proofs:
//! `proofs/realised_path.md`, `proofs/one_pass_and_matching.md`.
//!
//! # Assumptions
//! Indices, step sizes, step counts and the partition are drawn or fixed without looking at records, labels included.
//! Redrawing after seeing a result, stopping early on training loss and sampling by private class all break this.

mod full_batch;
mod history;
mod localized;
mod one_pass;
mod phased;
mod sparse;

pub use full_batch::{full_batch_pairs, full_batch_records};
pub use history::history_path;
pub use localized::localized_phases;
pub use one_pass::{one_pass, one_pass_online_factor};
pub use phased::{Phase, halving_phases};
pub use sparse::{pair_path, record_path};

use crate::error::{StabilityError, finite};
use crate::path::Rule;
use pairdp_units::directed::{larger, up_by};

/// A sensitivity that holds for every record alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathBound {
    /// The distance of neighbouring outputs, rounded up.
    pub sensitivity: f64,
    /// The weakest recurrence it rests on.
    pub rule: Rule,
}

/// Sensitivities to each record, for the indices given.
#[derive(Debug, Clone, PartialEq)]
pub struct RealisedPath {
    per_record: Vec<f64>,
    rule: Rule,
}

impl RealisedPath {
    fn new(per_record: Vec<f64>, rule: Rule) -> Result<Self, StabilityError> {
        for &value in &per_record {
            finite(value)?;
        }
        Ok(Self { per_record, rule })
    }

    /// The distance of outputs that replacing each record can cause.
    pub fn per_record(&self) -> &[f64] {
        &self.per_record
    }

    /// The largest of them: what noise must cover.
    pub fn sensitivity(&self) -> f64 {
        self.per_record.iter().fold(0.0, |most, &value| larger(most, value))
    }

    /// The record that the path depends on most.
    pub fn worst_record(&self) -> usize {
        let most = self.sensitivity();
        self.per_record.iter().position(|&value| value >= most).unwrap_or(0)
    }

    /// The weakest recurrence in use.
    pub fn rule(&self) -> Rule {
        self.rule
    }
}

/// The mean of distances whose sum took so many additions, rounded up; 0 for a record that nothing depends on.
fn mean_above(sum: f64, divisor: f64, additions: f64) -> f64 {
    if sum > 0.0 { up_by(sum / divisor, additions + 2.0) } else { sum }
}

/// Refuses indices that name no record.
fn check_indices(indices: &[u32], n_records: usize) -> Result<(), StabilityError> {
    match indices.iter().find(|&&index| index as usize >= n_records) {
        Some(&index) => Err(StabilityError::Index { index, n_records }),
        None => Ok(()),
    }
}
