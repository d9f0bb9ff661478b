//! Names of algorithms, of noise, and of what a run follows.

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

/// The law of the noise, as a plan names it; certificates name its version too ([`Noise::name`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Gaussian, rounded to the lattice.
    Gaussian,
    /// Discrete Laplace in each coordinate.
    Laplace,
    /// Density ∝ exp(−‖z‖₂/scale), rounded to the lattice.
    Euclidean,
}

impl Noise {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gaussian, Self::Laplace, Self::Euclidean];

    /// The versioned name in certificates.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "rounded-gaussian/1",
            Self::Laplace => "discrete-laplace/1",
            Self::Euclidean => "rounded-euclidean/1",
        }
    }

    /// The noise of a versioned name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|noise| noise.name() == name)
    }
}

/// How public indices follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shuffle {
    /// Each index uniform and independent of the others.
    WithReplacement,
    /// One random permutation, over and over.
    FixedPermutation,
    /// A fresh permutation for every pass: no record is drawn often, which needs the least noise.
    #[default]
    Reshuffled,
}

/// Public indices, by law and seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The law.
    pub shuffle: Shuffle,
    /// The seed; any number will do, as long as it was not chosen by looking at records.
    pub seed: u64,
}

/// Which iterates became the result of a descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// The last one.
    Last,
    /// The mean of the second half.
    SecondHalf,
    /// The mean of all but the start.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_in_files() {
        for algorithm in Algorithm::ALL {
            assert_eq!(serde_json::to_string(&algorithm).unwrap(), format!("\"{algorithm}\""));
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
        for noise in Noise::ALL {
            assert_eq!(Noise::from_name(noise.name()), Some(noise));
        }
        assert_eq!(Noise::from_name("none"), None);
    }
}
