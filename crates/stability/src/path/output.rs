//! Which iterates make the model.
//!
//! T steps from a public start w₀ give iterates w₁ … w_T. What is released is a weighted mean Σ ω_t w_t, and its
//! sensitivity is at most Σ ω_t δ_t by the triangle inequality (equal, when shifts are aligned). All the choices here
//! weigh the last `count` iterates alike.
//!
//! # Assumptions
//! The mean is taken exactly, or its rounding is added by whoever takes it.

use crate::error::StabilityError;
use serde::{Deserialize, Serialize};

/// The released combination of iterates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// w_T.
    Last,
    /// The mean of w₁ … w_T.
    Average,
    /// The mean of w₀ … w_T. Yang et al. and Wang et al. number the start as w₁ and average T iterates over T − 1
    /// steps: that is this one.
    AverageWithStart,
    /// The mean of the last so many of w₁ … w_T.
    Suffix(usize),
}

/// The iterates that count, and how much each does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Iterates after step `first` and later count; steps are numbered from 1.
    pub(crate) first: usize,
    /// What the sum of distances is divided by.
    pub(crate) divisor: f64,
}

impl Output {
    pub(crate) fn window(self, steps: usize) -> Result<Window, StabilityError> {
        if steps == 0 {
            return Err(StabilityError::TooFewSteps { given: 0, least: 1 });
        }
        let (count, divisor) = match self {
            Self::Last => (1, 1),
            Self::Average => (steps, steps),
            Self::AverageWithStart => (steps, steps + 1),
            Self::Suffix(count) => {
                if count == 0 || count > steps {
                    return Err(StabilityError::Suffix { suffix: count, steps });
                }
                (count, count)
            }
        };
        Ok(Window { first: steps - count + 1, divisor: divisor as f64 })
    }
}
