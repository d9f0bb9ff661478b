//! ε and δ: what is promised (a budget) and what was computed (a bound).

use crate::Hint;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A privacy quantity that cannot exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A budget ε must be finite and positive.
    #[error("ε must be a finite number above 0, not {0}")]
    Epsilon(f64),
    /// A δ must be in [0, 1).
    #[error("δ must be at least 0 and below 1, not {0}")]
    Delta(f64),
    /// A computed ε must not be NaN or negative.
    #[error("a computed ε must not be negative or NaN, got {0}")]
    EpsilonBound(f64),
}

impl Hint for UnitError {
    fn code(&self) -> &'static str {
        "number"
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Epsilon(_) => Some("ε = 1 is a common choice; smaller protects more".into()),
            Self::Delta(_) => Some("take δ well below 1/n, for example 1e-6; 0 asks for pure ε".into()),
            Self::EpsilonBound(_) => None,
        }
    }
}

/// A budget ε: finite and positive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    /// Accepts finite positive numbers.
    ///
    /// # Errors
    /// [`UnitError::Epsilon`] for anything else, NaN included.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if value.is_finite() && value > 0.0 { Ok(Self(value)) } else { Err(UnitError::Epsilon(value)) }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = UnitError;
    fn try_from(value: f64) -> Result<Self, UnitError> {
        Self::new(value)
    }
}

impl From<Epsilon> for f64 {
    fn from(value: Epsilon) -> f64 {
        value.0
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A δ: at least 0 (pure privacy) and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Delta(f64);

impl Delta {
    /// δ = 0: pure differential privacy.
    pub const PURE: Self = Self(0.0);

    /// Accepts numbers in [0, 1).
    ///
    /// # Errors
    /// [`UnitError::Delta`] for anything else, NaN included.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if (0.0..1.0).contains(&value) { Ok(Self(value)) } else { Err(UnitError::Delta(value)) }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Delta {
    type Error = UnitError;
    fn try_from(value: f64) -> Result<Self, UnitError> {
        Self::new(value)
    }
}

impl From<Delta> for f64 {
    fn from(value: Delta) -> f64 {
        value.0
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0.0 && self.0 < 1e-3 { write!(f, "{:e}", self.0) } else { self.0.fmt(f) }
    }
}

/// What a release may cost at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The multiplicative part.
    pub epsilon: Epsilon,
    /// The additive part.
    pub delta: Delta,
}

impl Budget {
    /// Both numbers checked.
    ///
    /// # Errors
    /// [`UnitError`] naming the number that is out of range.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, UnitError> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(ε = {}, δ = {})", self.epsilon, self.delta)
    }
}

/// An ε that an accountant computed: an upper bound that may be 0 or infinite, never NaN.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct EpsilonBound(f64);

impl EpsilonBound {
    /// Nothing is promised.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// Accepts 0, positive numbers and infinity.
    ///
    /// # Errors
    /// [`UnitError::EpsilonBound`] for NaN and negative numbers.
    pub fn new(value: f64) -> Result<Self, UnitError> {
        if value >= 0.0 { Ok(Self(value)) } else { Err(UnitError::EpsilonBound(value)) }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_budgets_cannot_be_built() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Epsilon::new(bad).is_err(), "{bad}");
        }
        for bad in [-1e-300, 1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(Delta::new(bad).is_err(), "{bad}");
        }
        for bad in [-1e-300, f64::NAN, f64::NEG_INFINITY] {
            assert!(EpsilonBound::new(bad).is_err(), "{bad}");
        }
        assert!(Budget::new(1.0, 0.0).is_ok());
        assert!(EpsilonBound::new(f64::INFINITY).is_ok());
    }
}
