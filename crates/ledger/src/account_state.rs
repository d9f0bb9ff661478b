//! The state that a history adds up to. Nothing of it is stored: it is always the sum of authentic entries.

use crate::charge::{Charge, sampler_distance};
use crate::entry::{Action, Cost, ENTRY_VERSION, Entry, RunId};
use crate::filter::{Filter, burden};
use crate::{Damage, LedgerError, ModelDigest, Outcome, RunState, SchemaDigest};
use pairdp_accountant::{Adjacency, Event, gaussian};
use pairdp_units::directed::{smaller, up_by};
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Public facts of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// What all runs together may cost.
    pub grant: Budget,
    /// Which tables count as neighbours.
    pub adjacency: Adjacency,
    /// n, where it is public.
    pub records: Option<u64>,
    /// What its table is read by. Ledgers of version 0.1 do not say; nothing is reserved until the owner does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaDigest>,
}

/// Where a data set stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// Its facts, with the current grant.
    pub dataset: DataSet,
    /// ε of the smallest grant, at the granted δ, that would cover all runs so far; infinite if none would.
    pub spent: f64,
    /// The largest ε of one more run with Gaussian noise, at the granted δ, that would fit.
    pub left: Option<f64>,
    /// Runs that committed.
    pub committed: u64,
    /// Runs that reserved and have not committed: at work, or ended without a word. They count as spent.
    pub open: u64,
    /// Runs that released nothing.
    pub cancelled: u64,
}

/// All data sets and runs.
#[derive(Debug, Default)]
pub(crate) struct AccountState {
    accounts: BTreeMap<String, Account>,
    open: HashMap<RunId, OpenRun>,
    done: HashMap<RunId, DoneRun>,
}

#[derive(Debug)]
struct DoneRun {
    dataset: String,
    outcome: Option<Outcome>,
    placed: bool,
}

#[derive(Debug)]
struct OpenRun {
    dataset: String,
    event: Event,
    charge: Charge,
    /// The last state that was saved of it.
    state: Option<String>,
}

/// One data set.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    facts: DataSet,
    spent: Filter,
    /// The claim of the last run that was reserved; if it is the only one, this is what was spent.
    claim: Option<Budget>,
    committed: u64,
    open: u64,
    cancelled: u64,
}

impl AccountState {
    /// Takes an entry in.
    pub(crate) fn apply(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        if entry.version > ENTRY_VERSION {
            return Err(LedgerError::Newer { found: entry.version.into(), known: ENTRY_VERSION.into() });
        }
        self.take(entry).ok_or_else(|| Damage::Contradiction(entry.sequence).into())
    }

    fn take(&mut self, entry: &Entry) -> Option<()> {
        if let Action::Created(facts) = &entry.action {
            let account = Account::new(*facts);
            return self.accounts.insert(entry.dataset.clone(), account).is_none().then_some(());
        }
        let account = self.accounts.get_mut(&entry.dataset)?;
        let of_this = |run: OpenRun| (run.dataset == entry.dataset).then_some(run);
        match &entry.action {
            Action::Created(_) => return None,
            Action::Granted { grant } => account.facts.grant = *grant,
            Action::SchemaSet { schema } => account.facts.schema = Some(*schema),
            Action::Reserved { run, cost, charge } => {
                account.spent.add(charge);
                account.claim = Some(cost.claim);
                account.open += 1;
                let (dataset, event) = (entry.dataset.clone(), cost.event.clone());
                let open = OpenRun { dataset, event, charge: *charge, state: None };
                self.open.insert(run.clone(), open).is_none().then_some(())?;
            }
            Action::Saved { run, state } => {
                let open = self.open.get_mut(run).filter(|open| open.dataset == entry.dataset)?;
                open.state = Some(state.clone());
            }
            Action::Committed { run, excess, outcome, .. } => {
                let OpenRun { dataset, .. } = self.open.remove(run).and_then(of_this)?;
                self.done.insert(run.clone(), DoneRun { dataset, outcome: outcome.clone(), placed: false });
                account.open -= 1;
                account.committed += 1;
                if let Some(excess) = excess {
                    account.spent.add(excess);
                    account.claim = None;
                }
            }
            Action::Placed { run } => {
                let done = self.done.get_mut(run).filter(|done| done.dataset == entry.dataset)?;
                done.placed = true;
            }
            Action::Cancelled { run, .. } => {
                let run = self.open.remove(run).and_then(of_this)?;
                account.spent.take_back(&run.charge);
                account.claim = None;
                account.open -= 1;
                account.cancelled += 1;
            }
        }
        Some(())
    }

