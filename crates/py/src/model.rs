//! Training and using models.

use crate::error::{Refused, refused, shape};
use crate::ledger::{Payment, payer};
use crate::waiting::wait_for;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pairdp_data::{Encoding, Table};
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{
    BaselineModel, Checkpointer, Predictor, PrivateModel, Settings, Training, certified_event, explain,
};
use pairdp_pairwise::measure;
use pairdp_units::Budget;
use pairdp_verify::{ModelDocument, Patience, verify_with};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Trains a private model and returns its file's text. `settings` is a JSON object of public choices, `ranges` one for
/// each column; `targets` are ±1, class numbers, or numbers within ±1. `booking` says which ledger pays.
#[pyfunction]
#[pyo3(signature = (rows, targets, ranges, settings, epsilon, delta, booking=None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn fit(
    py: Python<'_>,
    rows: PyReadonlyArray2<'_, f64>,
    targets: PyReadonlyArray1<'_, f64>,
    ranges: Vec<[f64; 2]>,
    settings: &str,
    epsilon: f64,
    delta: f64,
    booking: Option<Payment>,
) -> PyResult<String> {
    let budget = Budget::new(epsilon, delta).map_err(refused)?;
    let settings = read_settings(settings)?;
    let mut payer = booking.map(|payment| payer(&payment)).transpose().map_err(refused)?;
    let encoding = Encoding::of_ranges(ranges).map_err(|message| shape(&message))?;
    let training = Training { settings, encoding, label: None, budget };
    // The array is looked at here, before Python's lock is released.
    let run = training.open(&mut payer, &mut Checkpointer::none(), || -> Result<_, Refused> {
        Ok(labelled(&training.encoding, &rows, &targets).map_err(Refused::raised)?.into())
    })?;
    let train = move |stop| -> Result<String, Refused> {
        let model = run.train(&mut Checkpointer::none().stopped_by(stop))?;
        if let Some(booking) = payer {
            booking.settle(&certified_event(&model.certificate)?)?;
        }
        Ok(model.to_json()?)
    };
    Ok(wait_for(py, train)??)
}

/// Descends over all pairs without privacy and returns the model file's text.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn fit_baseline(
    py: Python<'_>,
    rows: PyReadonlyArray2<'_, f64>,
    targets: PyReadonlyArray1<'_, f64>,
    ranges: Vec<[f64; 2]>,
    settings: &str,
) -> PyResult<String> {
    let settings = read_settings(settings)?;
    let encoding = Encoding::of_ranges(ranges).map_err(|message| shape(&message))?;
    let table = labelled(&encoding, &rows, &targets)?;
    let fit = move |_| baseline::fit(Baseline::Gd, &settings, table, encoding, None);
    wait_for(py, fit)?.map_err(refused)?.to_json().map_err(refused)
}

/// An encoded table with its targets.
fn labelled(
    encoding: &Encoding,
    rows: &PyReadonlyArray2<'_, f64>,
    targets: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Table> {
    let targets = targets.as_slice().map_err(|_| shape("targets must be contiguous"))?.to_vec();
    Ok(Table { targets, ..encode(encoding, rows)? })
}

/// What training would do for a table of public size: a JSON object with the plan, the noise and the budget.
#[pyfunction]
pub(crate) fn plan(
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<String> {
    let budget = Budget::new(epsilon, delta).map_err(refused)?;
    let spec =
        read_settings(settings)?.prepare(records, &Encoding::unscaled(features), budget).map_err(refused)?;
    let budget = spec.budget();
    let object = serde_json::json!({ "problem": spec.problem(), "plan": spec.plan(), "because": spec.because(),
        "epsilon": budget.epsilon, "delta": budget.delta, "as_printed": spec.as_printed() });
    Ok(object.to_string())
}

/// A simulated cohort as CSV text, and the true risk of each of its stays.
#[pyfunction]
pub(crate) fn simulate(records: usize, seed: u64) -> (String, Vec<f64>) {
    let cohort = pairdp_data::simulate::cohort(records, seed);
    (cohort.csv, cohort.risks)
}

/// All algorithms side by side, as JSON.
#[pyfunction]
pub(crate) fn explain_plan(
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<String> {
    let budget = Budget::new(epsilon, delta).map_err(refused)?;
    let settings = read_settings(settings)?;
    let problem = settings.problem(features).map_err(refused)?;
    serde_json::to_string(&explain(problem, records, settings.columns(features), budget))
        .map_err(|e| shape(&e.to_string()))
}

/// The score of every row.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn score_rows<'py>(
    py: Python<'py>,
    model: &str,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let predictor = read_predictor(model)?;
    let table = encode(&predictor.encoding, &rows)?;
    Ok(PyArray1::from_vec(py, py.detach(|| predictor.scores(&table))))
}

/// Every row mapped to where Euclidean distance is the metric's.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn embed_rows<'py>(
    py: Python<'py>,
    model: &str,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let predictor = read_predictor(model)?;
    let table = encode(&predictor.encoding, &rows)?;
    let (n, d) = (table.rows, table.columns);
    PyArray1::from_vec(py, py.detach(|| predictor.embed(&table))).reshape([n, d])
}

/// Every row as the model sees it: mapped by its ranges or ranks, and scaled down to its bound.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn encode_rows<'py>(
    py: Python<'py>,
    model: &str,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let predictor = read_predictor(model)?;
    let table = encode(&predictor.encoding, &rows)?;
    let (n, d) = (table.rows, predictor.features());
    let mut encoded = Vec::with_capacity(n * d);
    predictor.each_row(&table, |row| encoded.extend_from_slice(&row[..d]));
    PyArray1::from_vec(py, encoded).reshape([n, d])
}

/// The model as an ONNX file.
#[pyfunction]
pub(crate) fn to_onnx<'py>(py: Python<'py>, model: &str) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &read_predictor(model)?.to_onnx()))
}

pub(crate) fn read_settings(text: &str) -> PyResult<Settings> {
    serde_json::from_str(text).map_err(|error| shape(&format!("settings: {error}")))
}

fn read_predictor(model: &str) -> PyResult<Predictor> {
    match BaselineModel::from_json(model) {
        Ok(model) => Ok(model.predictor),
        Err(_) => Ok(PrivateModel::from_json(model).map_err(refused)?.predictor),
    }
}

/// Every relation of the certificate: name, formula, and what failed if anything did.
#[pyfunction]
pub(crate) fn verify_model(model: &str) -> PyResult<Vec<(&'static str, &'static str, Option<String>)>> {
    let verdict = verify_with(&ModelDocument::from_json(model).map_err(refused)?, Patience::LONG);
    Ok(verdict.checks.into_iter().map(|c| (c.name, c.relation, c.failure)).collect())
}

/// The area under the ROC curve, or `None` with one class only.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn auc(
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<Option<f64>> {
    match (scores.as_slice(), positive.as_slice()) {
        (Ok(scores), Ok(positive)) if scores.len() == positive.len() => Ok(measure::auc(scores, positive)),
        _ => Err(shape("scores and labels must be contiguous and of one length")),
    }
}

fn encode(encoding: &Encoding, rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Table> {
    let cells = rows.as_slice().map_err(|_| shape("rows must be C-contiguous"))?;
    let columns = rows.as_array().ncols();
    encoding.encode_matrix(cells, columns).map_err(|message| shape(&message))
}
