//! A second opinion on the Gaussian curve: integrate its definition.
//!
//! δ(ε; μ) = ∫ (n(x−μ) − e^ε n(x))₊ dx, where n is the standard normal density; the integrand is positive from
//! x* = ε/μ + μ/2 on. Verification uses this instead of the closed form of [`crate::gaussian`]: the two share
//! neither formula nor special functions, so a slip in one shows in the other.

use crate::AccountantError;

/// Nodes and weights of the 8-point Gauss–Legendre rule on [−1, 1] (positive half).
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// ∫ f over [low, low + width] by one 8-point rule: for smooth integrands on short intervals. Takes the width,
/// because `high - low` would lose it on narrow intervals.
pub(crate) fn gauss_legendre(low: f64, width: f64, f: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * width;
    let middle = low + half;
    half * NODES
        .iter()
        .map(|&(node, weight)| weight * (f(middle - half * node) + f(middle + half * node)))
        .sum::<f64>()
}

/// Nodes and weights of the Gauss–Legendre rule with `order` points on [−1, 1].
///
/// Newton on the Legendre polynomial from its asymptotic zeros; each zero converges in a few steps.
pub(crate) fn legendre(order: usize) -> Vec<(f64, f64)> {
    let n = order as f64;
    (0..order)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut derivative = 1.0;
            for _ in 0..10 {
                let (mut previous, mut value) = (1.0, x);
                for k in 2..=order {
                    let k = k as f64;
                    (previous, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * previous) / k);
                }
                derivative = n * (x * value - previous) / (x * x - 1.0);
                x -= value / derivative;
            }
            (x, 2.0 / ((1.0 - x * x) * derivative * derivative))
        })
        .collect()
}

/// Panel width, and how far beyond max(x*, μ) to integrate: n(39) underflows.
const PANEL: f64 = 0.125;
const REACH: f64 = 39.0;
const LARGEST_RATIO: f64 = 1e4;

/// δ(ε; μ) by quadrature, to about nine digits.
///
/// # Errors
/// [`AccountantError::Ratio`] when the ratio or ε is not a finite number of at least 0.
pub fn gaussian_delta(epsilon: f64, ratio: f64) -> Result<f64, AccountantError> {
    if !(ratio.is_finite() && ratio >= 0.0 && epsilon.is_finite() && epsilon >= 0.0) {
        return Err(AccountantError::Ratio(ratio));
    }
    // Beyond this δ is 1 for every ε in use, and the panels would be too many.
    if ratio > LARGEST_RATIO {
        return Err(AccountantError::Ratio(ratio));
    }
    if ratio == 0.0 {
        return Ok(0.0);
    }
    let start = epsilon / ratio + ratio / 2.0;
    let panels = ((REACH + ratio) / PANEL).ceil();
    let integrand = |x: f64| {
        // n(x−μ)(1 − e^{−(μx − μ²/2 − ε)}), free of cancellation.
        let excess = ratio * (x - start);
        (-0.5 * (x - ratio) * (x - ratio)).exp() * -(-excess).exp_m1()
    };
    let mut sum = 0.0;
    let mut panel = 0.0;
    while panel < panels {
        let low = start + panel * PANEL;
        sum += gauss_legendre(low, PANEL, integrand);
        panel += 1.0;
    }
    Ok(sum / (2.0 * std::f64::consts::PI).sqrt())
}
