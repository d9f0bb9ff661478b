use crate::account_state::{AccountState, Balance, DataSet};
use crate::chain::Head;
use crate::charge::{Charge, charges, within};
use crate::entry::{Action, Cancelled, Cost, ENTRY_VERSION, Entry, RunId, printable};
use crate::key::to_hex;
use crate::reservation::Reservation;
use crate::store::{Locked, Store};
use crate::time::now;
use crate::{Damage, Key, LedgerError, ModelDigest, Outcome, RunState, SchemaDigest};
use pairdp_accountant::{Event, Interrupted};
use pairdp_units::Budget;
use std::path::Path;

/// An open ledger.
///
/// # Guarantee
/// For every data set, all runs that reserved under a grant are together private at that grant, however many processes
/// reserve at once and wherever they are killed, if each released no more than it reserved: `proofs/ledger.md`.
///
/// # Cost
/// Opening reads and checks the whole history, tens of thousands of entries a second; after that an action reads only what
/// others have added, and waits for the disk.
pub struct Ledger {
    store: Store,
    key: Key,
    head: Head,
    book: AccountState,
}

/// An entry as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it says.
    pub entry: Entry,
    /// The very text that was hashed.
    pub body: String,
    /// The head of the history that ends with it.
    pub head: Head,
}

impl Ledger {
    /// Makes a new, empty ledger and opens it.
    ///
    /// # Errors
    /// [`LedgerError::Exists`] when there is such a file.
    pub fn create(path: &Path, key: Key) -> Result<Self, LedgerError> {
        Store::create(path, &key)?;
        Self::open(path, key)
    }

    /// Opens a ledger and checks its history from the first entry to the seal.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] naming what does not match, and the errors of a file that is no ledger of this key.
    pub fn open(path: &Path, key: Key) -> Result<Self, LedgerError> {
        let store = Store::open(path, &key)?;
        let head = store.start(&key);
        let mut ledger = Self { store, key, head, book: AccountState::default() };
        ledger.refresh()?;
        Ok(ledger)
    }

    /// Enters a data set with what all runs on it may cost together.
    ///
    /// # Errors
    /// [`LedgerError::DataSetExists`], [`LedgerError::Text`].
    pub fn add(&mut self, name: &str, facts: DataSet) -> Result<(), LedgerError> {
        let name = printable("a data set's name", name)?;
        self.append(&name, |book| match book.account(&name) {
            Ok(_) => Err(LedgerError::DataSetExists(name.clone())),
            Err(_) => Ok(Action::Created(facts)),
        })
    }

    /// Sets a data set's total anew. A smaller one takes nothing back, it only ends spending sooner.
    ///
    /// # Assumptions
    /// The promise of a grant holds if it was not chosen in view of what earlier runs released. Raising it because a model
    /// was not good enough is a decision that no accounting covers.
    ///
    /// # Errors
    /// [`LedgerError::NoDataSet`].
    pub fn grant(&mut self, dataset: &str, grant: Budget) -> Result<(), LedgerError> {
        self.append(dataset, |book| {
            book.account(dataset)?;
            Ok(Action::Granted { grant })
        })
    }

    /// Says what a data set's table is read by, or changes it. Only its owner should: a schema decides what refusals tell.
    ///
    /// # Errors
    /// [`LedgerError::NoDataSet`].
    pub fn set_schema(&mut self, dataset: &str, schema: SchemaDigest) -> Result<(), LedgerError> {
        self.append(dataset, |book| {
            book.account(dataset)?;
            Ok(Action::SchemaSet { schema })
        })
    }

    /// Refuses a schema that is not the data set's. [`Ledger::reserve`] does so too; this asks earlier.
    ///
    /// # Errors
    /// [`LedgerError::OtherSchema`], [`LedgerError::NoSchema`], [`LedgerError::NoDataSet`].
    pub fn check_schema(&mut self, dataset: &str, schema: SchemaDigest) -> Result<(), LedgerError> {
        self.refresh()?;
        self.book.account(dataset)?.check_schema(dataset, schema)
    }

