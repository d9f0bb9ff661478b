//! The one place that prints: results to standard output, everything else to standard error.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::io::Write as _;

pub(crate) struct Printer {
    json: bool,
    quiet: bool,
}

impl Printer {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// The result of a command, for people or for machines. A reader that went away is no error.
    pub(crate) fn result(&self, text: &str, object: &Value) {
        let text = if self.json { object.to_string() } else { text.trim_end().to_owned() };
        if self.json || !self.quiet {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// Data that was asked for, whatever else is silenced.
    pub(crate) fn data(text: &str) {
        let _ = std::io::stdout().write_all(text.as_bytes());
    }

    /// A step of a longer command.
    pub(crate) fn progress(&self, text: &str) {
        if !self.json && !self.quiet {
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        let (message, hint) = match failure {
            Failure::Refused { message, hint } => (message, hint.as_deref()),
            Failure::Failed(message) => (message, None),
        };
        let mut errors = std::io::stderr();
        if self.json {
            let _ = writeln!(errors, "{}", json!({ "error": message, "hint": hint }));
            return;
        }
        let _ = writeln!(errors, "error: {message}");
        if let Some(hint) = hint {
            let _ = writeln!(errors, "hint: {hint}");
        }
    }
}