    pub(crate) fn account(&self, dataset: &str) -> Result<&Account, LedgerError> {
        self.accounts.get(dataset).ok_or_else(|| LedgerError::NoDataSet(dataset.to_owned()))
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = (&str, &Account)> {
        self.accounts.iter().map(|(name, account)| (name.as_str(), account))
    }

    /// The open run of a name, if it is about this data set and these releases.
    pub(crate) fn open_run_of(&self, dataset: &str, name: &str, event: &Event) -> Option<RunId> {
        let run = RunId::named(name);
        let open = self.open.get(&run)?;
        (open.dataset == dataset && open.event == *event).then_some(run)
    }

    /// The data set of a run that has not been cancelled, with the run's own name.
    pub(crate) fn run(&self, name: &str) -> Option<(RunId, &str)> {
        let run = RunId::named(name);
        let open = self.open.get(&run).map(|open| open.dataset.as_str());
        let dataset = open.or_else(|| self.done.get(&run).map(|done| done.dataset.as_str()))?;
        Some((run, dataset))
    }

    pub(crate) fn state(&self, run: &RunId) -> RunState {
        match self.done.get(run) {
            Some(DoneRun { outcome, placed, .. }) => {
                RunState::Done { outcome: outcome.clone(), placed: *placed }
            }
            None if self.open.contains_key(run) => RunState::Open,
            None => RunState::Unknown,
        }
    }

    /// Runs that are done and whose model nobody has seen in its place.
    pub(crate) fn unplaced(&self) -> impl Iterator<Item = (&RunId, &str, ModelDigest)> {
        self.done.iter().filter(|(_, done)| !done.placed).filter_map(|(run, done)| match done.outcome {
            Some(Outcome::Model { digest }) => Some((run, done.dataset.as_str(), digest)),
            _ => None,
        })
    }

    /// What an open run reserved.
    pub(crate) fn open_run(&self, run: &RunId) -> Result<&Event, LedgerError> {
        self.open.get(run).map(|open| &open.event).ok_or_else(|| LedgerError::NoOpenRun(run.to_string()))
    }

    /// Refuses a run whose last saved state is not one to go on from.
    pub(crate) fn check_last(
        &self,
        run: &RunId,
        is_last: impl FnOnce(Option<&str>) -> bool,
    ) -> Result<(), LedgerError> {
        if is_last(self.last_state(run)?) {
            Ok(())
        } else {
            Err(LedgerError::WentOnElsewhere(run.to_string()))
        }
    }

    /// The last state that was saved of an open run.
    pub(crate) fn last_state(&self, run: &RunId) -> Result<Option<&str>, LedgerError> {
        match self.open.get(run) {
            Some(open) => Ok(open.state.as_deref()),
            // Somebody else went on with it, to its end.
            None if self.done.contains_key(run) => Err(LedgerError::WentOnElsewhere(run.to_string())),
            None => Err(LedgerError::NoOpenRun(run.to_string())),
        }
    }
}

impl Account {
    fn new(facts: DataSet) -> Self {
        Self { facts, spent: Filter::default(), claim: None, committed: 0, open: 0, cancelled: 0 }
    }

