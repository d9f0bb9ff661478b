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
//! privacy proof. The [`Certificate`] holds the public facts from which `pairdp-verify`, a crate that cannot call this
//! one, recomputes the guarantee.

mod algorithm;
pub mod baseline;
mod certificate;
mod checkpoint;
mod curator;
mod error;
mod evaluation;
mod explain;
mod law;
mod literal;
mod mechanism;
mod model;
mod onnx;
mod order;
mod packing;
pub mod parts;
mod plan;
mod poisson;
mod rehearsal;
mod representation;
mod settings;
mod spec;
mod train;

pub use certificate::{Certificate, Claim, GradientRelease, Released, certified_problem};
pub use checkpoint::{Checkpointer, Store};
pub use curator::{Curator, Exchange};
pub use error::LearnError;
pub use evaluation::{Estimate, Evaluation, Measured};
pub use explain::{Explained, explain};
pub use law::Law;
pub use literal::{AsPrinted, Paper, as_printed};
pub use mechanism::{
    Gradients, Loudness, Mechanism, Moments, Online, Output, Phase, Sampled, certified_event,
};
pub use model::{BaselineModel, ModelError, Predictor, PrivateModel, Task};
pub use order::{Order, Shuffle};
pub use plan::{Average, Plan, PlanKind};
pub use representation::Representation;
pub use settings::{Calibration, DomainKind, LossKind, RepresentationKind, Risk, Settings};
pub use spec::TrainingSpec;
pub use train::{PaidRun, Rows, Training, run};
