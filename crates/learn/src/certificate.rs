//! Every public fact that a guarantee rests on.

use crate::Mechanism;
use pairdp_pairwise::{Problem, kernel};
use pairdp_units::{Adjacency, Budget, ReplaceOne};
use serde::{Deserialize, Serialize};

/// The format written by this version; a meaning never changes under the same name.
pub(crate) const FORMAT: &str = "pairdp-certificate/1";
pub(crate) const ALGORITHM: &str = "noisy-gd/1";
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
    /// κB: the largest score of a record anywhere in the domain.
    pub score_bound: f64,
    /// How.
    pub algorithm: String,
    /// Number of releases.
    pub steps: u32,
    /// The law of the noise.
    pub noise: String,
    /// The noise and the releases live on a lattice of step σ/2^bits.
    pub lattice_bits: u32,
    /// The code that computed the gradients, which sets `kernel_error` of each release.
    pub kernel: String,
    /// The part of δ that the sampler's distance from the ideal law may cost.
    pub sampler_delta: f64,
    /// μ of each release: its sensitivity, all rounding included, over σ.
    pub ratio: f64,
    /// What was released, in order.
    pub releases: Vec<Release>,
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

/// One noisy gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
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
    /// The certificate of releases made under a mechanism.
    pub(crate) fn new(mechanism: &Mechanism, releases: Vec<Release>) -> Self {
        let budget: Budget = mechanism.budget();
        Self {
            format: FORMAT.into(),
            claim: Claim {
                epsilon: budget.epsilon.get(),
                delta: budget.delta.get(),
                adjacency: ReplaceOne::ID.into(),
            },
            records: mechanism.records(),
            features: mechanism.features(),
            problem: mechanism.problem(),
            parameters: mechanism.parameters(),
            score_bound: mechanism.problem().feature_bound() * mechanism.problem().domain().radius(),
            algorithm: ALGORITHM.into(),
            steps: mechanism.steps(),
            noise: NOISE.into(),
            lattice_bits: mechanism.lattice_bits(),
            kernel: kernel::name(mechanism.problem()).into(),
            sampler_delta: mechanism.sampler_delta(),
            ratio: mechanism.ratio(),
            releases,
        }
    }
}
