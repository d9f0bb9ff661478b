//! Losses of the margin of a pair of which it is known who failed first: `proofs/comparable_pairs.md`.

use super::{Constants, maximum, ranking};
use crate::MarginLoss;
use pairdp_units::directed::smaller;

/// As for other pairs, but that one record can turn all of its pairs round: a pull becomes a push.
pub(super) fn constants(loss: MarginLoss, kappa: f64, norm: f64) -> Constants {
    let reach = kappa * norm;
    let turned = 2.0 * kappa * turned_round(loss, reach);
    let of_pairs = ranking::constants(loss, 2.0 * kappa, norm, 1.0);
    // The bounds on powers are attained at reach 0 alone.
    let tight = of_pairs.tight && matches!(loss, MarginLoss::Hinge | MarginLoss::Logistic);
    Constants { pair_difference: turned, symmetric_difference: turned, tight, ..of_pairs }
}

/// The same for scores of which only their bound κ·`norm` is known: both slopes can be steep at once, and both terms parallel. Their
/// margins add up to no less than −2κ·`norm`, and slopes are concave there, so that two equal ones are the most.
pub(super) fn free(loss: MarginLoss, kappa: f64, norm: f64) -> f64 {
    4.0 * kappa * loss.steepest(kappa * norm)
}

/// A bound on a + b, the steepness of a pair before and after it was turned round, times how far the two terms are from parallel.
fn turned_round(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::CappedLogistic => 1.0,
        MarginLoss::Squared => 4.0 * (1.0 + reach),
        MarginLoss::QHinge { q } => 2.0 * q * (1.0 + reach).powf(q - 1.0),
        MarginLoss::Logistic if reach.is_finite() => {
            let at = |angle: f64| loss.steepness(-reach * angle.sin()) * (1.0 + angle.cos());
            smaller(maximum(at, std::f64::consts::FRAC_PI_2) * (1.0 + 1e-6), 2.0)
        }
        MarginLoss::Hinge | MarginLoss::Logistic => 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of T in high precision, from the formula alone.
    #[test]
    fn the_logistic_bound_grows_from_one_to_two() {
        for (reach, expected) in [
            (0.0, 1.0),
            (0.1, 1.0025),
            (0.3, 1.0212),
            (1.0, 1.1638),
            (2.0, 1.3841),
            (5.0, 1.7261),
            (20.0, 1.9551),
        ] {
            let found = turned_round(MarginLoss::Logistic, reach);
            assert!((found - expected).abs() < 5.1e-5 + 2e-6, "{found} at {reach}");
        }
        // Far out it is 2 less about 2·ln(R)²/R² (from its formula), found however narrow its peak is.
        for reach in [1e3, 1e5, 1e8, 1e12] {
            let found = turned_round(MarginLoss::Logistic, reach);
            assert!(found <= 2.0 && found > 2.0 - 2e-4, "{found} at {reach}");
        }
        assert!(turned_round(MarginLoss::Logistic, f64::INFINITY) >= 2.0);
    }
}
