//! The model file as a document.

use crate::encoding::{Encoding, Label};
use crate::problem::{is_zero, within};
use crate::{Algorithm, Average, Certificate, Condition, NoiseKind, Order, Score};
use pairdp_units::{FrontEnd, Hint};
use serde::{Deserialize, Serialize};

/// What the file of a private model says it is.
pub const MODEL_FORMAT: &str = "pairdp-model/2";

/// Which version reads a model of another format than this one does, as a way out.
pub fn who_reads(format: &str) -> String {
    let number: Option<u64> = match format.split_once('/') {
        Some(("pairdp-model" | "pairdp-baseline", number)) => number.parse().ok(),
        _ => None,
    };
    let own = env!("CARGO_PKG_VERSION");
    match number {
        Some(2) => format!("version 0.1 and this one ({own}) read that format: the file was changed"),
        Some(0 | 1) => {
            "it is older than version 0.1, and no version that was released reads it: train again".into()
        }
        Some(_) => format!(
            "a newer version of pairdp wrote it, and only that one or a later one reads it; this is {own}"
        ),
        None => "give a model file, as training writes it".into(),
    }
}

/// The file of a private model: everything that it may hold, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelDocument {
    /// Version of the file.
    pub format: String,
    /// What is done with a row.
    pub predictor: Predictor,
    /// How it was trained.
    pub training: Training,
    /// λ of the ridge it was trained with.
    pub ridge: f64,
    /// Why this algorithm, if it was left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// If the noise is a paper's: what the paper claims for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_printed: Option<AsPrinted>,
    /// The run in the ledger that paid for it, if one did; no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why it is private.
    pub certificate: Certificate,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A score that puts positive records before negative ones.
    Ranking,
    /// A Mahalanobis metric.
    Metric,
    /// A score whose sign is the class.
    Classification,
    /// A score that is near a target.
    Regression,
    /// A score that puts whoever fails first before whoever fails later.
    Survival,
}

/// What a row means to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predictor {
    /// What it is for.
    pub task: Task,
    /// How a row becomes a vector.
    pub encoding: Encoding,
    /// Which column is to be predicted, if it came from a table with one.
    pub label: Option<Label>,
    /// Longer vectors are scaled down to this norm.
    pub feature_bound: f64,
    /// A constant that then ends every vector; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub constant: f64,
    /// The weights of a score, or the matrix of a metric, row by row.
    pub parameters: Vec<f64>,
    /// What was released of the columns first, from which the map of rows follows; none where rows are as ranges put them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub representation: Option<Representation>,
    /// Counts of labels by cells of the score, from which probabilities follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Probabilities>,
    /// Public waves along random directions of a mapped row, which follow it in the vector; none where it is the vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_features: Option<RandomFeatures>,
    /// How the vector is scored: by its weights, or by a network of which they are the parameters.
    #[serde(default, skip_serializing_if = "Score::is_linear")]
    pub score: Score,
}

/// Cosines and sines of public random directions of a row: what a linear score of them can say is not linear in the row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomFeatures {
    /// Directions; each gives a cosine and a sine.
    pub directions: usize,
    /// What the row itself has of the length of the vector.
    pub linear: f64,
    /// Standard deviation of the entries of a direction, for rows of the unit ball.
    pub spread: f64,
    /// The public seed of the directions.
    pub seed: u64,
}

impl RandomFeatures {
    /// How many numbers follow the row.
    pub fn count(self) -> usize {
        self.directions.saturating_mul(2)
    }

    fn check(self) -> Result<(), DocumentError> {
        let (linear, spread, directions) = (self.linear, self.spread, self.directions as f64);
        within("number of random features", directions, (1..=1_000_000).contains(&self.directions))?;
        within("share of a row beside random features", linear, linear > 0.0 && linear < 1.0)?;
        within("spread of random features", spread, (1e-6..=1e6).contains(&spread))
    }
}

