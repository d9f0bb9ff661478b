//! Why a command ended early.

use pairdp_units::Hint;
use std::path::Path;
use std::process::ExitCode;

/// One line of what, and perhaps a way out.
pub(crate) enum Failure {
    /// The input or the budget does not allow it.
    Refused {
        /// What was refused.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The machine did not do its part.
    Failed(String),
}

impl Failure {
    pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Failed(format!("{}: could not be written: {error}", path.display()))
    }

    /// Says which file an error is about.
    pub(crate) fn about(path: &Path, error: &impl Hint) -> Self {
        Self::Refused { message: format!("{}: {error}", path.display()), hint: error.hint() }
    }

    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Refused { .. } => ExitCode::from(1),
            Self::Failed(_) => ExitCode::from(2),
        }
    }
}

impl<E: Hint> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Refused { message: error.to_string(), hint: error.hint() }
    }
}
