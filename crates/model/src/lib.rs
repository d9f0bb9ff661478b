//! What is published, and all that follows from it.
//!
//! A model file is public: nothing here sees a private record, but for tables whose rows somebody wants scored. A [`Predictor`] says what
//! is done with a row; a [`PrivateModel`] has the certificate beside it. Maps of rows, probabilities, thresholds and reasons are computed from
//! what was released wherever they are needed, and kept nowhere, so that they cannot be others than the file gives.

mod effects;
mod error;
mod file;
mod onnx;
mod predictor;
pub mod probabilities;
mod random_features;
pub mod representation;
mod shapes;
mod task;

pub use effects::{At, Effect, Effects, Of};
pub use error::ModelError;
pub use file::{BaselineModel, PrivateModel, certified_problem, kept};
pub use predictor::{HiddenLayer, Predictor, record_bound};
pub use probabilities::{FlagBy, LogOdds};
pub use random_features::{Waves, public_normals};
pub use shapes::{EmptyCell, Shape, ShapeParts};
pub use task::Task;
