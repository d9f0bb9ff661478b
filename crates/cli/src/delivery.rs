//! From the last release of a run to its model in its place.
//!
//! A run that a ledger paid for is worth its budget only if somebody gets its model; and a run must not make its releases
//! twice, however often it is killed and goes on. So what follows the last release is written in this order, each write whole
//! and synced before the next begins:
//!
//! | | write | a kill right after it leaves | what goes on from there |
//! |---|---|---|---|
//! | 1 | reservation | an open run; it is spent, nobody knows what was released | from the checkpoint, if there was one |
//! | 2 | the checkpoint, which is now the model | an open run whose releases are all made | the same command: 3 to 7 |
//! | 3 | the model as `.pairdp-model-RUN-NAME` beside its place | an open run and its whole model | the same command, or `budget recover`: 4 to 7 |
//! | 4 | commit, with the digest of the model's file | a run that is done, "model not seen" | the same command, or `budget recover`: 5 to 7 |
//! | 5 | the model in its place | the same; the model is there | the same command, or `budget recover`: 6, 7 |
//! | 6 | "placed" in the ledger | a checkpoint too many | the same command: 7 |
//! | 7 | removal of the checkpoint | nothing | – |
//!
//! Noise is drawn only between 1 and 2. A command that goes on from a checkpoint finds either the state after some releases,
//! and makes those that are left under the reservation that is open for them; or, from 2 on, the model, and draws nothing.
//! Of several copies of a run's checkpoints one goes on: the ledger is told of every state that is saved
//! (`Ledger::resume`), and refuses all but the last; a process that was overtaken so writes nothing more.
//! From 4 on the run is not open any more, and the ledger refuses to let it go on. Without a checkpoint a command begins
//! anew, with a reservation of its own; but where a model of this ledger waits for the very place that it would write to, it is
//! refused and pointed to `budget recover`, so that nobody pays twice for want of a look.
//!
//! A model that is found, in a checkpoint or under its own name, while its run is open is known to the ledger by nothing but the
//! run that it names. It becomes the run's only if its certificate verifies and states exactly the releases that were reserved.
//!
//! What cannot be saved at 2 must not be gone on from: the old checkpoint is removed, and if not even that is possible the run
//! is committed before its model is written. What cannot be kept at 3 beside its
//! place is kept in the folder for temporary files, and if there neither, printed after the commit.

use crate::args::Spending;
use crate::checkpoint;
use crate::failure::Failure;
use crate::output::{self, Force, Kind, Output, Taken, paid};
use pairdp_accountant::{Contested, Interrupted};
use pairdp_ledger::{Booking, Ledger, LedgerError, Outcome, RunState};
use pairdp_model::PrivateModel;
use pairdp_release::{LearnError, certified_event};
use pairdp_verify::{ModelDocument, Patience, verify_with};
use std::path::Path;

/// A model and the text of its file.
pub(crate) struct Finished {
    pub(crate) model: PrivateModel,
    pub(crate) document: String,
}

impl Finished {
    /// Settles a run that was just trained and puts its model in its place.
    pub(crate) fn deliver(&self, out: Output, payer: Option<Booking>, last: Last) -> Result<(), Failure> {
        let bytes = self.document.as_bytes();
        let (Some(booking), Some(run)) = (payer, &self.model.run) else {
            return out.write_paid(bytes);
        };
        let released = certified_event(&self.model.certificate)?;
        let settle = || booking.settle_with(&released, Outcome::model(bytes));
        let (paid, settled) = match last {
            Last::Saved => (out.keep(run, bytes), settle()),
            Last::Stale => {
                let settled = settle();
                (out.keep(run, bytes), settled)
            }
        };
        let settled = match settled {
            // Nobody may see what was released a second time.
            Err(error @ LedgerError::WentOnElsewhere(_)) => {
                paid.forget();
                return Err(error.into());
            }
            settled => settled.map_err(|error| paid.unsettled(&error))?,
        };
        paid.put()?;
        Ok(settled.placed()?)
    }

