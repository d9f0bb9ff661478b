//! What a run released.

use crate::{Average, Order};
use serde::{Deserialize, Serialize};

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

impl Released {
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
