//! From scores to charges and back, whatever the scores are.

use super::blocks::Par;
use super::exact::Grid;
use super::lanes::{self, Registers, Work};
use super::network::{self, Layers};
use super::rows::{self, Weigh};
use crate::{Problem, Records, Score};
use std::ops::Range;

/// `scale` times the score of every record, cut off at ±`bound`, in the memory of `room` if it is of use.
pub(super) fn scores(
    problem: Problem,
    records: &Records,
    w: &[f64],
    (scale, bound): (f64, f64),
    room: Vec<f64>,
    par: Par,
) -> Vec<f64> {
    match problem.score() {
        Score::Linear => rows::scores(records, w, (scale, bound), room, par),
        Score::Network(form) => {
            let layers = Layers::new(form, problem.feature_bound(), w);
            network::scores(records, &layers, scale, bound, par)
        }
        Score::Foreign(_) => elsewhere(),
    }
}

/// Σ weight(i)·(gradient of the score of record i) over some of n records, in whole numbers, for weights of at most `most`.
pub(super) fn weighted_sum(
    problem: Problem,
    records: &Records,
    w: &[f64],
    (most, n): (f64, usize),
    weights: &impl Weigh,
    par: Par,
) -> Vec<i128> {
    match problem.score() {
        Score::Linear => rows::weighted_sum(records, grid(problem, most), weights, par),
        Score::Network(form) => {
            let layers = Layers::new(form, problem.feature_bound(), w);
            let weights = |range: Range<usize>, _: &[f64], out: &mut [f64]| {
                lanes::dispatch(WeighBlock { weights, range, out });
            };
            network::weighted_sum(records, &layers, (most, n), None, weights, par)
        }
        Score::Foreign(_) => elsewhere(),
    }
}

/// The weights of a block of rows.
struct WeighBlock<'a, W> {
    weights: &'a W,
    range: Range<usize>,
    out: &'a mut [f64],
}

impl<W: Weigh> Work for WeighBlock<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, registers: R) {
        self.weights.weigh(registers, self.range, self.out);
    }
}

/// The sum as numbers.
pub(super) fn sums(problem: Problem, (most, n): (f64, usize), totals: &[i128]) -> Vec<f64> {
    match problem.score() {
        Score::Linear => {
            let grid = grid(problem, most);
            totals.iter().map(|total| grid.weighed(*total)).collect()
        }
        Score::Network(form) => network::sums(form, problem.feature_bound(), most, n, totals),
        Score::Foreign(_) => elsewhere(),
    }
}

/// Roundings that follow weights into a sum.
pub(super) fn roundings(problem: Problem, columns: usize, linear: f64) -> f64 {
    match problem.score() {
        Score::Linear => linear * (columns as f64).sqrt(),
        Score::Network(form) => network::roundings(form.parameters(columns)),
        Score::Foreign(form) => network::roundings(form.parameters),
    }
}

/// A caller that asks here for what [`super::foreign`] is for.
pub(super) fn elsewhere() -> ! {
    unreachable!("foreign scores are computed elsewhere")
}

fn grid(problem: Problem, most: f64) -> Grid {
    Grid::for_terms(problem.feature_bound() * most)
}
