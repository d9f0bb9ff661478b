//! What will be released, stated before any record is read.

mod event;
mod gradients;
mod output;
mod sampled;

pub use gradients::Gradients;
pub use output::Output;
pub use sampled::Sampled;

use crate::{LearnError, Plan, PlanKind};
use pairdp_accountant::AccountantError;
use pairdp_noise::delta_share;
use pairdp_pairwise::Problem;
use pairdp_units::directed::down_by;
use pairdp_units::{Budget, Delta};

/// A calibrated statement of all releases of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Noisy gradients over all pairs.
    Gradients(Gradients),
    /// Noisy gradients of secretly sampled pairs or records.
    Sampled(Sampled),
    /// One noisy result of a descent without noise.
    Output(Output),
}

impl Mechanism {
    /// The noise for a plan.
    ///
    /// # Errors
    /// [`LearnError`] when a number is out of range or no noise level fits; only public facts decide.
    pub fn calibrate(
        problem: Problem,
        plan: Plan,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        Ok(match plan.algorithm() {
            PlanKind::NoisyGd => {
                Self::Gradients(Gradients::calibrate(problem, records, features, plan.steps(), budget)?)
            }
            PlanKind::NoisySgd => {
                Self::Sampled(Sampled::calibrate(problem, records, features, plan.steps(), budget)?)
            }
            PlanKind::OutputGd => Self::Output(Output::calibrate(problem, records, features, plan, budget)?),
        })
    }

    /// What every kind states.
    pub(crate) fn common(&self) -> &Common {
        match self {
            Self::Gradients(gradients) => gradients.common(),
            Self::Sampled(sampled) => sampled.common(),
            Self::Output(output) => output.common(),
        }
    }
}

/// Public facts of every mechanism.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Common {
    pub(crate) problem: Problem,
    pub(crate) records: usize,
    pub(crate) features: usize,
    pub(crate) budget: Budget,
    /// The part of δ set aside for the sampler.
    pub(crate) sampler_delta: f64,
}

impl Common {
    /// Sets aside what `releases` noisy vectors cost, and returns what is left for the data.
    fn new(
        problem: Problem,
        records: usize,
        features: usize,
        releases: f64,
        budget: Budget,
    ) -> Result<(Self, Budget), LearnError> {
        problem.gradient_sensitivity(0.0, records)?;
        if budget.delta == Delta::PURE {
            return Err(AccountantError::PureGaussian.into());
        }
        let samples = releases * problem.parameters(features) as f64;
        let sampler_delta = delta_share(budget.epsilon.get(), samples);
        let for_data = Delta::new(down_by(budget.delta.get() - sampler_delta, 1.0))
            .map_err(|_| LearnError::DeltaTooSmall(budget))?;
        let common = Self { problem, records, features, budget, sampler_delta };
        Ok((common, Budget { epsilon: budget.epsilon, delta: for_data }))
    }

    /// Coordinates of a release.
    pub(crate) fn parameters(&self) -> usize {
        self.problem.parameters(self.features)
    }
}
