//! Running the command and looking at what it did.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder in which `pairdp` is run.
pub(crate) struct Workplace {
    folder: tempfile::TempDir,
}

/// What a run did.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of the files there, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `pairdp` with words separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args(arguments.split_whitespace())
            .envs(environment.iter().copied())
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        Run::from(output)
    }

    /// A workplace with a small simulated cohort.
    pub(crate) fn with_cohort(records: usize) -> Self {
        let workplace = Self::new();
        let run = workplace.run(&format!("simulate --records {records} --out cohort.csv"));
        assert_eq!(run.code, 0, "{}", run.err);
        workplace
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// `pairdp` as a terminal starts it: whoever runs tests in the background may have told them, and so their children, to ignore
/// Ctrl-C.
pub(crate) fn interruptible() -> Command {
    let pairdp = env!("CARGO_BIN_EXE_pairdp");
    if cfg!(target_os = "linux") {
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", pairdp]);
        return command;
    }
    Command::new(pairdp)
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
