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
    /// The last state of the run that was saved by whoever holds this.
    state: Option<String>,
}

impl Reservation {
    pub(crate) fn new(ledger: Vec<u8>, dataset: String, run: RunId, state: Option<String>) -> Self {
        Self { ledger, dataset, run, state }
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
        ledger.commit(&self.dataset, &self.run, released, outcome, |last| last == self.state.as_deref())?;
        Ok(self.run)
    }

    /// Refuses a run that somebody else has gone on with.
    ///
    /// # Errors
    /// [`LedgerError::WentOnElsewhere`].
    pub fn still(&self, ledger: &mut Ledger) -> Result<(), LedgerError> {
        self.of(ledger)?;
        ledger.check_state(&self.run, self.state.as_deref())
    }

    /// Notes that a state of the run was saved, in the place of the last: from here on no other is gone on from.
    ///
    /// # Errors
    /// [`LedgerError::WentOnElsewhere`] if the last one is not the last that was saved with this reservation.
    pub fn saved(&mut self, ledger: &mut Ledger, state: &str) -> Result<(), LedgerError> {
        self.of(ledger)?;
        if self.state.as_deref() != Some(state) {
            ledger.save_state(&self.dataset, &self.run, self.state.as_deref(), state)?;
            self.state = Some(state.to_owned());
        }
        Ok(())
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
