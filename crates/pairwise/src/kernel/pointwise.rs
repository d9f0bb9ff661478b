//! Losses of single records: one pass.

use super::blocks::{self, Par};
use super::network::{self, Layers};
use super::{pull_back, rows};
use crate::{Constants, PointLoss, Problem, Records, Score};
use std::ops::Range;

/// The largest slope, and n.
fn most(constants: &Constants, n: usize) -> (f64, usize) {
    let (low, high) = constants.slopes;
    (if -low > high { -low } else { high }, n)
}

/// Weighted rows are rounded in each coordinate, and their products and the mean are; sums over records are exact.
pub(super) fn roundings(problem: Problem, columns: usize) -> f64 {
    16.0 + pull_back::roundings(problem, columns, 8.0)
}

/// Σ slope·(gradient of the score) over some of n records.
pub(super) fn total(
    problem: Problem,
    loss: PointLoss,
    records: &Records,
    n: usize,
    w: &[f64],
    par: Par,
) -> Vec<i128> {
    let norm = problem.norm_at(w);
    let constants = problem.constants_within(norm);
    let slope = |index: usize, score: f64| {
        let target = loss.read_target(records.targets()[index]);
        constants.cut_off(loss.slope(score, target))
    };
    let most = most(&constants, n);
    match problem.score() {
        Score::Linear => {
            let weights = |range: Range<usize>, out: &mut [f64]| {
                for (weight, index) in out.iter_mut().zip(range) {
                    *weight = slope(index, rows::score(records.row(index), w));
                }
            };
            pull_back::weighted_sum(problem, records, w, most, &weights, par)
        }
        Score::Network(form) => {
            let layers = Layers::new(form, problem.feature_bound(), w);
            let bound = pairdp_units::directed::up_by(problem.feature_bound() * norm, 4.0);
            let weights = |range: Range<usize>, scores: &[f64], out: &mut [f64]| {
                for ((weight, score), index) in out.iter_mut().zip(scores).zip(range) {
                    *weight = slope(index, *score);
                }
            };
            network::weighted_sum(records, &layers, most, Some(bound), weights, par)
        }
        Score::Foreign(_) => pull_back::elsewhere(),
    }
}

/// The gradient from the sum over all of n records.
pub(super) fn mean(problem: Problem, totals: &[i128], w: &[f64], n: usize) -> Vec<f64> {
    let most = most(&problem.constants_within(problem.norm_at(w)), n);
    let mut sums = pull_back::sums(problem, most, totals);
    sums.iter_mut().for_each(|sum| *sum /= n as f64);
    sums
}

pub(super) fn risk(problem: Problem, loss: PointLoss, records: &Records, w: &[f64], par: Par) -> f64 {
    let layers = match problem.score() {
        Score::Linear => None,
        Score::Network(form) => Some(Layers::new(form, problem.feature_bound(), w)),
        Score::Foreign(_) => pull_back::elsewhere(),
    };
    let score = |i: usize| match &layers {
        None => rows::score(records.row(i), w),
        Some(layers) => layers.score(records.row(i)),
    };
    let parts = blocks::map(records.len(), par, |range| {
        range.map(|i| loss.value(score(i), loss.read_target(records.targets()[i]))).sum::<f64>()
    });
    if records.is_empty() { 0.0 } else { parts.into_iter().sum::<f64>() / records.len() as f64 }
}