/// Counts of labels by equal cells of a public stretch of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probabilities {
    /// How they are read, by its versioned name.
    pub reading: String,
    /// Whose records were counted.
    pub of: Counted,
    /// Where the first cell begins.
    pub low: f64,
    /// Where the last one ends.
    pub high: f64,
    /// Standard deviation of the noise on each count.
    pub noise: f64,
    /// How many records, or persons, were counted: their public number or, if it is secret, what the counts add up to.
    pub counted: f64,
    /// The noisy counts of negative records, cell by cell, then of positive ones.
    pub counts: Vec<f64>,
}

/// Whose records were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Those that the model was trained on, with noise that the certificate states.
    Private,
    /// Those of a table that is public: no guarantee speaks of it.
    Public,
}

/// Released weights of public knots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representation {
    /// How they are read, by its versioned name.
    pub reading: String,
    /// How many records they were summed over: their public number, or what was released of a secret one.
    pub counted: f64,
    /// Standard deviation of the noise on each.
    pub noise: f64,
    /// The noisy weights, column by column, of what is to be learned if it has any, then the sum of (1 + label)/2 (of events, for times)
    /// and, if it is secret, the number of records.
    pub weights: Vec<f64>,
}

/// The plan of a run: an algorithm with its public numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// Number of steps, of all phases together.
    pub steps: u32,
    /// η; phases divide it by 4, 16, ….
    pub step_size: f64,
    /// Which iterate becomes the model.
    pub average: Average,
    /// Which noise.
    pub law: NoiseKind,
    /// The public indices, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The mean number of pairs of a step, if pairs are kept independently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_pairs: Option<f64>,
    /// Whether every step has the same noise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant_noise: bool,
    /// The release that looks for tighter ranges, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tighten: Option<Tighten>,
    /// β: how much of the last step a step repeats.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub momentum: f64,
    /// The release of where columns lie, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub representation: Option<KnotPlan>,
    /// The release of labels by cells of the score, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<CellPlan>,
}

/// A last release of labels by cells of the score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPlan {
    /// The part of μ² (of ε, for noise whose ratios add up) that it gets.
    pub share: f64,
    /// Cells of the score.
    pub cells: usize,
}

/// A first release of where columns lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnotPlan {
    /// The part of μ² (of ε, for noise whose ratios add up) that it gets.
    pub share: f64,
    /// Columns of numbers.
    pub numbers: usize,
    /// Columns of categories.
    pub categories: usize,
    /// Coordinates of the release.
    pub coordinates: usize,
}

/// A first release that looks for tighter ranges.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tighten {
    /// The part of μ² that it gets.
    pub share: f64,
    /// Of how many columns.
    pub columns: usize,
}

/// Whose formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// Yang, Lei, Lyu and Ying (2021).
    Yang,
    /// Kang, Liu, Li and Wang.
    Kang,
    /// Xue, Yang, Huai and Wang (2021).
    Xue,
    /// Bassily, Feldman, Guzmán and Talwar (2020).
    Bassily,
    /// Wang et al. (2024).
    Wang,
}

impl Paper {
    /// How it is cited.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yang => "Yang et al. (2021)",
            Self::Kang => "Kang et al.",
            Self::Xue => "Xue et al. (2021)",
            Self::Bassily => "Bassily et al. (2020)",
            Self::Wang => "Wang et al. (2024)",
        }
    }
}

/// What a paper claims for its noise; no guarantee rests on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsPrinted {
    /// Whose formula.
    pub paper: Paper,
    /// The printed noise.
    pub sigma: f64,
    /// The ε that the paper claims for it.
    pub claimed_epsilon: f64,
    /// The δ that the paper claims for it.
    pub claimed_delta: f64,
    /// What is wrong in the paper.
    pub erratum: String,
}

