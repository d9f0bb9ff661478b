//! Releases: what is published of records, with how much noise, and why that is private.
//!
//! One idea shapes this crate: **records sit behind one type, and everything else is public.**
//!
//! ```text
//!  public side                                          private side
//!  Problem ─┐
//!  Plan    ─┼─ Mechanism::calibrate ─ σ ─► Curator { records } ─► noisy releases ─► parameters + Certificate
//!  Budget  ─┘                                                      ▲ nothing else leaves
//! ```
//!
//! A [`Plan`] is an algorithm with all its public numbers. A [`Mechanism`] states, before any record is read, exactly what will be
//! released and with how much noise. The [`Curator`] owns the records and answers those queries and no others.
//!
//! An algorithm is the file `descend.rs` of a folder in `families`: ordinary code that can only talk to the curator, so that reading its loop
//! is reading its privacy proof. The certificate holds the public facts from which `pairdp-verify`, a crate that cannot call this one,
//! recomputes the guarantee.

mod certificate;
mod checkpoint;
mod curator;
mod error;
mod event;
mod families;
mod foreign;
mod iterates;
mod knots;
mod law;
mod mechanism;
mod noise_to_signal;
mod order;
pub mod packing;
mod paper_noise;
pub mod parts;
pub mod persons;
mod plan;
mod probabilities;
mod start;
mod suggested;
mod walk;

pub use checkpoint::{Checkpointer, Store, fingerprint};
pub use curator::{Curator, Exchange, can_ask_parts, keeps_promise};
pub use error::LearnError;
pub(crate) use event::{after, sampled_event};
pub use event::{certified_event, plain_event};
pub use families::{Mechanism, run};
pub use foreign::{ForeignScore, foreign_start};
pub use iterates::Descent;
pub(crate) use iterates::Iterates;
pub use law::Law;
pub use mechanism::PublicFacts;
pub(crate) use mechanism::{Common, Family, too_many_steps};
pub use noise_to_signal::{NoiseToSignal, clarity};
pub use order::PublicIndices;
pub use paper_noise::{as_printed, formula};
pub use persons::can_weigh;
pub use plan::Plan;
pub use start::start_of;
pub use walk::{Walk, phase_result};
