//! Noisy results of descents without noise: `output-gd`, `output-sgd`, `phased-gd`, `localized-sgd`, `offline-pair` and
//! `matching-sgd`.

pub(crate) mod calibrate;
mod descend;
mod describe;
pub(super) mod path;
mod query;

pub(crate) use calibrate::Results;
pub(crate) use descend::phases;
