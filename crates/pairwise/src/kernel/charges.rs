//! Ranking: scores, charges, weighted sum.

use super::blocks::{Par, SUB_BLOCK};
use super::boxes::{BoxMoments, Boxes};
use super::counts::{Counts, Places, Sorted, Sorting};
use super::lanes::{self, Registers, Work};
use super::rows::Weigh;
use super::sums::{self, ClassSums, Sums};
use super::tree::Tree;
use super::{comparable, pull_back};
use crate::loss::Summation;
use crate::{MarginLoss, Objective, Problem, RankingForm, Records, Strata};
use pairdp_units::directed::up_by;
use std::ops::Range;

/// Scores are cut off here, where every loss but the squared one has long been saturated: beyond it, boxes could not be
/// numbered. A cut-off score is still a function of one record and the parameters, which is all the proofs need.
pub(crate) const LARGEST_SCORE: f64 = (1_u64 << 40) as f64;

/// What knows the charges of records by their scores.
pub(super) trait Charges: Sync {
    /// The charges of some records; to be inlined.
    fn charges<R: Registers>(&self, registers: R, scores: &[f64], targets: &[f64], out: &mut [f64]);
}

/// Rows are weighted with their charges.
pub(super) struct Charged<'a, C> {
    pub(super) charges: &'a C,
    pub(super) scores: &'a [f64],
    pub(super) targets: &'a [f64],
}

impl<C: Charges> Weigh for Charged<'_, C> {
    #[inline(always)]
    fn weigh<R: Registers>(&self, registers: R, range: Range<usize>, out: &mut [f64]) {
        self.charges.charges(registers, &self.scores[range.clone()], &self.targets[range], out);
    }
}

/// The charges of all records.
struct All<'a, C> {
    charged: Charged<'a, C>,
    out: &'a mut [f64],
}

impl<C: Charges> Work for All<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, registers: R) {
        self.charged.weigh(registers, 0..self.out.len(), self.out);
    }
}

fn all(charges: &impl Charges, scores: &[f64], targets: &[f64], out: &mut [f64]) {
    lanes::dispatch(All { charged: Charged { charges, scores, targets }, out });
}

/// A ranking problem in the indicator form: the symmetric form is φ(2m) over each pair twice, so that its gradient is the
/// indicator form's at twice the scores, times four, and its risk twice, plus φ(0) for the pairs of one class.
pub(super) struct Scaled {
    pub(super) loss: MarginLoss,
    pub(super) margin_scale: f64,
    pub(super) gradient_scale: f64,
    risk_scale: f64,
}

impl Scaled {
    pub(super) fn of(problem: Problem) -> Self {
        match problem.objective() {
            Objective::Ranking { form: RankingForm::Symmetric, loss } => {
                Self { loss, margin_scale: 2.0, gradient_scale: 4.0, risk_scale: 2.0 }
            }
            Objective::Ranking { form: RankingForm::Indicator | RankingForm::Comparable, loss }
            | Objective::Pointwise { loss: crate::PointLoss::Margin(loss) } => {
                Self { loss, margin_scale: 1.0, gradient_scale: 1.0, risk_scale: 1.0 }
            }
            Objective::Metric { .. } | Objective::Pointwise { .. } => {
                unreachable!("charges are for ranking objectives")
            }
        }
    }

    /// The public bound on scores.
    pub(super) fn bound(&self, problem: Problem, w: &[f64]) -> f64 {
        let reach = self.reach(problem, problem.norm_at(w));
        if reach < LARGEST_SCORE { reach } else { LARGEST_SCORE }
    }

    /// The largest score at parameters of a norm, before it is cut off.
    pub(super) fn reach(&self, problem: Problem, norm: f64) -> f64 {
        up_by(self.margin_scale * problem.feature_bound() * norm, 4.0)
    }
}

/// The largest charge, and n: it adds up fewer than n slopes, each at most the steepest at a margin within twice the scores.
pub(super) fn most(scaled: &Scaled, bound: f64, n: usize) -> (f64, usize) {
    let steepest = if scaled.loss.is_lipschitz() { 1.0 } else { scaled.loss.steepness(-2.0 * bound) };
    (steepest * n as f64, n)
}

/// The gradient from the weighted sum of all rows.
pub(super) fn mean(problem: Problem, scaled: &Scaled, bound: f64, totals: &[i128], n: usize) -> Vec<f64> {
    let scale = -scaled.gradient_scale / problem.pairs(n);
    let mut sums = pull_back::sums(problem, most(scaled, bound, n), totals);
    sums.iter_mut().for_each(|sum| *sum *= scale);
    sums
}

/// Whether charges come from a tree over all scores, which must then be in one place.
pub(super) fn needs_tree(loss: MarginLoss) -> bool {
    loss.summation().is_tree()
}

/// Whether pairs are those of which it is known who failed first.
pub(super) fn is_in_time(problem: Problem) -> bool {
    matches!(problem.objective(), Objective::Ranking { form: RankingForm::Comparable, .. })
}

