//! Noisy gradients of secretly sampled pairs or records: `noisy-sgd`.

mod binomial;
pub(crate) mod calibrate;
mod descend;
mod describe;
pub(super) mod query;

pub(crate) use calibrate::Samples;
pub(crate) use calibrate::event as sampled_event;
pub(crate) use descend::noisy_sgd;
