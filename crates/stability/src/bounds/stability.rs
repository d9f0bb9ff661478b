//! Uniform argument stability: how far apart the parameters of neighbouring runs are, for any data.
//!
//! Bounds in expectation and with high probability over the indices. For given indices use
//! [`realised`](crate::realised).

use super::{Setting, above, binomial_quantile};
use crate::error::StabilityError;
use crate::path::geometric;
use pairdp_units::directed::{larger, smaller};

/// How sharp a form of a published bound to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As printed.
    Printed,
    /// With the constant that the split into touched and untouched terms gives.
    Improved,
}

/// Pointwise SGD with replacement, expected: min{2R, G(2η√T + (4/n)ηT)}; improved, 2/n for 4/n.
///
/// T counts updates; the paper's Algorithm 1 makes one fewer than it has iterates.
///
/// # Reference
/// Bassily, Feldman, Guzmán and Talwar (2020), Theorem 3.2.
pub fn sgd_expected(s: &Setting, radius: f64, form: Form) -> f64 {
    let linear = match form {
        Form::Printed => 4.0,
        Form::Improved => 2.0,
    };
    let path = s.lipschitz() * s.rate() * (2.0 * s.steps().sqrt() + linear * s.steps() / s.records());
    above(smaller(2.0 * radius, path))
}

/// Pointwise SGD with replacement, for all records at once with probability 1 − γ: 2Gη(√T + N), N the quantile at γ/n of
/// how often a record is drawn.
///
/// The paper's probability of failure n·e^{−n/2} is not right in general (it is exceeded for averages with a linear loss
/// at T = n = 2000); the exact quantile is.
///
/// # Errors
/// γ outside (0, 1).
pub fn sgd_likely(s: &Setting, failure: f64) -> Result<f64, StabilityError> {
    let draws = binomial_quantile(s.n_steps, 1.0 / s.records(), failure / s.records())?;
    Ok(above(2.0 * s.lipschitz() * s.rate() * (s.steps().sqrt() + draws as f64)))
}

/// Pointwise full-batch descent: printed 4G(η√T + ηT/n), improved 2Gη((1 − 1/n)√T + T/n).
///
/// # Reference
/// Bassily et al. (2020), Table 1.
pub fn full_batch_pointwise(s: &Setting, form: Form) -> f64 {
    let (root, linear) = (s.steps().sqrt(), s.steps() / s.records());
    above(match form {
        Form::Printed => 4.0 * s.lipschitz() * s.rate() * (root + linear),
        Form::Improved => 2.0 * s.lipschitz() * s.rate() * ((1.0 - 1.0 / s.records()) * root + linear),
    })
}

/// Pointwise SGD through a fixed permutation, K = T/n passes (rounded up): 2Gη(√T + K).
///
/// # Reference
/// Bassily et al. (2020), Table 1.
pub fn fixed_permutation(s: &Setting) -> f64 {
    let passes = (s.steps() / s.records()).ceil();
    above(2.0 * s.lipschitz() * s.rate() * (s.steps().sqrt() + passes))
}

/// History SGD for one record with probability 1 − γ: 2Gη(√T + ln(eT)·N), N = μ + l + √(2μl), μ = (T+1)/n, l = ln(1/γ).
///
/// Pass γ/n to have it for all records. The paper has √(μl) under (3), from a Chernoff bound inverted wrongly; that is
/// exceeded up to hundreds of times more often than γ.
///
/// # Reference
/// Yang, Lei, Lyu and Ying (2021), Theorem 1, corrected.
///
/// # Errors
/// γ outside (0, 1).
pub fn history_likely(s: &Setting, failure: f64) -> Result<f64, StabilityError> {
    if !(failure > 0.0 && failure < 1.0) {
        return Err(StabilityError::Range { name: "γ", value: failure, low: 0.0, high: 1.0 });
    }
    let mean = (s.steps() + 1.0) / s.records();
    let l = (1.0 / failure).ln();
    let draws = mean + l + (2.0 * mean * l).sqrt();
    Ok(above(2.0 * s.lipschitz() * s.rate() * (s.steps().sqrt() + (1.0 + s.steps().ln()) * draws)))
}

/// The same with the exact quantile of the draws for N.
///
/// # Errors
/// γ outside (0, 1).
pub fn history_likely_exact(s: &Setting, failure: f64) -> Result<f64, StabilityError> {
    let draws = binomial_quantile(s.n_steps + 1, 1.0 / s.records(), failure)? as f64;
    Ok(above(2.0 * s.lipschitz() * s.rate() * (s.steps().sqrt() + (1.0 + s.steps().ln()) * draws)))
}

