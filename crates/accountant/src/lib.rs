//! What a sequence of noisy releases costs.
//!
//! The crate speaks *noise multipliers*: it knows the ratio of sensitivity to noise, never the records, the
//! loss or the noise itself. Bounds are computed on the safe side: an ε or δ is rounded up, a ratio μ that
//! noise will be calibrated to is rounded down, and numeric doubt is an error.

mod account;
pub mod calibrate;
mod composition;
mod contour;
mod discretise;
pub mod event;
pub mod gaussian;
pub mod hidden_state;
mod moments;
pub mod pair;
mod plan;
mod pld;
pub mod profile;
pub mod quadrature;
mod rdp;
mod side;
mod special;
mod spectrum;
mod window;

#[cfg(test)]
mod tests;

pub use account::{Answer, Method, account, delta_for, delta_value, epsilon_for, epsilon_value};
pub use event::{AdjacencyKind, Event, Release, Sampling};
pub use hidden_state::{LastIterate, Output};

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
    /// A number of an event is out of range.
    #[error("`{field}` cannot be {value}")]
    Invalid {
        /// The field of the event.
        field: &'static str,
        /// What it was.
        value: f64,
    },
    /// No dominating pair is proved for this.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// An engine could not reach its accuracy; nothing is claimed.
    #[error("the computation did not converge: {0}")]
    NoConvergence(&'static str),
}

impl Hint for AccountantError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::PureGaussian => Some("set a small δ, for example 1e-6".into()),
            Self::Ratio(_) | Self::Invalid { .. } => None,
            Self::Unsupported(_) => {
                Some("see the table of supported events in the accountant's documentation".into())
            }
            Self::NotBracketed(_) | Self::NoConvergence(_) => Some("choose a less extreme ε or δ".into()),
        }
    }
}