    /// Spends what a run costs that reads the table by a schema, before it opens the table.
    ///
    /// # Errors
    /// [`LedgerError::DoesNotFit`] with what would fit, [`LedgerError::Adjacency`], [`LedgerError::NoDataSet`],
    /// [`LedgerError::OtherSchema`] and [`LedgerError::NoSchema`].
    pub fn reserve(
        &mut self,
        dataset: &str,
        schema: SchemaDigest,
        cost: &Cost,
    ) -> Result<Reservation, LedgerError> {
        let run = RunId::random()?;
        self.append(dataset, |book| {
            let account = book.account(dataset)?;
            account.check_schema(dataset, schema)?;
            let charge = account.admit(dataset, cost)?;
            Ok(Action::Reserved { run: run.clone(), cost: cost.price.clone(), charge })
        })?;
        Ok(Reservation::new(self.store.id().to_vec(), dataset.to_owned(), run, None))
    }

    /// The reservation of a run that was interrupted and goes on: open, for this data set and for the very same releases. None
    /// if there is no such run; the caller then reserves anew. A run that is done never goes on: what it had left to release,
    /// it released.
    ///
    /// # Guarantee
    /// Of all copies of all states that were ever saved of a run, the ledger lets one go on: the last that it was told of, or the
    /// one that replaces it and whose process died before it could tell. Whoever goes on saves a state of its own first
    /// ([`Reservation::saved`]), which makes every other copy an old one.
    ///
    /// # Assumptions
    /// A state is told of right after it is saved. A process that is killed in between leaves two states that the ledger cannot
    /// choose between, the one it knows and the one that replaced it. They are one file, unless somebody kept a copy of the
    /// first; then whichever is gone on from first is the run, and the other is refused.
    ///
    /// # Errors
    /// [`LedgerError::RunIsDone`], [`LedgerError::WentOnElsewhere`]; [`LedgerError`] when the file cannot be read, or for another
    /// schema.
    pub fn resume(
        &mut self,
        dataset: &str,
        schema: SchemaDigest,
        interrupted: &Interrupted,
        cost: &Cost,
    ) -> Result<Option<Reservation>, LedgerError> {
        let run = interrupted.run.as_str();
        self.refresh()?;
        self.book.account(dataset)?.check_schema(dataset, schema)?;
        if let Some((done, _)) = self.book.run(run)
            && matches!(self.book.state(&done), RunState::Done { .. })
        {
            return Err(LedgerError::RunIsDone(run.to_owned()));
        }
        let Some(run) = self.book.open_run_of(dataset, run, &cost.price.event) else { return Ok(None) };
        self.book.check_last(&run, |last| can_go_on(interrupted, last))?;
        let last = self.book.last_state(&run)?.map(str::to_owned);
        Ok(Some(Reservation::new(self.store.id().to_vec(), dataset.to_owned(), run, last)))
    }

    /// Where a run stands.
    ///
    /// # Errors
    /// [`LedgerError`] when the file cannot be read.
    pub fn run(&mut self, name: &str) -> Result<RunState, LedgerError> {
        self.refresh()?;
        Ok(self.book.run(name).map_or(RunState::Unknown, |(run, _)| self.book.state(&run)))
    }

    /// Ends an open run whose process is gone and whose model was found: what it released, and what came of it. The model may
    /// have been found in the last state that was saved of the run.
    ///
    /// # Assumptions
    /// The model's certificate was verified; whoever calls this has seen to it that the process is dead.
    ///
    /// # Errors
    /// [`LedgerError::OtherReleases`] if these are not exactly the releases that were reserved, [`LedgerError::WentOnElsewhere`],
    /// [`LedgerError::NoOpenRun`]; the run then stays as it is.
    pub fn finish(
        &mut self,
        run: &str,
        released: &Event,
        outcome: Outcome,
        found_in: Option<&Interrupted>,
    ) -> Result<(), LedgerError> {
        self.refresh()?;
        let (run, dataset) = self.run_of(run)?;
        if self.book.open_run(&run)? != released {
            return Err(LedgerError::OtherReleases(run.to_string()));
        }
        self.commit(&dataset, &run, released, Some(outcome), |last| {
            found_in.is_none_or(|state| can_go_on(state, last))
        })
    }

