//! Budgets on disk. Every call opens the file anew: an open database must not be carried through a fork.

use crate::error::{over_budget, refused, shape};
use pairdp_accountant::Event;
use pairdp_data::{Encoding, Schema};
use pairdp_learn::{LearnError, Mechanism, Prepared, Settings};
use pairdp_ledger::{
    Balance, Cancelled, Cost, DataSet, Head, Key, Ledger, LedgerError, Reservation, SchemaDigest,
};
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
    key.and_then(|key| Ledger::create(&path, key)).map(drop).map_err(failed)
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
        .map_err(failed)
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
        .map_err(failed)
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
        .map_err(failed)
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
    open(&path, key_command).and_then(|mut ledger| ledger.grant(dataset, grant)).map_err(failed)
}

/// Where all data sets stand: a JSON object by name.
#[pyfunction]
#[pyo3(signature = (path, key_command))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn ledger_balances(path: PathBuf, key_command: Option<&str>) -> PyResult<String> {
    let balances = open(&path, key_command).and_then(|mut ledger| ledger.balances()).map_err(failed)?;
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
    let lines = open(&path, key_command).and_then(|mut ledger| ledger.history()).map_err(failed)?;
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
    let head = open(&path, key_command).and_then(|mut ledger| ledger.check(since)).map_err(failed)?;
    Ok(head.to_string())
}

/// Which ledger pays: its file, the command that gives its key, the data set, and the form that its table is read by.
pub(crate) type Booking = (PathBuf, Option<String>, String, String);

/// A run that is paid for.
pub(crate) struct Booked {
    ledger: Ledger,
    reservation: Reservation,
    prepared: Prepared,
}

impl Booked {
    /// Spends what a run costs before the core looks at a record, by the size that the ledger knows.
    pub(crate) fn reserve(
        (path, key_command, dataset, form): &Booking,
        (rows, columns): (usize, usize),
        settings: &Settings,
        budget: Budget,
    ) -> PyResult<Self> {
        let mut ledger = open(path, key_command.as_deref()).map_err(failed)?;
        let known = ledger.facts(dataset).map_err(failed)?.records;
        let size = match (settings.max_records, known) {
            (Some(cap), _) => cap,
            (None, Some(records)) if usize::try_from(records) == Ok(rows) => rows,
            (None, Some(records)) => {
                return Err(shape(&format!(
                    "X has {rows} records, the ledger says {records} for `{dataset}`; nothing was spent\n\
                     hint: name the table's own data set. Parts of a table cannot be booked"
                )));
            }
            (None, None) => {
                return Err(shape(&format!(
                    "the ledger does not say how many records `{dataset}` has\n\
                     hint: where their number is secret, set options={{\"max_records\": ...}}"
                )));
            }
        };
        let prepared = settings.prepare(size, columns, budget).map_err(refused)?;
        let Prepared { problem, plan, budget, columns, .. } = prepared;
        let mechanism = Mechanism::calibrate(problem, plan, size, columns, budget).map_err(refused)?;
        let (event, sampler_delta) = mechanism.event().map_err(refused)?;
        let cost = Cost::new(event, sampler_delta, budget, mechanism.name()).map_err(failed)?;
        let reservation = ledger.reserve(dataset, SchemaDigest::of(form), &cost).map_err(failed)?;
        Ok(Self { ledger, reservation, prepared })
    }

    /// What was planned, and paid for.
    pub(crate) fn prepared(&self) -> Prepared {
        self.prepared.clone()
    }

    /// Gives the budget back, because the table was refused for its form.
    pub(crate) fn cancel(mut self) -> PyResult<()> {
        self.reservation.cancel(&mut self.ledger, Cancelled::TableRefused).map_err(failed)
    }

    /// Records what was released, and names the run.
    pub(crate) fn settle(mut self, released: &Event) -> PyResult<String> {
        let run = self.reservation.commit(&mut self.ledger, released).map_err(failed)?;
        Ok(run.as_str().to_owned())
    }
}

fn open(path: &Path, key_command: Option<&str>) -> Result<Ledger, LedgerError> {
    // Without a ledger the key does not matter.
    if !path.exists() {
        return Err(LedgerError::Missing(path.to_owned()));
    }
    let key = match key_command {
        Some(command) => Key::from_command(command),
        None => Key::beside(path),
    };
    Ledger::open(path, key?)
}

/// The exception of a ledger's error.
fn failed(error: LedgerError) -> PyErr {
    match error {
        LedgerError::DoesNotFit { .. } => over_budget(&error),
        _ => refused(error),
    }
}
