//! Private learning.
//!
//! One idea shapes this crate: **records sit behind one type, and everything else is public.**
//!
//! ```text
//!  public side                                          private side
//!  Problem ─┐
//!  Plan    ─┼─ Mechanism::calibrate ─ σ ─► Curator { records } ─► noisy releases ─► Model + Certificate
//!  Budget  ─┘                                                      ▲ nothing else leaves
//! ```
//!
//! A [`Plan`] is an algorithm with all its public numbers. A [`Mechanism`] states, before any record is read, exactly what
//! will be released and with how much noise. The [`Curator`] owns the records and answers those queries and no others. An
//! algorithm (a file in `algorithm`) is ordinary code that can only talk to the curator, so reading its loop is reading its
//! privacy proof. The [`Certificate`] holds the public facts from which [`verify()`] recomputes the guarantee.

mod algorithm;
pub mod baseline;
mod certificate;
mod curator;
mod error;
mod mechanism;
mod model;
mod plan;
mod train;
mod verify;

pub use certificate::{Certificate, Claim, GradientRelease, Released};
pub use curator::Curator;
pub use error::LearnError;
pub use mechanism::{Gradients, Mechanism, Output, Sampled};
pub use model::{BaselineModel, LinearRanker, ModelError, PrivateModel};
pub use plan::{Average, Plan, PlanKind};
pub use train::{Trained, train};
pub use verify::{Check, Verdict, verify};