    /// Notes that the model of a run that is done is where it was asked for. Saying so twice changes nothing.
    ///
    /// # Errors
    /// [`LedgerError::NoOpenRun`] for a run that is not done, and when the file cannot be written.
    pub fn placed(&mut self, run: &str) -> Result<(), LedgerError> {
        match self.run(run)? {
            RunState::Done { placed: true, .. } => Ok(()),
            RunState::Done { .. } => {
                let (run, dataset) = self.run_of(run)?;
                self.append(&dataset, |_| Ok(Action::Placed { run }))
            }
            RunState::Open | RunState::Unknown => Err(LedgerError::NoOpenRun(run.to_owned())),
        }
    }

    /// Runs that are done and whose model nobody has seen in its place, each with its data set and the digest of the file.
    ///
    /// # Errors
    /// [`LedgerError`] when the file cannot be read.
    pub fn unplaced(&mut self) -> Result<Vec<(RunId, String, ModelDigest)>, LedgerError> {
        self.refresh()?;
        let runs =
            self.book.unplaced().map(|(run, dataset, digest)| (run.clone(), dataset.to_owned(), digest));
        let mut runs: Vec<_> = runs.collect();
        runs.sort_by(|(a, ..), (b, ..)| a.as_str().cmp(b.as_str()));
        Ok(runs)
    }

    fn run_of(&self, name: &str) -> Result<(RunId, String), LedgerError> {
        let found = self.book.run(name).map(|(run, dataset)| (run, dataset.to_owned()));
        found.ok_or_else(|| LedgerError::NoOpenRun(name.to_owned()))
    }

    /// Public facts of a data set, before anything is reserved.
    ///
    /// # Errors
    /// [`LedgerError::NoDataSet`].
    pub fn facts(&mut self, dataset: &str) -> Result<DataSet, LedgerError> {
        self.refresh()?;
        Ok(self.book.account(dataset)?.facts())
    }

    /// Where a data set stands.
    ///
    /// # Errors
    /// [`LedgerError::NoDataSet`].
    pub fn balance(&mut self, dataset: &str) -> Result<Balance, LedgerError> {
        self.refresh()?;
        Ok(self.book.account(dataset)?.balance())
    }

    /// Where all data sets stand, by name.
    ///
    /// # Errors
    /// [`LedgerError`] when the file cannot be read.
    pub fn balances(&mut self) -> Result<Vec<(String, Balance)>, LedgerError> {
        self.refresh()?;
        Ok(self.book.accounts().map(|(name, account)| (name.to_owned(), account.balance())).collect())
    }

    /// Every entry, oldest first.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] as in [`Ledger::open`].
    pub fn history(&mut self) -> Result<Vec<Line>, LedgerError> {
        let start = self.store.start(&self.key);
        let mut lines = Vec::new();
        self.store.read()?.follow(&self.key, start, |body, head| {
            lines.push(Line { entry: parse(body, head)?, body: body.to_owned(), head });
            Ok(())
        })?;
        Ok(lines)
    }

    /// Where the history ended when it was last looked at.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The ledger's own random name, from which its first hash is made, in hexadecimal digits.
    pub fn id_hex(&self) -> String {
        to_hex(self.id())
    }

    pub(crate) fn id(&self) -> &[u8] {
        self.store.id()
    }

    /// Checks everything anew: the database, the tables, every entry, the seal, and that the history continues `since`.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] naming the first thing that does not match.
    pub fn check(&mut self, since: Option<Head>) -> Result<Head, LedgerError> {
        let start = self.store.start(&self.key);
        let locked = self.store.read()?;
        locked.check_structure()?;
        let mut book = AccountState::default();
        let mut continued = since.is_none_or(|since| since == start);
        let head = locked.follow(&self.key, start, |body, head| {
            continued |= since == Some(head);
            book.apply(&parse(body, head)?)
        })?;
        match since {
            Some(since) if !continued => Err(Damage::Rollback(since.to_string()).into()),
            _ => Ok(head),
        }
    }

