//! Budgets on disk. Every call opens the file anew: an open database must not be carried through a fork.

use crate::gateway::{EnterCore as _, Refused};
use pairdp_ledger::{Balance, Booking, DataSet, Head, Key, Ledger, LedgerError, SchemaDigest};
use pairdp_release::LearnError;
use pairdp_units::{Adjacency, Budget, Unit};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Makes a new ledger, and its key if no command gives one.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_create(py: Python<'_>, path: PathBuf, key_command: Option<&str>) -> PyResult<()> {
    py.enter_core(|| {
        let key = match key_command {
            Some(command) => Key::from_command(command)?,
            None => Key::beside_or_new(&path)?,
        };
        Ledger::create(&path, key)?;
        Ok(())
    })
}

/// Enters a data set. Without a number of records, or persons, that number is secret: neighbours add or remove one. It is secret, too,
/// where the number is promised to be the most.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, epsilon, delta, records, persons, public_labels, promised, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#[expect(clippy::too_many_arguments, reason = "a call from Python, by name")]
pub(crate) fn ledger_add(
    py: Python<'_>,
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    epsilon: f64,
    delta: f64,
    records: Option<u64>,
    persons: bool,
    public_labels: bool,
    promised: bool,
    form: Option<&str>,
) -> PyResult<()> {
    py.enter_core(|| {
        let unit = if persons { Unit::Person } else { Unit::Record };
        if records.is_some_and(|records| records < 2) {
            return Err(Refused::value(format!("a table needs at least 2 {} to form a pair", unit.many())));
        }
        let grant = Budget::new(epsilon, delta)?;
        let adjacency = match (records, public_labels, unit) {
            (_, true, Unit::Person) => return Err(LearnError::PublicLabelsOfPersons.into()),
            (_, false, Unit::Person) if promised => {
                return Err(LearnError::NoProof("a promised number of persons").into());
            }
            (None, _, Unit::Record) if promised => return Err(LearnError::PromiseOfNothing.into()),
            (Some(_), false, Unit::Record) if promised => Adjacency::AddRemovePromised,
            (Some(_), false, Unit::Person) => Adjacency::ReplaceOnePerson,
            (None, false, Unit::Person) => Adjacency::AddRemoveOnePerson,
            (Some(_), false, Unit::Record) => Adjacency::ReplaceOne,
            (Some(_), true, Unit::Record) if !promised => Adjacency::ReplaceFeatures,
            (None, false, Unit::Record) => Adjacency::AddRemoveOne,
            (_, true, Unit::Record) => return Err(LearnError::PublicLabelsOfSecretSize.into()),
        };
        let schema = form.map(SchemaDigest::of);
        open(&path, key_command)?.add(dataset, DataSet { grant, adjacency, records, schema })?;
        Ok(())
    })
}

/// Says by which schema a data set's table is read.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_set_schema(
    py: Python<'_>,
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    form: &str,
) -> PyResult<()> {
    py.enter_core(|| Ok(open(&path, key_command)?.set_schema(dataset, SchemaDigest::of(form))?))
}

/// Refuses a schema that is not the data set's, before anything is looked at.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, form))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_check_schema(
    py: Python<'_>,
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    form: &str,
) -> PyResult<()> {
    py.enter_core(|| Ok(open(&path, key_command)?.check_schema(dataset, SchemaDigest::of(form))?))
}

/// Sets a data set's total anew.
#[pyfunction]
#[pyo3(signature = (path, key_command, dataset, epsilon, delta))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_grant(
    py: Python<'_>,
    path: PathBuf,
    key_command: Option<&str>,
    dataset: &str,
    epsilon: f64,
    delta: f64,
) -> PyResult<()> {
    py.enter_core(|| {
        let grant = Budget::new(epsilon, delta)?;
        Ok(open(&path, key_command)?.grant(dataset, grant)?)
    })
}

/// Where all data sets stand: a JSON object by name.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_balances(py: Python<'_>, path: PathBuf, key_command: Option<&str>) -> PyResult<String> {
    py.enter_core(|| {
        let balances = open(&path, key_command)?.balances()?;
        let object: serde_json::Map<_, _> =
            balances.into_iter().map(|(name, balance)| (name, object_of(&balance))).collect();
        Ok(Value::Object(object).to_string())
    })
}

/// Every entry, oldest first, as a JSON list.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_history(py: Python<'_>, path: PathBuf, key_command: Option<&str>) -> PyResult<String> {
    py.enter_core(|| {
        let lines = open(&path, key_command)?.history()?;
        Ok(lines.into_iter().map(|line| json!(line.entry)).collect::<Value>().to_string())
    })
}

/// Checks everything anew and returns the head of the history.
#[pyfunction]
#[pyo3(signature = (path, key_command, since))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_check(
    py: Python<'_>,
    path: PathBuf,
    key_command: Option<&str>,
    since: Option<&str>,
) -> PyResult<String> {
    py.enter_core(|| {
        let since: Option<Head> = since
            .map(str::parse)
            .transpose()
            .map_err(|_| Refused::value("since must be a head that `check` returned"))?;
        Ok(open(&path, key_command)?.check(since)?.to_string())
    })
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

/// Which ledger pays: its file, the command that gives its key, the data set, and the form that its table is read by.
pub(crate) type Payment = (PathBuf, Option<String>, String, String);

/// The booking that Python asked for.
pub(crate) fn payer((path, key_command, dataset, form): &Payment) -> Result<Booking, LedgerError> {
    Booking::new(Ledger::open_with(path, key_command.as_deref())?, dataset, SchemaDigest::of(form))
}

fn open(path: &Path, key_command: Option<&str>) -> Result<Ledger, LedgerError> {
    Ledger::open_with(path, key_command)
}
