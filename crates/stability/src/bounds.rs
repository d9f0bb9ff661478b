//! What the theory promises, in numbers: stability, generalisation and excess risk.
//!
//! These are bounds on *expected* or *likely* behaviour for planning and comparison. No noise is calibrated with them;
//! [`realised`](crate::realised) is for that. Constants are those of the cited theorems where these hold, and
//! corrected where they do not; each function says which. Theorems with unspecified constants (Bassily et al. 2020,
//! Theorems 2.1 and 4.1 with high probability; Kang et al., Theorem 3) cannot be evaluated and are left out.
//!
//! Letters: G Lipschitz constant of the loss, L smoothness, η step size, T steps, n records, d dimensions, σ noise
//! per coordinate, D₀ distance from the start to a minimiser, γ probability of failure.
//!
//! # Guarantee
//! Every function returns an upper bound of its formula, rounded up, for finite non-negative arguments; NaN or ∞ pass
//! through to the result, never to a small number.

pub mod generalisation;
pub mod optimisation;
pub mod stability;
pub mod totals;

mod binomial;

pub use binomial::binomial_quantile;

use crate::error::{StabilityError, constant, positive};
use serde::{Deserialize, Serialize};

/// A run of descent with a constant step size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Setting {
    lipschitz: f64,
    rate: f64,
    n_steps: usize,
    n_records: usize,
}

#[derive(Deserialize)]
struct Unchecked {
    lipschitz: f64,
    rate: f64,
    n_steps: usize,
    n_records: usize,
}

impl TryFrom<Unchecked> for Setting {
    type Error = StabilityError;

    fn try_from(raw: Unchecked) -> Result<Self, StabilityError> {
        Self::new(raw.lipschitz, raw.rate, raw.n_steps, raw.n_records)
    }
}

impl Setting {
    /// G, η, the number of updates T and n.
    ///
    /// # Errors
    /// Anything but G ≥ 0, η > 0, T ≥ 1 and n ≥ 2.
    pub fn new(lipschitz: f64, rate: f64, n_steps: usize, n_records: usize) -> Result<Self, StabilityError> {
        constant("G", lipschitz)?;
        positive("step size", rate)?;
        if n_steps == 0 {
            return Err(StabilityError::TooFewSteps { given: 0, least: 1 });
        }
        if n_records < 2 {
            return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
        }
        Ok(Self { lipschitz, rate, n_steps, n_records })
    }

    /// G.
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// η.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// T.
    pub fn steps(&self) -> f64 {
        self.n_steps as f64
    }

    /// n.
    pub fn records(&self) -> f64 {
        self.n_records as f64
    }
}

/// Covers the roundings of a formula of a few dozen operations on non-negative numbers.
pub(crate) fn above(x: f64) -> f64 {
    pairdp_units::directed::up_by(x, 64.0)
}
