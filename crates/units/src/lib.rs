//! Quantities of differential privacy as types.
//!
//! A wrong state should not be writable: a budget that is negative, a δ of one or a NaN cannot be built, and
//! budgets have no `+`, because they compose in an accountant and nowhere else.
//!
//! Checks read "accept if good", so that NaN, which fails every comparison, is refused.

pub mod adjacency;
pub mod directed;
mod hint;
mod privacy;
pub mod shown;
pub mod signed_time;

pub use adjacency::{Adjacency, Labels, Neighbours, PerPerson, Unit};
pub use hint::{FrontEnd, Hint};
pub use privacy::{Budget, Delta, Epsilon, EpsilonBound, UnitError};
