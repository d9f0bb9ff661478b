//! The two passes over the table: scores, and weighted sums of rows.
//!
//! The loops are written so that the compiler can use the widest vector registers that the machine has (chosen at run
//! time by `pulp`), without fused operations: the same additions in the same order everywhere.

use super::blocks::{self, Par, SUB_BLOCK};
use super::exact::{self, FEW, Grid};
use crate::Records;
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// Independent partial sums of a dot product.
const LANES: usize = 8;

/// w·x, in a fixed order that depends on the length alone: one record cannot change another's score by a rounding.
#[inline(always)]
pub fn score(row: &[f64], parameters: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let mut row_chunks = row.chunks_exact(LANES);
    let mut parameter_chunks = parameters.chunks_exact(LANES);
    for (x, w) in (&mut row_chunks).zip(&mut parameter_chunks) {
        for k in 0..LANES {
            sums[k] += x[k] * w[k];
        }
    }
    for (sum, (x, w)) in sums.iter_mut().zip(row_chunks.remainder().iter().zip(parameter_chunks.remainder()))
    {
        *sum += x * w;
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}

/// `scale`·w·x for every record, cut off at ±`bound` (which rounding could exceed).
pub(crate) fn scores(records: &Records, parameters: &[f64], scale: f64, bound: f64, par: Par) -> Vec<f64> {
    let mut scores = vec![0.0; records.len()];
    let columns = records.columns();
    blocks::fill(&mut scores, par, |range, out| {
        let rows = &records.features()[range.start * columns..range.end * columns];
        Arch::new().dispatch(ScoreBlock { rows, columns, w: parameters, scale, bound, out });
    });
    scores
}

/// The scores of a block of rows. A type rather than a closure, because only then is the body sure to be compiled for the
/// registers that the dispatch found.
struct ScoreBlock<'a> {
    rows: &'a [f64],
    columns: usize,
    w: &'a [f64],
    scale: f64,
    bound: f64,
    out: &'a mut [f64],
}

impl NullaryFnOnce for ScoreBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        score_block(self.rows, self.columns, self.w, self.scale, self.bound, self.out);
    }
}

#[inline(always)]
fn score_block(rows: &[f64], columns: usize, w: &[f64], scale: f64, bound: f64, out: &mut [f64]) {
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(columns)) {
        let score = scale * score(row, w);
        *value = if score > bound {
            bound
        } else if score >= -bound {
            score
        } else if score < -bound {
            -bound
        } else {
            // Infinite parameters times features of both signs.
            0.0
        };
    }
}

/// Σ weight(i)·x_i in steps of `grid`, each as often as its record counts, where `weights` fills the weights of a range of rows.
pub(super) fn weighted_sum(
    records: &Records,
    grid: Grid,
    weights: impl Fn(Range<usize>, &mut [f64]) + Sync + Send,
    par: Par,
) -> Vec<i128> {
    let columns = records.columns();
    let parts = blocks::map(records.len(), par, |range| {
        let mut total = vec![0; columns];
        let mut few = vec![0; columns];
        let mut buffer = [0.0; SUB_BLOCK];
        for (piece, counts) in records.strata().pieces(range, FEW) {
            let mut start = piece.start;
            while start < piece.end {
                let end = piece.end.min(start + SUB_BLOCK);
                let weight = &mut buffer[..end - start];
                weights(start..end, weight);
                let rows = &records.features()[start * columns..end * columns];
                Arch::new().dispatch(AddRows { rows, columns, grid, weights: weight, out: &mut few });
                start = end;
            }
            exact::flush(&mut total, &mut few, counts);
        }
        total
    });
    let mut totals = vec![0; columns];
    parts.iter().for_each(|part| exact::add(&mut totals, part));
    totals
}

/// Adds weighted rows to a sum.
struct AddRows<'a> {
    rows: &'a [f64],
    columns: usize,
    grid: Grid,
    weights: &'a [f64],
    out: &'a mut [i64],
}

impl NullaryFnOnce for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        add_rows(self.rows, self.columns, self.grid, self.weights, self.out);
    }
}

/// Four rows at a time, so that the sums are loaded and stored a quarter as often. Offsets are taken off at the end: whole
/// numbers that overflow on the way come back.
#[inline(always)]
fn add_rows(rows: &[f64], columns: usize, grid: Grid, weights: &[f64], out: &mut [i64]) {
    const TOGETHER: usize = 4;
    let mut row_chunks = rows.chunks_exact(TOGETHER * columns);
    let mut weight_chunks = weights.chunks_exact(TOGETHER);
    for (four, c) in (&mut row_chunks).zip(&mut weight_chunks) {
        let (a, rest) = four.split_at(columns);
        let (b, rest) = rest.split_at(columns);
        let (e, f) = rest.split_at(columns);
        for ((((sum, a), b), e), f) in out.iter_mut().zip(a).zip(b).zip(e).zip(f) {
            let two = grid.shifted(c[0] * a).wrapping_add(grid.shifted(c[1] * b));
            let others = grid.shifted(c[2] * e).wrapping_add(grid.shifted(c[3] * f));
            *sum = sum.wrapping_add(two.wrapping_add(others));
        }
    }
    for (row, c) in row_chunks.remainder().chunks_exact(columns).zip(weight_chunks.remainder()) {
        for (sum, x) in out.iter_mut().zip(row) {
            *sum = sum.wrapping_add(grid.shifted(c * x));
        }
    }
    let offsets = grid.offset().wrapping_mul(weights.len().cast_signed() as i64);
    out.iter_mut().for_each(|sum| *sum = sum.wrapping_sub(offsets));
}
