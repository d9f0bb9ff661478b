//! The families of releases: algorithms by their names, and what each of them released.

use crate::{Average, Order};
use serde::{Deserialize, Serialize};

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Gradient descent over all pairs, noise in every gradient (Kang et al., Algorithm 1; Xue et al., Algorithm 2).
    NoisyGd,
    /// Secret uniform pairs (or records), noise in every gradient (Wang et al., Algorithms 1 and 2; Bassily et al.,
    /// Algorithm 2).
    NoisySgd,
    /// One pass, each record against all before it, noise in every gradient (after Huai et al.).
    OnlinePair,
    /// Gradient descent over all pairs without noise, which is added to its result (Xue et al., Algorithm 1).
    OutputGd,
    /// Each drawn record against all drawn before it (or alone, for pointwise losses), noise on the result (Yang et al.,
    /// Algorithm 2).
    OutputSgd,
    /// Gradient descent over disjoint parts, half as many records each, noise on each result (Xue et al., Algorithm 3).
    PhasedGd,
    /// One pass over disjoint parts, each record against its predecessor, noise on each result (after Yang et al. 2021b).
    LocalizedSgd,
    /// One pass, each record against all before it, noise on the result (after Huai et al.).
    OfflinePair,
    /// Disjoint pairs, a fresh matching every pass, noise on the result.
    MatchingSgd,
    /// One noisy release of first and second moments, solved for the weights.
    Moments,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::NoisyGd,
        Self::NoisySgd,
        Self::OnlinePair,
        Self::OutputGd,
        Self::OutputSgd,
        Self::PhasedGd,
        Self::LocalizedSgd,
        Self::OfflinePair,
        Self::MatchingSgd,
        Self::Moments,
    ];

    /// The name in certificates and wherever users type it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoisyGd => "noisy-gd",
            Self::NoisySgd => "noisy-sgd",
            Self::OnlinePair => "online-pair",
            Self::OutputGd => "output-gd",
            Self::OutputSgd => "output-sgd",
            Self::PhasedGd => "phased-gd",
            Self::LocalizedSgd => "localized-sgd",
            Self::OfflinePair => "offline-pair",
            Self::MatchingSgd => "matching-sgd",
            Self::Moments => "moments",
        }
    }

    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Whether it has no pointwise counterpart.
    pub fn needs_pairs(self) -> bool {
        matches!(self, Self::OnlinePair | Self::OfflinePair | Self::LocalizedSgd | Self::MatchingSgd)
    }

    /// Whether noise is added to results of descents rather than to gradients.
    pub fn perturbs_output(self) -> bool {
        !matches!(self, Self::NoisyGd | Self::NoisySgd | Self::OnlinePair | Self::Moments)
    }

    /// Whether the number of records decides the number of steps: one pass, or one in each part.
    pub fn has_fixed_steps(self) -> bool {
        matches!(
            self,
            Self::OnlinePair | Self::OfflinePair | Self::PhasedGd | Self::LocalizedSgd | Self::Moments
        )
    }

    /// Whether steps follow a public [`Order`].
    pub fn has_order(self) -> bool {
        !matches!(self, Self::NoisyGd | Self::NoisySgd | Self::OutputGd | Self::Moments)
    }
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
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

/// What an accountant is told of the releases of training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Composition {
    /// Releases of the whole table, one after the other.
    Adaptive {
        /// Of each.
        ratio: f64,
        /// How many.
        releases: u32,
    },
    /// Releases of secret samples, with Gaussian noise.
    Sampled {
        /// How each sample was drawn.
        sampling: Sampling,
        /// The noise over what one of a sample's records can change.
        noise_multiplier: f64,
        /// How many.
        releases: u32,
    },
}

impl Released {
    /// What an accountant is told.
    pub fn composition(&self) -> Composition {
        match *self {
            Self::Gradients { steps: releases, ratio, .. } => Composition::Adaptive { ratio, releases },
            // What all steps of one pass cost, and all results on disjoint parts, is what one release does.
            Self::Moments { ratio, .. } | Self::Online { ratio, .. } | Self::Output { ratio, .. } => {
                Composition::Adaptive { ratio, releases: 1 }
            }
            Self::SampledGradients { steps: releases, sampling, noise_multiplier, .. } => {
                Composition::Sampled { sampling, noise_multiplier, releases }
            }
        }
    }

    /// Whether public orders or phases go by places; the place of a person is where the first record is.
    pub(crate) fn goes_by_places(&self) -> bool {
        match self {
            Self::Online { .. } | Self::Output { order: Some(_), .. } => true,
            Self::Output { .. }
            | Self::Gradients { .. }
            | Self::SampledGradients { .. }
            | Self::Moments { .. } => false,
        }
    }
}

/// A release beside training: before it, so that a public map of single rows follows, or after it, about the scores of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Stage {
    /// Sums over records of the weights that each column gives to public knots, and of (1 + label)/2; times give theirs to their cell of
    /// a public grid.
    Knots {
        /// Columns of numbers.
        numbers: usize,
        /// Columns of categories.
        categories: usize,
        /// Coordinates of the release.
        coordinates: usize,
        /// Whether the number of records is released with them, because it is secret.
        counts_records: bool,
        /// Its noise.
        noise: StageNoise,
    },
    /// After training: how many records of either label have a score in each of a few cells of a public stretch.
    Probabilities {
        /// Cells of the stretch; there are two counts of each.
        cells: usize,
        /// Its noise.
        noise: StageNoise,
    },
}

impl Stage {
    /// Its noise.
    pub fn noise(&self) -> StageNoise {
        match self {
            Self::Knots { noise, .. } | Self::Probabilities { noise, .. } => *noise,
        }
    }

    /// Coordinates of the release.
    pub fn coordinates(&self) -> usize {
        match self {
            Self::Knots { coordinates, .. } => *coordinates,
            Self::Probabilities { cells, .. } => cells.saturating_mul(2),
        }
    }
}

/// The numbers of a stage's noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageNoise {
    /// How far one record can move the exact sums: in ℓ2, or in ℓ1 for Laplace noise.
    pub sensitivity: f64,
    /// How far computed sums can be from the exact ones.
    pub error: f64,
    /// The ratio of the release.
    pub ratio: f64,
    /// Fineness of the lattice.
    pub lattice_bits: u32,
    /// Scale of the noise.
    pub sigma: f64,
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

/// One descent whose result was released.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Records of this phase's part of the table: all, if there is one phase.
    pub records: usize,
    /// Steps.
    pub steps: u32,
    /// Step size.
    pub step_size: f64,
    /// How far one record of the part can move the computed result.
    pub sensitivity: f64,
    /// Scale of the noise.
    pub sigma: f64,
}

/// How a secret sample was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// `batch` of `records`, uniformly without replacement. A uniform pair of records has `batch` 2.
    FixedSize {
        /// m.
        batch: u64,
        /// n.
        records: u64,
    },
    /// One uniform index of `records`.
    OneIndex {
        /// n.
        records: u64,
    },
    /// Every unordered pair independently, `expected_pairs` in the mean.
    PoissonPairs {
        /// n.
        records: u64,
        /// The mean number of kept pairs.
        expected_pairs: f64,
    },
}

/// How much of each statistic a record's vector of moments has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// a: of the mean of features, and with κ of the mean label.
    pub mean: f64,
    /// α: of second moments; 0 for none.
    pub second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_algorithms_are_those_in_files() {
        for algorithm in Algorithm::ALL {
            assert_eq!(serde_json::to_string(&algorithm).unwrap(), format!("\"{algorithm}\""));
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
    }
}
