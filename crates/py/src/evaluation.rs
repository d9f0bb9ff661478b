//! Measures of private tables, with noise.

use crate::gateway::{EnterCore as _, Refused};
use crate::ledger::{Payment, payer};
use crate::model::Model;
use crate::tables::Rows;
use crate::training::labelled;
use numpy::PyReadonlyArray1;
use pairdp_accountant::Payer as _;
use pairdp_learn::{Estimate, Evaluation};
use pairdp_ledger::Outcome;
use pairdp_noise::Secure;
use pairdp_release::LearnError;
use pairdp_units::{Budget, Unit};
use pyo3::prelude::*;
use serde_json::json;

/// Spends first, then looks at the table, then releases noisy measures and, if they are wanted, curves: as JSON.
#[pyfunction]
#[pyo3(signature = (model, rows, targets, epsilon, delta, curves, booking=None, groups=None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn evaluate(
    py: Python<'_>,
    model: &Model,
    rows: Rows<'_>,
    targets: PyReadonlyArray1<'_, f64>,
    epsilon: f64,
    delta: f64,
    curves: bool,
    booking: Option<Payment>,
    groups: Option<Vec<u32>>,
) -> PyResult<String> {
    let budget = Budget::new(epsilon, delta).map_err(Refused::from)?;
    model.predictor.scores_here().map_err(Refused::from)?;
    let unit = if groups.is_some() { Unit::Person } else { Unit::Record };
    let task = model.predictor.task;
    let calibrate = |size| {
        let calibrate = if curves { Evaluation::with_curves } else { Evaluation::calibrate };
        calibrate(task, unit, size, budget)
    };
    // A task without a private measure is refused before anything is spent or looked at.
    calibrate(2).map_err(Refused::from)?;
    let mut payer = booking.map(|payment| payer(&payment)).transpose().map_err(Refused::from)?;
    let mut paid_for = None;
    if let Some(size) = payer.size(None).map_err(Refused::from)? {
        let evaluation = calibrate(size).map_err(Refused::from)?;
        payer.pay(evaluation.price(budget).map_err(Refused::from)?, None).map_err(Refused::from)?;
        paid_for = Some(evaluation);
    }
    let table = match labelled(&model.predictor.encoding, &rows, &targets, groups, unit == Unit::Person) {
        Ok(table) => table,
        Err(refusal) => {
            payer.refund().map_err(Refused::from)?;
            return Err(refusal.into());
        }
    };
    let size = table.size();
    payer.accept(size).map_err(Refused::from)?;
    let evaluation = match paid_for {
        Some(evaluation) => evaluation,
        None => calibrate(size).map_err(Refused::from)?,
    };
    let predictor = model.predictor.clone();
    py.enter_core(move || {
        let mut source = Secure::from_os().map_err(LearnError::from)?;
        let (measured, histogram) = evaluation.release(&predictor, table, &mut source)?;
        if let Some(booking) = payer {
            let numbers = measured.named().into_iter().filter_map(|(name, of)| {
                let Estimate { value, low, high } = of?;
                Some([(name.to_owned(), value), (format!("{name}-low"), low), (format!("{name}-high"), high)])
            });
            booking.settle_with(&evaluation.price(budget)?.event, Outcome::numbers(numbers.flatten()))?;
        }
        let curves = histogram.as_ref().map(|histogram| {
            json!({ "histogram": histogram, "thresholds": histogram.thresholds(), "calibration": histogram.calibration() })
        });
        let noise = evaluation.scale();
        Ok(json!({ "measured": measured, "curves": curves, "size": size, "noise_scale": noise }).to_string())
    })
}