/// A file that is not a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Not the JSON document that is written.
    #[error("not a pairdp model: {0}")]
    Json(#[from] serde_json::Error),
    /// Another kind or version of file.
    #[error("the format is `{found}`, expected `{MODEL_FORMAT}`")]
    Format {
        /// What the file says.
        found: String,
    },
    /// Parameters and encoding do not fit.
    #[error("{parameters} parameters for {features} features")]
    Shape {
        /// Number of parameters.
        parameters: usize,
        /// Length of an encoded row.
        features: usize,
    },
    /// The encoding is not one.
    #[error("{0}")]
    Encoding(String),
    /// A number that no model has.
    #[error("the {what} cannot be {value}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What the file says.
        value: f64,
    },
    /// A condition that says nothing.
    #[error("the condition of the claim names no code")]
    Condition,
}

impl Hint for DocumentError {
    fn code(&self) -> &'static str {
        "model"
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        Some(match self {
            Self::Json(_) => {
                format!("give a file that {} wrote", to.either("`pairdp train`", "`save` or the command"))
            }
            Self::Format { found } => who_reads(found),
            Self::Shape { .. } | Self::Encoding(_) | Self::Range { .. } | Self::Condition => {
                "the file was changed after training".into()
            }
        })
    }
}

impl ModelDocument {
    /// Reads a model file's text and checks that its numbers can be computed with.
    ///
    /// # Errors
    /// [`DocumentError`] when it is no model that can score rows. Whether its claim holds is for a verifier to say.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let document: Self = serde_json::from_str(text)?;
        document.check()?;
        Ok(document)
    }

    /// The model file's text.
    ///
    /// # Errors
    /// [`DocumentError::Json`] if a number cannot be written.
    pub fn to_json(&self) -> Result<String, DocumentError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    fn check(&self) -> Result<(), DocumentError> {
        if self.format != MODEL_FORMAT {
            return Err(DocumentError::Format { found: self.format.clone() });
        }
        self.predictor.check()?;
        self.training.check()?;
        within("ridge", self.ridge, self.ridge.is_finite() && self.ridge >= 0.0)?;
        self.certificate.condition.as_ref().map_or(Ok(()), Condition::check)?;
        self.certificate.problem.check()
    }
}

impl Predictor {
    fn check(&self) -> Result<(), DocumentError> {
        self.encoding.check().map_err(DocumentError::Encoding)?;
        let (parameters, features) = (self.parameters.len(), self.encoding.dimension());
        let with_constant = usize::from(self.constant != 0.0);
        let fitting = match self.task {
            // Distances do not see a constant.
            Task::Metric if with_constant > 0 => 0,
            Task::Metric => features.saturating_mul(features),
            _ => features.saturating_add(with_constant),
        };
        // How many columns a map makes of so many, and how many parameters a network has, is for the verifier to say.
        let elsewhere =
            self.representation.is_some() || self.random_features.is_some() || !self.score.is_linear();
        self.random_features.map_or(Ok(()), RandomFeatures::check)?;
        let fits = parameters == fitting || (elsewhere && parameters > 0);
        if !fits || features == 0 {
            return Err(DocumentError::Shape { parameters, features });
        }
        if let Some(&value) = self.parameters.iter().find(|value| !value.is_finite()) {
            return Err(DocumentError::Range { what: "weight", value });
        }
        within("constant", self.constant, self.constant.is_finite())?;
        let bound = self.feature_bound;
        within("feature bound", bound, bound.is_finite() && bound > 0.0)
    }
}

impl Training {
    /// Refuses numbers that no plan has.
    ///
    /// # Errors
    /// [`DocumentError::Range`].
    pub fn check(&self) -> Result<(), DocumentError> {
        // None where ranks are all that is released.
        let enough = self.steps > 0 || self.representation.is_some();
        within("number of steps", f64::from(self.steps), enough)?;
        within("step size", self.step_size, self.step_size.is_finite() && self.step_size > 0.0)?;
        if let Some(pairs) = self.expected_pairs {
            let independent = self.algorithm == Algorithm::NoisySgd;
            within("expected number of pairs", pairs, independent && pairs > 0.0 && pairs <= 4096.0)?;
        }
        match self.tighten {
            Some(Tighten { share, .. }) => {
                within("share of the budget for ranges", share, share > 0.0 && share < 1.0)
            }
            None => Ok(()),
        }
    }
}
