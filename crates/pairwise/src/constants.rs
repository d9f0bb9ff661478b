//! Worst-case constants of a problem, in closed form.

use crate::{Loss, Problem};
use pairdp_units::directed::up_by;

/// Constants that hold for every pair of records and every point of the domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// G: the largest norm of a pair's gradient.
    pub gradient_bound: f64,
    /// L: the smoothness of one pair's loss.
    pub smoothness: f64,
}

impl Constants {
    /// The closed forms; κ bounds the features, B is the radius of the domain.
    ///
    /// Logistic: G = 2κ·σ(2κB), L = κ² (σ' ≤ ¼ and ‖x − x'‖² ≤ 4κ²). Both are attained.
    pub(crate) fn of(problem: Problem) -> Self {
        let kappa = problem.feature_bound();
        match problem.loss() {
            Loss::Logistic => Self {
                gradient_bound: up_by(2.0 * kappa * problem.steepness_bound(problem.domain().radius()), 2.0),
                smoothness: up_by(kappa * kappa, 1.0),
            },
        }
    }
}
