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
mod expected;
mod export;
mod model;
pub mod parts;
mod persons;
mod probabilities;
mod rehearsal;
mod release;
mod representation;
mod spec;
mod train;

// All that is public, from where it is.
pub use certificate::certified_problem;
pub use checkpoint::{Checkpointer, Store};
pub use error::LearnError;
pub use evaluation::{Calibrated, Estimate, Evaluation, Histogram, Measured, Threshold};
pub use expected::{ExpectedAuc, LARGEST_SIMULATED, around, expected_auc, has_auc, models_for};
pub use export::effects::{At, Effect, Effects, Of};
pub use export::shapes::{EmptyCell, Shape, ShapeParts};
pub use model::{BaselineModel, HiddenLayer, ModelError, Predictor, PrivateModel, Task};
pub use pairdp_certificate::{
    Algorithm, Average, Certificate, Claim, Condition, Counted, GradientRelease, Order, Phase, Probabilities,
    Released, Representation, Shuffle,
};
pub use pairdp_pairwise::{LossKind, Score};
pub use probabilities::{FlagBy, LogOdds};
pub use release::{
    Mechanism,
    arrivals::calibrate::Arrivals,
    curator::{Curator, Exchange},
    event::certified_event,
    gradients::calibrate::Gradients,
    moments::calibrate::Moments,
    noise_kind::NoiseKind,
    noise_to_signal::NoiseToSignal,
    results::calibrate::Results,
    run,
    samples::calibrate::Samples,
};
pub use spec::{
    TrainingSpec,
    explain::{Explained, explain},
    foreign::ForeignScore,
    network::{ScoreKind, is_worthwhile as is_worth_a_network, start_of},
    order::PublicIndices,
    paper_noise::{AsPrinted, Paper, as_printed},
    plan::Plan,
    settings::{Calibration, DomainKind, RepresentationKind, Risk, Settings},
};
pub use train::{PaidRun, Rows, Training};
