//! Training and using a ranker.

use crate::error::{refused, shape};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pairdp_data::{Encoding, Table};
use pairdp_learn::{LearnError, LinearRanker, Plan, PlanKind, PrivateModel, train, verify};
use pairdp_noise::Secure;
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records, measure};
use pairdp_units::Budget;
use pyo3::prelude::*;

/// Trains a private ranker and returns its model file's text.
#[pyfunction]
#[pyo3(signature = (rows, positive, ranges, *, epsilon, delta, algorithm, loss, q, ridge, feature_bound, radius, steps, step_size))]
#[expect(clippy::too_many_arguments, reason = "keyword-only in Python, and called from one place")]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn fit_ranker(
    py: Python<'_>,
    rows: PyReadonlyArray2<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
    ranges: Vec<[f64; 2]>,
    epsilon: f64,
    delta: f64,
    algorithm: &str,
    loss: &str,
    q: f64,
    ridge: f64,
    feature_bound: f64,
    radius: f64,
    steps: Option<u32>,
    step_size: Option<f64>,
) -> PyResult<String> {
    let budget = Budget::new(epsilon, delta).map_err(refused)?;
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: margin_loss(loss, q)? };
    let problem = Problem::new(objective, Domain::Ball { radius }, feature_bound)
        .and_then(|problem| problem.with_ridge(ridge))
        .map_err(refused)?;
    let algorithm = plan_kind(algorithm)?;
    let encoding = Encoding::of_ranges(ranges).map_err(|message| shape(&message))?;
    let table = encode(&encoding, &rows)?;
    let positive = positive.as_slice().map_err(|_| shape("labels must be contiguous"))?.to_vec();

    let fit = move || -> Result<PrivateModel, LearnError> {
        let suggested = Plan::suggested(algorithm, problem, table.rows, table.columns, budget)?;
        let plan = Plan::new(
            algorithm,
            steps.unwrap_or(suggested.steps()),
            step_size.unwrap_or(suggested.step_size()),
            suggested.average(),
        )?;
        let records = Records::new(table.features, table.columns, positive, feature_bound)?;
        let (parameters, certificate) =
            train(problem, plan, budget, records, Secure::from_os()?)?.into_parts();
        let ranker = LinearRanker { encoding, label: None, feature_bound, parameters };
        Ok(PrivateModel::new(ranker, plan, ridge, certificate))
    };
    py.detach(fit).map_err(refused)?.to_json().map_err(refused)
}

fn plan_kind(name: &str) -> PyResult<PlanKind> {
    [PlanKind::NoisyGd, PlanKind::OutputGd, PlanKind::NoisySgd]
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| shape(&format!("algorithm must be noisy-gd, output-gd or noisy-sgd, not {name:?}")))
}

fn margin_loss(name: &str, q: f64) -> PyResult<MarginLoss> {
    match name {
        "logistic" => Ok(MarginLoss::Logistic),
        "hinge" => Ok(MarginLoss::Hinge),
        "squared" => Ok(MarginLoss::Squared),
        "q-hinge" => Ok(MarginLoss::QHinge { q }),
        _ => Err(shape(&format!("loss must be logistic, hinge, squared or q-hinge, not {name:?}"))),
    }
}

/// The score of every row.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn score_rows<'py>(
    py: Python<'py>,
    model: &str,
    rows: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = PrivateModel::from_json(model).map_err(refused)?;
    let table = encode(&model.ranker.encoding, &rows)?;
    Ok(PyArray1::from_vec(py, py.detach(|| model.ranker.scores(&table))))
}

/// Every relation of the certificate: name, formula, and what failed if anything did.
#[pyfunction]
pub(crate) fn verify_model(model: &str) -> PyResult<Vec<(&'static str, &'static str, Option<String>)>> {
    let model = PrivateModel::from_json(model).map_err(refused)?;
    Ok(verify(&model).checks.into_iter().map(|c| (c.name, c.relation, c.failure)).collect())
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
