//! One noisy release of moments, solved for the weights: `moments`.

mod calibrate;
mod descend;
mod describe;
mod query;

pub use calibrate::Moments;
pub(crate) use descend::solve;
