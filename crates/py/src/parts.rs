//! Tables that lie in parts elsewhere: the worker's side, and the driver's.

use crate::error::{Refused, refused, shape};
use crate::model::read_settings;
use crate::waiting::wait_for;
use pairdp_accountant::Unbooked;
use pairdp_data::{Encoding, LabelUse, Schema, Table, table_files};
use pairdp_learn::parts::{self, Ask, CountedParts};
use pairdp_learn::{Checkpointer, PaidRun, Rows, Training};
use pairdp_units::Budget;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// One part of a table in a worker's memory. It does not travel: there is no way to pickle it.
#[pyclass(frozen, module = "pairdp._core")]
pub(crate) struct Part(parts::Part);

#[pymethods]
impl Part {
    /// The answer to a request: always the same, drawing nothing at random.
    fn partial<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.detach(|| self.0.answer(request)).map_err(refused)?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// Reads a part that `describe_parts` described.
#[pyfunction]
pub(crate) fn load_part(py: Python<'_>, description: &str) -> PyResult<Part> {
    py.detach(|| parts::Part::load(description)).map(Part).map_err(refused)
}

/// Two answers to one request as one.
#[pyfunction]
pub(crate) fn merge_states<'py>(py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &py.detach(|| parts::merge(a, b)).map_err(refused)?))
}

/// A folder of tables, or a pattern, as texts for `load_part`; and the public rules of a schema, as JSON: columns and label.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn describe_parts(
    data: PathBuf,
    schema: PathBuf,
    settings: &str,
    workers: usize,
) -> PyResult<(Vec<String>, String, String)> {
    let (schema, task) = (Schema::read(&schema).map_err(refused)?, read_settings(settings)?.task);
    task.check_label(&schema.label().kind)
        .map_err(|wanted| shape(&format!("{} needs {wanted} under [label] in the schema", task.name())))?;
    let encoding = Encoding::of(&schema);
    let files = table_files(&data).map_err(refused)?;
    let texts = parts::describe(task, &files, &encoding, schema.label(), workers).map_err(refused)?;
    let json = |value: serde_json::Result<String>| value.map_err(|error| shape(&error.to_string()));
    Ok((texts, json(serde_json::to_string(&encoding))?, json(serde_json::to_string(schema.label()))?))
}

/// Trains a private model on the parts that `ask` asks, and returns its file's text.
#[pyfunction]
pub(crate) fn fit_parts(
    py: Python<'_>,
    ask: Py<PyAny>,
    encoding: &str,
    label: &str,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<String> {
    let run = Run::new(ask, encoding, label, settings, epsilon, delta)?;
    let failure = run.asking.failure();
    let train = move |stop| -> Result<String, Refused> {
        let mut checkpointer = Checkpointer::none().stopped_by(stop);
        let paid = run.open(&mut checkpointer, None)?;
        Ok(paid.train(&mut checkpointer)?.to_json()?)
    };
    failure.or(wait_for(py, train)?.map_err(PyErr::from))
}

/// The parameters that the same run would find with noise from a seed: for tests, and for nothing that is published. Without
/// `ask`, of the same files read into memory here.
#[pyfunction]
#[pyo3(signature = (ask, data, encoding, label, settings, epsilon, delta, seed))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn rehearse_parts(
    py: Python<'_>,
    ask: Option<Py<PyAny>>,
    data: PathBuf,
    encoding: &str,
    label: &str,
    settings: &str,
    epsilon: f64,
    delta: f64,
    seed: u64,
) -> PyResult<Vec<f64>> {
    let here = ask.is_none();
    let run = Run::new(ask.unwrap_or_else(|| py.None()), encoding, label, settings, epsilon, delta)?;
    let failure = run.asking.failure();
    let train = move |_| -> Result<Vec<f64>, Refused> {
        let mut checkpointer = Checkpointer::none();
        let paid = run.open(&mut checkpointer, here.then_some(data.as_path()))?;
        Ok(paid.rehearse(seed, &mut checkpointer)?)
    };
    failure.or(wait_for(py, train)?.map_err(PyErr::from))
}

/// A driver's run, before its first question.
struct Run {
    asking: Asking,
    training: Training,
}

impl Run {
    fn new(
        ask: Py<PyAny>,
        encoding: &str,
        label: &str,
        settings: &str,
        epsilon: f64,
        delta: f64,
    ) -> PyResult<Self> {
        let unreadable = |error: serde_json::Error| shape(&error.to_string());
        let training = Training {
            settings: read_settings(settings)?,
            encoding: serde_json::from_str(encoding).map_err(unreadable)?,
            label: Some(serde_json::from_str(label).map_err(unreadable)?),
            budget: Budget::new(epsilon, delta).map_err(refused)?,
        };
        Ok(Self { asking: Asking { ask, failure: Failure::default() }, training })
    }

    /// Counts the rows of the parts, or reads the files that are named here.
    fn open(&self, checkpointer: &mut Checkpointer<'_>, here: Option<&Path>) -> Result<PaidRun, Refused> {
        let Training { encoding, label, .. } = &self.training;
        self.training.open(&mut Unbooked, checkpointer, || -> Result<Rows, Refused> {
            Ok(match (here, label) {
                (Some(data), Some(label)) => {
                    Table::read_files(&table_files(data)?, encoding, LabelUse::Read(label))?.into()
                }
                _ => CountedParts::count(self.asking.asking())?.into(),
            })
        })
    }
}

/// What Python raised while it was asked: the driver ends with that very exception.
#[derive(Default, Clone)]
struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    fn or<T>(&self, result: PyResult<T>) -> PyResult<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(raised) => Err(raised),
            None => result,
        }
    }
}

struct Asking {
    ask: Py<PyAny>,
    failure: Failure,
}

impl Asking {
    fn failure(&self) -> Failure {
        self.failure.clone()
    }

    fn asking(&self) -> Ask {
        let failure = self.failure.clone();
        let ask = Python::attach(|py| self.ask.clone_ref(py));
        Box::new(move |request| {
            Python::attach(|py| {
                let answer = ask.call1(py, (PyBytes::new(py, request),));
                answer.and_then(|answer| answer.extract::<Vec<u8>>(py)).map_err(|raised: PyErr| {
                    let text = raised.to_string();
                    *failure.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                    text
                })
            })
        })
    }
}
