//! What can be refused. Every field is public information: nothing here depends on records.

use crate::lattice::{LARGEST_BITS, SMALLEST_BITS};
use crate::scale::LARGEST_BITS as LARGEST_SCALE_BITS;
use pairdp_units::{FrontEnd, Hint};

/// A request for noise that was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// The operating system gave no random key.
    #[error("the operating system gave no randomness: {0}")]
    OperatingSystem(getrandom::Error),
    /// A scale of 0 or beyond the largest.
    #[error("a noise scale of {sixteenths}/16 lattice steps is not between 1/16 and 2^{LARGEST_SCALE_BITS}")]
    Scale {
        /// The scale asked for, in sixteenths.
        sixteenths: u64,
    },
    /// A fraction out of range.
    #[error(
        "a Laplace scale of {numerator}/{denominator} is not a fraction of at most 2^{LARGEST_SCALE_BITS}"
    )]
    LaplaceScale {
        /// Its numerator.
        numerator: u64,
        /// Its denominator.
        denominator: u64,
    },
    /// A lattice too coarse or too fine.
    #[error(
        "a lattice of 2^{0} steps to the noise scale is not between 2^{SMALLEST_BITS} and 2^{LARGEST_BITS}"
    )]
    Bits(u32),
    /// Answers too large for the noise.
    #[error("answers of up to {0:e} times the noise scale do not fit the lattice")]
    Magnitude(f64),
    /// A noise scale that is not an ordinary positive number.
    #[error("{0:e} cannot be a noise scale")]
    Sigma(f64),
}

impl Hint for NoiseError {
    fn code(&self) -> &'static str {
        "noise"
    }

    fn hint(&self, _: FrontEnd) -> Option<String> {
        match self {
            Self::OperatingSystem(_) => Some("check that the system's random device is available".into()),
            Self::Magnitude(_) => Some("tighten the bound on the answers, or add more noise".into()),
            Self::Scale { .. } | Self::LaplaceScale { .. } | Self::Bits(_) | Self::Sigma(_) => None,
        }
    }
}