/// Losses whose slope has a kink: charges by a tree over all scores.
pub(super) fn gradient_by_tree(problem: Problem, records: &Records, w: &[f64], par: Par) -> Vec<f64> {
    if records.len() < 2 {
        // An empty mean.
        return vec![0.0; w.len()];
    }
    let scaled = Scaled::of(problem);
    let bound = scaled.bound(problem, w);
    let scores = pull_back::scores(problem, records, w, (scaled.margin_scale, bound), Vec::new(), par);
    let tree = Tree::slopes(&scores, records.targets(), scaled.loss, par);
    let most = most(&scaled, bound, records.len());
    let charges = |range: Range<usize>, out: &mut [f64]| tree.charges(range, out);
    let totals = pull_back::weighted_sum(problem, records, w, most, &charges, par);
    mean(problem, &scaled, bound, &totals, records.len())
}

pub(super) fn risk(problem: Problem, records: &Records, w: &[f64], par: Par) -> f64 {
    let scaled = Scaled::of(problem);
    let bound = scaled.bound(problem, w);
    let scores = pull_back::scores(problem, records, w, (scaled.margin_scale, bound), Vec::new(), par);
    let targets = records.targets();
    let sum = sum_of_values(&scores, targets, scaled.loss, bound, par);
    let n = records.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mut mean = scaled.risk_scale * sum / (n * (n - 1.0));
    if scaled.margin_scale > 1.0 {
        let positives = targets.iter().filter(|t| **t > 0.0).count() as f64;
        let negatives = n - positives;
        let same_class = positives * (positives - 1.0) + negatives * (negatives - 1.0);
        mean += scaled.loss.value(0.0) * same_class / (n * (n - 1.0));
    }
    mean
}

/// Σ φ(s − t) over all positives of score s and negatives of score t.
pub(super) fn sum_of_values(scores: &[f64], targets: &[f64], loss: MarginLoss, bound: f64, par: Par) -> f64 {
    match loss.summation() {
        Summation::Boxes => Boxes::values(scores, targets, bound, par),
        Summation::Counts => {
            let (counts, places) = sorted_counts(scores, targets, bound, par);
            counts.risk(&places, scores, targets)
        }
        Summation::Sums => sums::risk(scores, targets),
        Summation::Powers { .. } | Summation::Capped => Tree::values(scores, targets, loss, par),
    }
}

/// The charges of plain records of two classes that are all in one place.
pub(super) fn of_two_classes(
    scores: &[f64],
    targets: &[f64],
    loss: MarginLoss,
    bound: f64,
    par: Par,
) -> Vec<f64> {
    let mut out = vec![0.0; scores.len()];
    let plain = Strata::plain(scores.len());
    match loss.summation() {
        Summation::Boxes => {
            let moments = BoxMoments::new(scores, targets, &plain, bound, par);
            all(&Boxes::slopes(&moments, bound, par), scores, targets, &mut out);
        }
        Summation::Counts => {
            let (counts, places) = sorted_counts(scores, targets, bound, par);
            return counts.charges(&places, targets);
        }
        Summation::Sums => {
            let sums = ClassSums::new(scores, targets, &plain, bound, par);
            all(&Sums::new(&sums, bound), scores, targets, &mut out);
        }
        Summation::Powers { .. } | Summation::Capped => {
            Tree::slopes(scores, targets, loss, par).charges(0..scores.len(), &mut out);
        }
    }
    out
}

fn sorted_counts(scores: &[f64], targets: &[f64], bound: f64, par: Par) -> (Counts, Places) {
    let positives = targets.iter().filter(|target| **target > 0.0).count() as u64;
    let sorting = Sorting::of([targets.len() as u64 - positives, positives]);
    let sorted = Sorted::new(sorting.scores(scores, targets, &[], par), bound);
    let (marks, places) = sorting.marks(&sorted, scores, targets, &[], Vec::new(), par);
    (Counts::new(sorting, sorted, &marks), places)
}

/// Roundings that a term of the gradient passes through at most, relative to steepness bounds of at least ½: sums over boxes,
/// rounded moments, and weighted rows rounded in each coordinate. Sums over records have none.
pub(super) fn roundings(problem: Problem, n: usize, columns: usize) -> f64 {
    const OVER_BOXES: f64 = 8192.0;
    const OF_MOMENTS: f64 = 16.0;
    // The tree adds up moments, and near leaves, one after the other.
    let tree = if needs_tree(Scaled::of(problem).loss) {
        (SUB_BLOCK + n.div_ceil(SUB_BLOCK) + n.div_ceil(32)) as f64
    } else {
        0.0
    };
    let cuts = if is_in_time(problem) { comparable::roundings(n) } else { 0.0 };
    2.0 * (OVER_BOXES + tree) + OF_MOMENTS + pull_back::roundings(problem, columns, 16.0) + cuts
}
