//! Losses of the margin of a pair: `proofs/ranking_sensitivity.md`.

use super::Constants;
use crate::MarginLoss;
use pairdp_units::directed::smaller;

/// A pair's gradient is −a·v with ‖v‖ ≤ `length`; `orders` is how many of the two orders of a pair count. D_pair = G.
pub(super) fn constants(loss: MarginLoss, length: f64, norm: f64, orders: f64) -> Constants {
    let reach = length * norm;
    let gradient_bound = length * loss.steepest(reach);
    Constants {
        gradient_bound,
        slopes: (smaller(loss.flattest(reach), 0.0), loss.steepest(reach)),
        regularity: loss.regularity(length),
        same_term_difference: length * loss.variation(reach),
        pair_difference: gradient_bound,
        symmetric_difference: orders * gradient_bound,
        tight: true,
    }
}
