//! What a model file and its certificate hold, as plain types.
//!
//! A certificate states every public fact that a guarantee rests on. The code that trains writes these types and the code that
//! verifies reads them; they are all that the two share about a model, so there is no arithmetic here: no constant of a loss, no
//! sensitivity, no noise. A number that is out of every sensible range is refused on reading
//! ([`ModelDocument::from_json`]), so that nobody who computes with it later has to fear it.
//!
//! The names in the JSON never change their meaning under the same format; `tests/bytes.rs` of `pairdp-verify` holds them against
//! what is trained.

mod algorithm;
mod certificate;
mod condition;
mod document;
mod encoding;
mod problem;
mod provenance;
mod released;

pub use algorithm::{Algorithm, Average, Noise, Order, Shuffle};
pub use certificate::{Certificate, Claim, FORMAT, FORMER, Ranges};
pub use condition::{Class, Condition, Source};
pub use document::{
    AsPrinted, CellPlan, Counted, DocumentError, KnotPlan, MODEL_FORMAT, ModelDocument, Predictor,
    Probabilities, Representation, Task, Tighten, Training, who_reads,
};
pub use encoding::{Bounds, Column, Encoding, Holds, Label, Others, Scalar, TextStyle};
pub use pairdp_units::{Labels, Neighbours, PerPerson, Unit};
pub use problem::{
    Activation, Domain, Foreign, MarginLoss, MetricLoss, Network, Objective, PointLoss, Problem, RankingForm,
    Score,
};
pub use provenance::Provenance;
pub use released::{GradientRelease, Phase, Released, Sampling, Stage, StageNoise, Weights};
