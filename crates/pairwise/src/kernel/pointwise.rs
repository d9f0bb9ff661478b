//! Losses of single records: one pass.

use super::blocks::{self, Par};
use super::rows;
use crate::{Element, PointLoss, Problem, Records};

pub(super) fn gradient<E: Element>(
    problem: Problem,
    loss: PointLoss,
    records: &Records<E>,
    w: &[f64],
    par: Par,
) -> Vec<f64> {
    let constants = problem.constants_within(Problem::norm(w));
    let weights = |range: std::ops::Range<usize>, out: &mut [f64]| {
        for (weight, index) in out.iter_mut().zip(range) {
            *weight = {
                let target = loss.read_target(records.targets()[index]);
                constants.cut_off(loss.slope(rows::score(records.row(index), w), target))
            };
        }
    };
    let mut gradient = rows::weighted_sum(records, weights, par);
    let n = records.len() as f64;
    if n > 0.0 {
        gradient.iter_mut().for_each(|value| *value /= n);
    }
    gradient
}

pub(super) fn risk<E: Element>(loss: PointLoss, records: &Records<E>, w: &[f64], par: Par) -> f64 {
    let parts = blocks::map(records.len(), par, |range| {
        range
            .map(|i| loss.value(rows::score(records.row(i), w), loss.read_target(records.targets()[i])))
            .sum::<f64>()
    });
    if records.is_empty() { 0.0 } else { parts.into_iter().sum::<f64>() / records.len() as f64 }
}
