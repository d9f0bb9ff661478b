//! Ranking: scores, charges, weighted sum.

use super::blocks::{self, Par};
use super::boxes::Boxes;
use super::counts::Counts;
use super::rows;
use super::sums::Sums;
use super::tree::Tree;
use crate::{Element, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_units::directed::up_by;

/// Scores are cut off here, where every loss but the squared one has long been saturated: beyond it, boxes could not be
/// numbered. A cut-off score is still a function of one record and the parameters, which is all the proofs need.
const LARGEST_SCORE: f64 = (1_u64 << 40) as f64;

/// What a charge kernel knows once it has seen all scores.
enum Field {
    Boxes(Boxes),
    Counts(Counts),
    Sums(Sums),
    Tree(Tree),
}

/// A ranking problem in the indicator form: the symmetric form is φ(2m) over each pair twice, so that its gradient is the
/// indicator form's at twice the scores, times four, and its risk twice, plus φ(0) for the pairs of one class.
struct Scaled {
    loss: MarginLoss,
    margin_scale: f64,
    gradient_scale: f64,
    risk_scale: f64,
}

impl Scaled {
    fn of(problem: Problem) -> Self {
        match problem.objective() {
            Objective::Ranking { form: RankingForm::Symmetric, loss } => {
                Self { loss, margin_scale: 2.0, gradient_scale: 4.0, risk_scale: 2.0 }
            }
            Objective::Ranking { form: RankingForm::Indicator, loss }
            | Objective::Pointwise { loss: crate::PointLoss::Margin(loss) } => {
                Self { loss, margin_scale: 1.0, gradient_scale: 1.0, risk_scale: 1.0 }
            }
            Objective::Metric { .. } | Objective::Pointwise { .. } => {
                unreachable!("charges are for ranking objectives")
            }
        }
    }

    /// The scores of all records within their public bound, and that bound.
    fn scores<E: Element>(
        &self,
        problem: Problem,
        records: &Records<E>,
        w: &[f64],
        par: Par,
    ) -> (Vec<f64>, f64) {
        let reach = up_by(self.margin_scale * problem.feature_bound() * Problem::norm(w), 4.0);
        let bound = if reach < LARGEST_SCORE { reach } else { LARGEST_SCORE };
        (rows::scores(records, w, self.margin_scale, bound, par), bound)
    }
}

pub(super) fn gradient<E: Element>(problem: Problem, records: &Records<E>, w: &[f64], par: Par) -> Vec<f64> {
    let scaled = Scaled::of(problem);
    let (scores, bound) = scaled.scores(problem, records, w, par);
    let targets = records.targets();
    let field = match scaled.loss {
        MarginLoss::Logistic => Field::Boxes(Boxes::slopes(&scores, targets, bound, par)),
        MarginLoss::Hinge => Field::Counts(Counts::new(&scores, targets, bound, par)),
        MarginLoss::Squared => Field::Sums(Sums::new(&scores, targets, par)),
        MarginLoss::QHinge { q } => Field::Tree(Tree::slopes(&scores, targets, q, par)),
    };
    let weights = |range: std::ops::Range<usize>, out: &mut [f64]| {
        let (scores, targets) = (&scores[range.clone()], &targets[range.clone()]);
        match &field {
            Field::Boxes(boxes) => boxes.charges(scores, targets, out),
            Field::Counts(counts) => counts.charges(range, out),
            Field::Sums(sums) => sums.charges(scores, targets, out),
            Field::Tree(tree) => tree.charges(range, out),
        }
    };
    if records.len() < 2 {
        // An empty mean.
        return vec![0.0; records.columns()];
    }
    let mut gradient = rows::weighted_sum(records, weights, par);
    let n = records.len() as f64;
    for value in &mut gradient {
        *value *= -scaled.gradient_scale / (n * (n - 1.0));
    }
    gradient
}

pub(super) fn risk<E: Element>(problem: Problem, records: &Records<E>, w: &[f64], par: Par) -> f64 {
    let scaled = Scaled::of(problem);
    let (scores, bound) = scaled.scores(problem, records, w, par);
    let targets = records.targets();
    let sum = match scaled.loss {
        MarginLoss::Logistic => Boxes::values(&scores, targets, bound, par),
        MarginLoss::Hinge => Counts::new(&scores, targets, bound, par).risk(&scores, targets),
        MarginLoss::Squared => Sums::new(&scores, targets, par).risk(&scores, targets),
        MarginLoss::QHinge { q } => Tree::values(&scores, targets, q, par),
    };
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

/// Roundings that a term of the gradient passes through at most: twice those of a blocked moment sum (for steepness
/// bounds of at least ½), a fixed number for the sums over boxes, and those of the weighted sum.
pub(super) fn roundings(problem: Problem, n: usize) -> f64 {
    const OVER_BOXES: f64 = 8192.0;
    let moments = blocks::length(n) as f64 + n.div_ceil(blocks::length(n)) as f64 + OVER_BOXES;
    // The tree adds near leaves one after the other.
    let leaves = match Scaled::of(problem).loss {
        MarginLoss::QHinge { .. } => n.div_ceil(32) as f64,
        MarginLoss::Hinge | MarginLoss::Logistic | MarginLoss::Squared => 0.0,
    };
    2.0 * (moments + leaves) + blocks::depth(n)
}
