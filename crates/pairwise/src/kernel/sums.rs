//! Squared loss: the charge of a record needs the other class's count and sum alone.
//!
//! Σ_j 2(1 − s + t_j) = 2(N(1 − s) + Σt_j) for a positive of score s, and the mirror image for a negative.

use super::blocks::{self, Par};
use super::charges::Charges;
use super::exact::{self, FEW, Grid};
use super::lanes::{self, Registers, Work};
use crate::{Strata, strata};
use serde::{Deserialize, Serialize};

/// Count and sum of each class's scores, negatives first, in whole numbers. Parts of a table merge by addition.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ClassSums([[i128; 2]; 2]);

impl ClassSums {
    /// Of some records' scores within a bound.
    pub(super) fn new(scores: &[f64], targets: &[f64], strata: &Strata, bound: f64, par: Par) -> Self {
        let grid = Grid::for_terms(bound);
        let parts = blocks::map(scores.len(), par, |range| {
            let mut classes = [[0; 2]; 2];
            for (piece, counts) in strata.pieces(range, FEW) {
                let (scores, targets) = (&scores[piece.clone()], &targets[piece]);
                let mut few = lanes::dispatch(AddScores { grid, scores, targets });
                classes.iter_mut().zip(&mut few).for_each(|(total, few)| exact::flush(total, few, counts));
            }
            Self(classes)
        });
        let mut totals = Self([[0; 2]; 2]);
        parts.iter().for_each(|part| totals.merge(part));
        totals
    }

    /// Adds another part's.
    pub(super) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(total, more)| exact::add(total, more));
    }
}

/// Count and sum of the scores of some records.
struct AddScores<'a> {
    grid: Grid,
    scores: &'a [f64],
    targets: &'a [f64],
}

impl Work for AddScores<'_> {
    type Output = [[i64; 2]; 2];

    #[inline(always)]
    fn run<R: Registers>(self, _: R) -> Self::Output {
        let (mut count, mut sum, mut positives, mut sum_of_positives) = (0, 0, 0, 0);
        for (score, target) in self.scores.iter().zip(self.targets) {
            let (whole, positive) = (self.grid.whole(*score), i64::from(*target > 0.0));
            count += 1;
            sum += whole;
            positives += positive;
            sum_of_positives += whole & -positive;
        }
        [[count - positives, sum - sum_of_positives], [positives, sum_of_positives]]
    }
}

/// What charges need: count and sum of each class's scores, negatives first.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sums([[f64; 2]; 2]);

impl Sums {
    pub(super) fn new(sums: &ClassSums, bound: f64) -> Self {
        let grid = Grid::for_terms(bound);
        Self(sums.0.map(|[count, sum]| [count as f64 * strata::unit(), grid.weighed(sum)]))
    }
}

impl Charges for Sums {
    #[inline(always)]
    fn charges<R: Registers>(&self, _: R, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        let [[negatives, sum_of_negatives], [positives, sum_of_positives]] = self.0;
        for ((charge, s), target) in out.iter_mut().zip(scores).zip(targets) {
            *charge = if *target > 0.0 {
                2.0 * (negatives * (1.0 - s) + sum_of_negatives)
            } else {
                -2.0 * (positives * (1.0 + s) - sum_of_positives)
            };
        }
    }
}

/// Σ (1 − s + t)² over pairs: with u = 1 − s, Σ u² + 2ut + t².
pub(super) fn risk(scores: &[f64], targets: &[f64]) -> f64 {
    let (mut negatives, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (t, _) in scores.iter().zip(targets).filter(|(_, target)| **target <= 0.0) {
        negatives += 1.0;
        sum += t;
        squares += t * t;
    }
    let one = |s: f64| {
        let u = 1.0 - s;
        negatives * u * u + 2.0 * u * sum + squares
    };
    scores.iter().zip(targets).filter(|(_, t)| **t > 0.0).map(|(s, _)| one(*s)).sum()
}
