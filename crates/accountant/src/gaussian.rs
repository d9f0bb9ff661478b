//! The Gaussian mechanism, exactly.
//!
//! A release of a query with sensitivity Δ under noise N(0, σ²I) is *μ-GDP* with μ = Δ/σ: telling neighbours
//! apart is as hard as telling N(0, 1) from N(μ, 1), and no easier. Its privacy curve is
//!
//! δ(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)    (Balle and Wang 2018, Theorem 8)
//!
//! and T adaptive releases with ratios μ₁ … μ_T are exactly √(Σ μ_t²)-GDP (Dong, Roth and Su 2022,
//! Corollary 3.3). Why not the textbook σ = Δ√(2 ln(1.25/δ))/ε: it is proved for ε < 1 only, false from
//! ε ≈ 7–9 on, and 1.25 to 2.2 times too noisy where it holds.
//!
//! # Guarantee
//! [`delta`] and [`epsilon`] return upper bounds, [`largest_ratio`] a ratio that satisfies its budget when
//! [`delta`] recomputes it. Proof: `proofs/gaussian.md`.

use crate::AccountantError;
use crate::special::{NARROW, mills_ratio, mills_ratio_drop, normal_cdf, normal_density};
use pairdp_units::directed::{smaller, up_by};
use pairdp_units::{Budget, Delta, EpsilonBound};

/// Relative error of [`curve`] in units of 2⁻⁵²: a constant part, and one for the rounding of t that the density
/// amplifies by t². Tests against 50 digits find less than a tenth of it.
fn error_ulps(epsilon: f64, ratio: f64) -> f64 {
    let t = epsilon / ratio - ratio / 2.0;
    200.0 + 8.0 * t * t
}

/// δ(ε; μ) of a μ-GDP release, rounded up.
///
/// # Errors
/// [`AccountantError::Ratio`] when `ratio` is negative or NaN; ε must be a number of at least 0.
pub fn delta(epsilon: f64, ratio: f64) -> Result<f64, AccountantError> {
    if !(ratio >= 0.0 && epsilon >= 0.0) {
        return Err(AccountantError::Ratio(ratio));
    }
    if ratio == 0.0 {
        return Ok(0.0);
    }
    if ratio.is_infinite() || epsilon.is_infinite() {
        return Ok(if epsilon.is_infinite() { 0.0 } else { 1.0 });
    }
    Ok(smaller(up_by(curve(epsilon, ratio), error_ulps(epsilon, ratio)), 1.0))
}

/// The curve as computed, without the safety margin.
///
/// With n the normal density, t = ε/μ − μ/2 and Mills' ratio M(s) = Φ(−s)/n(s), the identity
/// n(t) = e^ε n(t + μ) turns the closed form into n(t)·(M(t) − M(t + μ)): one exponential and a difference that
/// can be taken without cancellation, where the printed form loses every digit for small ε or tiny δ.
fn curve(epsilon: f64, ratio: f64) -> f64 {
    let t = epsilon / ratio - ratio / 2.0;
    if t < 0.0 && ratio > NARROW {
        return normal_cdf(-t) - normal_density(t) * mills_ratio(t + ratio);
    }
    normal_density(t) * mills_ratio_drop(t, ratio)
}

/// The smallest ε with δ(ε; μ) ≤ δ, rounded up.
///
/// # Errors
/// [`AccountantError::Ratio`] as in [`delta`].
pub fn epsilon(budget_delta: Delta, ratio: f64) -> Result<EpsilonBound, AccountantError> {
    let target = budget_delta.get();
    if delta(0.0, ratio)? <= target {
        return EpsilonBound::new(0.0).map_err(|_| AccountantError::Ratio(ratio));
    }
    if target <= 0.0 || ratio.is_infinite() {
        return Ok(EpsilonBound::INFINITE);
    }
    let mut high = 1.0;
    while delta(high, ratio)? > target {
        high *= 2.0;
        if high > 1e300 {
            return Ok(EpsilonBound::INFINITE);
        }
    }
    let mut low = 0.0;
    while let Some(middle) = strictly_between(low, high) {
        if delta(middle, ratio)? <= target { high = middle } else { low = middle }
    }
    EpsilonBound::new(high).map_err(|_| AccountantError::Ratio(ratio))
}

