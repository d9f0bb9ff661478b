//! The one place that prints: results to standard output, everything else to standard error.

use crate::failure::Failure;
use crate::progress::{Unit, shown};
use pairdp_data::{DataError, Encoding, LabelUse, Survey, Table};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) struct Printer {
    json: bool,
    quiet: bool,
    /// Why standard output did not take what it was given.
    trouble: RefCell<Option<io::Error>>,
}

impl Printer {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, trouble: RefCell::default() }
    }

    /// Whether results are for machines.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// The result of a command, for people or for machines.
    pub(crate) fn result(&self, text: &str, object: &Value) {
        let text = if self.json { object.to_string() } else { visible(text.trim_end()) };
        if (self.json || !self.quiet) && !self.print(&format!("{text}\n")) {
            // It may have been paid for.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// Data that was asked for, whatever else is silenced.
    pub(crate) fn data(&self, text: &str) {
        self.print(text);
    }

    /// Whether everything was printed that should be; a command whose result nobody can have did not succeed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.trouble.take() {
            Some(error) => Err(Failure::Failed(Failure::not_written(Path::new("standard output"), &error))),
            None => Ok(()),
        }
    }

    /// A reader that went away is no error.
    fn print(&self, text: &str) -> bool {
        let mut out = io::stdout();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.trouble.replace(Some(error));
                false
            }
            _ => true,
        }
    }

    /// A step of a longer command.
    pub(crate) fn progress(&self, text: &str) {
        if !self.silent() {
            let _ = writeln!(std::io::stderr(), "{}", visible(text));
        }
    }

    /// What somebody should know before going on; machines find it in the result.
    pub(crate) fn warning(&self, text: &str) {
        self.progress(&format!("warning: {text}"));
    }

    /// Reads a table, with a bar of its bytes if that takes long.
    pub(crate) fn reading(
        &self,
        path: &Path,
        encoding: &Encoding,
        labels: LabelUse<'_>,
    ) -> Result<Table, DataError> {
        let counter = Arc::default();
        let read = || Table::read_counted(path, encoding, labels, &counter);
        if self.silent() {
            return read();
        }
        // A pipe has no length, and Parquet is not read as a stream.
        let stream = path.extension().is_none_or(|ending| ending != "parquet");
        let length =
            std::fs::metadata(path).ok().map(|file| file.len()).filter(|length| stream && *length > 0);
        shown("reading", Unit::Bytes, length, &counter, read)
    }

    /// The same, but rows that cannot be read are told from the others, and cells of some columns kept.
    pub(crate) fn surveying(
        &self,
        path: &Path,
        encoding: &Encoding,
        keep: &[String],
    ) -> Result<Survey, DataError> {
        let counter = Arc::default();
        self.waiting("reading", || Survey::read(path, encoding, keep, &counter))
    }

    /// Does work that counts its steps.
    pub(crate) fn counting<T>(
        &self,
        what: &'static str,
        steps: Option<u64>,
        counter: &AtomicU64,
        work: impl FnOnce() -> T,
    ) -> T {
        if self.silent() { work() } else { shown(what, Unit::Steps, steps, counter, work) }
    }

    /// Does work of which nothing is known but that it may take long.
    pub(crate) fn waiting<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> T {
        self.counting(what, None, &AtomicU64::new(0), work)
    }

    fn silent(&self) -> bool {
        self.json || self.quiet
    }

    pub(crate) fn failure(&self, failure: &Failure) {
        let (code, message, hint) = match failure {
            Failure::Refused { code, message, hint } => (*code, message, hint.as_deref()),
            Failure::Failed(message) => ("failed", message, None),
        };
        let mut errors = std::io::stderr();
        if self.json {
            let _ = writeln!(errors, "{}", json!({ "code": code, "error": message, "hint": hint }));
            return;
        }
        // A message is one line: a name from a file must not look like the next one.
        let _ = writeln!(errors, "error: {}", visible(message).replace('\n', "\\n"));
        if let Some(hint) = hint {
            let _ = writeln!(errors, "hint: {}", visible(hint));
        }
    }
}

/// A text whose letters are all that a terminal sees of it: names from files may hold what moves the cursor, changes colours or
/// turns the direction of writing.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for symbol in text.chars() {
        let turns = matches!(symbol, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if turns || (symbol.is_control() && symbol != '\n') {
            shown.extend(symbol.escape_unicode());
        } else {
            shown.push(symbol);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn issue_22_10_what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("ε = 1, δ\nÄrger, 表"), "ε = 1, δ\nÄrger, 表");
        assert_eq!(visible("\u{1b}[31mred\r\u{7}\u{9b}"), "\\u{1b}[31mred\\u{d}\\u{7}\\u{9b}");
        assert_eq!(visible("\u{202e}gpj.exe\u{2066}"), "\\u{202e}gpj.exe\\u{2066}");
    }
}
