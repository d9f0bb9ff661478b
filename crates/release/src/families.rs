//! The families of releases that there are: a folder for each, with the same four files, and a line in each list here.
//!
//! `calibrate` has the noise, from public facts; `query` what the [`Curator`] computes of its records; `descend` what follows from releases, as
//! public code that can only ask the curator; `describe` what the accountant, a certificate and people are told.

use crate::suggested::Circumstances;
use crate::{Checkpointer, Curator, Descent, Family, LearnError, Plan, PublicFacts};
use pairdp_certificate::Algorithm;
use pairdp_noise::Source;

/// Noisy gradients over all pairs: `noisy-gd`.
pub(crate) mod gradients {
    pub(crate) mod calibrate;
    pub(super) mod descend;
    mod describe;
    mod query;
}
/// Noisy gradients of secretly sampled pairs or records: `noisy-sgd`.
pub(crate) mod samples {
    mod binomial;
    pub(crate) mod calibrate;
    pub(super) mod descend;
    mod describe;
    pub(crate) mod query;
}
/// Noisy gradients of one pass, each record against all before it: `online-pair`.
pub(crate) mod arrivals {
    pub(crate) mod calibrate;
    pub(super) mod descend;
    mod describe;
    mod query;
}
/// Noisy results of descents without noise: `output-gd`, `output-sgd`, `phased-gd`, `localized-sgd`, `offline-pair` and `matching-sgd`.
pub(crate) mod results {
    pub(crate) mod calibrate;
    pub(super) mod descend;
    mod describe;
    pub(crate) mod path;
    mod query;
}
/// One noisy release of moments, solved for the weights: `moments`.
pub(crate) mod moments {
    pub(crate) mod calibrate;
    pub(super) mod descend;
    mod describe;
    mod query;
}

use arrivals::calibrate::Arrivals;
use gradients::calibrate::Gradients;
use moments::calibrate::Moments;
use results::calibrate::Results;
use samples::calibrate::Samples;

/// A calibrated statement of all releases of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Noisy gradients over all pairs.
    Gradients(Gradients),
    /// Noisy gradients of secretly sampled pairs or records.
    Samples(Samples),
    /// Noisy gradients of one pass.
    Arrivals(Arrivals),
    /// Noisy results of descents without noise.
    Results(Results),
    /// One noisy release of moments.
    Moments(Moments),
}

impl Mechanism {
    /// The noise of an algorithm's family.
    pub(crate) fn of_family(public: &PublicFacts) -> Result<Self, LearnError> {
        Ok(match public.plan.algorithm() {
            Algorithm::NoisyGd => Self::Gradients(Gradients::calibrate(public)?),
            Algorithm::NoisySgd => Self::Samples(Samples::calibrate(public)?),
            Algorithm::OnlinePair => Self::Arrivals(Arrivals::calibrate(public)?),
            Algorithm::Moments => Self::Moments(Moments::calibrate(public)?),
            _ => Self::Results(Results::calibrate(public)?),
        })
    }

    /// What every family says of itself.
    pub(crate) fn family(&self) -> &dyn Family {
        match self {
            Self::Gradients(family) => family,
            Self::Samples(family) => family,
            Self::Arrivals(family) => family,
            Self::Results(family) => family,
            Self::Moments(family) => family,
        }
    }
}

/// Steps, step size and noise that suit a problem.
pub(crate) fn suggested(algorithm: Algorithm, circumstances: &Circumstances) -> Result<Plan, LearnError> {
    match algorithm {
        Algorithm::NoisyGd => gradients::calibrate::suggested(circumstances),
        Algorithm::NoisySgd => samples::calibrate::suggested(circumstances),
        Algorithm::OnlinePair => arrivals::calibrate::suggested(circumstances),
        Algorithm::Moments => moments::calibrate::suggested(circumstances),
        _ => results::calibrate::suggested(algorithm, circumstances),
    }
}

/// Asks a curator everything that its mechanism's algorithm asks, and returns the parameters that come of it: what training does
/// once records and mechanism are together. For whoever runs one mechanism many times.
///
/// # Errors
/// [`LearnError`], which depends on public facts alone; when a checkpoint is of another run or cannot be saved.
pub fn run<S: Source>(
    curator: &mut Curator<S>,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mechanism = curator.mechanism().clone();
    let PublicFacts { problem, plan, .. } = mechanism.common().public;
    let descent = Descent::of(problem, plan);
    let start = curator.start().to_vec();
    let parameters = match &mechanism {
        Mechanism::Gradients(_) => gradients::descend::noisy_gd(curator, &descent, checkpointer),
        Mechanism::Samples(_) => samples::descend::noisy_sgd(curator, &descent, checkpointer),
        Mechanism::Arrivals(_) => arrivals::descend::online_pair(curator, &descent, checkpointer),
        Mechanism::Results(results) => results::descend::phases(curator, results.releases(), checkpointer),
        Mechanism::Moments(moments) => moments::descend::solve(curator, moments),
    }?;
    // What ran away says nothing, and could not be written: the public start does as well.
    Ok(if parameters.iter().all(|value| value.is_finite()) { parameters } else { start })
}
