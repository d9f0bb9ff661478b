//! Every public fact that a guarantee rests on.

use crate::mechanism::Mechanism;
use crate::plan::{Average, PlanKind};
use pairdp_accountant::event::Sampling;
use pairdp_pairwise::{Problem, kernel};
use pairdp_units::{Adjacency, ReplaceOne};
use serde::{Deserialize, Serialize};

/// The format written by this version; a meaning never changes under the same name.
pub(crate) const FORMAT: &str = "pairdp-certificate/1";
pub(crate) const NOISE: &str = "rounded-gaussian/1";

/// What an independent reviewer needs to recompute (ε, δ), and nothing that was derived from records except
/// through the noise: no data hash, no class counts, no data range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this document.
    pub format: String,
    /// What is promised.
    pub claim: Claim,
    /// n, public under replace-one adjacency.
    pub records: usize,
    /// Length of a record's feature vector.
    pub features: usize,
    /// Length of a release.
    pub parameters: usize,
    /// What was minimised.
    pub problem: Problem,
    /// κB: the largest score of a record anywhere in the domain; absent if there is no bound.
    pub score_bound: Option<f64>,
    /// Which algorithm.
    pub algorithm: PlanKind,
    /// The law of the noise.
    pub noise: String,
    /// The noise and the releases live on a lattice of step σ/2^bits.
    pub lattice_bits: u32,
    /// The part of δ that the sampler's distance from the ideal law may cost.
    pub sampler_delta: f64,
    /// What was released.
    pub released: Released,
}

/// (ε, δ) and between whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The neighbouring relation.
    pub adjacency: String,
}

/// The releases of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Released {
    /// Noisy gradients over all pairs.
    Gradients {
        /// Number of releases.
        steps: u32,
        /// The code that computed the gradients, which sets `kernel_error` of each release.
        kernel: String,
        /// μ of each release: its sensitivity, all rounding included, over σ.
        ratio: f64,
        /// What was released, in order.
        releases: Vec<GradientRelease>,
    },
    /// Noisy gradients of secretly sampled pairs or records.
    SampledGradients {
        /// Number of releases.
        steps: u32,
        /// How the records of a step were chosen.
        sampling: Sampling,
        /// How far replacing a record can move the gradient of a sample that holds it.
        sensitivity: f64,
        /// How far a computed gradient of a sample can be from the exact one.
        gradient_error: f64,
        /// σ over the sensitivity, all rounding included.
        noise_multiplier: f64,
        /// Standard deviation of the noise on each coordinate.
        sigma: f64,
    },
    /// One noisy result of a descent without noise.
    Output {
        /// Steps of the descent.
        steps: u32,
        /// Its step size.
        step_size: f64,
        /// Which iterates were averaged.
        average: Average,
        /// The code that computed the gradients.
        kernel: String,
        /// How far one record can move the computed result.
        sensitivity: f64,
        /// μ of the release.
        ratio: f64,
        /// Standard deviation of the noise on each coordinate.
        sigma: f64,
    },
}

/// One noisy gradient over all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientRelease {
    /// Norm of the public parameters at which the gradient was taken, rounded up.
    pub iterate_norm: f64,
    /// How far one record can move the exact gradient there.
    pub sensitivity: f64,
    /// How far the computed gradient can be from the exact one.
    pub kernel_error: f64,
    /// Standard deviation of the noise on each coordinate.
    pub sigma: f64,
}

impl Certificate {
    /// The certificate of a mechanism whose releases have been made; `gradients` lists those of [`Mechanism::Gradients`].
    pub(crate) fn new(mechanism: &Mechanism, gradients: Vec<GradientRelease>) -> Self {
        let common = mechanism.common();
        let kernel = || kernel::name(common.problem).to_owned();
        let (algorithm, lattice_bits, released) = match mechanism {
            Mechanism::Gradients(m) => {
                let released = Released::Gradients {
                    steps: m.steps(),
                    kernel: kernel(),
                    ratio: m.ratio(),
                    releases: gradients,
                };
                (PlanKind::NoisyGd, m.lattice_bits(), released)
            }
            Mechanism::Sampled(m) => {
                let released = Released::SampledGradients {
                    steps: m.steps(),
                    sampling: m.sampling(),
                    sensitivity: m.sensitivity(),
                    gradient_error: m.gradient_error(),
                    noise_multiplier: m.noise_multiplier(),
                    sigma: m.sigma(),
                };
                (PlanKind::NoisySgd, m.lattice_bits(), released)
            }
            Mechanism::Output(m) => {
                let released = Released::Output {
                    steps: m.plan().steps(),
                    step_size: m.plan().step_size(),
                    average: m.plan().average(),
                    kernel: kernel(),
                    sensitivity: m.sensitivity(),
                    ratio: m.ratio(),
                    sigma: m.sigma(),
                };
                (PlanKind::OutputGd, m.lattice_bits(), released)
            }
        };
        // A ridge is public and cancels between neighbours; only a descent whose result is released rests on it.
        let problem = match mechanism {
            Mechanism::Output(_) => common.problem,
            Mechanism::Gradients(_) | Mechanism::Sampled(_) => common.problem.without_ridge(),
        };
        let score_bound = common.problem.feature_bound() * common.problem.domain().radius();
        Self {
            format: FORMAT.into(),
            claim: Claim {
                epsilon: common.budget.epsilon.get(),
                delta: common.budget.delta.get(),
                adjacency: ReplaceOne::ID.into(),
            },
            records: common.records,
            features: common.features,
            parameters: common.parameters(),
            problem,
            score_bound: score_bound.is_finite().then_some(score_bound),
            algorithm,
            noise: NOISE.into(),
            lattice_bits,
            sampler_delta: common.sampler_delta,
            released,
        }
    }
}
