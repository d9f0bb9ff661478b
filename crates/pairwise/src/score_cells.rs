//! How many records of either class have a score in each of a few cells: what probabilities, curves and thresholds are read from.
//!
//! The cells are public: equal parts of a stretch of scores that follows from the model, never from the scores of a table. What lies
//! beyond an end is in the cell at that end. A record is in one cell with its label, so that a count costs the same however many cells
//! there are.
//!
//! # Guarantee
//! Replacing a record, or a person, moves the counts by at most [`sensitivity`]: `proofs/calibration.md`.

use crate::Records;
use crate::kernel::blocks;
use crate::kernel::parts::Mismatch;
use crate::kernel::{Par, exact, score};
use crate::strata::{self, Strata};
use pairdp_units::directed::{larger, up_by};
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// Cells of the stretch.
pub const CELLS: usize = 16;
/// Counts: of negative records, then of positive ones.
pub const COUNTS: usize = 2 * CELLS;

/// A public stretch of scores, in equal cells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Where the first cell begins.
    pub low: f64,
    /// Where the last one ends.
    pub high: f64,
}

impl Stretch {
    /// From one number to a larger one; none where they are not.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low < high && (high - low).is_finite())
            .then_some(Self { low, high })
    }

    /// The cell of a score: one for every number, and for what is none the first.
    pub fn cell(&self, score: f64) -> usize {
        let place = (score - self.low) / (self.high - self.low) * CELLS as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is beyond the ends, or no number, becomes the nearest place"
        )]
        let cell = place as usize;
        cell.min(CELLS - 1)
    }

    /// Where a cell begins; the last one ends where the one after it would begin.
    pub fn edge(&self, cell: usize) -> f64 {
        self.low + (self.high - self.low) * (cell as f64 / CELLS as f64)
    }

    /// The middle of a cell.
    pub fn middle(&self, cell: usize) -> f64 {
        self.low + (self.high - self.low) * ((cell as f64 + 0.5) / CELLS as f64)
    }
}

/// How far one record, or person, can move the counts.
///
/// What a person adds has no negative entry and sums to at most 1, so two of them are at most √2 apart, 2 in ℓ1. Under a promised cap
/// nobody is pushed out, and what is added or taken away is 1 long.
pub fn sensitivity(promised: bool) -> f64 {
    if promised { 1.0 } else { up_by(SQRT_2, 1.0) }
}

/// The same in ℓ1.
pub fn sensitivity_l1(promised: bool) -> f64 {
    if promised { 1.0 } else { 2.0 }
}

/// How far computed counts can be from those of whole weights: a rounding of each, which are at most as many as there are records.
pub fn error_bound(records: usize) -> f64 {
    up_by(records as f64 * f64::EPSILON * (COUNTS as f64).sqrt(), 4.0)
}

/// Counts in whole numbers: parts of a table merge by addition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellCounts(Vec<i128>);

impl CellCounts {
    /// Of the scores w·x and what is added to each, by the cells of a stretch.
    pub fn of_records(stretch: Stretch, weights: &[f64], added: f64, records: &Records, par: Par) -> Self {
        let targets = records.targets();
        Self::new(stretch, targets, records.strata(), par, |record| {
            score(records.row(record), weights) + added
        })
    }

    /// Of scores that are there.
    pub fn of_scores(stretch: Stretch, scores: &[f64], targets: &[f64], strata: &Strata) -> Self {
        Self::new(stretch, targets, strata, Par::Sequential, |record| scores[record])
    }

    fn new(
        stretch: Stretch,
        targets: &[f64],
        strata: &Strata,
        par: Par,
        score: impl Fn(usize) -> f64 + Sync + Send,
    ) -> Self {
        let parts = blocks::map(strata.rows().min(targets.len()), par, |range| {
            let (mut total, mut counts) = (vec![0; COUNTS], vec![0; COUNTS]);
            for (piece, weight) in strata.pieces(range, usize::MAX) {
                for record in piece {
                    let positive = usize::from(targets[record] > 0.0);
                    counts[positive * CELLS + stretch.cell(score(record))] += 1;
                }
                exact::flush(&mut total, &mut counts, weight);
            }
            total
        });
        let mut totals = vec![0; COUNTS];
        parts.iter().for_each(|part| exact::add(&mut totals, part));
        Self(totals)
    }

