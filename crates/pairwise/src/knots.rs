//! Where the values of every column lie, as one query: weights of public knots.
//!
//! A number x between two knots gives 1 − f to the left one and f to the right one, in proportion to where it lies, so that
//! Σ weight·knot = x. A category gives its weight to its own place, and so does an empty cell that has one. Summed over all
//! records that tells the distribution of every column, and between knots too, at the price of counting.
//!
//! # Guarantee
//! Replacing a record moves the sums by at most [`sensitivity`]; what [`KnotSums`] adds up is a vector of that form, with
//! shares rounded to multiples of 2⁻³², and not an approximation of one. Proof: `proofs/representation.md`.

use crate::Strata;
use crate::kernel::Par;
use crate::kernel::blocks;
use crate::kernel::exact;
use crate::kernel::parts::Mismatch;
use crate::strata;
use pairdp_units::directed::{down_by, larger, up_by};
use pairdp_units::signed_time;
use serde::{Deserialize, Serialize};

/// Halvings of the stretches that touch −1, 0 and 1, where columns have their spikes and tails.
const HALVINGS: usize = 6;
/// What a category's place weighs, relative to a number's. Shares of categories need not be known as well as quantiles do.
pub const CATEGORY_WEIGHT: f64 = 0.5;
/// Equal parts of the time up to the horizon.
pub const TIME_BINS: usize = 8;
/// Each of them without an event, then each with one.
pub const TIME_CELLS: usize = 2 * TIME_BINS;
/// Shares are whole multiples of 2^−this.
const SHARE_BITS: i32 = 32;

/// How far apart knots are. The sensitivity is the same for both; noise is in every knot, so that many of them are worth having
/// where it is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// 32 equal stretches of [−1, 1].
    #[default]
    Coarse,
    /// 128 of them.
    Fine,
}

impl Spacing {
    const fn stretches(self) -> usize {
        match self {
            Self::Coarse => 32,
            Self::Fine => 128,
        }
    }

    /// Knots of a number's range.
    pub const fn knots(self) -> usize {
        self.stretches() + 1 + 4 * HALVINGS
    }

    /// The knots, from −1 to 1.
    pub fn positions(self) -> Vec<f64> {
        let stretches = self.stretches();
        let width = 2.0 / stretches as f64;
        let mut at = Vec::with_capacity(self.knots());
        for stretch in 0..stretches {
            let start = -1.0 + stretch as f64 * width;
            at.push(start);
            // Towards −1 and, from above, 0: halvings from the left end; towards 0 from below and 1: from the right.
            if stretch == 0 || stretch == stretches / 2 {
                at.extend((1..=HALVINGS).rev().map(|j| start + width * halves(j)));
            }
            if stretch == stretches / 2 - 1 || stretch == stretches - 1 {
                at.extend((1..=HALVINGS).map(|j| start + width * (1.0 - halves(j))));
            }
        }
        at.push(1.0);
        at
    }
}

/// 2^−j.
fn halves(j: usize) -> f64 {
    f64::from(1_u32 << j).recip()
}

/// What a column is, and where its entries start in an encoded row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Block {
    /// A number within ±1.
    Number {
        /// Its place.
        at: usize,
    },
    /// A number within ±1 and, behind it, 1 if the cell was empty.
    NumberOrMissing {
        /// The number's place.
        at: usize,
    },
    /// A 1 in one of so many places, or in none.
    Category {
        /// The first of them.
        at: usize,
        /// How many.
        width: usize,
    },
    /// The number within ±1 that is to be predicted, which is not in the row. It comes last.
    Target,
    /// When a record was last seen and whether with an event, by cells of a public grid, where that is what a ranking is learned
    /// from. It is not in the row, and comes last.
    Times,
}

impl Block {
    /// Coordinates that it takes of the query, with knots that far apart.
    pub fn coordinates(self, spacing: Spacing) -> usize {
        match self {
            Self::Number { .. } | Self::Target => spacing.knots(),
            Self::NumberOrMissing { .. } => spacing.knots() + 1,
            Self::Category { width, .. } => width,
            Self::Times => TIME_CELLS,
        }
    }

    /// Whether it is a column of categories.
    pub fn is_category(self) -> bool {
        matches!(self, Self::Category { .. })
    }
}

/// The columns of a table, and how far apart the knots of numbers are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    spacing: Spacing,
    blocks: Vec<Block>,
}

impl Layout {
    /// Of these blocks, in order.
    pub fn new(spacing: Spacing, blocks: Vec<Block>) -> Self {
        Self { spacing, blocks }
    }

