//! Noisy SGD on single records or uniform pairs (Wang et al. 2024, Theorems 2 and 5).
//!
//! The formula has a free β in (0, 1) and holds under two side conditions, which decide the noise in practice: ignoring
//! them and taking the β of the least noise can be off by orders of magnitude in δ.

use super::{Printed, Standing};
use crate::error::StabilityError;
use pairdp_units::Budget;
use serde::Serialize;

const ERRATUM: &str = "the existence of β is asserted under a garbled condition; the last line of the proof of \
    Theorem 5 drops a factor 2";

/// β and the noise it gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WangBeta {
    /// β.
    pub beta: f64,
    /// The order λ = 1 + ln(1/δ)/((1 − β)ε).
    pub order: f64,
    /// The noise.
    pub printed: Printed,
}

/// σ² = cG²T/(βn²ε)·(ln(1/δ)/((1 − β)ε) + 1), c = 14 for records and 56 for pairs.
///
/// Holds if σ² ≥ 2.68G² and λ − 1 ≤ σ²/(6G²)·ln(n/(gλ(1 + σ²/(4G²)))), g = 1 for records and 2 for pairs; else refused.
///
/// # Errors
/// β outside (0, 1).
pub fn wang_at_beta(
    lipschitz: f64,
    n_steps: usize,
    n_records: usize,
    budget: &Budget,
    beta: f64,
    pairwise: bool,
) -> Result<WangBeta, StabilityError> {
    if !(beta > 0.0 && beta < 1.0) {
        return Err(StabilityError::Range { name: "β", value: beta, low: 0.0, high: 1.0 });
    }
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let (constant, group) = if pairwise { (56.0, 2.0) } else { (14.0, 1.0) };
    let n = n_records as f64;
    let order = 1.0 + (1.0 / delta).ln() / ((1.0 - beta) * epsilon);
    // In units of G².
    let variance = constant * n_steps as f64 / (beta * n * n * epsilon) * order;
    let room = variance / 6.0 * (n / (group * order * (1.0 + variance / 4.0))).ln();
    let standing = if variance >= 2.68 && order - 1.0 <= room {
        Standing::Holds
    } else {
        Standing::Refused("a side condition on σ and β fails")
    };
    let sigma = lipschitz * variance.sqrt();
    Ok(WangBeta { beta, order, printed: Printed { sigma, standing, erratum: ERRATUM } })
}

/// The β of the least noise among those on a grid of 10⁻⁴ that meet the side conditions.
///
/// # Errors
/// [`StabilityError::NoBeta`] if none does; that is the rule for small ε.
pub fn wang_best_beta(
    lipschitz: f64,
    n_steps: usize,
    n_records: usize,
    budget: &Budget,
    pairwise: bool,
) -> Result<WangBeta, StabilityError> {
    let mut best: Option<WangBeta> = None;
    for k in 1..10_000_u32 {
        let beta = f64::from(k) * 1e-4;
        let found = wang_at_beta(lipschitz, n_steps, n_records, budget, beta, pairwise)?;
        if found.printed.standing == Standing::Holds
            && best.is_none_or(|best| found.printed.sigma < best.printed.sigma)
        {
            best = Some(found);
        }
    }
    best.ok_or(StabilityError::NoBeta { n_records, epsilon: budget.epsilon.get(), delta: budget.delta.get() })
}
