//! What training would do, and tables to try it on.

use crate::gateway::{EnterCore as _, Refused};
use crate::settings::read_settings;
use crate::tables::described;
use pairdp_data::Encoding;
use pairdp_data::simulate::Effect;
use pairdp_learn::{LARGEST_SIMULATED, around, expected_auc, explain, models_for};
use pairdp_units::Budget;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;

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

/// What AUC models of simulated records reach, as JSON: for tables and budgets around these.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn plan_curve(
    py: Python<'_>,
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
    effect: f64,
    positive_share: f64,
) -> PyResult<String> {
    let (settings, budget) = (read_settings(settings)?, Budget::new(epsilon, delta).map_err(Refused::from)?);
    py.enter_core_for_long(move |stop| {
        let population = Effect::new(features, effect, positive_share).ok_or_else(|| {
            Refused::value("effect is above 0.5 and at most 0.995, positive_share between 0 and 1")
        })?;
        if !(10..=LARGEST_SIMULATED).contains(&records) {
            return Err(Refused::value(format!(
                "tables of {records} records are not simulated: 10 to {LARGEST_SIMULATED} are"
            )));
        }
        let (sizes, epsilons) = around(records, budget.epsilon.get());
        let mut cells = Vec::new();
        for size in sizes {
            for epsilon in &epsilons {
                if stop.load(Ordering::Relaxed) {
                    return Err(Refused::value("interrupted"));
                }
                let budget = Budget::new(*epsilon, delta)?;
                cells.push(expected_auc(&population, features, &settings, budget, size, models_for(size))?);
            }
        }
        serde_json::to_string(&cells).map_err(|error| Refused::value(error.to_string()))
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
