//! The algorithms, each a short loop.
//!
//! Loops over the curator (`noisy_gd`, `noisy_sgd`, `online_pair`, `phases`, `moments`) are public code: what they see has
//! noise. Descents without noise (`descent`) are what the curator runs on its side, and what baselines run.

mod descent;
mod iterates;
mod moments;
mod noisy_gd;
mod noisy_sgd;
mod online_pair;
mod phases;

pub use descent::phase_result;
pub(crate) use descent::{Descent, descend, mean_against, pair_term, phase_pace};
pub(crate) use iterates::{Iterates, Pace};
pub(crate) use moments::moments;
pub(crate) use noisy_gd::noisy_gd;
pub(crate) use noisy_sgd::noisy_sgd;
pub(crate) use online_pair::online_pair;
pub(crate) use phases::phases;
