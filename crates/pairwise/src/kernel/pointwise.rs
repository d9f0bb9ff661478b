//! Losses of single records: one pass.

use super::blocks::{self, Par};
use super::exact::Grid;
use super::rows;
use crate::{Constants, PointLoss, Problem, Records};

fn grid(problem: Problem, constants: &Constants) -> Grid {
    let (low, high) = constants.slopes;
    Grid::for_terms(problem.feature_bound() * if -low > high { -low } else { high })
}

/// Weighted rows are rounded in each coordinate, and their products and the mean are; sums over records are exact.
pub(super) fn roundings(columns: usize) -> f64 {
    16.0 + 8.0 * (columns as f64).sqrt()
}

/// Σ slope·x.
pub(super) fn total(problem: Problem, loss: PointLoss, records: &Records, w: &[f64], par: Par) -> Vec<i128> {
    let constants = problem.constants_within(Problem::norm(w));
    let weights = |range: std::ops::Range<usize>, out: &mut [f64]| {
        for (weight, index) in out.iter_mut().zip(range) {
            *weight = {
                let target = loss.read_target(records.targets()[index]);
                constants.cut_off(loss.slope(rows::score(records.row(index), w), target))
            };
        }
    };
    rows::weighted_sum(records, grid(problem, &constants), weights, par)
}

/// The gradient from the sum over all of n records.
pub(super) fn mean(problem: Problem, totals: &[i128], w: &[f64], n: usize) -> Vec<f64> {
    let grid = grid(problem, &problem.constants_within(Problem::norm(w)));
    totals.iter().map(|total| grid.weighed(*total) / n as f64).collect()
}

pub(super) fn risk(loss: PointLoss, records: &Records, w: &[f64], par: Par) -> f64 {
    let parts = blocks::map(records.len(), par, |range| {
        range
            .map(|i| loss.value(rows::score(records.row(i), w), loss.read_target(records.targets()[i])))
            .sum::<f64>()
    });
    if records.is_empty() { 0.0 } else { parts.into_iter().sum::<f64>() / records.len() as f64 }
}
