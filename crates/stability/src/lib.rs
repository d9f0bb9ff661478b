//! How far one record can move the path of an optimiser, and what that is worth.
//!
//! Two runs of an optimiser on tables that differ in one record, with the same indices and the same noise, drift apart.
//! How far is what output perturbation must hide, and what bounds the gap between training and test.
//!
//! - [`Geometry`]: the public constants of a loss and a domain that decide it;
//! - [`path`]: one step, by the regularity of the loss; averages;
//! - [`realised`]: sensitivities of the very indices drawn, the largest over all records;
//! - [`bounds`]: stability, generalisation and excess risk in expectation or with high probability, for planning;
//! - [`paper_noise`]: the papers' own noise formulas, with what is wrong in them;
//! - [`lower_bound`]: losses on which paths really drift that far apart.
//!
//! The crate takes constants as numbers and returns numbers. It knows no records, no losses and no accountant; whoever
//! turns its results into noise vouches for the constants.
//!
//! # Guarantee
//! Everything in [`path`] and [`realised`] is an upper bound for every pair of neighbouring tables, rounded up, under the
//! assumptions named there.

pub mod bounds;
mod error;
mod geometry;
pub mod lower_bound;
pub mod paper_noise;
pub mod path;
pub mod realised;
mod touch;

pub use error::StabilityError;
pub use geometry::{Geometry, NumericError, Regularity};
pub use path::{Output, Rates, Rule, Step};
pub use realised::{PathBound, RealisedPath};
pub use touch::Touch;
