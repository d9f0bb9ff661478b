//! Names of noise, and of what a run follows.

use serde::{Deserialize, Serialize};

/// The law of the noise, as a plan names it; certificates name its version too ([`NoiseKind::name`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Gaussian, rounded to the lattice: needs δ > 0.
    #[default]
    Gaussian,
    /// Discrete Laplace in each coordinate.
    Laplace,
    /// Density ∝ exp(−‖z‖₂/scale), rounded to the lattice.
    Euclidean,
}

impl NoiseKind {
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
        for noise in NoiseKind::ALL {
            assert_eq!(NoiseKind::from_name(noise.name()), Some(noise));
        }
        assert_eq!(NoiseKind::from_name("none"), None);
    }
}
