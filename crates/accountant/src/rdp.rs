//! Rényi accounting: a second opinion that shares no numerics with the discretised losses.
//!
//! The Rényi divergence of order α is K(α−1)/(α−1) with K the log-moment of the loss, and it adds up. It converts
//! to ε by Canonne, Kamath and Steinke (2020), Proposition 12:
//!
//! ε = min over α > 1 of [T·K(α−1) + (α−1)·log(1 − 1/α) − log α − log δ]/(α − 1),
//!
//! minimised over real α. For rare samples the moments are dominated by outcomes of probability far below δ, and
//! the plain bound can be fifty times too large; [`epsilon`] therefore declares outcomes of total probability
//! 10⁻³·δ to be failures and converts what is left at 0.999·δ.
//!
//! # Reference
//! Mironov (2017); Canonne, Kamath and Steinke (2020), Proposition 12.

use crate::AccountantError;
use crate::contour::total_count;
use crate::moments::{Moments, Term};
use pairdp_units::directed::{larger, up_by};

/// Share of δ that pays for the truncated outcomes.
const TRUNCATED: f64 = 1e-3;
/// Relative error allowed for the quadrature of the moments, in units of 2⁻⁵².
const QUADRATURE_ULPS: f64 = 1e5;

/// An ε with the order that attains it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RenyiBound {
    /// An upper bound on ε; infinite when no order gives one.
    pub(crate) epsilon: f64,
    /// The best order α.
    pub(crate) order: f64,
}

/// The moments that [`epsilon`] needs: of what is left when outcomes of total probability TRUNCATED·δ are cut.
pub(crate) fn moments(terms: &[Term], target: f64) -> Result<Moments, AccountantError> {
    // Both sides of a pair may be cut, each by `tail`, and the far terms of a mixture.
    let tail = 0.25 * TRUNCATED * target / total_count(terms);
    if tail < 1e-318 {
        return Err(AccountantError::NoConvergence("δ is too small to truncate"));
    }
    Moments::new(terms, tail, 0.0)
}

/// ε at δ by truncated Rényi accounting, from [`moments`] for the same δ.
pub(crate) fn epsilon(moments: &Moments, target: f64) -> RenyiBound {
    let best = best_order(moments, (target * (1.0 - TRUNCATED)).ln());
    // What was cut from Q enters the moments with the order as a factor: at most TRUNCATED·δ in ε.
    let epsilon = larger(best.epsilon, 0.0) + TRUNCATED * target;
    RenyiBound { epsilon: up_by(epsilon, QUADRATURE_ULPS), order: best.order }
}

/// The best order for moments already at hand: golden section in log(α − 1), where the bound is unimodal.
pub(crate) fn best_order(moments: &Moments, log_delta: f64) -> RenyiBound {
    let bound = |log_s: f64| {
        let s = log_s.exp();
        let k = moments.cumulants(s).value;
        let alpha = 1.0 + s;
        let value = (k + s * (-1.0 / alpha).ln_1p() - alpha.ln() - log_delta) / s;
        if value.is_finite() { value } else { f64::INFINITY }
    };
    // Walk to a bracket first: far out the moments overflow.
    let mut step = 1.0;
    let mut here = 0.0;
    let mut value = bound(here);
    if bound(here - step) < value {
        step = -step;
    }
    while here.abs() < 40.0 {
        let next = bound(here + step);
        if next < value || (next.is_infinite() && value.is_infinite() && step < 0.0) {
            here += step;
            value = next;
        } else if value.is_infinite() {
            step = -1.0;
            here += step;
            value = bound(here);
        } else {
            break;
        }
    }
    let (mut low, mut high) = (here - 1.0, here + 1.0);
    let golden = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (bound(left), bound(right));
    // The bound is flat where it is least, and valid at every order.
    while high - low > 2e-2 {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = bound(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = bound(right);
        }
    }
    let (log_s, epsilon) = if at_left <= at_right { (left, at_left) } else { (right, at_right) };
    RenyiBound { epsilon, order: 1.0 + log_s.exp() }
}
