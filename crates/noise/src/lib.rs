//! Noise that is safe to release, at the speed of noise that is not.
//!
//! Adding floating-point noise to a floating-point answer leaks through the low-order bits: which floats can come
//! out depends on what went in, whatever the noise (Mironov, CCS 2012). Here answers are rounded to a public
//! [`lattice`], noise is a whole number of lattice steps and is added exactly, so that every output is possible
//! under every input, with the probabilities the theory says.
//!
//! - [`Secure`] and [`Replay`]: where random words come from, and what a result may claim;
//! - [`fill_gaussian`]: round(S·Z) for a continuous normal Z, at two to three hundred million a second where the processor has AVX-512;
//! - [`fill_discrete_laplace`]: exact, for claims of pure ε; [`fill_euclidean`]: vectors for an ℓ2 sensitivity;
//! - [`lattice`]: from a query in `f64` to a release in `f64`;
//! - [`delta_share`]: what the samplers' distance from the ideal law costs in δ.
//!
//! The crate speaks *scales*: it knows no ε, no sensitivity and no records.

mod discrete_laplace;
mod distance;
mod error;
mod euclidean;
pub mod lattice;
mod scale;
mod source;
mod wide;
mod ziggurat;

pub use discrete_laplace::{LaplaceScale, fill_discrete_laplace};
pub use distance::{LOG2_SAMPLE_DISTANCE, delta_share};
pub use error::NoiseError;
pub use euclidean::{euclidean_samples, fill_euclidean};
pub use scale::Scale;
pub use source::{Claim, Claimed, Replay, Secure, Source, Unclaimed};
pub use ziggurat::fill_gaussian;