    /// How far apart knots are.
    pub fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The columns.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Coordinates of the columns' sums.
    pub fn columns(&self) -> usize {
        self.blocks.iter().map(|block| block.coordinates(self.spacing)).sum()
    }

    /// Coordinates of the query: with the label's and, if it is wanted, the number of records.
    pub fn coordinates(&self, counts_records: bool) -> usize {
        self.columns() + 1 + usize::from(counts_records)
    }

    /// Whether it has columns of rows.
    pub fn maps_rows(&self) -> bool {
        self.blocks.iter().any(|block| !matches!(block, Block::Target | Block::Times))
    }

    /// Where the target's knots start among the coordinates, if it has any.
    pub fn target(&self) -> Option<usize> {
        (self.blocks.last() == Some(&Block::Target)).then(|| self.columns() - self.spacing.knots())
    }

    /// Where the cells of times start among the coordinates, if there are any.
    pub fn times(&self) -> Option<usize> {
        (self.blocks.last() == Some(&Block::Times)).then(|| self.columns() - TIME_CELLS)
    }

    /// Columns of numbers, a target with knots or times among them, and of categories.
    pub fn counts(&self) -> (usize, usize) {
        let categories = self.blocks.iter().filter(|block| block.is_category()).count();
        (self.blocks.len() - categories, categories)
    }
}

/// How far one record can move the sums of so many columns of numbers and of categories.
///
/// A column's vector has no negative entry and sums to at most its weight v, so two of them are at most √2·v apart; the label moves
/// by 1. Where the number of records is secret it is released as well, with the weight √(numbers + v²·categories): a record that
/// is added, and pushes none out, moves all of this by no more than one that is replaced.
pub fn sensitivity(numbers: usize, categories: usize) -> f64 {
    up_by((2.0 * squares(numbers, categories) + 1.0).sqrt(), 4.0)
}

/// The same in ℓ1: 2·numbers + 2v·categories + 1, or half of that and the weight of the number of records.
pub fn sensitivity_l1(numbers: usize, categories: usize) -> f64 {
    let half = numbers as f64 + CATEGORY_WEIGHT * categories as f64;
    let counted = half + squares(numbers, categories).sqrt();
    up_by(larger(2.0 * half, counted) + 1.0, 4.0)
}

/// What one record adds to a sum at most.
pub fn largest_weight(numbers: usize, categories: usize, counts_records: bool) -> f64 {
    let counted = if counts_records { count_weight(numbers, categories) } else { 0.0 };
    larger(1.0, counted)
}

/// The weight of the number of records, where it is secret.
pub fn count_weight(numbers: usize, categories: usize) -> f64 {
    down_by(squares(numbers, categories).sqrt(), 4.0)
}

fn squares(numbers: usize, categories: usize) -> f64 {
    numbers as f64 + CATEGORY_WEIGHT * CATEGORY_WEIGHT * categories as f64
}

/// How far the released sums can be from the exact ones: whole numbers are exact up to 2⁵³ steps and rounded beyond, and the number
/// of records is multiplied by its weight.
pub fn error_bound(records: usize, coordinates: usize) -> f64 {
    up_by(records as f64 * f64::EPSILON * (coordinates as f64 + 1.0).sqrt(), 4.0)
}

/// Sums of all records' vectors, each as often as it counts, in whole numbers: parts of a table merge by addition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnotSums(Vec<i128>);

impl KnotSums {
    /// Of the first encoded rows of so many entries, as many as there are in the strata, and their targets within ±1.
    pub fn new(
        layout: &Layout,
        rows: &[f64],
        columns: usize,
        targets: &[f64],
        strata: &Strata,
        par: Par,
    ) -> Self {
        /// Shares of so many records are added in 64 bits.
        const MOST: usize = 1 << 30;
        let (width, knots) = (layout.columns(), Knots::new(layout.spacing));
        let parts = blocks::map(strata.rows().min(targets.len()), par, |range| {
            let (mut total, mut sums) = (vec![0; width + 2], vec![0; width + 2]);
            for (piece, counts) in strata.pieces(range, MOST) {
                for record in piece {
                    let (row, target) = (&rows[record * columns..(record + 1) * columns], &targets[record]);
                    add_row(layout, &knots, row, *target, &mut sums[..width]);
                    sums[width] += share((1.0 + target) / 2.0);
                    sums[width + 1] += WHOLE;
                }
                exact::flush(&mut total, &mut sums, counts);
            }
            total
        });
        let mut totals = vec![0; width + 2];
        parts.iter().for_each(|part| exact::add(&mut totals, part));
        Self(totals)
    }

