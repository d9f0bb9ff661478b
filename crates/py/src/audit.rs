//! Audits of plans.

use crate::gateway::{EnterCore as _, Refused};
use crate::settings::read_settings;
use pairdp_audit::{Audit, AuditError, Runs};
use pairdp_data::Encoding;
use pairdp_learn::RepresentationKind;
use pairdp_noise::Secure;
use pairdp_units::Budget;
use pyo3::prelude::*;

/// Runs a plan's mechanism on two neighbouring tables and bounds its ε from below: a JSON object with the report.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn audit(
    py: Python<'_>,
    records: usize,
    features: usize,
    settings: &str,
    epsilon: f64,
    delta: f64,
    runs: usize,
    confidence: f64,
    pair: &str,
    view: &str,
) -> PyResult<String> {
    py.enter_core(|| {
        let named = |error: serde_json::Error| Refused::value(error.to_string());
        let pair = serde_json::from_value(pair.into()).map_err(named)?;
        let view = serde_json::from_value(view.into()).map_err(named)?;
        let budget = Budget::new(epsilon, delta)?;
        // Rows are given as they are, and what is audited is what is learned from them.
        let mut settings = read_settings(settings)?;
        settings.representation = settings.representation.or(Some(RepresentationKind::Ranges));
        let spec = settings.prepare(records, &Encoding::unscaled(features), budget)?;
        let (problem, plan, columns, budget) = (spec.problem(), spec.plan(), spec.columns(), spec.budget());
        let audit = Audit::of_plan(problem, plan, (records, columns), budget, pair, view)?;
        let mut made = Runs::new(audit.about());
        let run = |first, _| audit.run(first, Secure::from_os()?);
        made.collect(runs, &mut Secure::from_os()?, run, |_| Ok::<(), AuditError>(()))?;
        serde_json::to_string(&audit.report(made.all(), confidence)?).map_err(named)
    })
}
