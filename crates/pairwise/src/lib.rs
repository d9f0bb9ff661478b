//! Pairwise problems: what is minimised, over what, and how far one record can move it.
//!
//! Privacy rests on the constants of this crate, so nobody types one in: a [`Problem`] is an objective, a domain and
//! a bound on the records, and everything else is derived from it in closed form, with a proof note each.
//! [`Sensitivity`] can be built here and nowhere else. Utility rests on using every pair: [`kernel`] computes
//! gradients over all n² pairs at about the price of reading the table twice.

mod clip;
mod comparison;
mod constants;
mod domain;
pub mod kernel;
pub mod knots;
mod known_pairs;
mod loss;
pub mod measure;
pub mod moments;
mod network;
mod problem;
mod ranking_statistics;
mod records;
pub mod score_cells;
mod sensitivity;
mod strata;

pub use clip::clip_row;
pub use constants::{Constants, Regularity};
pub use domain::{Domain, metric_map, solve_ridge};
pub use loss::{LossKind, MarginLoss, MetricLoss, PointLoss};
pub use network::{Activation, Foreign, Network, Score};
pub use pairdp_units::{Labels, Neighbours, PerPerson, Unit};
pub use problem::{Objective, Problem, ProblemError, RankingForm};
pub use ranking_statistics::{Norm, Scored, Shares};
pub use records::{Records, RecordsError};
pub use sensitivity::Sensitivity;
pub use strata::Strata;
