//! From stability to the gap between risk on the table and risk on new records.

use super::above;
use crate::error::StabilityError;
use std::f64::consts::{E, SQRT_2};

/// Expected gap of a pointwise learner: G times its stability.
pub fn pointwise_expected(lipschitz: f64, stability: f64) -> f64 {
    above(lipschitz * stability)
}

/// Expected gap of a pairwise learner: 2G times its stability, because a new pair has two new records.
pub fn pairwise_expected(lipschitz: f64, stability: f64) -> f64 {
    above(2.0 * lipschitz * stability)
}

/// Gap of a pairwise learner with probability 1 − γ: 4b + 48√6·e·b⌈log₂(n−1)⌉·ln(e/γ) + 12√2·e·M√(ln(e/γ)/(n−1)),
/// with b = G times its stability and losses in \[0, M\].
///
/// # Reference
/// Lei, Ledent and Kloft (2020), with constants as quoted by Kang et al., Remark 4 (whose first term divides by G by
/// mistake). The constants were not checked against the original.
///
/// # Errors
/// Fewer than three records, or γ outside (0, 1).
pub fn pairwise_likely(
    lipschitz: f64,
    stability: f64,
    largest_loss: f64,
    n_records: usize,
    failure: f64,
) -> Result<f64, StabilityError> {
    if n_records < 3 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 3 });
    }
    if !(failure > 0.0 && failure < 1.0) {
        return Err(StabilityError::Range { name: "γ", value: failure, low: 0.0, high: 1.0 });
    }
    let b = lipschitz * stability;
    let rest = (n_records - 1) as f64;
    let log = 1.0 - failure.ln();
    Ok(above(
        4.0 * b
            + 48.0 * 6.0_f64.sqrt() * E * b * rest.log2().ceil() * log
            + 12.0 * SQRT_2 * E * largest_loss * (log / rest).sqrt(),
    ))
}

/// Expected gap of pointwise SGD after K passes: printed 4G²η(√(Kn) + K), improved half of it.
///
/// # Reference
/// Bassily, Feldman, Guzmán and Talwar (2020), Theorem 4.1.
pub fn multipass_expected(
    lipschitz: f64,
    rate: f64,
    n_records: usize,
    passes: usize,
    form: super::stability::Form,
) -> f64 {
    let (n, k) = (n_records as f64, passes as f64);
    let factor = match form {
        super::stability::Form::Printed => 4.0,
        super::stability::Form::Improved => 2.0,
    };
    above(factor * lipschitz * lipschitz * rate * ((k * n).sqrt() + k))
}

/// Expected gap from on-average squared stability ν of a smooth non-negative loss, minimised over k:
/// (L/k)F + (L+k)ν/2 = √(2LFν) + Lν/2 pointwise, (L/k)F + 2(L+k)ν = 2√(2LFν) + 2Lν pairwise. F is the expected
/// empirical risk.
///
/// # Reference
/// Wang et al. (2024), Lemmas 13 and 17, parts (a).
pub fn on_average_smooth(smoothness: f64, empirical_risk: f64, stability: f64, pairwise: bool) -> f64 {
    let cross = (2.0 * smoothness * empirical_risk * stability).sqrt();
    above(if pairwise {
        2.0 * cross + 2.0 * smoothness * stability
    } else {
        cross + 0.5 * smoothness * stability
    })
}

/// The same for a Hölder loss, minimised over k: M₁²F/(2k) + kν/2 = M₁√(Fν) pointwise, 2kν for kν/2 pairwise, twice that.
/// F is E F_S^{2a/(1+a)}.
///
/// # Reference
/// Wang et al. (2024), Lemmas 13 and 17, parts (b).
pub fn on_average_hoelder(self_bound: f64, powered_risk: f64, stability: f64, pairwise: bool) -> f64 {
    let cross = self_bound * (powered_risk * stability).sqrt();
    above(if pairwise { 2.0 * cross } else { cross })
}
