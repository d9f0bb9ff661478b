//! Losses of a margin.

use super::{Constants, Regularity};
use crate::MarginLoss;
use crate::loss::logistic;
use pairdp_units::directed::{larger, smaller};

/// The largest steepness at margins down to −`reach`.
pub(super) fn steepest(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => 1.0,
        MarginLoss::Logistic => logistic(reach),
        MarginLoss::CappedLogistic => 0.5,
        MarginLoss::Squared => 2.0 * (1.0 + reach),
        MarginLoss::QHinge { q } => q * (1.0 + reach).powf(q - 1.0),
    }
}

/// The least steepness at margins up to `reach`: below 0 for the squared loss alone.
pub(super) fn flattest(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::Squared => 2.0 * (1.0 - reach),
        MarginLoss::Hinge | MarginLoss::Logistic | MarginLoss::CappedLogistic | MarginLoss::QHinge { .. } => {
            0.0
        }
    }
}

/// How far the steepness can vary over margins within ±`reach`.
pub(super) fn variation(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => 1.0,
        MarginLoss::Logistic => (reach / 2.0).tanh(),
        MarginLoss::CappedLogistic => 0.5 * (reach / 2.0).tanh(),
        MarginLoss::Squared => 4.0 * reach,
        MarginLoss::QHinge { q } => steepest(loss, reach) - q * larger(1.0 - reach, 0.0).powf(q - 1.0),
    }
}

/// Regularity of φ(w·v) in w for ‖v‖ ≤ `length`.
pub(super) fn regularity(loss: MarginLoss, length: f64) -> Regularity {
    match loss {
        MarginLoss::Hinge => Regularity::Jumps,
        MarginLoss::Logistic | MarginLoss::CappedLogistic => {
            Regularity::Smooth { constant: length * length / 4.0 }
        }
        MarginLoss::Squared => Regularity::Smooth { constant: 2.0 * length * length },
        MarginLoss::QHinge { q } => Regularity::Hoelder { exponent: q - 1.0, constant: q * length.powf(q) },
    }
}

/// A pair's gradient is −a·v with ‖v‖ ≤ `length` (2κ, or 4κ in the symmetric form); `orders` is how many of the two
/// orders of a pair count. D_pair = G: `proofs/ranking_sensitivity.md`.
pub(super) fn ranking(loss: MarginLoss, length: f64, norm: f64, orders: f64) -> Constants {
    let reach = length * norm;
    let gradient_bound = length * steepest(loss, reach);
    Constants {
        gradient_bound,
        slopes: (smaller(flattest(loss, reach), 0.0), steepest(loss, reach)),
        regularity: regularity(loss, length),
        same_term_difference: length * variation(loss, reach),
        pair_difference: gradient_bound,
        symmetric_difference: orders * gradient_bound,
        tight: true,
    }
}
