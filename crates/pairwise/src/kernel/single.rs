//! The gradient of one term, for stochastic steps: O(d) for scores, O(d²) for metrics.

use super::rows::score;
use crate::{Constants, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_units::signed_time;
use pulp::{Arch, NullaryFnOnce};

/// Sets `out` to the gradient of the ordered pair (i, j). Pairs without a loss, and i = j, give 0. Slopes are cut off at the
/// range of `constants`, which must be the ones that the caller's sensitivity rests on.
///
/// # Panics
/// For pointwise objectives, which have no pairs, for networks, and if `out` has the wrong length: mistakes of the caller.
#[inline]
pub fn pair_gradient(
    problem: Problem,
    constants: &Constants,
    records: &Records,
    (i, j): (usize, usize),
    w: &[f64],
    out: &mut [f64],
) {
    assert_eq!(out.len(), w.len(), "one entry for each parameter");
    assert!(problem.score().is_linear(), "terms of a network are summed over the whole table only");
    let (a, b) = (records.row(i), records.row(j));
    let (first, second) = (records.targets()[i], records.targets()[j]);
    match problem.objective() {
        Objective::Ranking { form, loss } => {
            let scale = match form {
                RankingForm::Indicator if first > 0.0 && second < 0.0 => 1.0,
                RankingForm::Comparable if signed_time::is_before(first, second) => 1.0,
                RankingForm::Symmetric => first - second,
                RankingForm::Indicator | RankingForm::Comparable => 0.0,
            };
            if scale == 0.0 {
                return out.fill(0.0);
            }
            Arch::new().dispatch(RankingTerm { loss, scale, constants, rows: (a, b), w, out });
        }
        Objective::Metric { loss } => {
            let v: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
            let slope = loss.slope(quadratic_form(&v, w), same_class(first, second));
            let slope = constants.cut_off(slope);
            for (row, x) in out.chunks_exact_mut(v.len()).zip(&v) {
                row.iter_mut().zip(&v).for_each(|(value, y)| *value = slope * x * y);
            }
        }
        Objective::Pointwise { .. } => panic!("a pointwise objective has no pairs"),
    }
}

/// The gradient of a ranker's pair.
struct RankingTerm<'a> {
    loss: MarginLoss,
    scale: f64,
    constants: &'a Constants,
    rows: (&'a [f64], &'a [f64]),
    w: &'a [f64],
    out: &'a mut [f64],
}

impl NullaryFnOnce for RankingTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { loss, scale, constants, rows: (a, b), w, out } = self;
        // The difference of two computed scores: a function of each record and w.
        let margin = scale * (score(a, w) - score(b, w));
        let steepness = constants.cut_off(loss.steepness(margin));
        for ((value, x), y) in out.iter_mut().zip(a).zip(b) {
            *value = -steepness * scale * (x - y);
        }
    }
}

/// Sets `out` to the gradient of record i, its slope cut off at the range of `constants`.
///
/// # Panics
/// For pairwise objectives and networks: mistakes of the caller.
#[inline]
pub fn record_gradient(
    problem: Problem,
    constants: &Constants,
    records: &Records,
    i: usize,
    w: &[f64],
    out: &mut [f64],
) {
    let Objective::Pointwise { loss } = problem.objective() else {
        panic!("a pairwise objective has no gradient of one record");
    };
    assert!(problem.score().is_linear(), "terms of a network are summed over the whole table only");
    let slope = loss.slope(score(records.row(i), w), loss.read_target(records.targets()[i]));
    let slope = constants.cut_off(slope);
    for (value, x) in out.iter_mut().zip(records.row(i)) {
        *value = slope * x;
    }
}

/// vᵀWv.
#[inline(always)]
pub(crate) fn quadratic_form(v: &[f64], w: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (row, x) in w.chunks_exact(v.len()).zip(v) {
        sum += x * score(row, v);
    }
    sum
}

/// Class numbers are small whole numbers, stored exactly.
#[expect(clippy::float_cmp, reason = "whole numbers")]
#[inline(always)]
pub(crate) fn same_class(a: f64, b: f64) -> bool {
    a == b
}
