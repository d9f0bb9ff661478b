//! A run's place in a ledger: what every front end does around the table that it reads.
//!
//! Pay, read, release, settle. The number of records, which the noise depends on, comes from the ledger: it is public under
//! replace-one adjacency, and counting rows would be reading them. If the table is then refused, for its form or because it has
//! another size, nothing was released that depends on a record's content beyond what the data set's own schema, set by its owner,
//! refuses; and the price is given back. From the first query on it stays paid, whatever happens.

use crate::entry::{Cancelled, Cost};
use crate::{Key, Ledger, LedgerError, Outcome, Reservation, RunId, SchemaDigest};
use pairdp_accountant::{Event, Payer, Price};
use pairdp_units::{Adjacency, Unit};
use std::path::Path;

/// One run on one data set, read by one schema.
pub struct Booking {
    ledger: Ledger,
    dataset: String,
    schema: SchemaDigest,
    /// None if their number is secret and nothing is promised of it; the promised cap if one is.
    records: Option<usize>,
    unit: Unit,
    adjacency: Adjacency,
    /// The cap that the run asked for.
    cap: Option<usize>,
    held: Option<Held>,
}

struct Held {
    reservation: Reservation,
    /// Whether nothing was released under it before.
    fresh: bool,
}

impl Booking {
    /// Opens the ledger for a run whose table is read by this schema.
    ///
    /// # Errors
    /// [`LedgerError::OtherSchema`] and others, before anything is looked at.
    pub fn new(mut ledger: Ledger, dataset: &str, schema: SchemaDigest) -> Result<Self, LedgerError> {
        ledger.check_schema(dataset, schema)?;
        let facts = ledger.facts(dataset)?;
        let (unit, adjacency, records) = (facts.adjacency.unit(), facts.adjacency, facts.records);
        let records = records.and_then(|records| usize::try_from(records).ok());
        let dataset = dataset.to_owned();
        Ok(Self { ledger, dataset, schema, records, unit, adjacency, cap: None, held: None })
    }

    /// The run's name, once it is paid for.
    pub fn run(&self) -> Option<&str> {
        self.held.as_ref().map(|held| held.reservation.run().as_str())
    }

    /// Records what was released.
    ///
    /// # Errors
    /// As [`Reservation::commit`]; [`LedgerError::NoOpenRun`] if nothing was paid.
    pub fn settle(self, released: &Event) -> Result<(), LedgerError> {
        self.end(released, None).map(drop)
    }

    /// Records what was released and, in the same entry, what came of it.
    ///
    /// # Errors
    /// As [`Booking::settle`].
    pub fn settle_with(self, released: &Event, outcome: Outcome) -> Result<Settled, LedgerError> {
        self.end(released, Some(outcome))
    }

    fn end(self, released: &Event, outcome: Option<Outcome>) -> Result<Settled, LedgerError> {
        let Self { mut ledger, held, dataset, .. } = self;
        let Held { reservation, .. } = held.ok_or(LedgerError::NoOpenRun(dataset))?;
        let run = reservation.commit_with(&mut ledger, released, outcome)?;
        Ok(Settled { ledger, run })
    }
}

/// A run that is done.
pub struct Settled {
    ledger: Ledger,
    run: RunId,
}

impl Settled {
    /// Notes that its model is where it was asked for.
    ///
    /// # Errors
    /// As [`Ledger::placed`].
    pub fn placed(mut self) -> Result<(), LedgerError> {
        self.ledger.placed(self.run.as_str())
    }
}

impl Payer for Booking {
    type Error = LedgerError;

    fn size(&mut self, cap: Option<usize>) -> Result<Option<usize>, LedgerError> {
        self.cap = cap;
        match cap.or(self.records) {
            Some(size) => Ok(Some(size)),
            None => Err(LedgerError::NoSize(self.dataset.clone())),
        }
    }

    fn pay(&mut self, price: Price, interrupted: Option<&str>) -> Result<Option<String>, LedgerError> {
        // A table that breaks a promise is refused, so whoever may choose what is promised reads the number of records off refusals.
        let promised = price.event.adjacency() == Adjacency::AddRemovePromised;
        if promised && self.adjacency == Adjacency::AddRemovePromised && self.cap != self.records {
            return Err(LedgerError::OtherPromise {
                dataset: self.dataset.clone(),
                promised: self.records.unwrap_or_default(),
            });
        }
        let Self { ledger, dataset, schema, held, .. } = self;
        let cost = Cost::of(price)?;
        let found = interrupted.map(|run| ledger.resume(dataset, *schema, run, &cost)).transpose()?.flatten();
        let (reservation, fresh) = match found {
            Some(reservation) => (reservation, false),
            None => (ledger.reserve(dataset, *schema, &cost)?, true),
        };
        let run = reservation.run().to_string();
        *held = Some(Held { reservation, fresh });
        Ok(Some(run))
    }

    fn accept(&mut self, found: usize) -> Result<(), LedgerError> {
        match self.records {
            // What was promised of their number is not that number.
            Some(_) if self.adjacency == Adjacency::AddRemovePromised => Ok(()),
            Some(known) if known != found => {
                self.refund()?;
                Err(LedgerError::OtherSize { dataset: self.dataset.clone(), unit: self.unit, found, known })
            }
            _ => Ok(()),
        }
    }

    fn refund(&mut self) -> Result<(), LedgerError> {
        match self.held.take() {
            // If that fails the budget stays spent: too much rather than too little.
            Some(Held { reservation, fresh: true }) => {
                reservation.cancel(&mut self.ledger, Cancelled::TableRefused)
            }
            // What an interrupted run released stays spent, whatever is wrong with the table now.
            held => {
                self.held = held;
                Ok(())
            }
        }
    }
}

impl Ledger {
    /// Opens a ledger with the key that a command prints, or the one beside it.
    ///
    /// # Errors
    /// [`LedgerError::Missing`], before any key is asked for; otherwise as [`Ledger::open`].
    pub fn open_with(path: &Path, key_command: Option<&str>) -> Result<Self, LedgerError> {
        // Without a ledger the key does not matter.
        if !path.exists() {
            return Err(LedgerError::Missing(path.to_owned()));
        }
        let key = match key_command {
            Some(command) => Key::from_command(command),
            None => Key::beside(path),
        };
        Self::open(path, key?)
    }
}
