//! Using models.

use crate::gateway::{EnterCore as _, Refused};
use crate::tables::Rows;
use crate::training::labelled;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pairdp_model::{BaselineModel, Effects, FlagBy, Predictor, PrivateModel};
use pairdp_pairwise::{Score, measure};
use pairdp_verify::{ModelDocument, Patience, verify_with};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

/// A model file, read once.
#[pyclass(frozen, module = "pairdp._core")]
pub(crate) struct Model {
    /// The file's text.
    #[pyo3(get)]
    pub(crate) text: String,
    pub(crate) predictor: Predictor,
}

#[pymethods]
impl Model {
    /// Reads a model file's text.
    #[new]
    fn new(text: String) -> PyResult<Self> {
        let predictor = match BaselineModel::from_json(&text) {
            Ok(model) => model.predictor,
            Err(_) => PrivateModel::from_json(&text).map_err(Refused::from)?.predictor,
        };
        Ok(Self { text, predictor })
    }

    /// For copies and pickles.
    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }

    /// The score of every row.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn scores<'py>(&self, py: Python<'py>, rows: Rows<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.predictor.scores_here().map_err(Refused::from)?;
        let table = rows.encode(&self.predictor.encoding, false)?;
        Ok(PyArray1::from_vec(py, py.enter_core(|| Ok(self.predictor.scores(&table)))?))
    }

    /// The probability that each row is positive; `None` where labels were not counted by cells of the score.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let table = rows.encode(&self.predictor.encoding, false)?;
        let found = py.enter_core(|| Ok(self.predictor.probabilities_of(&table)))?;
        Ok(found.map(|found| PyArray1::from_vec(py, found)))
    }

    /// The score above which a row counts as positive.
    fn cut(&self) -> f64 {
        self.predictor.cut()
    }

    /// The class that all rows have, if all have the same: whether it is the positive one.
    fn majority(&self) -> Option<bool> {
        self.predictor.log_odds().and_then(|line| line.majority())
    }

    /// The score from which on rows are flagged, and the probability there, by one of three public numbers.
    #[pyo3(signature = (flag_share=None, sensitivity=None, cost_ratio=None))]
    fn flagged_from(
        &self,
        flag_share: Option<f64>,
        sensitivity: Option<f64>,
        cost_ratio: Option<f64>,
    ) -> PyResult<(f64, f64)> {
        let by = match (flag_share, sensitivity, cost_ratio) {
            (Some(share), None, None) => FlagBy::FlagShare(share),
            (None, Some(share), None) => FlagBy::Sensitivity(share),
            (None, None, Some(ratio)) => FlagBy::CostRatio(ratio),
            _ => return Err(Refused::value("say one of flag_share, sensitivity and cost_ratio").into()),
        };
        Ok(self.predictor.flagged_from(by).map_err(Refused::from)?)
    }

    /// The same model with probabilities by the labels of a public table.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn calibrated(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        targets: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        self.predictor.scores_here().map_err(Refused::from)?;
        let table = labelled(&self.predictor.encoding, &rows, &targets, None, false)?;
        py.enter_core(|| {
            let predictor = self.predictor.calibrated_on(&table)?;
            let text = if let Ok(mut model) = PrivateModel::from_json(&self.text) {
                model.predictor = predictor.clone();
                model.to_json()?
            } else {
                let mut model = BaselineModel::from_json(&self.text)?;
                model.predictor = predictor.clone();
                model.to_json()?
            };
            Ok(Self { text, predictor })
        })
    }

    /// Every row mapped to where Euclidean distance is the metric's.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn embed<'py>(&self, py: Python<'py>, rows: Rows<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = rows.encode(&self.predictor.encoding, false)?;
        let (n, d) = (table.rows, self.predictor.features());
        PyArray1::from_vec(py, py.enter_core(|| Ok(self.predictor.embed(&table)))?).reshape([n, d])
    }

    /// Every row as the model sees it: mapped by its ranges or ranks, and scaled down to its bound.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn encode<'py>(&self, py: Python<'py>, rows: Rows<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = rows.encode(&self.predictor.encoding, false)?;
        let (n, d) = (table.rows, self.predictor.features());
        let encoded = py.enter_core(|| {
            let mut encoded = Vec::with_capacity(n * d);
            self.predictor.each_row(&table, |row| encoded.extend_from_slice(&row[..d]));
            Ok(encoded)
        })?;
        PyArray1::from_vec(py, encoded).reshape([n, d])
    }

    /// The model as an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.predictor.scores_here().map_err(Refused::from)?;
        Ok(PyBytes::new(py, &py.enter_core(|| Ok(self.predictor.to_onnx()))?))
    }

    /// What every column adds to a score, as JSON; `None` for metrics.
    fn shapes(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.enter_core(|| {
            // Only a private model's certificate knows the noise.
            let shapes = match PrivateModel::from_json(&self.text) {
                Ok(model) => model.shapes(),
                Err(_) => self.predictor.shapes(None),
            };
            let text = shapes.map(|shapes| serde_json::to_string(&shapes)).transpose();
            text.map_err(|error| Refused::value(error.to_string()))
        })
    }

    /// What the model says of every column, as JSON; `None` for metrics.
    fn effects(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.enter_core(|| {
            let effects = match PrivateModel::from_json(&self.text) {
                Ok(model) => Effects::of_private(&model),
                Err(_) => Effects::of(&self.predictor),
            };
            Ok(effects.map(|effects| json!(effects).to_string()))
        })
    }

    /// What each column adds to the score of every row; `None` for metrics.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
    fn explain<'py>(&self, py: Python<'py>, rows: Rows<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let table = rows.encode(&self.predictor.encoding, false)?;
        let shape = [table.rows, self.predictor.encoding.columns().len()];
        let adds = py.enter_core(|| Ok(self.predictor.explain(&table)))?;
        adds.map(|adds| PyArray1::from_vec(py, adds).reshape(shape)).transpose()
    }

    /// Shares of records without an event until each edge of a grid of times, as JSON; `None` where no times were released.
    fn survival_curve(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.enter_core(|| Ok(self.predictor.survival_curve().map(|curve| json!(curve).to_string())))
    }

    /// Weights and seed of a model whose scores are computed by a function in Python; `None` where they are computed here.
    fn foreign<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyArray1<f64>>, u64)> {
        let Score::Foreign(form) = self.predictor.score else { return None };
        Some((PyArray1::from_slice(py, &self.predictor.parameters), form.seed))
    }

    /// Every relation of the certificate: name, formula, and what failed if anything did.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, &'static str, Option<String>)>> {
        py.enter_core(|| {
            let verdict = verify_with(&ModelDocument::from_json(&self.text)?, Patience::LONG);
            Ok(verdict.checks.into_iter().map(|c| (c.name, c.relation, c.failure)).collect())
        })
    }
}

/// The area under the ROC curve, or `None` with one class only.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn auc(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<Option<f64>> {
    match (scores.as_slice(), positive.as_slice()) {
        (Ok(scores), Ok(positive)) if scores.len() == positive.len() => {
            py.enter_core(|| Ok(measure::auc(scores, positive)))
        }
        _ => Err(Refused::value("scores and labels must be contiguous and of one length").into()),
    }
}

/// Harrell's C of scores and signed times, or `None` without a pair of which it is known who failed first. `records` says how many
/// the person of each record has, if persons count alike.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn concordance(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    targets: PyReadonlyArray1<'_, f64>,
    records: Option<Vec<u32>>,
) -> PyResult<Option<f64>> {
    match (scores.as_slice(), targets.as_slice()) {
        (Ok(scores), Ok(targets)) if scores.len() == targets.len() => py.enter_core(|| {
            let records = records.filter(|records| records.len() == scores.len());
            Ok(measure::concordance_index(scores, targets, records.as_deref()))
        }),
        _ => Err(Refused::value("scores and times must be contiguous and of one length").into()),
    }
}
