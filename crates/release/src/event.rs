//! What the accountant and a ledger are told about a run.

use crate::certificate::same;
use crate::{LearnError, Mechanism};
use pairdp_accountant::event::{Adjacency, Event, Release, Sampling};
use pairdp_certificate::{Certificate, Composition, NoiseKind};
use pairdp_units::Delta;
use pairdp_units::directed::{down, up_by};

impl Mechanism {
    /// Everything the run will release, and the part of its δ that is set aside for the sampler.
    ///
    /// # Guarantee
    /// The releases of a curator opened for this mechanism are dominated by the event, except for the sampler's distance
    /// from its law.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for a ratio beyond f64.
    pub fn event(&self) -> Result<(Event, Delta), LearnError> {
        let event = self.family().event()?;
        Ok((event, Delta::new(self.common().sampler_delta)?))
    }
}

/// What a certificate says was released, as [`Mechanism::event`] states it in advance.
///
/// # Errors
/// [`LearnError::Accountant`] for numbers that no mechanism has.
pub fn certified_event(certificate: &Certificate) -> Result<Event, LearnError> {
    let law = NoiseKind::ALL.into_iter().find(|law| law.name() == certificate.noise);
    let law = law.ok_or(LearnError::NoProof("this noise"))?;
    let kind = certificate.adjacency();
    match certificate.released.composition() {
        Composition::Adaptive { ratio, releases } => {
            // Version 0.1 could look for tighter ranges first.
            let ranges = certificate.ranges.map(|ranges| ranges.ratio);
            let stages = certificate.stages.iter().map(|stage| stage.noise().ratio);
            after(ranges.into_iter().chain(stages).collect(), kind, law, ratio, releases)
        }
        Composition::Sampled { sampling, noise_multiplier, releases } => {
            sampled_event(kind, same(&sampling), releases, noise_multiplier)
        }
    }
}

/// Releases after or before others of such ratios: Gaussian ones are together as one whose squared ratio is the sum of theirs, ratios of
/// others add up.
pub(crate) fn after(
    others: Vec<f64>,
    kind: Adjacency,
    law: NoiseKind,
    ratio: f64,
    steps: u32,
) -> Result<Event, LearnError> {
    if others.is_empty() {
        return plain_event(kind, law, ratio, steps);
    }
    let before = others.into_iter();
    let together = match law {
        NoiseKind::Gaussian => (before.map(|m| m * m).sum::<f64>() + f64::from(steps) * ratio * ratio).sqrt(),
        NoiseKind::Laplace | NoiseKind::Euclidean => before.sum::<f64>() + f64::from(steps) * ratio,
    };
    plain_event(kind, law, up_by(together, 8.0), 1)
}

/// Releases over secret samples of records.
pub(crate) fn sampled_event(
    kind: Adjacency,
    sampling: Sampling,
    steps: u32,
    noise_multiplier: f64,
) -> Result<Event, LearnError> {
    let release = Release::Gaussian { noise_multiplier, sampling, times: u64::from(steps) };
    Ok(Event::new(kind, release)?)
}

/// Releases over all records. A Gaussian multiplier is rounded down, so that it promises no more than `ratio`; the ratio of
/// other noise is an ε.
///
/// # Errors
/// [`LearnError::Accountant`] for a ratio beyond f64.
pub fn plain_event(kind: Adjacency, law: NoiseKind, ratio: f64, steps: u32) -> Result<Event, LearnError> {
    let (sampling, times) = (Sampling::None, u64::from(steps));
    let release = match law {
        NoiseKind::Gaussian => Release::Gaussian { noise_multiplier: down(1.0 / ratio), sampling, times },
        NoiseKind::Laplace | NoiseKind::Euclidean => Release::Pure { epsilon: ratio, sampling, times },
    };
    Ok(Event::new(kind, release)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use pairdp_accountant::epsilon_for;
    use pairdp_certificate::Algorithm;
    use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
    use pairdp_units::Budget;

    /// What the accountant makes of the event is the budget that the mechanism was calibrated to.
    #[test]
    fn events_cost_what_the_mechanism_was_given() {
        let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
        let problem = Problem::new(objective, Domain::Ball { radius: 3.0 }, 1.0).unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        for algorithm in Algorithm::ALL {
            let plan = Plan::suggested(algorithm, problem, 500, 4, budget).unwrap();
            let mechanism = Mechanism::calibrate(problem, plan, 500, 4, budget).unwrap();
            let (event, sampler_delta) = mechanism.event().unwrap();
            let delta = Delta::new(1e-6 - sampler_delta.get()).unwrap();
            let epsilon = epsilon_for(&event, delta).unwrap().0.get();
            // ε of pure releases at a small δ is a little less than their sum.
            let least = if plan.law() == NoiseKind::Gaussian { 0.99 } else { 0.9 };
            assert!((least..=1.0 + 1e-9).contains(&epsilon), "{}: ε = {epsilon}", algorithm.name());
            let certificate = crate::certificate::describe(&mechanism, Vec::new());
            assert_eq!(certified_event(&certificate).unwrap(), event, "{}", algorithm.name());
        }
    }
}
