//! What a model file and its certificate hold, as plain types.
//!
//! A certificate states every public fact that a guarantee rests on. The code that trains writes these types and the code that
//! verifies reads them; they are all that the two share about a model, so there is no arithmetic here: no constant of a loss, no
//! sensitivity, no noise. A number that is out of every sensible range is refused on reading
//! ([`ModelDocument::from_json`]), so that nobody who computes with it later has to fear it.
//!
//! The names in the JSON never change their meaning under the same format; `tests/bytes.rs` of `pairdp-verify` holds them against
//! what is trained.

mod certificate;
mod choices;
mod condition;
mod document;
mod encoding;
mod families;
mod problem;
mod provenance;

pub use certificate::{Certificate, Claim, FORMAT, FORMER, Ranges};
pub use choices::{Average, NoiseKind, Order, Shuffle};
pub use condition::{Class, Condition, Source};
pub use document::{
    AsPrinted, CellPlan, Counted, DocumentError, KnotPlan, MODEL_FORMAT, ModelDocument, Paper, Predictor,
    Probabilities, RandomFeatures, Representation, Task, Tighten, Training, who_reads,
};
pub use encoding::{Bounds, Column, Encoding, Holds, Label, Others, Scalar, TextStyle};
pub use families::{
    Algorithm, Composition, GradientRelease, Phase, Released, Sampling, Stage, StageNoise, Weights,
};
pub use pairdp_units::{Labels, Neighbours, PerPerson, Unit};
pub use problem::{
    Activation, Domain, Foreign, MarginLoss, MetricLoss, Network, Objective, PointLoss, Problem, RankingForm,
    Score,
};
pub use provenance::Provenance;