    /// Refuses a run that would read the table by another schema than the owner's.
    pub(crate) fn check_schema(&self, dataset: &str, schema: SchemaDigest) -> Result<(), LedgerError> {
        match self.facts.schema {
            Some(granted) if granted == schema => Ok(()),
            Some(_) => Err(LedgerError::OtherSchema(dataset.to_owned())),
            None => Err(LedgerError::NoSchema(dataset.to_owned())),
        }
    }

    /// The cheapest charge of a run that fits.
    pub(crate) fn admit(&self, dataset: &str, cost: &Cost) -> Result<Charge, LedgerError> {
        let (expected, found) = (self.facts.adjacency, cost.price.event.adjacency());
        if !found.covers(expected) {
            return Err(LedgerError::Adjacency { dataset: dataset.to_owned(), expected, found });
        }
        let grant = self.facts.grant;
        let mut charges = cost.charges.clone();
        charges.sort_by(|a, b| burden(a, grant).total_cmp(&burden(b, grant)));
        let asked = cost.price.claim;
        if let Some(fitting) = charges.iter().find(|charge| self.spent.with(charge).fits(grant)) {
            return Ok(*fitting);
        }
        if let Some(cheapest) = charges.first().filter(|_| self.admits_alone(asked)) {
            return Ok(*cheapest);
        }
        let fits = self.largest(asked.delta, cost.price.sampler_delta);
        let spent = self.spent_epsilon();
        Err(LedgerError::DoesNotFit { dataset: dataset.to_owned(), asked, spent, granted: grant, fits })
    }

    /// A first run may take everything: nothing was seen yet that its choice could depend on, so its own claim counts.
    fn admits_alone(&self, claim: Budget) -> bool {
        let grant = self.facts.grant;
        self.committed + self.open == 0 && claim.epsilon <= grant.epsilon && claim.delta <= grant.delta
    }

    /// ε of the smallest grant at this δ that would have covered everything.
    fn spent_epsilon(&self) -> f64 {
        let delta = self.facts.grant.delta;
        let needed = self.spent.needed(delta);
        match self.claim {
            Some(claim) if self.committed + self.open == 1 && claim.delta <= delta => {
                smaller(needed, claim.epsilon.get())
            }
            _ => needed,
        }
    }

    /// The largest ε, to three digits, of a run with Gaussian noise that would fit.
    fn largest(&self, delta: Delta, sampler_delta: Delta) -> Option<f64> {
        let grant = self.facts.grant;
        let distance = sampler_distance(sampler_delta);
        let for_data = Delta::new(delta.get() - sampler_delta.get()).ok()?;
        let fits = |epsilon: f64| {
            let Ok(claim) = Budget::new(epsilon, delta.get()) else { return false };
            let Ok(ratio) = gaussian::largest_ratio(Budget { delta: for_data, ..claim }) else {
                return false;
            };
            let ratio_squared = up_by(ratio * ratio, 16.0);
            let charge = Charge { ratio_squared, epsilon: 0.0, delta: 0.0, distance };
            self.spent.with(&charge).fits(grant) || self.admits_alone(claim)
        };
        let most = grant.epsilon.get();
        if fits(most) {
            return Some(most);
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if fits(middle) { low = middle } else { high = middle }
        }
        let digits = f64::powi(10.0, 2 - f64_to_exponent(low)?);
        let rounded = (low * digits).floor() / digits;
        (rounded > 0.0 && fits(rounded)).then_some(rounded)
    }

    pub(crate) fn facts(&self) -> DataSet {
        self.facts
    }

    pub(crate) fn balance(&self) -> Balance {
        Balance {
            dataset: self.facts,
            spent: self.spent_epsilon(),
            left: self.largest(self.facts.grant.delta, Delta::PURE),
            committed: self.committed,
            open: self.open,
            cancelled: self.cancelled,
        }
    }
}

/// The decimal exponent of a number above 10⁻⁶; what is smaller is not worth offering.
fn f64_to_exponent(value: f64) -> Option<i32> {
    (-6..300).rev().find(|&exponent| value >= f64::powi(10.0, exponent))
}
