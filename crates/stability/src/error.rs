//! What can be refused. Every field is public information: nothing here depends on records.

use pairdp_units::{FrontEnd, Hint, shown};

/// A request for a sensitivity, a bound or a printed formula that was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StabilityError {
    /// A constant that is negative, infinite or not a number.
    #[error("{name} = {} is not a finite number of at least 0", shown::as_given(*.value))]
    Constant {
        /// Which constant.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// A number that must be positive and is not.
    #[error("{name} = {} is not a finite positive number", shown::as_given(*.value))]
    Positive {
        /// Which number.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// A number outside its range.
    #[error("{name} = {} is not between {low} and {high}", shown::as_given(*.value))]
    Range {
        /// Which number.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The smallest allowed.
        low: f64,
        /// The largest allowed.
        high: f64,
    },
    /// A diameter that is not positive (it may be infinite).
    #[error("{} cannot be a diameter", shown::as_given(*.0))]
    Diameter(f64),
    /// A difference at two parameters below the difference at one: the former is a supremum over more.
    #[error("a difference of {apart} at two parameters is below the {same} at one")]
    Apart {
        /// The difference at one parameter.
        same: f64,
        /// The difference at two.
        apart: f64,
    },
    /// A step so long that the ridge overshoots zero, where no recurrence for losses with kinks holds.
    #[error("a step of {} with a ridge of {} overshoots: their product exceeds 1", shown::as_given(*.rate), shown::as_given(*.ridge))]
    Overshoot {
        /// The step size.
        rate: f64,
        /// The ridge.
        ridge: f64,
    },
    /// A step too long for the rule asked for.
    #[error("a step of {} exceeds {}, the longest for which this bound holds", shown::as_given(*.rate), shown::as_given(*.limit))]
    StepTooLong {
        /// The step size.
        rate: f64,
        /// The longest allowed.
        limit: f64,
    },
    /// A rule that needs a ridge or a smooth loss was asked for without it.
    #[error("this bound needs {0}")]
    Needs(&'static str),
    /// Too few records.
    #[error("{given} records are fewer than the {least} needed")]
    TooFewRecords {
        /// The number given.
        given: usize,
        /// The least that will do.
        least: usize,
    },
    /// Too few steps or indices.
    #[error("{given} steps are fewer than the {least} needed")]
    TooFewSteps {
        /// The number given.
        given: usize,
        /// The least that will do.
        least: usize,
    },
    /// A list of step sizes that does not fit the number of steps.
    #[error("{given} step sizes for {steps} steps")]
    Rates {
        /// The number given.
        given: usize,
        /// The number of steps.
        steps: usize,
    },
    /// An index that names no record.
    #[error("index {index} names none of {n_records} records")]
    Index {
        /// The index.
        index: u32,
        /// How many records there are.
        n_records: usize,
    },
    /// A pair of a record with itself.
    #[error("step {step} pairs record {index} with itself")]
    SelfPair {
        /// The record.
        index: u32,
        /// The step, from 0.
        step: usize,
    },
    /// A suffix longer than the path.
    #[error("a suffix of {suffix} iterates does not fit {steps} steps")]
    Suffix {
        /// The iterates to be averaged.
        suffix: usize,
        /// The number of steps.
        steps: usize,
    },
    /// A result that overflowed.
    #[error("the bound is not a finite number")]
    Overflow,
    /// No β meets the side conditions of Wang et al. (2024).
    #[error("no β meets the side conditions for n = {n_records}, ε = {epsilon}, δ = {delta}")]
    NoBeta {
        /// The number of records.
        n_records: usize,
        /// ε asked for.
        epsilon: f64,
        /// δ asked for.
        delta: f64,
    },
}

impl Hint for StabilityError {
    fn hint(&self, _: FrontEnd) -> Option<String> {
        match self {
            Self::Overshoot { ridge, .. } => Some(format!("choose a step size of at most {}", 1.0 / ridge)),
            Self::StepTooLong { limit, .. } => Some(format!("choose a step size of at most {limit}")),
            Self::SelfPair { .. } => Some("draw pairs of two different records".into()),
            Self::NoBeta { .. } => {
                Some("raise ε, or calibrate with an accountant in place of the printed formula".into())
            }
            Self::Overflow => Some("take fewer or shorter steps".into()),
            _ => None,
        }
    }
}

/// Accepts finite numbers of at least 0.
pub(crate) fn constant(name: &'static str, value: f64) -> Result<f64, StabilityError> {
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(StabilityError::Constant { name, value }) }
}

/// Accepts finite positive numbers.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, StabilityError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(StabilityError::Positive { name, value }) }
}

/// Accepts finite results.
pub(crate) fn finite(value: f64) -> Result<f64, StabilityError> {
    if value.is_finite() { Ok(value) } else { Err(StabilityError::Overflow) }
}
