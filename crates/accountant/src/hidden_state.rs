//! The last iterate of noisy projected descent, when nothing else is released.
//!
//! w ← Proj(w − η(∇F(w) + noise)) on a convex objective forgets: if every step is a contraction by c, a shift made
//! early has shrunk by the end, and the noise of the steps in between hides it. The last iterate is μ-GDP with
//!
//! μ² = (Δ/σ)² · min{ S_T²/Q_T,  min over N < T of (S_N + c^N·D/s)²/Q_N },
//!
//! Legend: Δ gradient sensitivity, σ noise on the gradient, s = ηΔ the largest shift of one step, D the diameter of
//! the feasible set, S_N = 1 + c + … + c^{N−1}, Q_N = 1 + c² + … + c^{2(N−1)}. For c = 1 and no diameter this is
//! plain composition, √T·Δ/σ, so the bound never loses to it.
//!
//! # Guarantee
//! [`LastIterate::ratio`] is an upper bound on μ for all tables whose runs satisfy the assumptions. Proof:
//! `proofs/hidden_state.md`.
//!
//! # Assumptions
//! The objective is convex and `smoothness`-smooth with `strong_convexity` ≥ 0, the step is at most 2/smoothness,
//! noise is added inside the projection onto a convex set, steps and noise do not depend on the records, every step
//! uses the full batch, and *only the last iterate* leaves: no average, no checkpoint, no stopping on raw iterates.
//!
//! # Reference
//! Bok, Su and Altschuler (2024), Lemma C.3 and Theorem 4.1.

use crate::AccountantError;
use crate::event::accept;
use pairdp_units::directed::{larger, smaller, up_by};
use serde::{Deserialize, Serialize};

/// A run of full-batch noisy projected descent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastIterate {
    /// T.
    pub steps: u64,
    /// σ/Δ: noise on the gradient over its sensitivity.
    pub noise_multiplier: f64,
    /// η.
    pub step_size: f64,
    /// β: the objective's gradient is β-Lipschitz.
    pub smoothness: f64,
    /// m: the objective minus m‖w‖²/2 is convex; 0 for merely convex ones.
    pub strong_convexity: f64,
    /// Δ, needed when there is a diameter.
    pub gradient_sensitivity: f64,
    /// D: the diameter of the feasible set, if it is bounded.
    #[serde(default)]
    pub diameter: Option<f64>,
    /// What leaves the run.
    pub output: Output,
}

/// Which function of the iterates is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// w_T and nothing else.
    LastIterate,
    /// A mean of iterates: no hidden-state bound holds.
    Average,
    /// All of them: plain composition.
    AllIterates,
}

impl LastIterate {
    pub(crate) fn check(&self) -> Result<(), AccountantError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        accept(
            "noise_multiplier",
            self.noise_multiplier,
            self.noise_multiplier.is_finite() && self.noise_multiplier >= 0.0,
        )?;
        accept("step_size", self.step_size, positive(self.step_size))?;
        accept("smoothness", self.smoothness, positive(self.smoothness))?;
        accept("gradient_sensitivity", self.gradient_sensitivity, positive(self.gradient_sensitivity))?;
        let convexity = self.strong_convexity;
        accept("strong_convexity", convexity, convexity >= 0.0 && convexity <= self.smoothness)?;
        self.diameter.map_or(Ok(()), |d| accept("diameter", d, d.is_finite() && d >= 0.0))
    }

    /// μ of the last iterate, rounded up.
    ///
    /// # Errors
    /// [`AccountantError::Unsupported`] when something other than the last iterate is released or a step expands
    /// distances, [`AccountantError::Invalid`] for numbers out of range.
    pub fn ratio(&self) -> Result<f64, AccountantError> {
        self.check()?;
        if self.output != Output::LastIterate {
            return Err(AccountantError::Unsupported(
                "hidden-state accounting of more than the last iterate",
            ));
        }
        if self.step_size * self.smoothness > 2.0 {
            return Err(AccountantError::Unsupported(
                "hidden-state accounting of steps longer than 2/smoothness",
            ));
        }
        let contraction = larger(
            (1.0 - self.step_size * self.strong_convexity).abs(),
            (1.0 - self.step_size * self.smoothness).abs(),
        );
        let reach = self.diameter.map(|d| d / (self.step_size * self.gradient_sensitivity));
        // A contraction rounded down would be too good; one unit up changes nothing else.
        let effective = effective_steps(self.steps, smaller(up_by(contraction, 2.0), 1.0), reach);
        Ok(up_by(effective.sqrt() / self.noise_multiplier, 64.0))
    }
}

/// μ²·(σ/Δ)²: the number of plain steps that would cost as much. `reach` is D/s.
pub(crate) fn effective_steps(steps: u64, contraction: f64, reach: Option<f64>) -> f64 {
    if steps == 0 {
        return 0.0;
    }
    let from_start = cost(steps as f64, contraction, 0.0);
    let Some(reach) = reach else { return from_start };
    // Every N gives a valid bound; the search need not find the best.
    let bound = |n: f64| cost(n, contraction, reach);
    let (mut low, mut high) = (1.0, larger(steps as f64 - 1.0, 1.0));
    while high - low > 2.0 {
        let third = ((high - low) / 3.0).floor();
        let (left, right) = (low + larger(third, 1.0), high - larger(third, 1.0));
        if bound(left) <= bound(right) {
            high = larger(right, left);
        } else {
            low = smaller(left, right);
        }
        if high - low <= 3.0 {
            break;
        }
    }
    let mut best = from_start;
    let mut n = low;
    while n <= high && n < steps as f64 {
        best = smaller(best, bound(n));
        n += 1.0;
    }
    best
}

/// (S_N + c^N·reach)²/Q_N, rounded up.
fn cost(n: f64, c: f64, reach: f64) -> f64 {
    if c >= 1.0 {
        return up_by((n + reach) * (n + reach) / n, 8.0);
    }
    // 1 − c^N from logarithms: c is close to 1 when it matters.
    let log_c = c.ln();
    let vanished = -(n * log_c).exp_m1();
    let (sum, squares) = (vanished / (1.0 - c), -(2.0 * n * log_c).exp_m1() / ((1.0 - c) * (1.0 + c)));
    let total = sum + (n * log_c).exp() * reach;
    up_by(total * total / squares, 1e3)
}
