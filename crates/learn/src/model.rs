//! The model file: one JSON document.

use crate::{Certificate, Plan};
use pairdp_data::{Encoding, Label, Table};
use pairdp_pairwise::clip_row;
use pairdp_pairwise::kernel::score;
use pairdp_units::Hint;
use serde::{Deserialize, Serialize};

const PRIVATE_FORMAT: &str = "pairdp-model/1";
const BASELINE_FORMAT: &str = "pairdp-baseline/1";

/// A linear score of a row: encode, clip, multiply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRanker {
    /// How a row becomes a vector, from public facts.
    pub encoding: Encoding,
    /// Which column says what should rank high, if it came from a table with one.
    pub label: Option<Label>,
    /// κ: longer vectors are scaled down to it, in training and here.
    pub feature_bound: f64,
    /// The weights.
    pub parameters: Vec<f64>,
}

impl LinearRanker {
    /// The score of every row of an encoded table.
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        let mut row = Vec::with_capacity(table.columns);
        let mut one = |cells: &[f64]| {
            row.clear();
            row.extend_from_slice(cells);
            clip_row(&mut row, self.feature_bound);
            score(&row, &self.parameters)
        };
        table.features.chunks_exact(table.columns).map(&mut one).collect()
    }
}

/// A ranker trained under a guarantee, and the certificate of that guarantee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateModel {
    format: String,
    /// What scores a row.
    pub ranker: LinearRanker,
    /// How it was trained; for the reader, no guarantee rests on it.
    pub training: Plan,
    /// λ of the ridge it was trained with.
    pub ridge: f64,
    /// The run in the ledger that paid for it, if one did; no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why it is private.
    pub certificate: Certificate,
}

/// A ranker trained without privacy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineModel {
    format: String,
    /// What scores a row.
    pub ranker: LinearRanker,
}

/// A file that is not a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not the JSON document that we write.
    #[error("not a pairdp model: {0}")]
    Json(#[from] serde_json::Error),
    /// Another kind or version of file.
    #[error("the format is `{found}`, expected `{expected}`")]
    Format {
        /// What the file says.
        found: String,
        /// What this version reads.
        expected: &'static str,
    },
    /// Weights and encoding do not fit.
    #[error("{parameters} parameters for {features} features")]
    Shape {
        /// Number of weights.
        parameters: usize,
        /// Length of an encoded row.
        features: usize,
    },
    /// The encoding is not one.
    #[error("{0}")]
    Encoding(String),
    /// A number of the model is not finite, or a bound not positive.
    #[error("the model holds a number that is not finite")]
    NotFinite,
}

impl Hint for ModelError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Json(_) => Some("give a file that `pairdp train` wrote".into()),
            Self::Format { .. } => Some("a newer pairdp may read it".into()),
            Self::Shape { .. } | Self::NotFinite | Self::Encoding(_) => {
                Some("the file was changed after training".into())
            }
        }
    }
}

impl PrivateModel {
    /// Puts the parts together.
    pub fn new(ranker: LinearRanker, training: Plan, ridge: f64, certificate: Certificate) -> Self {
        Self { format: PRIVATE_FORMAT.into(), ranker, training, ridge, run: None, certificate }
    }

    /// Reads a model file's text.
    ///
    /// # Errors
    /// [`ModelError`] when it is not a model that can score rows. Whether its claim holds is for
    /// [`verify`](crate::verify()) to say.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let model: Self = serde_json::from_str(text)?;
        check(&model.format, PRIVATE_FORMAT, &model.ranker)?;
        Ok(model)
    }

    /// The model file's text.
    ///
    /// # Errors
    /// [`ModelError::Json`] if a number cannot be written.
    pub fn to_json(&self) -> Result<String, ModelError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl BaselineModel {
    /// Marks a ranker as trained without privacy.
    pub fn new(ranker: LinearRanker) -> Self {
        Self { format: BASELINE_FORMAT.into(), ranker }
    }
}

fn check(found: &str, expected: &'static str, ranker: &LinearRanker) -> Result<(), ModelError> {
    if found != expected {
        return Err(ModelError::Format { found: found.to_owned(), expected });
    }
    ranker.encoding.check().map_err(ModelError::Encoding)?;
    let (parameters, features) = (ranker.parameters.len(), ranker.encoding.dimension());
    if parameters != features {
        return Err(ModelError::Shape { parameters, features });
    }
    let finite = ranker.parameters.iter().all(|v| v.is_finite());
    if !(finite && ranker.feature_bound.is_finite() && ranker.feature_bound > 0.0) {
        return Err(ModelError::NotFinite);
    }
    Ok(())
}