    /// Ends a run.
    pub(crate) fn commit(
        &mut self,
        dataset: &str,
        run: &RunId,
        released: &Event,
        outcome: Option<Outcome>,
        is_last: impl FnOnce(Option<&str>) -> bool,
    ) -> Result<(), LedgerError> {
        // What cannot be accounted for costs everything.
        let unknown = Charge { ratio_squared: f64::MAX, epsilon: f64::MAX, delta: 1.0, distance: 1.0 };
        let mut more = false;
        self.append(dataset, |book| {
            book.check_last(run, is_last)?;
            more = !within(released, book.open_run(run)?);
            let excess = more.then(|| cost_alone(released).unwrap_or(unknown));
            Ok(Action::Committed { run: run.clone(), released: released.clone(), excess, outcome })
        })?;
        if more { Err(LedgerError::ReleasedMore(run.to_string())) } else { Ok(()) }
    }

    /// Refuses a run whose last saved state is another one.
    pub(crate) fn check_state(&mut self, run: &RunId, state: Option<&str>) -> Result<(), LedgerError> {
        self.refresh()?;
        self.book.check_last(run, |last| last == state)
    }

    /// Replaces the last saved state of an open run.
    pub(crate) fn save_state(
        &mut self,
        dataset: &str,
        run: &RunId,
        before: Option<&str>,
        state: &str,
    ) -> Result<(), LedgerError> {
        let state = printable("the name of a saved state", state)?;
        self.append(dataset, |book| {
            book.check_last(run, |last| last == before)?;
            Ok(Action::Saved { run: run.clone(), state })
        })
    }

    /// Gives back what a run that released nothing had reserved.
    pub(crate) fn cancel(
        &mut self,
        dataset: &str,
        run: &RunId,
        reason: Cancelled,
    ) -> Result<(), LedgerError> {
        self.append(dataset, |book| {
            book.open_run(run)?;
            Ok(Action::Cancelled { run: run.clone(), reason })
        })
    }

    /// Looks, decides and writes under one lock.
    fn append(
        &mut self,
        dataset: &str,
        decide: impl FnOnce(&AccountState) -> Result<Action, LedgerError>,
    ) -> Result<(), LedgerError> {
        let locked = self.store.write()?;
        self.head = catch_up(&locked, &self.key, self.head, &mut self.book)?;
        let action = decide(&self.book)?;
        let sequence = self.head.count + 1;
        let entry =
            Entry { version: ENTRY_VERSION, sequence, time: now(), dataset: dataset.to_owned(), action };
        let head = locked.append(&self.key, self.head, &serde_json::to_string(&entry)?)?;
        // Only what is safely on disk counts; if this fails, the next look tells whether it got there.
        locked.commit()?;
        self.head = head;
        self.book.apply(&entry)
    }

    /// Takes in what others have written.
    fn refresh(&mut self) -> Result<(), LedgerError> {
        self.head = catch_up(&self.store.read()?, &self.key, self.head, &mut self.book)?;
        Ok(())
    }
}

/// Whether what was saved is the last state of its run, or the one that replaces it and was not told of.
fn can_go_on(saved: &Interrupted, last: Option<&str>) -> bool {
    last == Some(saved.state.as_str()) || last == saved.replaced.as_deref()
}

fn catch_up(
    locked: &Locked<'_>,
    key: &Key,
    from: Head,
    book: &mut AccountState,
) -> Result<Head, LedgerError> {
    locked.follow(key, from, |body, head| book.apply(&parse(body, head)?))
}

/// An authentic body as an entry; one that this version cannot read is refused.
fn parse(body: &str, head: Head) -> Result<Entry, LedgerError> {
    let entry: Entry = serde_json::from_str(body).map_err(|_| Damage::Contradiction(head.count))?;
    if entry.sequence == head.count { Ok(entry) } else { Err(Damage::Contradiction(head.count).into()) }
}

/// A charge for releases that nobody had claimed anything about.
fn cost_alone(event: &Event) -> Option<Charge> {
    let claim = Budget::new(f64::MAX, 0.5).ok()?;
    charges(event, pairdp_units::Delta::PURE, claim).ok()?.into_iter().find(|charge| charge.delta <= 0.0)
}
