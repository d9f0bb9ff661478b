//! Training on arrays.

use crate::gateway::{EnterCore as _, Refused};
use crate::ledger::{Payment, payer};
use crate::model::Model;
use crate::scores::PyScore;
use crate::settings::read_settings;
use crate::tables::{Rows, described};
use numpy::PyReadonlyArray1;
use pairdp_accountant::Unbooked;
use pairdp_data::{Encoding, Owners, Table};
use pairdp_learn::Training;
use pairdp_learn::baseline::{self, Baseline};
use pairdp_noise::Replay;
use pairdp_release::{Checkpointer, ForeignScore, certified_event};
use pairdp_units::{Budget, Unit};
use pyo3::prelude::*;
use std::sync::Arc;

/// Trains a private model. `settings` is a JSON object of public choices, `encoding` and `label` are as in a model file;
/// `targets` are ±1, class numbers, or numbers within ±1. `booking` says which ledger pays, `groups` has a number for the person of
/// each row, `score` computes scores that are not ours.
#[pyfunction]
#[pyo3(signature = (rows, targets, encoding, label, settings, epsilon, delta, booking=None, groups=None, score=None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn fit(
    py: Python<'_>,
    rows: Rows<'_>,
    targets: PyReadonlyArray1<'_, f64>,
    encoding: &str,
    label: Option<&str>,
    settings: &str,
    epsilon: f64,
    delta: f64,
    booking: Option<Payment>,
    groups: Option<Vec<u32>>,
    score: Option<PyScore>,
) -> PyResult<Model> {
    let budget = Budget::new(epsilon, delta).map_err(Refused::from)?;
    let mut payer = booking.map(|payment| payer(&payment)).transpose().map_err(Refused::from)?;
    let (encoding, label) = described(encoding, label)?;
    let training = Training { settings: read_settings(settings)?, encoding, label, budget };
    let secret = training.settings.max_records.is_some() || training.settings.unit == Unit::Person;
    // Which column says whose a record is, belongs to the form, and is known to ledgers alone here.
    let form =
        training.label.as_ref().filter(|_| groups.is_none()).map(|label| training.encoding.form(label, None));
    let form = form.transpose().map_err(Refused::value)?;
    // The table is looked at here, before Python's lock is released.
    let score = score.map(|score| Arc::new(score) as Arc<dyn ForeignScore>);
    let run =
        training.open_scored(score, &mut payer, &mut Checkpointer::none(), || -> Result<_, Refused> {
            Ok(labelled(&training.encoding, &rows, &targets, groups, secret)?.into())
        })?;
    let run = match form {
        Some(form) => run.read_by(&form),
        None => run,
    };
    py.enter_core_for_long(move |stop| {
        let model = run.train(&mut Checkpointer::none().stopped_by(stop))?;
        if let Some(booking) = payer {
            booking.settle(&certified_event(&model.certificate)?)?;
        }
        Ok(Model { text: model.to_json()?, predictor: model.predictor })
    })
}

/// The parameters that a run finds with noise that anybody can repeat: for tests, and for nothing that is published.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn rehearse<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray1<'py, f64>,
    encoding: &str,
    settings: &str,
    epsilon: f64,
    delta: f64,
    seed: u64,
    score: Option<PyScore>,
) -> PyResult<Vec<f64>> {
    let (encoding, label) = described(encoding, None)?;
    let budget = Budget::new(epsilon, delta).map_err(Refused::from)?;
    let training = Training { settings: read_settings(settings)?, encoding, label, budget };
    let score = score.map(|score| Arc::new(score) as Arc<dyn ForeignScore>);
    let checkpointer = &mut Checkpointer::none();
    let run = training.open_scored(score, &mut Unbooked, checkpointer, || -> Result<_, Refused> {
        Ok(labelled(&training.encoding, &rows, &targets, None, false)?.into())
    })?;
    py.enter_core(move || Ok(run.rehearse(Replay::from_seed(seed), &mut Checkpointer::none())?))
}

/// Descends over all pairs without privacy.
#[pyfunction]
#[pyo3(signature = (rows, targets, encoding, label, settings, groups=None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn fit_baseline(
    py: Python<'_>,
    rows: Rows<'_>,
    targets: PyReadonlyArray1<'_, f64>,
    encoding: &str,
    label: Option<&str>,
    settings: &str,
    groups: Option<Vec<u32>>,
) -> PyResult<Model> {
    let settings = read_settings(settings)?;
    let (encoding, label) = described(encoding, label)?;
    let table = labelled(&encoding, &rows, &targets, groups, false)?;
    py.enter_core_for_long(move |_| {
        let model = baseline::fit(Baseline::Gd, &settings, table, encoding, label)?;
        Ok(Model { text: model.to_json()?, predictor: model.predictor })
    })
}

/// An encoded table with its targets.
pub(crate) fn labelled(
    encoding: &Encoding,
    rows: &Rows<'_>,
    targets: &PyReadonlyArray1<'_, f64>,
    groups: Option<Vec<u32>>,
    secret: bool,
) -> Result<Table, Refused> {
    let targets = targets.as_slice().map_err(|_| Refused::value("targets must be contiguous"))?.to_vec();
    let table = rows.encode(encoding, secret)?;
    if groups.as_ref().is_some_and(|groups| groups.len() != table.rows) {
        return Err(Refused::value("groups must have one entry for each row of X"));
    }
    Ok(Table { targets, owners: groups.map(Owners::new), ..table })
}
