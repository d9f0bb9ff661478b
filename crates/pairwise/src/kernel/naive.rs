//! The definition, term by term: the oracle for every faster kernel.

use super::rows::score;
use super::single::{pair_gradient, quadratic_form, record_gradient, same_class};
use crate::{Network, Objective, Problem, RankingForm, Records, Score, strata};
use pairdp_units::signed_time;

/// The gradient of the mean loss by adding up every pair (or record), each by what its records count: O(n²d).
pub fn gradient(problem: Problem, records: &Records, w: &[f64]) -> Vec<f64> {
    if let Score::Network(form) = problem.score() {
        return of_network(problem, form, records, w);
    }
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
    let point = |i: usize| match problem.score() {
        Score::Linear => score(records.row(i), w),
        Score::Network(form) => score_and_gradient(problem, form, records.row(i), w).0,
        Score::Foreign(_) => super::pull_back::elsewhere(),
    };
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

/// The score of a network and its gradient, entry by entry, scaled down to κ.
pub fn score_and_gradient(problem: Problem, form: Network, row: &[f64], w: &[f64]) -> (f64, Vec<f64>) {
    let (d, kappa) = (row.len(), problem.feature_bound());
    let (alpha, k) = form.scales(kappa);
    let (v, rest) = w.split_at(d);
    let (u, rest) = rest.split_at(form.hidden);
    let (b, inner) = rest.split_at(form.hidden);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let a: Vec<f64> =
        inner.chunks_exact(d).zip(b).map(|(line, b)| (dot(line, row) / kappa + b).tanh()).collect();
    let mut gradient: Vec<f64> = row.iter().map(|x| alpha * x).collect();
    gradient.extend(a.iter().map(|a| k * a));
    let delta: Vec<f64> = a.iter().zip(u).map(|(a, u)| k * u * (1.0 - a * a)).collect();
    gradient.extend(&delta);
    gradient.extend(delta.iter().flat_map(|delta| row.iter().map(move |x| delta * x / kappa)));
    crate::clip_row(&mut gradient, kappa);
    (alpha * dot(v, row) + k * dot(u, &a), gradient)
}

/// The same for a network: scores and gradients of all records, one by one, and then every term.
fn of_network(problem: Problem, form: Network, records: &Records, w: &[f64]) -> Vec<f64> {
    let n = records.len();
    let constants = problem.constants_within(problem.norm_at(w));
    let all: Vec<(f64, Vec<f64>)> =
        (0..n).map(|i| score_and_gradient(problem, form, records.row(i), w)).collect();
    let mut sum = vec![0.0; w.len()];
    let mut add = |weight: f64, i: usize| {
        sum.iter_mut().zip(&all[i].1).for_each(|(sum, slope)| *sum += weight * slope);
    };
    let target = |i: usize| records.targets()[i];
    if let Objective::Pointwise { loss } = problem.objective() {
        (0..n).for_each(|i| add(constants.cut_off(loss.slope(all[i].0, loss.read_target(target(i)))), i));
        return mean(sum, n as f64);
    }
    let Objective::Ranking { form, loss } = problem.objective() else { return sum };
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let scale = match form {
                RankingForm::Indicator => f64::from(u8::from(target(i) > 0.0 && target(j) <= 0.0)),
                RankingForm::Comparable => f64::from(u8::from(signed_time::is_before(target(i), target(j)))),
                RankingForm::Symmetric => target(i) - target(j),
            };
            if scale == 0.0 {
                continue;
            }
            let pull = scale * constants.cut_off(loss.steepness(scale * (all[i].0 - all[j].0)));
            add(-pull, i);
            add(pull, j);
        }
    }
    mean(sum, problem.pairs(n))
}

fn mean(mut sum: Vec<f64>, count: f64) -> Vec<f64> {
    if count > 0.0 {
        sum.iter_mut().for_each(|value| *value /= count);
    }
    sum
}