/// The largest μ with δ(ε; μ) ≤ δ, rounded down: noise σ = Δ/μ satisfies the budget.
///
/// # Errors
/// [`AccountantError::PureGaussian`] when δ = 0, [`AccountantError::NotBracketed`] for budgets beyond f64.
pub fn largest_ratio(budget: Budget) -> Result<f64, AccountantError> {
    let (target_epsilon, target) = (budget.epsilon.get(), budget.delta.get());
    if target <= 0.0 {
        return Err(AccountantError::PureGaussian);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while delta(target_epsilon, high)? <= target {
        low = high;
        high *= 2.0;
        if high > 1e300 {
            return Err(AccountantError::NotBracketed(budget));
        }
    }
    while let Some(middle) = strictly_between(low, high) {
        if delta(target_epsilon, middle)? <= target { low = middle } else { high = middle }
    }
    if low > 0.0 { Ok(low) } else { Err(AccountantError::NotBracketed(budget)) }
}

/// The ratio of many releases together: √(Σ μ_t²), rounded up.
pub fn compose(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.into_iter().fold((0.0, 0.0), |(sum, count), r| (sum + r * r, count + 1.0));
    up_by(f64::sqrt(sum), count + 2.0)
}

/// The midpoint of an interval, or nothing when no float lies inside.
fn strictly_between(low: f64, high: f64) -> Option<f64> {
    let middle = low + (high - low) / 2.0;
    (low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// σ/Δ for (ε, δ), from 50-digit arithmetic (`testdata/make_gaussian.py`).
    const CALIBRATED: &str = include_str!("../../../testdata/gaussian.csv");

    #[test]
    fn calibration_agrees_with_50_digits_on_the_safe_side() {
        let mut rows = 0;
        for line in CALIBRATED.lines().skip(1) {
            let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let ratio = largest_ratio(Budget::new(numbers[0], numbers[1]).unwrap()).unwrap();
            let sigma = 1.0 / ratio;
            assert!(sigma >= numbers[2], "{line}: {sigma} is below the true value");
            assert!(sigma <= numbers[2] * (1.0 + 1e-12), "{line}: {sigma}");
            rows += 1;
        }
        assert!(rows >= 20);
    }

    proptest! {
        #[test]
        fn calibrated_ratio_satisfies_its_budget(eps in 1e-3..50.0_f64, log_delta in -100.0..-0.1_f64) {
            let budget = Budget::new(eps, log_delta.exp()).unwrap();
            let ratio = largest_ratio(budget).unwrap();
            prop_assert!(delta(eps, ratio).unwrap() <= budget.delta.get());
            let back = epsilon(budget.delta, ratio).unwrap().get();
            // The curve's last bits wobble, so a search along it may end a few roundings above.
            prop_assert!(back <= eps * (1.0 + 1e-12) && back >= eps * (1.0 - 1e-9), "{back}");
        }

        #[test]
        fn curve_is_monotone(eps in 0.0..20.0_f64, mu in 0.01..10.0_f64, step in 1.001..2.0_f64) {
            let here = delta(eps, mu).unwrap();
            prop_assert!(delta(eps * step, mu).unwrap() <= here * (1.0 + 1e-10));
            prop_assert!(delta(eps, mu * step).unwrap() >= here * (1.0 - 1e-10));
        }

        #[test]
        fn quadrature_agrees(eps in 0.0..5.0_f64, mu in 0.05..3.0_f64) {
            let exact = delta(eps, mu).unwrap();
            let integrated = crate::quadrature::gaussian_delta(eps, mu).unwrap();
            prop_assert!((exact - integrated).abs() <= 1e-9 * exact + 1e-15, "{exact} {integrated}");
        }
    }

    #[test]
    fn searches_along_the_curve_meet() {
        let (eps, log_delta) = (3.234_296_756_460_808_f64, -24.564_748_609_599_018_f64);
        let budget = Budget::new(eps, log_delta.exp()).unwrap();
        let ratio = largest_ratio(budget).unwrap();
        let back = epsilon(budget.delta, ratio).unwrap().get();
        assert!((back / eps - 1.0).abs() < 1e-12, "{back} of {eps}");
    }

    #[test]
    fn corners_are_defined() {
        assert!(delta(1.0, 0.0).unwrap() <= 0.0);
        assert!(delta(1.0, f64::INFINITY).unwrap() >= 1.0);
        assert!(delta(1.0, f64::NAN).is_err());
        assert!(delta(f64::NAN, 1.0).is_err());
        assert_eq!(epsilon(Delta::PURE, 1.0).unwrap(), EpsilonBound::INFINITE);
        assert!(epsilon(Delta::PURE, 0.0).unwrap().get() <= 0.0);
        assert!(largest_ratio(Budget::new(1.0, 0.0).unwrap()).is_err());
        assert!((compose([3.0, 4.0]) - 5.0).abs() < 1e-14);
    }
}
