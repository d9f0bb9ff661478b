//! Why a command ended early.

use pairdp_units::{FrontEnd, Hint};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// One line of what, and perhaps a way out.
pub(crate) enum Failure {
    /// The input or the budget does not allow it.
    Refused {
        /// Its kind, for programs.
        code: &'static str,
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
        Self::coded("refused", message, hint)
    }

    /// A refusal that programs may want to tell from others.
    pub(crate) fn coded(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into(), hint: Some(hint.into()) }
    }

    /// A command line that is not one.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let first = text
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ");
        let message = first.trim_start_matches("error: ").to_owned();
        Self::Refused { code: "usage", message, hint: Some("see --help".into()) }
    }

    pub(crate) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Failed(Self::not_written(path, error))
    }

    /// The usual reasons in plain words, without the operating system's error numbers.
    pub(crate) fn not_written(path: &Path, error: &std::io::Error) -> String {
        let why = match error.kind() {
            ErrorKind::NotFound => "there is no such place".into(),
            ErrorKind::PermissionDenied => "permission denied".into(),
            ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
            ErrorKind::StorageFull => "the disk is full".into(),
            ErrorKind::QuotaExceeded => "the quota is used up".into(),
            ErrorKind::AlreadyExists => "something else was put there meanwhile".into(),
            ErrorKind::IsADirectory => "a folder is in its place".into(),
            _ => error.to_string(),
        };
        format!("{}: could not be written: {why}", path.display())
    }

    /// Says which file an error is about.
    pub(crate) fn about(path: &Path, error: &impl Hint) -> Self {
        let message = format!("{}: {error}", path.display());
        Self::Refused { code: error.code(), message, hint: error.hint(FrontEnd::Command) }
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
        if error.is_failure() {
            return Self::Failed(error.to_string());
        }
        Self::Refused { code: error.code(), message: error.to_string(), hint: error.hint(FrontEnd::Command) }
    }
}