    /// Puts the model of a run in its place that was interrupted after its last release.
    pub(crate) fn deliver_again(
        &self,
        path: &Path,
        force: Force,
        taken: &Taken,
        spending: &Spending,
        found_in: Option<&Interrupted>,
    ) -> Result<(), Failure> {
        let bytes = self.document.as_bytes();
        let there = output::holds(path, bytes);
        let place = || if there { Ok(None) } else { Output::new(path, Kind::Model, force, taken).map(Some) };
        let (run, file) = match (&self.model.run, &spending.ledger) {
            (Some(run), Some(file)) => (run, file),
            (None, None) => {
                self.verify()?;
                return place()?.map_or(Ok(()), |out| out.write_paid(bytes));
            }
            // Paid for by somebody else than the command says.
            _ => return Err(LearnError::Checkpoint.into()),
        };
        if found_in.is_none_or(|state| state.run != *run) {
            return Err(LearnError::Checkpoint.into());
        }
        let mut ledger = Ledger::open_with(file, spending.key_command.as_deref())?;
        let state = ledger.run(run)?;
        let is_this = match &state {
            RunState::Open => true,
            RunState::Done { outcome, .. } => *outcome == Some(Outcome::model(bytes)),
            RunState::Unknown => false,
        };
        if !is_this {
            return Err(LearnError::Checkpoint.into());
        }
        let paid = place()?.map(|out| out.keep(run, bytes));
        if state == RunState::Open {
            let ended = self.verify().and_then(|()| self.finish(&mut ledger, run, found_in));
            if let Err(refusal) = ended {
                paid.into_iter().for_each(paid::Paid::forget);
                return Err(refusal);
            }
        }
        paid.map_or(Ok(()), paid::Paid::put)?;
        Ok(ledger.placed(run)?)
    }

    /// Whether the certificate proves what it claims; whoever finds a model cannot know who wrote it.
    pub(crate) fn verify(&self) -> Result<(), Failure> {
        let document = ModelDocument::from_json(&self.document);
        // It took as long to train.
        match document.map(|document| verify_with(&document, Patience::LONG).holds()) {
            Ok(true) => Ok(()),
            _ => Err(Failure::coded(
                "model",
                "the model that was kept of this run does not prove what it claims",
                "`pairdp verify` says what fails; the run stays open, and spent",
            )),
        }
    }

    /// Ends the open run that made the model.
    pub(crate) fn finish(
        &self,
        ledger: &mut Ledger,
        run: &str,
        found_in: Option<&Interrupted>,
    ) -> Result<(), Failure> {
        let (released, outcome) =
            (certified_event(&self.model.certificate)?, Outcome::model(self.document.as_bytes()));
        Ok(ledger.finish(run, &released, outcome, found_in)?)
    }
}

/// What the checkpoint of a finished run is, if it has one.
#[derive(Clone, Copy)]
pub(crate) enum Last {
    /// The model, or none any more.
    Saved,
    /// Some state before the last release, which could be neither replaced nor removed.
    Stale,
}

impl Last {
    /// After the model was to be saved as the last checkpoint.
    pub(crate) fn after(
        saved: Result<(), LearnError>,
        file: Option<&checkpoint::File>,
    ) -> Result<Self, Failure> {
        match (saved, file) {
            (Err(error @ LearnError::Contested(Contested::Elsewhere(_))), _) => Err(error.into()),
            (Err(_), Some(file)) if !file.forget() => Ok(Self::Stale),
            _ => Ok(Self::Saved),
        }
    }
}

/// Refuses to train where a model that this ledger paid for waits for its place.
pub(crate) fn refuse_waiting(path: &Path, force: Force, spending: &Spending) -> Result<(), Failure> {
    let (Some(file), Some(waiting)) = (&spending.ledger, paid::kept_for(path)) else { return Ok(()) };
    let known = Ledger::open_with(file, spending.key_command.as_deref())?.run(&waiting.run)?;
    if known == RunState::Unknown || force == Force::Asked {
        return Ok(());
    }
    Err(Failure::coded(
        "waiting",
        format!(
            "{}: a finished model, already paid for by run {}, is waiting to be put here",
            path.display(),
            waiting.run
        ),
        format!(
            "`pairdp budget recover --ledger {}` puts it there; --force trains another one and pays again",
            file.display()
        ),
    ))
}
