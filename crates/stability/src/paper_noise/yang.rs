//! Output perturbation of history SGD (Yang et al. 2021, Theorem 4).

use super::{Printed, Standing};
use crate::bounds::Setting;
use pairdp_units::Budget;

const ERRATUM: &str = "the proof of (9) gives e times the printed variance, and 9 where it has 3; its Chernoff bound \
    is inverted wrongly; T ≥ n is used silently. The formula is private nevertheless for T ≥ 2n, δ ≤ 0.049, ε ≤ 1";

/// Equation (5): σ² = 8η²G² ln(2.5/δ)/ε²·(T + 3T² ln²(eT) ln²(2/δ)/n²), for the average of T iterates.
///
/// `steps` of the setting is the paper's T.
///
/// # Guarantee
/// With standing [`Standing::Holds`] the claim is true, though not by the paper's proof. The average moves by at most
/// 2Gη(⅔√T + ln(eT)N), N the draws of a record; N ≤ a + l + √(2al) but with probability δ/2, where a = T/n and
/// l = ln(2/δ); and (⅔s + x)² ≤ s² + 1.8x², 1.8(a + l + √(2al))² ≤ 3a²l² for a ≥ 2, l ≥ 3.7.
///
/// Refused above ε = 1, where the classical Gaussian calibration it rests on is unproved; unproven for T < 2n or larger δ.
pub fn yang_output(s: &Setting, budget: &Budget) -> Printed {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let standing = if epsilon > 1.0 {
        super::classical(epsilon)
    } else if s.steps() < 2.0 * s.records() {
        Standing::Unproven("the printed proof needs T ≥ n and ours T ≥ 2n")
    } else if delta > 0.049 {
        Standing::Unproven("our proof needs δ ≤ 0.049")
    } else {
        Standing::Holds
    };
    Printed { sigma: variance(s, epsilon, delta, 1.0, 3.0).sqrt(), standing, erratum: ERRATUM }
}

/// Equation (5) with the factor e that its proof has and 9 for 3: what the printed argument proves for T ≥ n, the
/// Chernoff bound apart.
pub fn yang_corrected(s: &Setting, budget: &Budget) -> f64 {
    variance(s, budget.epsilon.get(), budget.delta.get(), std::f64::consts::E, 9.0).sqrt()
}

fn variance(s: &Setting, epsilon: f64, delta: f64, lost: f64, constant: f64) -> f64 {
    let (t, n) = (s.steps(), s.records());
    let unit = s.rate() * s.lipschitz() / epsilon;
    let logs = (1.0 + t.ln()) * (2.0 / delta).ln() / n;
    8.0 * lost * unit * unit * (2.5 / delta).ln() * (t + constant * (t * logs).powi(2))
}