    /// Adds another part's.
    ///
    /// # Errors
    /// [`Mismatch`] if they are not counts of as many cells.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        if self.0.len() != other.0.len() {
            return Err(Mismatch);
        }
        exact::add(&mut self.0, &other.0);
        Ok(())
    }

    /// The query: negative records by cell, then positive ones.
    ///
    /// # Errors
    /// [`Mismatch`] for counts of other cells.
    pub fn query(&self) -> Result<Vec<f64>, Mismatch> {
        if self.0.len() != COUNTS {
            return Err(Mismatch);
        }
        Ok(self.0.iter().map(|count| larger(*count as f64 * strata::unit(), 0.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRETCH: Stretch = Stretch { low: -2.0, high: 2.0 };

    fn counts(scores: &[f64], targets: &[f64], strata: &Strata) -> Vec<f64> {
        CellCounts::of_scores(STRETCH, scores, targets, strata).query().unwrap()
    }

    fn apart(a: &[f64], b: &[f64]) -> (f64, f64) {
        let off = || a.iter().zip(b).map(|(a, b)| (a - b).abs());
        (off().map(|v| v * v).sum::<f64>().sqrt(), off().sum())
    }

    /// Scores at edges, within cells, beyond the ends and no numbers at all, of either class: nothing moves further than claimed, and
    /// nothing smaller would hold.
    #[test]
    fn no_record_moves_the_counts_further_than_claimed() {
        let scores = [-9.0, -2.0, -1.75, -1.0, -0.0, 0.1, 0.25, 1.999, 2.0, 9.0, f64::NAN, f64::INFINITY];
        let records: Vec<(f64, f64)> = scores.iter().flat_map(|s| [(*s, 1.0), (*s, -1.0)]).collect();
        let of = |(score, target): (f64, f64)| counts(&[0.3, score], &[1.0, target], &Strata::plain(2));
        let without = counts(&[0.3], &[1.0], &Strata::plain(1));
        let (mut most, mut most_l1, mut added) = (0.0, 0.0, 0.0);
        for a in &records {
            for b in &records {
                let (euclid, sum) = apart(&of(*a), &of(*b));
                (most, most_l1) = (larger(most, euclid), larger(most_l1, sum));
            }
            added = larger(added, apart(&of(*a), &without).1);
        }
        assert!(most <= sensitivity(false) && most > sensitivity(false) * (1.0 - 1e-12), "{most}");
        assert!((most_l1 - sensitivity_l1(false)).abs() < 1e-12, "{most_l1}");
        assert!((added - sensitivity(true)).abs() < 1e-12 && sensitivity_l1(true) >= added, "{added}");
    }

    /// Persons of one to three records in any cells and classes, for any other such person.
    #[test]
    fn no_person_moves_the_counts_further_than_claimed() {
        let choices: Vec<(f64, f64)> =
            [-1.9, 0.0, 1.9].iter().flat_map(|s| [(*s, 1.0), (*s, -1.0)]).collect();
        let mut persons: Vec<Vec<(f64, f64)>> = choices.iter().map(|one| vec![*one]).collect();
        for from in [0, choices.len()] {
            let longer: Vec<_> = persons[from..]
                .iter()
                .flat_map(|person| choices.iter().map(move |more| [&person[..], &[*more]].concat()))
                .collect();
            persons.extend(longer);
        }
        let of = |person: &[(f64, f64)]| {
            let (scores, targets): (Vec<f64>, Vec<f64>) = person.iter().copied().unzip();
            let records = vec![u32::try_from(person.len()).unwrap(); person.len()];
            counts(&scores, &targets, &Strata::of_persons(&records, 1))
        };
        let all: Vec<Vec<f64>> = persons.iter().map(|person| of(person)).collect();
        let mut most = (0.0, 0.0);
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let (euclid, sum) = apart(a, b);
            most = (larger(most.0, euclid), larger(most.1, sum));
        }
        assert!(most.0 <= sensitivity(false) && most.1 <= sensitivity_l1(false), "{most:?}");
        assert!(most.0 > sensitivity(false) * (1.0 - 1e-9));
    }

    /// Without weights a person of many records moves them by as many.
    #[test]
    fn a_person_that_counts_as_all_records_would_move_them_further() {
        let copies = counts(&[0.1; 5], &[1.0; 5], &Strata::plain(5));
        let other = counts(&[1.9], &[1.0], &Strata::plain(1));
        assert!(apart(&copies, &other).0 > 3.0 * sensitivity(false));
    }

    #[test]
    fn every_score_has_a_cell_and_parts_add_up() {
        assert_eq!((STRETCH.cell(-2.0), STRETCH.cell(-1.76), STRETCH.cell(-1.74)), (0, 0, 1));
        assert_eq!((STRETCH.cell(1.9999), STRETCH.cell(2.0), STRETCH.cell(f64::INFINITY)), (15, 15, 15));
        assert_eq!((STRETCH.cell(f64::NAN), STRETCH.cell(f64::NEG_INFINITY)), (0, 0));
        assert!((STRETCH.edge(4) + 1.0).abs() < 1e-15 && (STRETCH.middle(0) + 1.875).abs() < 1e-15);
        assert!(Stretch::new(1.0, 1.0).is_none() && Stretch::new(f64::NAN, 1.0).is_none());
        assert!(Stretch::new(-f64::MAX, f64::MAX).is_none());
        let features: Vec<f64> = (0..3000).map(|i| f64::from(i % 89) / 44.0 - 1.0).collect();
        let targets: Vec<f64> = (0..3000).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let records = |range: std::ops::Range<usize>| {
            Records::with_targets(features[range.clone()].to_vec(), 1, targets[range].to_vec(), 1.0).unwrap()
        };
        let of = |range: std::ops::Range<usize>| {
            CellCounts::of_records(STRETCH, &[1.5], 0.25, &records(range), Par::Parallel)
        };
        let whole = of(0..3000);
        let mut sum = of(700..3000);
        sum.merge(&of(0..1)).unwrap();
        sum.merge(&of(1..700)).unwrap();
        assert_eq!(sum, whole);
        let query = whole.query().unwrap();
        let all = records(0..3000);
        let scores: Vec<f64> = (0..3000).map(|i| score(all.row(i), &[1.5]) + 0.25).collect();
        assert_eq!(query, counts(&scores, &targets, &Strata::plain(3000)));
        assert!((query[CELLS..].iter().sum::<f64>() - 1000.0).abs() < 1e-12);
        assert!((query.iter().sum::<f64>() - 3000.0).abs() < 1e-12);
    }
}