/// History SGD, expected, for one record: 2Gη(√T + T(2/n − 1/n²)). In expectation there is no logarithm.
pub fn history_expected(s: &Setting) -> f64 {
    let n = s.records();
    above(2.0 * s.lipschitz() * s.rate() * (s.steps().sqrt() + s.steps() * (2.0 / n - 1.0 / (n * n))))
}

/// Descent along uniform pairs of different records, expected: Hη√T (absent if smooth) + 2DηT/n; for the average of
/// iterates (start included) ⅔ and ½ of the two terms.
///
/// `same_term` is H, 0 for a smooth loss with η ≤ 2/L; `replaced` is D.
pub fn pair_sgd_expected(s: &Setting, same_term: f64, replaced: f64, averaged: bool) -> f64 {
    let root = same_term * s.rate() * s.steps().sqrt();
    let linear = 2.0 * replaced * s.rate() * s.steps() / s.records();
    above(if averaged { 2.0 / 3.0 * root + 0.5 * linear } else { root + linear })
}

/// Full-batch pairwise descent: D_sym ηT/n if smooth, D_sym(1 − (1 − ηα)^T)/(αn) if strongly convex as well, and
/// Hη(1 − 2/n)√T + D_sym ηT/n if neither. `same_term` is 0 for the first two; `convexity` is α, 0 for none.
///
/// The non-smooth form needs D_sym at two parameters, see [`Geometry::both_orders_apart`](crate::Geometry).
pub fn full_batch_pairwise(s: &Setting, same_term: f64, both_orders: f64, convexity: f64) -> f64 {
    let shrink = larger(1.0 - s.rate() * convexity, 0.0);
    let touched = both_orders * s.rate() * geometric(shrink, s.steps()) / s.records();
    above(same_term * s.rate() * (1.0 - 2.0 / s.records()) * s.steps().sqrt() + touched)
}

/// On-average squared stability, smooth: 8e(1 + T/n)(L/n)A pointwise, 16e(1 + 2T/n)(L/n)A pairwise, where
/// A ≥ Σ η_j² E F_S(w_j).
///
/// # Reference
/// Wang et al. (2024), Lemmas 14 and 19, parts (a).
pub fn on_average_smooth(s: &Setting, smoothness: f64, weighted_risk: f64, pairwise: bool) -> f64 {
    let (factor, per_step) = if pairwise { (16.0, 2.0) } else { (8.0, 1.0) };
    let n = s.records();
    above(factor * std::f64::consts::E * (1.0 + per_step * s.steps() / n) * (smoothness / n) * weighted_risk)
}

/// On-average squared stability, Hölder: e·M₃²·T·η^{2/(1−a)} + 4e·M₁²(1 + T/n)/n·A pointwise, 8e and 2T/n pairwise,
/// where A ≥ Σ η_j² E F_S^{2a/(1+a)}(w_j).
///
/// M₃ = √((1−a)/(1+a))·(2^−a L)^{1/(1−a)}; Lemma 19 misprints it and its exponent. See [`self_bound`] for M₁.
///
/// # Reference
/// Wang et al. (2024), Lemmas 14 and 19, parts (b), corrected.
pub fn on_average_hoelder(
    s: &Setting,
    exponent: f64,
    constant: f64,
    self_bound: f64,
    weighted_risk: f64,
    pairwise: bool,
) -> f64 {
    let (factor, per_step) = if pairwise { (8.0, 2.0) } else { (4.0, 1.0) };
    let (n, power) = (s.records(), 2.0 / (1.0 - exponent));
    let third = (1.0 - exponent) / (1.0 + exponent) * ((-exponent).exp2() * constant * s.rate()).powf(power);
    let touched = factor * self_bound * self_bound * (1.0 + per_step * s.steps() / n) / n * weighted_risk;
    // Powers magnify relative errors.
    pairdp_units::directed::up_by(std::f64::consts::E * (third * s.steps() + touched), 4000.0 + 64.0 * power)
}

/// M₁ with ‖∂f(w; z)‖ ≤ M₁ f(w; z)^{a/(1+a)} for a non-negative Hölder loss: (1 + 1/a)^{a/(1+a)} L^{1/(1+a)}, and
/// L + sup‖∂f(0; z)‖ for a = 0.
///
/// The paper's M for a = 0 is a supremum of the loss, which has the wrong unit; a subgradient is meant.
///
/// # Reference
/// Wang et al. (2024), equation (4), corrected.
pub fn self_bound(exponent: f64, constant: f64, subgradient_at_zero: f64) -> f64 {
    if exponent > 0.0 {
        let power = 1.0 / (1.0 + exponent);
        above((1.0 + 1.0 / exponent).powf(exponent * power) * constant.powf(power))
    } else {
        above(constant + subgradient_at_zero)
    }
}