    /// Adds another part's.
    ///
    /// # Errors
    /// [`Mismatch`] if they are of other columns.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        if self.0.len() != other.0.len() {
            return Err(Mismatch);
        }
        exact::add(&mut self.0, &other.0);
        Ok(())
    }

    /// The query: the sums, each column's with its weight, the label's and, if it is wanted, the number of records.
    ///
    /// # Errors
    /// [`Mismatch`] for sums of other columns.
    pub fn query(&self, layout: &Layout, counts_records: bool) -> Result<Vec<f64>, Mismatch> {
        let Some((label, count)) = self.0.split_last().and_then(|(count, rest)| Some((rest.last()?, count)))
        else {
            return Err(Mismatch);
        };
        if self.0.len() != layout.columns() + 2 {
            return Err(Mismatch);
        }
        let step = 2.0_f64.powi(-SHARE_BITS) * strata::unit();
        let mut sums = self.0.iter();
        let mut out = Vec::with_capacity(self.0.len());
        for block in layout.blocks() {
            // A power of two: no rounding.
            let weight = if block.is_category() { CATEGORY_WEIGHT } else { 1.0 };
            out.extend(
                sums.by_ref()
                    .take(block.coordinates(layout.spacing))
                    .map(|sum| *sum as f64 * (step * weight)),
            );
        }
        out.push(*label as f64 * step);
        if counts_records {
            let (numbers, categories) = layout.counts();
            out.push(*count as f64 * step * count_weight(numbers, categories));
        }
        Ok(out)
    }
}

/// One, as a share.
const WHOLE: i64 = 1 << SHARE_BITS;

fn add_row(layout: &Layout, knots: &Knots, row: &[f64], target: f64, sums: &mut [i64]) {
    let mut rest = sums;
    for block in layout.blocks() {
        let (own, after) = rest.split_at_mut(block.coordinates(layout.spacing));
        rest = after;
        match *block {
            Block::NumberOrMissing { at } if row[at + 1] > 0.0 => own[knots.at.len()] += WHOLE,
            Block::Number { .. } | Block::NumberOrMissing { .. } | Block::Target => {
                let number = match *block {
                    Block::Number { at } | Block::NumberOrMissing { at } => row[at],
                    _ => target,
                };
                // What is no number has no place, and gives nothing.
                if let Some((left, share)) = knots.place(number) {
                    own[left] += WHOLE - share;
                    own[left + 1] += share;
                }
            }
            Block::Category { at, width } => {
                if let Some(which) = row[at..at + width].iter().position(|entry| *entry > 0.0) {
                    own[which] += WHOLE;
                }
            }
            Block::Times => own[time_cell(target)] += WHOLE,
        }
    }
}

/// The cell of a [signed time](pairdp_units::signed_time).
pub fn time_cell(target: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share between 0 and 1 of a few bins"
    )]
    let bin = ((signed_time::share(target) * TIME_BINS as f64) as usize).min(TIME_BINS - 1);
    if signed_time::is_event(target) { TIME_BINS + bin } else { bin }
}

/// Knots, and where those of each equal stretch begin.
struct Knots {
    at: Vec<f64>,
    starts: Vec<usize>,
}

impl Knots {
    fn new(spacing: Spacing) -> Self {
        let (at, stretches) = (spacing.positions(), spacing.stretches());
        let begins = |stretch: usize| -1.0 + stretch as f64 * (2.0 / stretches as f64);
        let starts = (0..stretches).map(|k| at.partition_point(|knot| *knot < begins(k))).collect();
        Self { at, starts }
    }

    /// The knot at or left of a number, and the share of the one right of it.
    fn place(&self, x: f64) -> Option<(usize, i64)> {
        if x.is_nan() {
            return None;
        }
        let x = if x > 1.0 { 1.0 } else { larger(x, -1.0) };
        let knots = &self.at;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within ±1")]
        let stretch = ((x + 1.0) * (0.5 * self.starts.len() as f64)) as usize;
        let mut left = self.starts[stretch.min(self.starts.len() - 1)];
        // Nearly always there already: few stretches have knots of their own, and rounding moves by one at the most.
        while left > 0 && knots[left] > x {
            left -= 1;
        }
        while left + 2 < knots.len() && knots[left + 1] <= x {
            left += 1;
        }
        Some((left, share((x - knots[left]) / (knots[left + 1] - knots[left]))))
    }
}

/// A share in whole steps, within 0 and 1; nothing for what is no number.
fn share(value: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float too large, or none, becomes the nearest number"
    )]
    let steps = (value * WHOLE as f64).round_ties_even() as i64;
    steps.clamp(0, WHOLE)
}

#[cfg(test)]
mod tests;
