//! The definition, term by term: the oracle for every faster kernel.

use super::rows::score;
use super::single::{pair_gradient, quadratic_form, record_gradient, same_class};
use crate::{Objective, Problem, RankingForm, Records, strata};
use pairdp_units::signed_time;

/// The gradient of the mean loss by adding up every pair (or record), each by what its records count: O(n²d).
pub fn gradient(problem: Problem, records: &Records, w: &[f64]) -> Vec<f64> {
    let (n, size) = (records.len(), records.size());
    let whole = records.strata().weights();
    let weight = |i: usize| whole.get(i).map_or(1.0, |weight| *weight as f64 * strata::unit());
    let mut sum = vec![0.0; w.len()];
    let mut term = vec![0.0; w.len()];
    let constants = problem.constants_within(Problem::norm(w));
    let mut add = |weight: f64, term: &[f64]| sum.iter_mut().zip(term).for_each(|(s, t)| *s += weight * t);
    if let Objective::Pointwise { .. } = problem.objective() {
        for i in 0..n {
            record_gradient(problem, &constants, records, i, w, &mut term);
            add(weight(i), &term);
        }
        return mean(sum, size as f64);
    }
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            pair_gradient(problem, &constants, records, (i, j), w, &mut term);
            add(weight(i) * weight(j), &term);
        }
    }
    mean(sum, problem.pairs(size))
}

/// The mean loss by adding up every pair (or record).
pub fn risk(problem: Problem, records: &Records, w: &[f64]) -> f64 {
    let n = records.len();
    let target = |i: usize| records.targets()[i];
    let point = |i: usize| score(records.row(i), w);
    let pair =
        |i: usize, j: usize| match problem.objective() {
            Objective::Ranking { form: RankingForm::Indicator, loss } => {
                if target(i) > 0.0 && target(j) < 0.0 { loss.value(point(i) - point(j)) } else { 0.0 }
            }
            Objective::Ranking { form: RankingForm::Comparable, loss } => {
                let known = signed_time::is_before(target(i), target(j));
                if known { loss.value(point(i) - point(j)) } else { 0.0 }
            }
            Objective::Ranking { form: RankingForm::Symmetric, loss } => {
                loss.value((target(i) - target(j)) * (point(i) - point(j)))
            }
            Objective::Metric { loss } => {
                let v: Vec<f64> = records.row(i).iter().zip(records.row(j)).map(|(a, b)| a - b).collect();
                loss.value(quadratic_form(&v, w), same_class(target(i), target(j)))
            }
            Objective::Pointwise { .. } => 0.0,
        };
    if let Objective::Pointwise { loss } = problem.objective() {
        let sum: f64 = (0..n).map(|i| loss.value(point(i), loss.read_target(target(i)))).sum();
        return if n > 0 { sum / n as f64 } else { 0.0 };
    }
    if n < 2 {
        return 0.0;
    }
    let sum: f64 = (0..n)
        .flat_map(|i| (0..n).filter(move |j| *j != i).map(move |j| (i, j)))
        .map(|(i, j)| pair(i, j))
        .sum();
    sum / (n as f64 * (n as f64 - 1.0))
}

fn mean(mut sum: Vec<f64>, count: f64) -> Vec<f64> {
    if count > 0.0 {
        sum.iter_mut().for_each(|value| *value /= count);
    }
    sum
}
