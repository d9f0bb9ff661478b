//! Losses of a squared Mahalanobis distance; `proofs/metric_constants.md`.
//!
//! A pair's gradient is b·vvᵀ with ‖v‖ ≤ 2κ, so ‖vvᵀ‖ ≤ R = 4κ², and the distance M = vᵀWv lies in [0, rR] for
//! positive semidefinite W and in ±rR otherwise (the nuclear ball allows no less: its extreme points are rank one).

use super::{Constants, Regularity};
use crate::loss::logistic;
use crate::{Labels, MetricLoss, Problem};
use pairdp_units::directed::larger;

/// `length` is R.
pub(super) fn constants(loss: MetricLoss, problem: Problem, length: f64, norm: f64) -> Constants {
    let reach = length * norm;
    let lowest = if problem.domain().is_psd() { 0.0 } else { -reach };
    // The largest slopes b of a pair of one class, −b of a pair of two, and how far a slope can vary.
    let (pull, push, variation, regularity) = match loss {
        MetricLoss::Hinge => (1.0, 1.0, 1.0, Regularity::Jumps),
        MetricLoss::Logistic => (
            logistic(reach - 1.0),
            logistic(1.0 - lowest),
            logistic(reach - 1.0) - logistic(lowest - 1.0),
            Regularity::Smooth { constant: length * length * steepest_curvature(reach) },
        ),
    };
    // With private labels a pull can become a push; two pulls (or two pushes) differ by no more than the larger.
    let pair_difference = match problem.labels() {
        Labels::Private => length * (pull + push),
        Labels::Public => length * larger(pull, push),
    };
    Constants {
        gradient_bound: length * larger(pull, push),
        slopes: (-push, pull),
        regularity,
        same_term_difference: length * variation,
        pair_difference,
        symmetric_difference: 2.0 * pair_difference,
        // The steepest pull and the steepest push need different distances, which one W cannot always give.
        tight: loss == MetricLoss::Hinge,
    }
}

/// sup σ'(M − 1) over reachable distances: ¼ at M = 1, if that can be reached.
fn steepest_curvature(reach: f64) -> f64 {
    if reach >= 1.0 {
        return 0.25;
    }
    let s = logistic(reach - 1.0);
    s * (1.0 - s)
}
