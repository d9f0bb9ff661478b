//! Noisy gradients over all pairs: `noisy-gd`.

mod calibrate;
mod descend;
mod describe;
mod query;

pub use calibrate::Gradients;
pub(crate) use descend::noisy_gd;
