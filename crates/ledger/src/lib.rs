//! A privacy budget on disk that survives crashes, restarts and colleagues.
//!
//! A *ledger* is one SQLite file. It holds named data sets, each with a total (ε, δ) that its owner granted, and every
//! run that was ever made on them. A run **reserves** before the first record is read and **commits** when it is done:
//!
//! ```
//! use pairdp_accountant::{Adjacency, Event};
//! use pairdp_ledger::{Cost, DataSet, Key, Ledger, SchemaDigest};
//! use pairdp_units::{Budget, Delta};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("clinic.ledger");
//! let key = Key::beside_or_new(&path)?;
//! let mut ledger = Ledger::create(&path, key)?;
//! let grant = Budget::new(1.0, 1e-6)?;
//! // What tables are read by: no run with another schema is let near the records.
//! let schema = SchemaDigest::of("age 18–100, readmitted yes or no");
//! let facts = DataSet { grant, adjacency: Adjacency::ReplaceOne, records: Some(6000), schema: Some(schema) };
//! ledger.add("stays-2026", facts)?;
//!
//! // Ten Gaussian releases with noise of 40 times the sensitivity: ε = 0.32.
//! let event = Event::gaussian_steps(6000, None, 10, 40.0)?;
//! let cost = Cost::new(event.clone(), Delta::PURE, Budget::new(0.32, 1e-6)?, "noisy-gd")?;
//! let reservation = ledger.reserve("stays-2026", schema, &cost)?;
//! // … read the records, release the ten answers …
//! reservation.commit(&mut ledger, &event)?;
//! assert!(ledger.balance("stays-2026")?.spent <= 0.32);
//! # Ok(())
//! # }
//! ```
//!
//! A reservation that is dropped, and one whose process was killed, stays spent: nobody knows what was released. Two
//! processes cannot overspend, because looking and writing happen under one lock.
//!
//! | module | what |
//! |---|---|
//! | [`ledger`](Ledger) | the questions and actions, each one call |
//! | [`reservation`](Reservation) | from reserving to committing |
//! | [`booking`](Booking) | the same around a table that is read in between: what every front end does |
//! | `outcome` | what came of a run: where budget bought something that nobody has yet |
//! | `spent` | why sums of charges are private, whoever chooses the runs |
//! | `charge`, `curve` | what one run pays |
//! | `schema` | why the schema belongs to the data set |
//! | `book` | the state that a history of entries adds up to |
//! | `chain`, `key` | why a changed history is noticed |
//! | `store` | the file |
//!
//! # What is protected
//! Every entry carries a keyed hash of itself and all entries before it, and the last one is sealed with their number.
//! Whoever lacks the key cannot change, remove, reorder or add an entry unnoticed. Nobody, with or without it, can be
//! kept from putting an old copy of the whole file back: compare [`Head`]s kept elsewhere (`docs/ledger.md`).

mod account_state;
mod booking;
mod chain;
mod charge;
mod curve;
mod draft;
mod entry;
mod error;
mod filter;
mod key;
mod ledger;
mod outcome;
mod reservation;
mod schema;
mod store;
mod sum;
mod time;

#[cfg(test)]
mod tests;

pub use account_state::{Balance, DataSet};
pub use booking::{Booking, Settled};
pub use chain::Head;
pub use charge::Charge;
pub use entry::{Action, Cancelled, Cost, Entry, RunId};
pub use error::{Damage, LedgerError};
pub use key::Key;
pub use ledger::{Ledger, Line};
pub use outcome::{ModelDigest, Outcome, RunState};
pub use reservation::Reservation;
pub use schema::SchemaDigest;
pub use time::utc;
