//! The normal distribution in both tails, to a few units in the last place.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Above this, erfc comes close to underflow and exp(x²) to overflow; the continued fraction takes over.
const CONTINUED_FRACTION_FROM: f64 = 6.0;

/// exp(x²)·erfc(x) for x ≥ −1, without overflow or underflow.
pub(crate) fn erfcx(x: f64) -> f64 {
    if x < CONTINUED_FRACTION_FROM {
        // exp(x²) from the exact square x² = high + low: a rounded square would lose x² units.
        let high = x * x;
        let low = x.mul_add(x, -high);
        return libm::exp(high) * (1.0 + low) * libm::erfc(x);
    }
    // √π erfcx(x) = 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), evaluated from the inside.
    let mut tail = x;
    for k in (1..=40).rev() {
        tail = x + 0.5 * f64::from(k) / tail;
    }
    1.0 / (tail * PI.sqrt())
}

/// Φ(x).
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ(−x): the mass beyond x, with full relative precision in the upper tail.
pub(crate) fn normal_tail(x: f64) -> f64 {
    normal_cdf(-x)
}

/// The normal density, from the exact square of `x`.
pub(crate) fn normal_density(x: f64) -> f64 {
    let high = x * x;
    let low = x.mul_add(x, -high);
    libm::exp(-0.5 * high) * (1.0 - 0.5 * low) / (2.0 * PI).sqrt()
}

/// Mills' ratio Φ(−s)/n(s) for s ≥ −1.
pub(crate) fn mills_ratio(s: f64) -> f64 {
    (0.5 * PI).sqrt() * erfcx(s * FRAC_1_SQRT_2)
}

/// Up to this width a difference of Mills' ratios is integrated rather than subtracted.
pub(crate) const NARROW: f64 = 0.5;

/// M(s) − M(s + width) for s ≥ −width/2 and width ≥ 0, without cancellation.
///
/// Wide: a plain difference loses at most two digits. Narrow: the integral of −M'(x) = 1 − x·M(x), whose integrand
/// is positive and smooth.
pub(crate) fn mills_ratio_drop(s: f64, width: f64) -> f64 {
    if width > NARROW {
        return mills_ratio(s) - mills_ratio(s + width);
    }
    crate::quadrature::gauss_legendre(s, width, mills_ratio_descent)
}

/// −M'(s) = 1 − s·M(s) for s ≥ −1.
fn mills_ratio_descent(s: f64) -> f64 {
    const CANCELS_FROM: f64 = 6.0;
    if s < CANCELS_FROM {
        return 1.0 - s * mills_ratio(s);
    }
    // M(s) = 1/(s + K), K = 1/(s + 2/(s + 3/(s + …))), so that 1 − s·M(s) = K/(s + K).
    let mut inner = s;
    for k in (2..=60).rev() {
        inner = s + f64::from(k) / inner;
    }
    let k = 1.0 / inner;
    k / (s + k)
}
