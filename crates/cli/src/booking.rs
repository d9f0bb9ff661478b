//! Taking a run's budget from a ledger before its table is read.
//!
//! Reserve, read, train, settle. The number of records, which the noise depends on, comes from the ledger: it is public
//! under replace-one adjacency, and counting rows would be reading them. If the table is then refused, for its form or
//! because it has another size, nothing was released that depends on a record's content beyond what the data set's own
//! schema, set by its owner, refuses; and the reservation is cancelled. From the first query on it stays spent, whatever happens.

use crate::args::{LedgerFile, Spending};
use crate::failure::Failure;
use pairdp_accountant::Event;
use pairdp_data::{Encoding, Label};
use pairdp_ledger::{Cancelled, Cost, Key, Ledger, LedgerError, Reservation, SchemaDigest};
use pairdp_units::{Budget, Delta};
use std::path::Path;

/// A run's place in a ledger, or none.
pub(crate) struct Booking(Option<Booked>);

struct Booked {
    ledger: Ledger,
    reservation: Reservation,
    /// Whether nothing was released under it before.
    fresh: bool,
    /// None if their number is secret.
    records: Option<usize>,
}

/// What a run will release and claims to cost.
pub(crate) struct Purchase {
    /// Everything it will release.
    pub(crate) event: Event,
    /// The part of its δ that is set aside for the sampler.
    pub(crate) sampler_delta: Delta,
    /// What it is said to cost.
    pub(crate) claim: Budget,
    /// Its name in the history.
    pub(crate) name: &'static str,
}

impl Booking {
    /// A run that no ledger counts.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Spends what a run costs on a table of the data set's public size, or of a public cap on it, read by the data set's own
    /// schema. An interrupted run that goes on has spent it already.
    pub(crate) fn reserve(
        spending: &Spending,
        (encoding, label): (&Encoding, &Label),
        cap: Option<usize>,
        interrupted: Option<&str>,
        purchase: impl FnOnce(usize) -> Result<Purchase, Failure>,
    ) -> Result<Self, Failure> {
        let (Some(path), Some(dataset)) = (&spending.ledger, &spending.dataset) else {
            return Ok(Self::none());
        };
        let mut ledger = open(path, spending.key_command.as_deref())?;
        let facts = ledger.facts(dataset).map_err(failure)?;
        let records = facts.records.and_then(|records| usize::try_from(records).ok());
        let Some(size) = cap.or(records) else {
            return Err(Failure::refused(
                format!("the ledger does not say how many records `{dataset}` has"),
                "enter the data set with --records; where their number is secret, training takes --max-records",
            ));
        };
        let schema = schema_digest(encoding, label)?;
        let Purchase { event, sampler_delta, claim, name } = purchase(size)?;
        let cost = Cost::new(event, sampler_delta, claim, name).map_err(failure)?;
        let found =
            interrupted.map(|run| ledger.resume(dataset, schema, run, &cost)).transpose().map_err(failure)?;
        let (reservation, fresh) = match found.flatten() {
            Some(reservation) => (reservation, false),
            None => (ledger.reserve(dataset, schema, &cost).map_err(failure)?, true),
        };
        Ok(Self(Some(Booked { ledger, reservation, fresh, records })))
    }

    /// The run's name.
    pub(crate) fn run(&self) -> Option<String> {
        self.0.as_ref().map(|booked| booked.reservation.run().as_str().to_owned())
    }

    /// Hands the table on if it is the one that was booked; gives the budget back if not.
    pub(crate) fn accept<T>(
        &mut self,
        path: &Path,
        table: Result<T, Failure>,
        rows: impl Fn(&T) -> usize,
    ) -> Result<T, Failure> {
        let Some(Booked { records, .. }) = &self.0 else { return table };
        let refused = match (table, *records) {
            (Ok(table), None) => return Ok(table),
            (Ok(table), Some(records)) if rows(&table) == records => return Ok(table),
            (Ok(table), Some(records)) => Failure::refused(
                format!(
                    "{}: the table has {} records, the ledger says {records}",
                    path.display(),
                    rows(&table)
                ),
                "nothing was spent; name the table's own data set, or enter this table as a new one",
            ),
            (Err(refusal), _) => refusal,
        };
        // What an interrupted run released stays spent, whatever is wrong with the table now.
        if let Some(Booked { mut ledger, reservation, fresh: true, .. }) = self.0.take() {
            // If that fails the budget stays spent: too much rather than too little.
            reservation.cancel(&mut ledger, Cancelled::TableRefused).map_err(failure)?;
        }
        Err(refused)
    }

    /// Records what was released, and names the run.
    pub(crate) fn settle(self, released: &Event) -> Result<Option<String>, Failure> {
        let Some(Booked { mut ledger, reservation, .. }) = self.0 else { return Ok(None) };
        let run = reservation.commit(&mut ledger, released).map_err(failure)?;
        Ok(Some(run.as_str().to_owned()))
    }
}

/// The digest of what a table could be refused for.
pub(crate) fn schema_digest(encoding: &Encoding, label: &Label) -> Result<SchemaDigest, Failure> {
    Ok(SchemaDigest::of(&encoding.form(label).map_err(Failure::Failed)?))
}

/// Opens the ledger that was named, with its key.
pub(crate) fn open(path: &Path, key_command: Option<&str>) -> Result<Ledger, Failure> {
    // Without a ledger the key does not matter.
    if !path.exists() {
        return Err(failure(LedgerError::Missing(path.to_owned())));
    }
    let key = match key_command {
        Some(command) => Key::from_command(command),
        None => Key::beside(path),
    };
    key.and_then(|key| Ledger::open(path, key)).map_err(failure)
}

/// Opens the ledger that was named, or makes it and its key.
pub(crate) fn open_or_create(file: &LedgerFile) -> Result<Ledger, Failure> {
    if !file.ledger.exists() {
        if let Some(folder) =
            file.ledger.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
        {
            return Err(Failure::refused(format!("{}: no such folder", folder.display()), "create it first"));
        }
        let key = match &file.key_command {
            Some(command) => Key::from_command(command),
            None => Key::beside_or_new(&file.ledger),
        };
        match key.and_then(|key| Ledger::create(&file.ledger, key)) {
            // Someone else was faster.
            Err(LedgerError::Exists(_)) => {}
            other => return other.map_err(failure),
        }
    }
    open(&file.ledger, file.key_command.as_deref())
}

/// Which of our exit codes an error has.
pub(crate) fn failure(error: LedgerError) -> Failure {
    if error.is_failure() { Failure::Failed(error.to_string()) } else { error.into() }
}
