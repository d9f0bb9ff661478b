//! Tables that lie in parts elsewhere: the worker's side, and the driver's.

use crate::gateway::{EnterCore as _, Refused};
use crate::model::Model;
use crate::settings::read_settings;
use crate::tables::described;
use pairdp_accountant::Unbooked;
use pairdp_data::{Encoding, LabelUse, Schema, Table, table_files};
use pairdp_learn::{PaidRun, Rows, Training};
use pairdp_noise::Replay;
use pairdp_release::Checkpointer;
use pairdp_release::parts::{self, Ask, CountedParts};
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
        Ok(PyBytes::new(py, &py.enter_core(|| Ok(self.0.answer(request)?))?))
    }
}

/// Reads a part that `describe_parts` described.
#[pyfunction]
pub(crate) fn load_part(py: Python<'_>, description: &str) -> PyResult<Part> {
    py.enter_core(|| Ok(Part(parts::Part::load(description)?)))
}

/// Two answers to one request as one.
#[pyfunction]
pub(crate) fn merge_states<'py>(py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &py.enter_core(|| Ok(parts::merge(a, b)?))?))
}

/// A folder of tables, or a pattern, as texts for `load_part`; and the public rules of a schema, as JSON: columns and label.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn describe_parts(
    py: Python<'_>,
    data: PathBuf,
    schema: PathBuf,
    settings: &str,
    workers: usize,
) -> PyResult<(Vec<String>, String, String)> {
    py.enter_core(|| {
        let (schema, task) = (Schema::read(&schema)?, read_settings(settings)?.task);
        task.check_label(&schema.label().kind).map_err(|wanted| {
            Refused::value(format!("{} needs {wanted} under [label] in the schema", task.name()))
        })?;
        let encoding = Encoding::of(&schema);
        let texts =
            parts::describe(task, &table_files(&data)?, &encoding, schema.label(), schema.person(), workers)?;
        let json =
            |value: serde_json::Result<String>| value.map_err(|error| Refused::value(error.to_string()));
        Ok((texts, json(serde_json::to_string(&encoding))?, json(serde_json::to_string(schema.label()))?))
    })
}

/// Trains a private model on the parts that `ask` asks, as its schema describes them.
#[pyfunction]
pub(crate) fn fit_parts(
    py: Python<'_>,
    ask: Py<PyAny>,
    encoding: &str,
    label: &str,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<Model> {
    let run = Run::new(ask, encoding, label, settings, epsilon, delta)?;
    let failure = run.asking.failure();
    failure.or(py.enter_core_for_long(move |stop| {
        let mut checkpointer = Checkpointer::none().stopped_by(stop);
        let model = run.open(&mut checkpointer, None)?.train(&mut checkpointer)?;
        Ok(Model { text: model.to_json()?, predictor: model.predictor })
    }))
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
    failure.or(py.enter_core_for_long(move |_| {
        let mut checkpointer = Checkpointer::none();
        let paid = run.open(&mut checkpointer, here.then_some(data.as_path()))?;
        Ok(paid.rehearse(Replay::from_seed(seed), &mut checkpointer)?)
    }))
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
    ) -> Result<Self, Refused> {
        let (encoding, label) = described(encoding, Some(label))?;
        let budget = Budget::new(epsilon, delta)?;
        let training = Training { settings: read_settings(settings)?, encoding, label, budget };
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
