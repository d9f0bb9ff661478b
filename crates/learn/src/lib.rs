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
//! algorithm (a file `descend.rs` in `release`) is ordinary code that can only talk to the curator, so reading its loop is reading its
//! privacy proof. The [`Certificate`] holds the public facts from which `pairdp-verify`, a crate that cannot call this
//! one, recomputes the guarantee.

pub mod baseline;
mod certificate;
mod checkpoint;
mod error;
mod evaluation;
mod export;
mod model;
pub mod parts;
mod persons;
mod rehearsal;
mod release;
mod representation;
mod spec;
mod train;

pub use certificate::{Certificate, Claim, GradientRelease, Released, certified_problem};
pub use checkpoint::{Checkpointer, Store};
pub use error::LearnError;
pub use evaluation::{Estimate, Evaluation, Measured};
pub use export::{EmptyCell, Shape, ShapeParts};
pub use model::{BaselineModel, ModelError, Predictor, PrivateModel, Task};
pub use release::{
    Arrivals, Curator, Exchange, Gradients, Mechanism, Moments, NoiseKind, NoiseToSignal, Phase, Results,
    Samples, certified_event, run,
};
pub use representation::Representation;
pub use spec::{
    Algorithm, AsPrinted, Average, Calibration, DomainKind, Explained, LossKind, Order, Paper, Plan,
    RepresentationKind, Risk, Settings, Shuffle, TrainingSpec, as_printed, explain,
};
pub use train::{PaidRun, Rows, Training};
