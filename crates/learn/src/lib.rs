//! From public choices to a model that is certified.
//!
//! ```text
//! Settings + columns + public size + budget ─ prepare ─► TrainingSpec        what will be released, calibrated once
//!     Training::open ─ pays, then reads ─► PaidRun ─ train ─► PrivateModel   the only way to a certified model
//! ```
//!
//! What is left open is chosen from public facts alone, and says why. Mechanisms, and the one type that holds records, are those of
//! `pairdp-release`; model files, and what follows from them, those of `pairdp-model`.

pub mod baseline;
mod evaluation;
mod expected;
mod rehearsal;
mod spec;
mod train;

pub use evaluation::{Calibrated, Estimate, Evaluation, Histogram, Measured, Threshold};
pub use expected::{ExpectedAuc, LARGEST_SIMULATED, around, expected_auc, has_auc, models_for};
pub use spec::{
    TrainingSpec,
    cautions::cautions_of,
    explain::{Explained, explain},
    network::{ScoreKind, is_worthwhile as is_worth_a_network},
    settings::{Calibration, DomainKind, RepresentationKind, Risk, Settings},
};
pub use train::{PaidRun, Rows, Training};
