//! Cells as they are kept, and the loop that computes what is not kept yet.

use crate::splits::mean;
use crate::{Experiment, Scope};
use anyhow::{Context as _, Result};
use pairdp_units::Budget;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// A number with its standard error, or why there is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Value {
    /// The mean.
    pub mean: Option<f64>,
    /// Its standard error, where there were repetitions.
    pub error: Option<f64>,
    /// Why there is no number, or what to know about it.
    pub note: Option<String>,
}

impl Value {
    /// A number that is known, or printed.
    pub(crate) fn known(value: f64) -> Self {
        Self { mean: Some(value), ..Self::default() }
    }

    /// No number, for a reason.
    pub(crate) fn none(why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), ..Self::default() }
    }

    /// The same with the ε that printed noise really gives.
    pub(crate) fn with_spent(self, spent: Option<Budget>) -> Self {
        match (self.mean, spent) {
            (Some(_), Some(spent)) => {
                let note = format!("its noise really gives ε = {:.2e}", spent.epsilon.get());
                Self { note: Some(note), ..self }
            }
            _ => self,
        }
    }

    /// The mean of what repetitions found, unless one was refused: refusals rest on public numbers, which all share.
    pub(crate) fn of(found: Vec<Result<f64, String>>) -> Self {
        match found.into_iter().collect::<Result<Vec<f64>, String>>() {
            Err(why) => Self::none(why),
            Ok(values) => {
                let (mean, error) = mean(&values);
                Self { mean: Some(mean), error: error.is_finite().then_some(error), note: None }
            }
        }
    }
}

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// In the order of the experiment's columns.
    pub values: Vec<Value>,
}

/// What was computed at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Of which experiment.
    pub experiment: String,
    /// What sets it apart from the experiment's other cells.
    pub key: String,
    /// How many repetitions means are over.
    pub repetitions: usize,
    /// What was found.
    pub rows: Vec<Row>,
}

/// An experiment after a run.
#[derive(Debug)]
pub struct Outcome {
    /// Its cells, in order.
    pub cells: Vec<Cell>,
    /// How many of them an earlier run had computed.
    pub kept: usize,
    /// What could not be computed for want of a file, and where to get it.
    pub missing: Vec<String>,
}

/// Computes the cells of an experiment that the file does not hold yet; each is kept there as soon as it is finished.
///
/// # Errors
/// When a file cannot be read or written, or a cell cannot be computed at all.
pub fn run(
    experiment: &Experiment,
    scope: &Scope<'_>,
    file: &Path,
    mut about_to: impl FnMut(&str),
) -> Result<Outcome> {
    let known = kept(file)?;
    let todo = (experiment.jobs)(scope)?;
    let mut outcome = Outcome { cells: Vec::new(), kept: 0, missing: todo.missing };
    for job in todo.jobs {
        let same = |cell: &&Cell| {
            (&*cell.experiment, &cell.key, cell.repetitions) == (experiment.name, &job.key, job.repetitions)
        };
        if let Some(cell) = known.iter().find(same) {
            outcome.cells.push(cell.clone());
            outcome.kept += 1;
            continue;
        }
        about_to(&job.key);
        let rows = (job.work)().with_context(|| format!("{}, {}", experiment.name, job.key))?;
        let experiment = experiment.name.to_owned();
        let cell = Cell { experiment, key: job.key, repetitions: job.repetitions, rows };
        keep(file, &cell)?;
        outcome.cells.push(cell);
    }
    Ok(outcome)
}

/// What earlier runs found of an experiment, of each cell the one with the most repetitions.
///
/// # Errors
/// When the file cannot be read.
pub fn found(experiment: &Experiment, file: &Path) -> Result<Vec<Cell>> {
    let mut cells: Vec<Cell> = Vec::new();
    for cell in kept(file)?.into_iter().filter(|cell| cell.experiment == experiment.name) {
        let known = cells.iter().position(|known| known.key == cell.key);
        if known.is_some_and(|k| cells[k].repetitions > cell.repetitions) {
            continue;
        }
        cells.retain(|known| known.key != cell.key);
        cells.push(cell);
    }
    Ok(cells)
}

/// What an earlier run kept; a line that it did not finish is left out.
fn kept(file: &Path) -> Result<Vec<Cell>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn keep(file: &Path, cell: &Cell) -> Result<()> {
    let about = || format!("{}", file.display());
    let torn = std::fs::read(file).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
    let line = format!("{}{}\n", if torn { "\n" } else { "" }, serde_json::to_string(cell)?);
    let mut file = OpenOptions::new().create(true).append(true).open(file).with_context(about)?;
    file.write_all(line.as_bytes()).with_context(about)
}
