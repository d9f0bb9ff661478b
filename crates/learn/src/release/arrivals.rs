//! Noisy gradients of one pass, each record against all before it: `online-pair`.

mod calibrate;
mod descend;
mod describe;
mod query;

pub use calibrate::Arrivals;
pub(crate) use descend::online_pair;
