//! ε and δ: what is promised (a budget) and what was computed (a bound).

use crate::{FrontEnd, Hint, shown};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A privacy quantity that cannot exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// A budget ε must be finite and positive.
    #[error("ε must be a finite number above 0, not {}", shown::as_given(*.0))]
    Epsilon(f64),
    /// A δ must be in [0, 1).
    #[error("δ must be at least 0 and below 1, not {}", shown::as_given(*.0))]
    Delta(f64),
    /// A computed ε must not be NaN or negative.
    #[error("a computed ε must not be negative or NaN, got {}", shown::as_given(*.0))]
    EpsilonBound(f64),
}

impl Hint for UnitError {
    fn code(&self) -> &'static str {
        "number"
    }

    fn hint(&self, _: FrontEnd) -> Option<String> {
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
        shown(self.0, f)
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
        shown(self.0, f)
    }
}

/// As something that is not smaller, in its own order of magnitude. Whoever asks for a number of digits gets the number itself.
fn shown(value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if f.precision().is_some() { fmt::Display::fmt(&value, f) } else { f.pad(&shown::up(value)) }
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
    fn issue_18_18_a_budget_is_shown_in_its_own_order_of_magnitude() {
        let shown = |epsilon, delta| Budget::new(epsilon, delta).unwrap().to_string();
        assert_eq!(shown(1e-12, 1e-6), "(ε = 1e-12, δ = 1e-6)");
        assert_eq!(shown(0.3, 0.0), "(ε = 0.3, δ = 0)");
        // Nobody is promised more than there is.
        assert_eq!(shown(0.300_000_001, 1.000_000_1e-6), "(ε = 0.30001, δ = 1.0001e-6)");
        assert_eq!(format!("{:>6}|{:.2}", Epsilon(0.5), Epsilon(1.0 / 3.0)), "   0.5|0.33");
    }

    #[test]
    fn issue_18_18_a_number_that_is_no_budget_is_quoted_in_a_few_letters() {
        let message = |value| Epsilon::new(value).unwrap_err().to_string();
        assert_eq!(message(-1e300), "ε must be a finite number above 0, not -1e300");
        assert_eq!(message(0.0), "ε must be a finite number above 0, not 0");
        assert_eq!(Delta::new(1e200).unwrap_err().to_string(), "δ must be at least 0 and below 1, not 1e200");
    }

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
