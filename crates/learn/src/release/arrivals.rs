//! Noisy gradients of one pass, each record against all before it: `online-pair`.

pub(crate) mod calibrate;
mod descend;
mod describe;
mod query;

pub(crate) use calibrate::Arrivals;
pub(crate) use descend::online_pair;
