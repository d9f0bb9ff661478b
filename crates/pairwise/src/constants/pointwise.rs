//! Losses of one record; `proofs/pointwise_constants.md`.

use super::{Constants, Regularity, maximum};
use crate::PointLoss;

pub(super) fn constants(loss: PointLoss, kappa: f64, norm: f64) -> Constants {
    let reach = kappa * norm;
    match loss {
        PointLoss::Margin(loss) => {
            let difference = replacement(kappa, reach, |score| loss.steepest(score));
            let steepest = loss.steepest(reach);
            Constants {
                gradient_bound: kappa * steepest,
                slopes: (-steepest, steepest),
                regularity: loss.regularity(kappa),
                same_term_difference: kappa * loss.variation(reach),
                pair_difference: difference,
                symmetric_difference: difference,
                tight: true,
            }
        }
        PointLoss::Residual { q, target_bound } => {
            let slope = |score: f64| q * (target_bound + score).powf(q - 1.0);
            let difference = replacement(kappa, reach, slope);
            Constants {
                gradient_bound: kappa * slope(reach),
                slopes: (-slope(reach), slope(reach)),
                regularity: if q < 2.0 {
                    // |t|^{q−1}·sign(t) is Hölder with constant 2^{2−q}.
                    Regularity::Hoelder { exponent: q - 1.0, constant: q * (2.0 - q).exp2() * kappa.powf(q) }
                } else {
                    Regularity::Smooth { constant: 2.0 * kappa * kappa }
                },
                // A residual moves by at most 2κr between two parameters; odd powers vary most around 0.
                same_term_difference: kappa * q * 2.0 * reach.powf(q - 1.0),
                pair_difference: difference,
                symmetric_difference: difference,
                tight: true,
            }
        }
    }
}

/// sup ‖c(w·u)u − c(w·u')u'‖ over u, u' of norm at most κ, for a steepness c ≥ 0 that grows with the score: two
/// vectors mirrored at w, 2κ·sinθ·c(κr·cosθ), at the best angle.
fn replacement(kappa: f64, reach: f64, steepness: impl Fn(f64) -> f64) -> f64 {
    if reach.is_infinite() {
        return 2.0 * kappa * steepness(reach);
    }
    let at = |angle: f64| 2.0 * kappa * angle.sin() * steepness(reach * angle.cos());
    maximum(at, std::f64::consts::FRAC_PI_2) * (1.0 + 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MarginLoss;

    #[test]
    fn closed_forms_of_the_literature() {
        let logistic = constants(PointLoss::Margin(MarginLoss::Logistic), 1.0, 1.0);
        assert!((logistic.pair_difference - 1.0991).abs() < 1e-4, "{logistic:?}");
        let squared = constants(PointLoss::Residual { q: 2.0, target_bound: 1.0 }, 1.0, 1.0);
        assert!((squared.pair_difference - 27.0_f64.sqrt()).abs() < 1e-4, "{squared:?}");
        let hinge = constants(PointLoss::Margin(MarginLoss::Hinge), 1.0, 1.0);
        assert!((hinge.pair_difference - 2.0).abs() < 1e-5);
    }
}
