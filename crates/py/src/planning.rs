//! What training would do, and tables to try it on.

use crate::gateway::{EnterCore as _, Refused};
use crate::settings::read_settings;
use crate::tables::described;
use pairdp_data::Encoding;
use pairdp_learn::explain;
use pairdp_units::Budget;
use pyo3::prelude::*;

/// What training would do for a table of public size: a JSON object with the plan, the noise and the budget.
#[pyfunction]
pub(crate) fn plan(
    py: Python<'_>,
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<String> {
    py.enter_core(|| {
        let budget = Budget::new(epsilon, delta)?;
        let spec = read_settings(settings)?.prepare(records, &Encoding::unscaled(features), budget)?;
        let budget = spec.budget();
        let object = serde_json::json!({ "problem": spec.problem(), "plan": spec.plan(), "because": spec.because(),
            "epsilon": budget.epsilon, "delta": budget.delta, "as_printed": spec.as_printed(), "warnings": spec.cautions()? });
        Ok(object.to_string())
    })
}

/// What public facts alone say against training on a table of such columns and a public size.
#[pyfunction]
pub(crate) fn cautions(
    py: Python<'_>,
    records: usize,
    encoding: &str,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<Vec<String>> {
    let (encoding, _) = described(encoding, None)?;
    py.enter_core(|| {
        let budget = Budget::new(epsilon, delta)?;
        Ok(read_settings(settings)?.prepare(records, &encoding, budget)?.cautions()?)
    })
}

/// All algorithms side by side, as JSON.
#[pyfunction]
pub(crate) fn explain_plan(
    py: Python<'_>,
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<String> {
    py.enter_core(|| {
        let budget = Budget::new(epsilon, delta)?;
        let settings = read_settings(settings)?;
        let problem = settings.problem(features)?;
        serde_json::to_string(&explain(problem, records, settings.columns(features), budget))
            .map_err(|error| Refused::value(error.to_string()))
    })
}

/// A simulated cohort as CSV text, and the true risk of each of its stays.
#[pyfunction]
pub(crate) fn simulate(py: Python<'_>, records: usize, seed: u64) -> PyResult<(String, Vec<f64>)> {
    py.enter_core(|| {
        let cohort = pairdp_data::simulate::cohort(records, seed);
        Ok((cohort.csv, cohort.risks))
    })
}
