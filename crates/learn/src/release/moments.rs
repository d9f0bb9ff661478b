//! One noisy release of moments, solved for the weights: `moments`.

pub(crate) mod calibrate;
mod descend;
mod describe;
mod query;

pub(crate) use calibrate::Moments;
pub(crate) use descend::solve;
