//! Tables that lie in parts elsewhere: the worker's side, and the driver's.

use crate::error::{refused, shape};
use crate::model::read_settings;
use crate::waiting::wait_for;
use pairdp_data::{Encoding, Label, LabelUse, Schema, Table, table_files};
use pairdp_learn::parts::{self, Ask, Found};
use pairdp_learn::{Journal, Prepared, Rows, Settings, rehearse};
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
    let mut run = Run::new(ask, encoding, label, settings, epsilon, delta)?;
    let failure = run.asking.failure();
    let train = move |stop| -> PyResult<String> {
        let (found, prepared) = run.start()?;
        let mut journal = Journal::none().stopped_by(stop);
        let Run { settings, encoding, label, .. } = run;
        let model = pairdp_learn::fit(settings.task, prepared, found, encoding, Some(label), &mut journal);
        model.map_err(refused)?.to_json().map_err(refused)
    };
    failure.or(wait_for(py, train)?)
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
    let mut run = Run::new(ask.unwrap_or_else(|| py.None()), encoding, label, settings, epsilon, delta)?;
    let failure = run.asking.failure();
    let train = move |_| -> PyResult<Vec<f64>> {
        let (rows, prepared): (Rows, Prepared) = if here {
            let table = run.read(&data)?;
            let prepared = run.prepare(table.rows)?;
            (table.into(), prepared)
        } else {
            let (found, prepared) = run.start()?;
            (found.into(), prepared)
        };
        rehearse(&prepared, rows, &run.encoding, seed, &mut Journal::none()).map_err(refused)
    };
    failure.or(wait_for(py, train)?)
}

/// A driver's run, before its first question.
struct Run {
    asking: Asking,
    encoding: Encoding,
    label: Label,
    settings: Settings,
    budget: Budget,
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
        Ok(Self {
            asking: Asking { ask, failure: Failure::default() },
            encoding: serde_json::from_str(encoding).map_err(unreadable)?,
            label: serde_json::from_str(label).map_err(unreadable)?,
            settings: read_settings(settings)?,
            budget: Budget::new(epsilon, delta).map_err(refused)?,
        })
    }

    fn prepare(&self, rows: usize) -> PyResult<Prepared> {
        let settings = Settings { numeric_features: Some(self.encoding.numeric()), ..self.settings.clone() };
        settings.prepare(rows, self.encoding.dimension(), self.budget).map_err(refused)
    }

    /// Counts the rows and prepares for so many.
    fn start(&mut self) -> PyResult<(Found, Prepared)> {
        let found = Found::count(self.asking.asking()).map_err(refused)?;
        let prepared = self.prepare(found.rows())?;
        Ok((found, prepared))
    }

    fn read(&self, data: &Path) -> PyResult<Table> {
        let files = table_files(data).map_err(refused)?;
        Table::read_files(&files, &self.encoding, LabelUse::Read(&self.label)).map_err(refused)
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
