//! A run's place in a ledger: what every front end does around the table that it reads.
//!
//! Pay, read, release, settle. The number of records, which the noise depends on, comes from the ledger: it is public under
//! replace-one adjacency, and counting rows would be reading them. If the table is then refused, for its form or because it has
//! another size, nothing was released that depends on a record's content beyond what the data set's own schema, set by its owner,
//! refuses; and the price is given back. From the first query on it stays paid, whatever happens.

use crate::entry::{Cancelled, Cost};
use crate::{Key, Ledger, LedgerError, Outcome, Reservation, RunId, SchemaDigest};
use pairdp_accountant::{Contested, Event, Interrupted, Origin, Payer, Price, Witness};
use pairdp_units::Adjacency;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One run on one data set, read by one schema.
pub struct Booking {
    book: Arc<Mutex<Book>>,
    dataset: String,
    schema: SchemaDigest,
    /// None if their number is secret and nothing is promised of it; the promised cap if one is.
    records: Option<usize>,
    adjacency: Adjacency,
    /// The cap that the run asked for.
    cap: Option<usize>,
    run: Option<String>,
}

/// The ledger and what was reserved in it: the run's own, and its checkpoints'.
struct Book {
    ledger: Ledger,
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
        let records = facts.records.and_then(|records| usize::try_from(records).ok());
        let adjacency = facts.adjacency;
        let book = Arc::new(Mutex::new(Book { ledger, held: None }));
        Ok(Self { book, dataset: dataset.to_owned(), schema, records, adjacency, cap: None, run: None })
    }

    /// The run's name, once it is paid for.
    pub fn run(&self) -> Option<&str> {
        self.run.as_deref()
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
        let Self { book, dataset, .. } = self;
        let run = {
            let Book { ledger, held } = &mut *open(&book);
            let Held { reservation, .. } = held.take().ok_or(LedgerError::NoOpenRun(dataset))?;
            reservation.commit_with(ledger, released, outcome)?
        };
        Ok(Settled { book, run })
    }
}

fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run that is done.
pub struct Settled {
    book: Arc<Mutex<Book>>,
    run: RunId,
}

impl Settled {
    /// Notes that its model is where it was asked for.
    ///
    /// # Errors
    /// As [`Ledger::placed`].
    pub fn placed(self) -> Result<(), LedgerError> {
        open(&self.book).ledger.placed(self.run.as_str())
    }
}

/// Told of the states that are saved of a run.
struct Checkpoints(Arc<Mutex<Book>>);

impl Checkpoints {
    fn ask(
        &self,
        what: impl FnOnce(&mut Reservation, &mut Ledger) -> Result<(), LedgerError>,
    ) -> Result<(), Contested> {
        let Book { ledger, held } = &mut *open(&self.0);
        // Without a reservation nothing more is released.
        let Some(Held { reservation, .. }) = held else { return Ok(()) };
        what(reservation, ledger).map_err(|error| match error {
            LedgerError::WentOnElsewhere(run) => Contested::Elsewhere(run),
            other => Contested::Unknown(other.to_string()),
        })
    }
}

impl Witness for Checkpoints {
    fn still(&mut self) -> Result<(), Contested> {
        self.ask(|reservation, ledger| reservation.still(ledger))
    }

    fn saved(&mut self, state: &str) -> Result<(), Contested> {
        self.ask(|reservation, ledger| reservation.saved(ledger, state))
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

    fn pay(
        &mut self,
        price: Price,
        interrupted: Option<&Interrupted>,
    ) -> Result<Option<String>, LedgerError> {
        // A table that breaks a promise is refused, so whoever may choose what is promised reads the number of records off refusals.
        let promised = price.event.adjacency() == Adjacency::AddRemovePromised;
        if promised && self.adjacency == Adjacency::AddRemovePromised && self.cap != self.records {
            return Err(LedgerError::OtherPromise {
                dataset: self.dataset.clone(),
                promised: self.records.unwrap_or_default(),
            });
        }
        let Self { book, dataset, schema, .. } = self;
        let Book { ledger, held } = &mut *open(book);
        let cost = Cost::of(price)?;
        let found = interrupted.map(|run| ledger.resume(dataset, *schema, run, &cost)).transpose()?.flatten();
        let (reservation, fresh) = match found {
            Some(reservation) => (reservation, false),
            None => (ledger.reserve(dataset, *schema, &cost)?, true),
        };
        let run = reservation.run().to_string();
        *held = Some(Held { reservation, fresh });
        self.run = Some(run.clone());
        Ok(Some(run))
    }

    fn witness(&self) -> Option<Box<dyn Witness>> {
        Some(Box::new(Checkpoints(Arc::clone(&self.book))))
    }

    fn origin(&self) -> Origin {
        Origin { data_set: Some(self.dataset.clone()), schema: Some(self.schema.to_string()) }
    }

    fn accept(&mut self, found: usize) -> Result<(), LedgerError> {
        match self.records {
            // What was promised of their number is not that number.
            Some(_) if self.adjacency == Adjacency::AddRemovePromised => Ok(()),
            Some(known) if known != found => {
                self.refund()?;
                Err(LedgerError::OtherSize {
                    dataset: self.dataset.clone(),
                    unit: self.adjacency.unit(),
                    found,
                    known,
                })
            }
            _ => Ok(()),
        }
    }

    fn refund(&mut self) -> Result<(), LedgerError> {
        let Book { ledger, held } = &mut *open(&self.book);
        match held.take_if(|held| held.fresh) {
            // If that fails the budget stays spent: too much rather than too little.
            Some(Held { reservation, .. }) => reservation.cancel(ledger, Cancelled::TableRefused),
            // What an interrupted run released stays spent, whatever is wrong with the table now.
            None => Ok(()),
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
