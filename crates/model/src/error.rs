use pairdp_certificate::DocumentError;
use pairdp_pairwise::kernel::parts::Mismatch;
use pairdp_units::{FrontEnd, Hint, shown};

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
    /// A number of the model is not finite, or a bound not positive.
    #[error("the model holds a number that is not finite")]
    NotFinite,
    /// How it was trained is not a plan.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A number that was asked about.
    #[error("{what} must be {range}, not {}", shown::as_given(*.value))]
    Number {
        /// Which one.
        what: &'static str,
        /// What is accepted.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// A model that knows scores and no probabilities.
    #[error("the model has scores and no probabilities, which flagging needs too")]
    NoProbabilities,
    /// What a task has not.
    #[error("the task {task} cannot be combined with {what}")]
    NotForTask {
        /// What was asked for.
        what: &'static str,
        /// What the model is for.
        task: &'static str,
    },
    /// A table from which nothing follows about the other class.
    #[error("probabilities need records of both classes")]
    OneClass,
    /// Counts that do not belong together.
    #[error(transparent)]
    Counts(#[from] Mismatch),
    /// A model whose scores are computed elsewhere.
    #[error("the scores of this model are those of a function in Python, which the file does not hold")]
    ScoredElsewhere,
}

impl Hint for ModelError {
    fn code(&self) -> &'static str {
        match self {
            Self::Number { .. } | Self::NoProbabilities | Self::NotForTask { .. } | Self::OneClass => "plan",
            _ => "model",
        }
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        match self {
            Self::Json(_) => Some(format!(
                "give a file that {} wrote",
                to.either("`pairdp train`", "`save` or the command")
            )),
            Self::Format { found, .. } => Some(pairdp_certificate::who_reads(found)),
            Self::Shape { .. } | Self::NotFinite | Self::Encoding(_) => {
                Some("the file was changed after training".into())
            }
            Self::Document(error) => error.hint(to),
            Self::Number { .. } | Self::Counts(_) => None,
            Self::NoProbabilities => Some(format!(
                "train a ranker or classifier with {}, or, for one that is trained, take the labels of a public table: {}",
                to.either("`--probabilities`", "`probabilities=True`"),
                to.either("`pairdp calibrate`", "`calibrate`")
            )),
            Self::NotForTask { .. } => Some("leave it out".into()),
            Self::OneClass => Some("take a larger table".into()),
            Self::ScoredElsewhere => {
                Some("load it in Python with its function: `load(path, scores=...)`".into())
            }
        }
    }
}
