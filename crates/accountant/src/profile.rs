//! The privacy profile of one step, exactly: δ(ε) = H_{e^ε}(P‖Q) for every real ε.
//!
//! For ε ≥ 0 it is the integral of the positive function p − e^ε·q from where the loss exceeds ε, by the same rules
//! as the cells of the discretisation; for ε < 0, H_α(P‖Q) = 1 − α + α·H_{1/α}(Q‖P).

use crate::AccountantError;
use crate::discretise::{MASS_ULPS, upper_gain};
use crate::pair::Pair;
use pairdp_units::directed::{smaller, up_by};

/// Mass that a mixture of very many terms may leave out, which is then counted as lost.
const LEFT_OUT: f64 = 1e-40;

/// δ(ε) of one step, to a relative error of about 10⁻¹³; never too small, for mixtures of many terms too large by up to 10⁻⁴⁰.
///
/// # Errors
/// [`AccountantError::Ratio`] when a shift of the pair or ε is not a finite number.
pub fn delta(pair: Pair, epsilon: f64) -> Result<f64, AccountantError> {
    let shift = pair.without_sampling().unwrap_or(0.0);
    if !(shift.is_finite() && shift >= 0.0 && epsilon.is_finite()) {
        return Err(AccountantError::Ratio(shift));
    }
    if epsilon < 0.0 {
        return Ok(-epsilon.exp_m1() + epsilon.exp() * delta(pair.reversed(), -epsilon)?);
    }
    let parts = pair.parts(LEFT_OUT);
    let atoms = parts
        .atoms
        .iter()
        .map(|&(loss, mass)| if loss > epsilon { mass * -(epsilon - loss).exp_m1() } else { 0.0 });
    let sides = parts.sides.iter().filter(|(_, direct)| *direct).map(|(side, _)| upper_gain(side, epsilon));
    Ok(smaller(parts.infinite + atoms.sum::<f64>() + if shift > 0.0 { sides.sum::<f64>() } else { 0.0 }, 1.0))
}

/// The smallest ε ≥ 0 with δ(ε) ≤ δ, rounded up.
pub(crate) fn epsilon(pair: Pair, target: f64) -> Result<f64, AccountantError> {
    let exceeds = |epsilon: f64| {
        let delta = up_by(delta(pair, epsilon)?, 16.0 * MASS_ULPS);
        if delta.is_nan() {
            Err(AccountantError::NoConvergence("δ of one step is not a number"))
        } else {
            Ok(delta > target)
        }
    };
    if !exceeds(0.0)? {
        return Ok(0.0);
    }
    let mut high = 1.0;
    while exceeds(high)? {
        high *= 2.0;
        if high > 1e9 {
            return Ok(f64::INFINITY);
        }
    }
    let mut low = 0.0;
    while high - low > 1e-13 * high {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            break;
        }
        if exceeds(middle)? { low = middle } else { high = middle }
    }
    Ok(high)
}
