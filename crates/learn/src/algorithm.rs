//! The algorithms, each a short loop over the curator.

mod descent;
mod noisy_gd;
mod noisy_sgd;

pub(crate) use descent::{Iterates, descend};
pub(crate) use noisy_gd::noisy_gd;
pub(crate) use noisy_sgd::noisy_sgd;
