//! What a sequence of noisy releases costs.
//!
//! The crate speaks *noise multipliers*: it knows the ratio of sensitivity to noise, never the records, the
//! loss or the noise itself. Bounds are computed on the safe side: an ε or δ is rounded up, a ratio μ that
//! noise will be calibrated to is rounded down, and numeric doubt is an error.
//!
//! ```
//! use pairdp_accountant::{Event, account, calibrate};
//! use pairdp_units::{Budget, Delta};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A uniform pair of 5000 records in each of 5000 steps: how much noise gives ε = 1 at δ = 4·10⁻⁸?
//! let unit = Event::gaussian_steps(5000, Some(2), 5000, 1.0)?;
//! let multiplier = calibrate::noise_multiplier(&unit, Budget::new(1.0, 4e-8)?)?;
//! assert!(multiplier <= 0.7112);
//!
//! let answer = account(&unit.scaled(multiplier)?, Delta::new(4e-8)?)?;
//! assert!(answer.epsilon.get() <= 1.0 && answer.lower_bound <= answer.epsilon.get());
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`event`] | what was released, as a versioned description |
//! | [`pair`] | dominating pairs, with the proof notes they rest on |
//! | [`gaussian`], [`profile`] | closed forms: plain Gaussian noise, one step |
//! | contour | values of compositions at a cost that does not depend on the number of steps |
//! | pld, discretise, spectrum, window | certificates: discretised losses with a rounding budget |
//! | triangles | a tighter bound for many steps of fixed-size samples |
//! | rdp | Rényi accounting, a second opinion |
//! | [`hidden_state`] | the last iterate of projected descent |
//! | [`calibrate`] | noise, steps and trade-offs for a budget |

mod account;
pub mod calibrate;
mod composition;
mod contour;
mod discretise;
pub mod event;
mod folded;
pub mod gaussian;
pub mod hidden_state;
mod moments;
pub mod pair;
mod payer;
mod plan;
mod pld;
pub mod profile;
pub mod quadrature;
mod rdp;
mod side;
mod special;
mod spectrum;
mod triangles;
mod window;

#[cfg(test)]
mod tests;

pub use account::{Answer, Method, account, delta_for, delta_value, epsilon_for, epsilon_value};
pub use event::{Adjacency, Event, Release, Sampling};
pub use hidden_state::{LastIterate, Output};
pub use payer::{Contested, Interrupted, Origin, Payer, Price, Unbooked, Witness};

use pairdp_units::{Budget, FrontEnd, Hint, shown};

/// An accounting question without a certified answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountantError {
    /// Gaussian noise never gives δ = 0.
    #[error("Gaussian noise cannot give pure ε (δ = 0)")]
    PureGaussian,
    /// A ratio of sensitivity to noise must be a number of at least 0.
    #[error("a ratio of sensitivity to noise must be at least 0, not {}", shown::as_given(*.0))]
    Ratio(f64),
    /// The root lies outside what f64 can resolve.
    #[error("no noise level was found for {0}")]
    NotBracketed(Budget),
    /// A number of an event is out of range.
    #[error("`{field}` cannot be {}", shown::as_given(*.value))]
    Invalid {
        /// The field of the event.
        field: &'static str,
        /// What it was.
        value: f64,
    },
    /// A sample that is empty, or larger than what it is drawn from.
    #[error("a sample of {batch} cannot be drawn from {records} records without replacement")]
    Sample {
        /// Records in a sample.
        batch: u64,
        /// Records in the table.
        records: u64,
    },
    /// No dominating pair is proved for this.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// An engine could not reach its accuracy; nothing is claimed.
    #[error("the computation did not converge: {0}")]
    NoConvergence(&'static str),
}

impl Hint for AccountantError {
    fn code(&self) -> &'static str {
        "accounting"
    }

    fn hint(&self, _: FrontEnd) -> Option<String> {
        match self {
            Self::PureGaussian => Some("set a small δ, for example 1e-6".into()),
            Self::Ratio(_) | Self::Invalid { .. } => None,
            Self::Sample { .. } => {
                Some("a sample has at least 1 record and at most as many as the table".into())
            }
            Self::Unsupported(_) => {
                Some("see the table of supported events in the accountant's documentation".into())
            }
            Self::NotBracketed(_) | Self::NoConvergence(_) => Some("choose a less extreme ε or δ".into()),
        }
    }
}
