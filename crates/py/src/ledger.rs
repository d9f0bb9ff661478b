//! Budgets on disk. Every call opens the file anew: an open database must not be carried through a fork.

use crate::error::{refused, shape};
use pairdp_data::{Encoding, Schema};
use pairdp_learn::LearnError;
use pairdp_ledger::{Balance, Booking, DataSet, Head, Key, Ledger, LedgerError, SchemaDigest};
use pairdp_units::{Adjacency, Budget};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Makes a new ledger, and its key if no command gives one.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_create(path: PathBuf, key_command: Option<&str>) -> PyResult<()> {
    let key = match key_command {
        Some(command) => Key::from_command(command),
        None => Key::beside_or_new(&path),
    };
    key.and_then(|key| Ledger::create(&path, key)).map(drop).map_err(refused)
}

/// Enters a data set. Without a number of records that number is secret: neighbours add or remove a record.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, epsilon, delta, records, public_labels, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn ledger_add(
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    epsilon: f64,
    delta: f64,
    records: Option<u64>,
    public_labels: bool,
    form: Option<&str>,
) -> PyResult<()> {
    if records.is_some_and(|records| records < 2) {
        return Err(shape("a table needs at least 2 records to form a pair"));
    }
    let grant = Budget::new(epsilon, delta).map_err(refused)?;
    let adjacency = match (records, public_labels) {
        (Some(_), false) => Adjacency::ReplaceOne,
        (Some(_), true) => Adjacency::ReplaceFeatures,
        (None, false) => Adjacency::AddRemoveOne,
        (None, true) => return Err(refused(LearnError::PublicLabelsOfSecretSize)),
    };
    let schema = form.map(SchemaDigest::of);
    open(&path, key_command)
        .and_then(|mut ledger| ledger.add(dataset, DataSet { grant, adjacency, records, schema }))
        .map_err(refused)
}

/// What decides which tables a schema file refuses, as a text.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn schema_form(path: PathBuf) -> PyResult<String> {
    let schema = Schema::read(&path).map_err(refused)?;
    Encoding::of(&schema).form(schema.label()).map_err(|message| shape(&message))
}

/// Says by which schema a data set's table is read.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_set_schema(
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    form: &str,
) -> PyResult<()> {
    open(&path, key_command)
        .and_then(|mut ledger| ledger.set_schema(dataset, SchemaDigest::of(form)))
        .map_err(refused)
}

/// Refuses a schema that is not the data set's, before anything is looked at.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_check_schema(
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    form: &str,
) -> PyResult<()> {
    open(&path, key_command)
        .and_then(|mut ledger| ledger.check_schema(dataset, SchemaDigest::of(form)))
        .map_err(refused)
}

/// Sets a data set's total anew.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, epsilon, delta))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_grant(
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<()> {
    let grant = Budget::new(epsilon, delta).map_err(refused)?;
    open(&path, key_command).and_then(|mut ledger| ledger.grant(dataset, grant)).map_err(refused)
}

/// Where all data sets stand: a JSON object by name.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_balances(path: PathBuf, key_command: Option<&str>) -> PyResult<String> {
    let balances = open(&path, key_command).and_then(|mut ledger| ledger.balances()).map_err(refused)?;
    let object: serde_json::Map<_, _> =
        balances.into_iter().map(|(name, balance)| (name, object_of(&balance))).collect();
    Ok(Value::Object(object).to_string())
}

fn object_of(balance: &Balance) -> Value {
    let DataSet { grant, adjacency, records, schema } = balance.dataset;
    json!({
        "epsilon": grant.epsilon, "delta": grant.delta, "adjacency": adjacency, "records": records, "schema": schema,
        // JSON has no infinity; null says that no grant with this δ would cover it.
        "spent": balance.spent.is_finite().then_some(balance.spent), "left": balance.left,
        "committed": balance.committed, "open": balance.open, "cancelled": balance.cancelled,
    })
}

/// Every entry, oldest first, as a JSON list.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_history(path: PathBuf, key_command: Option<&str>) -> PyResult<String> {
    let lines = open(&path, key_command).and_then(|mut ledger| ledger.history()).map_err(refused)?;
    Ok(lines.into_iter().map(|line| json!(line.entry)).collect::<Value>().to_string())
}

/// Checks everything anew and returns the head of the history.
#[pyfunction]
#[pyo3(signature = (path, key_command, since))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_check(
    path: PathBuf,
    key_command: Option<&str>,
    since: Option<&str>,
) -> PyResult<String> {
    let since: Option<Head> =
        since.map(str::parse).transpose().map_err(|_| shape("since must be a head that `check` returned"))?;
    let head = open(&path, key_command).and_then(|mut ledger| ledger.check(since)).map_err(refused)?;
    Ok(head.to_string())
}

/// Which ledger pays: its file, the command that gives its key, the data set, and the form that its table is read by.
pub(crate) type Payment = (PathBuf, Option<String>, String, String);

/// The booking that Python asked for.
pub(crate) fn payer((path, key_command, dataset, form): &Payment) -> Result<Booking, LedgerError> {
    Booking::new(Ledger::open_with(path, key_command.as_deref())?, dataset, SchemaDigest::of(form))
}

fn open(path: &Path, key_command: Option<&str>) -> Result<Ledger, LedgerError> {
    Ledger::open_with(path, key_command)
}
