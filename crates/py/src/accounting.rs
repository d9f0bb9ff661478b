//! The accountant.

use crate::gateway::EnterCore as _;
use pairdp_accountant::{Event, account, calibrate};
use pairdp_units::{Budget, Delta, shown};
use pyo3::prelude::*;

/// (upper bound on ε, attained lower bound, method).
#[pyfunction]
pub(crate) fn epsilon(
    py: Python<'_>,
    records: u64,
    batch: Option<u64>,
    steps: u64,
    noise_multiplier: f64,
    delta: f64,
) -> PyResult<(f64, f64, &'static str)> {
    py.enter_core(|| {
        let event = Event::gaussian_steps(records, batch, steps, noise_multiplier)?;
        let answer = account(&event, Delta::new(delta)?)?;
        Ok((answer.epsilon.get(), answer.lower_bound, answer.method.name()))
    })
}

/// An ε or δ as text, never smaller than it is.
#[pyfunction]
pub(crate) fn shown_up(value: f64) -> String {
    shown::up(value)
}

/// The noise multiplier for a budget.
#[pyfunction]
pub(crate) fn noise_multiplier(
    py: Python<'_>,
    records: u64,
    batch: Option<u64>,
    steps: u64,
    epsilon: f64,
    delta: f64,
) -> PyResult<f64> {
    py.enter_core(|| {
        let event = Event::gaussian_steps(records, batch, steps, 1.0)?;
        Ok(calibrate::noise_multiplier(&event, Budget::new(epsilon, delta)?)?)
    })
}

/// For each false-positive rate, the smallest false-negative rate that a distinguisher could have.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn trade_off(
    py: Python<'_>,
    records: u64,
    batch: Option<u64>,
    steps: u64,
    noise_multiplier: f64,
    false_positives: Vec<f64>,
) -> PyResult<Vec<f64>> {
    py.enter_core(|| {
        let event = Event::gaussian_steps(records, batch, steps, noise_multiplier)?;
        let points = calibrate::trade_off(&event, &false_positives)?;
        Ok(points.into_iter().map(|point| point.false_negative).collect())
    })
}
