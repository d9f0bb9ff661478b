//! Scores that Python computes.

use crate::gateway::Refused;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pairdp_certificate::Condition;
use pairdp_release::ForeignScore;
use pyo3::prelude::*;
use pyo3::types::PyAny;

/// A `pairdp.scores.Score`, and what a certificate says of it.
pub(crate) struct PyScore {
    object: Py<PyAny>,
    condition: Condition,
}

impl<'py> FromPyObject<'_, 'py> for PyScore {
    type Error = PyErr;

    /// From the object and the JSON text of its condition.
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (object, condition): (Py<PyAny>, String) = given.extract()?;
        let condition = serde_json::from_str(&condition);
        let condition: Condition = condition.map_err(|error| Refused::value(error.to_string()))?;
        // Before anything is paid for a model whose file nobody would read.
        condition.check().map_err(|_| {
            let what = "the names of a score, its function and its packages must be short, on one line, and of at most 100 packages";
            Refused::value(what)
        })?;
        Ok(Self { object, condition })
    }
}

impl PyScore {
    /// Calls a method, which returns numbers. What it says if it fails is for whoever knows that it is not about records.
    fn call(
        &self,
        method: &str,
        arguments: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
    ) -> Result<Vec<f64>, String> {
        Python::attach(|py| {
            let numbers = || -> PyResult<Vec<f64>> {
                let arguments = arguments(py)?;
                let bound = arguments.bind(py).cast::<pyo3::types::PyTuple>()?;
                let answer = self.object.bind(py).call_method1(method, bound)?;
                let numpy = py.import("numpy")?;
                let answer = numpy.call_method1("ascontiguousarray", (answer, "float64"))?;
                Ok(answer.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec())
            };
            numbers().map_err(|error| format!("{method} raised {error}"))
        })
    }
}

/// Rows as a matrix of Python's.
fn matrix<'py>(py: Python<'py>, rows: &[f64], columns: usize) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_slice(py, rows).reshape([rows.len() / columns.max(1), columns])?.into_any())
}

impl ForeignScore for PyScore {
    fn condition(&self) -> Condition {
        self.condition.clone()
    }

    fn initial(&self, seed: u64) -> Result<Vec<f64>, String> {
        self.call("initial", |py| Ok((seed,).into_pyobject(py)?.into_any().unbind()))
    }

    fn scores(&self, parameters: &[f64], rows: &[f64], columns: usize) -> Result<Vec<f64>, String> {
        self.call("scores", |py| {
            let arguments = (PyArray1::from_slice(py, parameters), matrix(py, rows, columns)?);
            Ok(arguments.into_pyobject(py)?.into_any().unbind())
        })
    }

    fn weighted_clipped_gradient(
        &self,
        parameters: &[f64],
        rows: &[f64],
        columns: usize,
        charges: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, String> {
        self.call("weighted_clipped_gradient", |py| {
            let of = |numbers: &[f64]| PyArray1::from_slice(py, numbers);
            let arguments = (of(parameters), matrix(py, rows, columns)?, of(charges), bound);
            Ok(arguments.into_pyobject(py)?.into_any().unbind())
        })
    }
}
