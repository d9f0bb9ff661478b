//! What the accountant and a ledger are told about a run.

use super::{Mechanism, sampled};
use crate::{Certificate, LearnError, PlanKind, Released};
use pairdp_accountant::event::{AdjacencyKind, Event, Release, Sampling};
use pairdp_units::Delta;
use pairdp_units::directed::down;

impl Mechanism {
    /// The algorithm's name, for a ledger's history.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gradients(_) => PlanKind::NoisyGd.name(),
            Self::Sampled(_) => PlanKind::NoisySgd.name(),
            Self::Output(_) => PlanKind::OutputGd.name(),
        }
    }

    /// Everything the run will release, and the part of its δ that is set aside for the sampler.
    ///
    /// # Guarantee
    /// The releases of a curator opened for this mechanism are dominated by the event, except for the sampler's distance
    /// from its law.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for a ratio beyond f64.
    pub fn event(&self) -> Result<(Event, Delta), LearnError> {
        let event = match self {
            Self::Gradients(gradients) => plain(gradients.ratio(), gradients.steps())?,
            Self::Sampled(run) => sampled::event(run.sampling(), run.steps(), run.noise_multiplier())?,
            Self::Output(output) => plain(output.ratio(), 1)?,
        };
        Ok((event, Delta::new(self.common().sampler_delta)?))
    }
}

impl Certificate {
    /// What was released, as [`Mechanism::event`] states it in advance.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for numbers that no mechanism has.
    pub fn event(&self) -> Result<Event, LearnError> {
        match self.released {
            Released::Gradients { steps, ratio, .. } => plain(ratio, steps),
            Released::SampledGradients { steps, sampling, noise_multiplier, .. } => {
                sampled::event(sampling, steps, noise_multiplier)
            }
            Released::Output { ratio, .. } => plain(ratio, 1),
        }
    }
}

/// Gaussian releases over all records; the multiplier is rounded down, so that it promises no more than `ratio`.
fn plain(ratio: f64, steps: u32) -> Result<Event, LearnError> {
    let release = Release::Gaussian {
        noise_multiplier: down(1.0 / ratio),
        sampling: Sampling::None,
        times: u64::from(steps),
    };
    Ok(Event::new(AdjacencyKind::ReplaceOne, release)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use pairdp_accountant::epsilon_for;
    use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
    use pairdp_units::Budget;

    /// What the accountant makes of the event is the budget that the mechanism was calibrated to.
    #[test]
    fn events_cost_what_the_mechanism_was_given() {
        let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
        let problem = Problem::new(objective, Domain::Ball { radius: 3.0 }, 1.0).unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        for algorithm in [PlanKind::NoisyGd, PlanKind::OutputGd, PlanKind::NoisySgd] {
            let plan = Plan::suggested(algorithm, problem, 500, 4, budget).unwrap();
            let mechanism = Mechanism::calibrate(problem, plan, 500, 4, budget).unwrap();
            let (event, sampler_delta) = mechanism.event().unwrap();
            let delta = Delta::new(1e-6 - sampler_delta.get()).unwrap();
            let epsilon = epsilon_for(&event, delta).unwrap().0.get();
            assert!((0.99..=1.0 + 1e-9).contains(&epsilon), "{}: ε = {epsilon}", algorithm.name());
            let certificate = Certificate::new(&mechanism, Vec::new());
            assert_eq!(certificate.event().unwrap(), event, "{}", algorithm.name());
        }
    }
}
