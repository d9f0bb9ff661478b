//! Noisy gradients over all pairs: `noisy-gd`.

pub(crate) mod calibrate;
mod descend;
mod describe;
mod query;

pub(crate) use calibrate::Gradients;
pub(crate) use descend::noisy_gd;
