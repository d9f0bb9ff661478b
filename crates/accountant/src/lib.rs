//! What a sequence of noisy releases costs.
//!
//! The crate speaks *noise multipliers*: it knows the ratio of sensitivity to noise, never the records, the
//! loss or the noise itself. Bounds are computed on the safe side: an ε or δ is rounded up, a ratio μ that
//! noise will be calibrated to is rounded down, and numeric doubt is an error.

pub mod gaussian;
pub mod quadrature;
mod special;

use pairdp_units::{Budget, Hint};

/// An accounting question without a certified answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountantError {
    /// Gaussian noise never gives δ = 0.
    #[error("Gaussian noise cannot give pure ε (δ = 0)")]
    PureGaussian,
    /// A ratio of sensitivity to noise must be a number of at least 0.
    #[error("a ratio of sensitivity to noise must be at least 0, not {0}")]
    Ratio(f64),
    /// The root lies outside what f64 can resolve.
    #[error("no noise level was found for {0}")]
    NotBracketed(Budget),
}

impl Hint for AccountantError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::PureGaussian => Some("set a small δ, for example 1e-6".into()),
            Self::Ratio(_) => None,
            Self::NotBracketed(_) => Some("choose a less extreme ε or δ".into()),
        }
    }
}
