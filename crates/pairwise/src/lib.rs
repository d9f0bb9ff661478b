//! Pairwise problems: what is minimised, over what, and how far one record can move it.
//!
//! Privacy rests on the constants of this crate, so nobody types one in: a [`Problem`] is a loss, a domain and a
//! bound on the records, and everything else is derived from it in closed form, with a proof note each.
//! [`Sensitivity`] can be built here and nowhere else.

mod clip;
mod constants;
mod domain;
pub mod kernel;
mod loss;
pub mod measure;
mod problem;
mod records;
mod sensitivity;

pub use clip::clip_row;
pub use constants::Constants;
pub use domain::Domain;
pub use loss::Loss;
pub use problem::{Problem, ProblemError};
pub use records::{Records, RecordsError, score};
pub use sensitivity::Sensitivity;
