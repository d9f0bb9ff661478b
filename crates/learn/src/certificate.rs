//! Every public fact that a guarantee rests on.

use crate::mechanism::{Mechanism, Public};
use crate::mechanism::{Phase, Ranges};
use crate::order::Order;
use crate::plan::{Average, PlanKind};
use pairdp_accountant::event::Sampling;
use pairdp_pairwise::moments::Weights;
use pairdp_pairwise::{Problem, kernel};
use serde::{Deserialize, Serialize};

/// The format written by this version; a meaning never changes under the same name.
///
/// Format 3 has an adjacency of its own for public labels, and the public ranges from which tighter ones were found.
pub(crate) const FORMAT: &str = "pairdp-certificate/3";
/// The format of version 0.1, which is still read: [`verify`](crate::verify()) says of which certificates it no longer holds.
pub(crate) const FORMER: &str = "pairdp-certificate/2";

/// What an independent reviewer needs to recompute (ε, δ), and nothing that was derived from records except
/// through the noise: no data hash, no class counts, no data range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this document.
    pub format: String,
    /// What is promised.
    pub claim: Claim,
    /// n, public under replace-one adjacency; under add-remove-one the public cap in its place.
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
    /// What was released before, to find tighter ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Ranges>,
    /// The public ranges of numeric columns whose bins were counted, if tighter ones were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_ranges: Option<Vec<[f64; 2]>>,
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
        /// The ratio of each release: its sensitivity, all rounding included, over the scale of the noise.
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
    /// Noisy gradients of one pass, each record against all before it.
    Online {
        /// Number of releases.
        steps: u32,
        /// The public order of the records.
        order: Order,
        /// How far replacing a record can move the gradient of its own step; later steps k move by 1/k of it.
        sensitivity: f64,
        /// How far a computed gradient can be from the exact one.
        gradient_error: f64,
        /// μ of all releases together.
        ratio: f64,
        /// Standard deviation of the noise on each coordinate.
        sigma: f64,
    },
    /// Noisy results of descents without noise, over disjoint parts if there are several.
    Output {
        /// The public order of records, which decides parts and steps; none where every step is over the whole table.
        order: Option<Order>,
        /// Which iterates of a descent were averaged.
        average: Average,
        /// The code that computed gradients over all pairs, if they were.
        kernel: Option<String>,
        /// The ratio of each release.
        ratio: f64,
        /// The descents.
        phases: Vec<Phase>,
    },
    /// One noisy release of moments.
    Moments {
        /// How much of each statistic a record's vector has.
        weights: Weights,
        /// How far one record can move the exact moments.
        sensitivity: f64,
        /// How far computed moments can be from the exact ones.
        error: f64,
        /// The ratio of the release.
        ratio: f64,
        /// Scale of the noise.
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
        let Public { problem, plan, records, features, budget } = common.public;
        let kernel = || kernel::name(problem).to_owned();
        let order = plan.order();
        let released = match mechanism {
            Mechanism::Gradients(m) => Released::Gradients {
                steps: m.steps(),
                kernel: kernel(),
                ratio: m.ratio(),
                releases: gradients,
            },
            Mechanism::Sampled(m) => Released::SampledGradients {
                steps: m.steps(),
                sampling: m.sampling(),
                sensitivity: m.sensitivity(),
                gradient_error: m.gradient_error(),
                noise_multiplier: m.noise_multiplier(),
                sigma: m.sigma(),
            },
            Mechanism::Online(m) => Released::Online {
                steps: m.steps(),
                order,
                sensitivity: m.sensitivity(),
                gradient_error: m.gradient_error(),
                ratio: m.ratio(),
                sigma: m.sigma(),
            },
            Mechanism::Output(m) => Released::Output {
                order: plan.algorithm().has_order().then_some(order),
                average: plan.average(),
                kernel: matches!(plan.algorithm(), PlanKind::OutputGd | PlanKind::PhasedGd).then(kernel),
                ratio: m.ratio(),
                phases: m.phases().to_vec(),
            },
            Mechanism::Moments(m) => Released::Moments {
                weights: m.weights(),
                sensitivity: m.sensitivity(),
                error: m.error(),
                ratio: m.ratio(),
                sigma: m.sigma(),
            },
        };
        let score_bound = problem.feature_bound() * problem.domain().radius();
        Self {
            format: FORMAT.into(),
            claim: Claim {
                epsilon: budget.epsilon.get(),
                delta: budget.delta.get(),
                adjacency: problem.adjacency().name().into(),
            },
            records,
            features,
            parameters: mechanism.coordinates(),
            // A ridge is public and cancels between neighbours; only descents whose results are released rest on it.
            problem: if plan.algorithm().perturbs_output() { problem } else { problem.without_ridge() },
            score_bound: score_bound.is_finite().then_some(score_bound),
            algorithm: plan.algorithm(),
            noise: plan.law().name().into(),
            lattice_bits: mechanism.lattice_bits(),
            sampler_delta: common.sampler_delta,
            ranges: mechanism.ranges(),
            public_ranges: None,
            released,
        }
    }

    /// Whom the guarantee protects and from what, in words that follow "private for".
    pub fn protects(&self) -> String {
        self.problem.adjacency().protects(self.records)
    }
}
