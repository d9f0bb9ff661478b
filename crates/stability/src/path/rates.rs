//! Step sizes: one for all steps, or one for each.

use super::{Rule, Step};
use crate::error::StabilityError;
use crate::geometry::Geometry;

/// Step sizes of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rates<'a> {
    /// The same for every step.
    Constant(f64),
    /// One for each step.
    Each(&'a [f64]),
}

/// Step sizes with their constants worked out.
#[derive(Debug, Clone)]
pub(crate) enum Steps {
    Constant(Step),
    Each(Vec<Step>),
}

impl Steps {
    pub(crate) fn new(geometry: &Geometry, rates: Rates<'_>, steps: usize) -> Result<Self, StabilityError> {
        match rates {
            Rates::Constant(rate) => Ok(Self::Constant(Step::new(geometry, rate)?)),
            Rates::Each(rates) if rates.len() == steps => {
                Ok(Self::Each(rates.iter().map(|&rate| Step::new(geometry, rate)).collect::<Result<_, _>>()?))
            }
            Rates::Each(rates) => Err(StabilityError::Rates { given: rates.len(), steps }),
        }
    }

    /// Step `number`, from 1.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> &Step {
        match self {
            Self::Constant(step) => step,
            Self::Each(steps) => &steps[number - 1],
        }
    }

    /// The weakest rule in use.
    pub(crate) fn rule(&self) -> Rule {
        match self {
            Self::Constant(step) => step.rule(),
            Self::Each(steps) => steps.iter().map(Step::rule).max().unwrap_or(Rule::StronglyConvex),
        }
    }
}
