//! The papers' tables and figures, rerun beside what they print.
//!
//! An [`Experiment`] is a table or figure: its cells are computed one by one, each finished cell is kept as a line of JSON,
//! and a run that was killed goes on where it was. Noise is fresh for every model; splits of a table and simulated records
//! come from fixed seeds, so that all algorithms of a cell see the same ones.

mod bassily;
pub mod ceiling;
mod cells;
pub mod files;
mod kang;
mod networks;
pub mod page;
pub mod plot;
pub mod regimes;
pub mod sets;
pub mod splits;
mod wang;
mod xue;
mod yang;

pub use cells::{Cell, Outcome, Row, Value, found, run};

use anyhow::Result;
use std::path::Path;

/// What a run may use, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Where the sets are.
    pub data: Option<&'a Path>,
    /// Fewer repetitions.
    pub quick: bool,
}

impl Scope<'_> {
    fn repetitions(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

/// A cell that is still to be computed.
pub(crate) struct Job {
    /// What sets it apart from the experiment's other cells.
    key: String,
    repetitions: usize,
    work: Box<dyn Fn() -> Result<Vec<Row>>>,
}

/// What is to be computed, and which files are missing for more.
#[derive(Default)]
pub(crate) struct Jobs {
    jobs: Vec<Job>,
    missing: Vec<String>,
}

/// A table or figure of a paper.
pub struct Experiment {
    /// How it is called on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Where it is printed, and what is not said there.
    pub source: &'static str,
    /// What every row has a value of.
    pub columns: &'static [&'static str],
    /// Whether values span orders of magnitude.
    pub logarithmic: bool,
    /// What a quick run leaves out.
    pub quick: &'static str,
    jobs: fn(&Scope<'_>) -> Result<Jobs>,
}

/// All of them.
pub const EXPERIMENTS: [Experiment; 8] = [
    xue::AUC,
    xue::METRIC,
    wang::SQUARES,
    wang::LOGISTIC,
    bassily::TABLE,
    kang::TABLE,
    networks::TABLE,
    yang::TABLE,
];
