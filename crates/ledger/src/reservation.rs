use crate::entry::{Cancelled, RunId};
use crate::{Ledger, LedgerError, Outcome};
use pairdp_accountant::Event;

/// Budget that is spent, and the right to release what it was spent for, once.
///
/// It cannot be copied, and [`Reservation::commit`] takes it away. Dropped, it stays spent:
///
/// ```compile_fail
/// # fn f(ledger: &mut pairdp_ledger::Ledger, reservation: pairdp_ledger::Reservation, event: &pairdp_accountant::Event) {
/// reservation.commit(ledger, event);
/// reservation.commit(ledger, event);
/// # }
/// ```
/// ```compile_fail
/// # fn f(reservation: pairdp_ledger::Reservation) {
/// let copy = reservation.clone();
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a reservation that is dropped stays spent"]
pub struct Reservation {
    ledger: Vec<u8>,
    dataset: String,
    run: RunId,
}

impl Reservation {
    pub(crate) fn new(ledger: Vec<u8>, dataset: String, run: RunId) -> Self {
        Self { ledger, dataset, run }
    }

    /// The run's name in the history.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The data set it is about.
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// Records what was released. The run pays what it reserved even if it released less: giving back what a run did not
    /// use would let it stop early in view of the records.
    ///
    /// # Errors
    /// [`LedgerError::ReleasedMore`] when `released` is not plainly within what was reserved; it is recorded and charged
    /// on top. If the file cannot be written the run stays spent.
    pub fn commit(self, ledger: &mut Ledger, released: &Event) -> Result<RunId, LedgerError> {
        self.commit_with(ledger, released, None)
    }

    /// The same, and in the same entry what came of it.
    ///
    /// # Errors
    /// As [`Reservation::commit`].
    pub fn commit_with(
        self,
        ledger: &mut Ledger,
        released: &Event,
        outcome: Option<Outcome>,
    ) -> Result<RunId, LedgerError> {
        self.of(ledger)?;
        ledger.commit(&self.dataset, &self.run, released, outcome)?;
        Ok(self.run)
    }

    /// Gives the budget back, because nothing was released. The history keeps both entries.
    ///
    /// # Assumptions
    /// Nothing that was computed from the content of records has left: no answer, no error message, no running time. That a
    /// table is malformed, and where, or has another public size, depends on its form; training refuses such tables
    /// with or without a ledger. After the first query, never cancel: drop the reservation.
    ///
    /// # Errors
    /// [`LedgerError`] when the file cannot be written; the run then stays spent.
    pub fn cancel(self, ledger: &mut Ledger, reason: Cancelled) -> Result<(), LedgerError> {
        self.of(ledger)?;
        ledger.cancel(&self.dataset, &self.run, reason)
    }

    fn of(&self, ledger: &Ledger) -> Result<(), LedgerError> {
        if self.ledger == ledger.id() { Ok(()) } else { Err(LedgerError::NoOpenRun(self.run.to_string())) }
    }
}
