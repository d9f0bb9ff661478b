//! From settings to a model: the one way, for tables in memory and in parts, with a ledger and without, for every front end.
//!
//! ```text
//! Training { settings, encoding, label, budget }
//!     .open(payer, checkpointer, read)   size → TrainingSpec → its price is paid → the table is read → PaidRun
//!     .train(checkpointer)               releases, solve or descend → PrivateModel
//! ```

use crate::algorithm::{Pace, moments as solve_moments, noisy_gd, noisy_sgd, online_pair, phases};
use crate::mechanism::Public;
use crate::parts::{CountedParts, RowLayout};
use crate::ranges::tighten;
use crate::{
    Checkpointer, Curator, LearnError, Mechanism, PlanKind, Predictor, PrivateModel, Settings, TrainingSpec,
};
use pairdp_accountant::{Payer, Unbooked};
use pairdp_data::{Encoding, Label, Table};
use pairdp_noise::{Replay, Secure, Source};
use pairdp_pairwise::{Neighbours, Records, clip_row};
use pairdp_units::Budget;

/// What is asked for, before the size of the table is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Public choices.
    pub settings: Settings,
    /// How a row becomes a vector.
    pub encoding: Encoding,
    /// Which column is to be predicted, if the table has one by name.
    pub label: Option<Label>,
    /// What may be spent.
    pub budget: Budget,
}

/// What is learned from.
pub enum Rows {
    /// A table in memory.
    Here(Table),
    /// Parts of one elsewhere.
    Parts(CountedParts),
}

impl Rows {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Here(table) => table.rows,
            Self::Parts(parts) => parts.rows(),
        }
    }
}

impl From<Table> for Rows {
    fn from(table: Table) -> Self {
        Self::Here(table)
    }
}

impl From<CountedParts> for Rows {
    fn from(parts: CountedParts) -> Self {
        Self::Parts(parts)
    }
}

/// A calibrated run that is paid for, and the rows it may look at.
pub struct PaidRun {
    spec: TrainingSpec,
    rows: Rows,
    /// Its name in a ledger.
    run: Option<String>,
}

impl Training {
    /// Pays, then reads. Where the payer knows the public size, the run is calibrated and paid for before `read` opens the
    /// table, and a table that is refused gives the price back; otherwise the size is the table's.
    ///
    /// ```
    /// use pairdp_accountant::Unbooked;
    /// use pairdp_data::{Encoding, Table};
    /// use pairdp_learn::{Checkpointer, LearnError, Settings, Training};
    /// use pairdp_units::Budget;
    ///
    /// let encoding = Encoding::of_ranges([[0.0, 120.0]])?;
    /// let table = encoding.encode_matrix(&[70.0, 20.0, 60.0, 35.0], 1)?;
    /// let table = Table { targets: vec![1.0, -1.0, 1.0, -1.0], ..table };
    /// let training = Training { settings: Settings::default(), encoding, label: None, budget: Budget::new(1.0, 1e-6)? };
    /// let checkpointer = &mut Checkpointer::none();
    /// let run = training.open(&mut Unbooked, checkpointer, || Ok::<_, LearnError>(table.into()))?;
    /// let model = run.train(checkpointer)?;
    /// assert_eq!(model.certificate.records, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LearnError`], which depends on public facts alone; what the payer and the reader say.
    pub fn open<P: Payer, X: From<LearnError> + From<P::Error>>(
        &self,
        payer: &mut P,
        checkpointer: &mut Checkpointer<'_>,
        read: impl FnOnce() -> Result<Rows, X>,
    ) -> Result<PaidRun, X> {
        let order_seed = self.settings.order_seed.or(checkpointer.order_seed()?);
        let settings = Settings { order_seed, ..self.settings.clone() };
        let prepare = |records| -> Result<TrainingSpec, LearnError> {
            let spec = settings.prepare(records, &self.encoding, self.budget)?;
            Ok(TrainingSpec { label: self.label.clone(), ..spec })
        };
        let interrupted = checkpointer.paid()?;
        let (mut paid, mut run) = (None, None);
        if let Some(size) = payer.size(settings.max_records)? {
            let spec = prepare(size)?;
            run = payer.pay(spec.price()?, interrupted.as_deref())?;
            paid = Some(spec);
        }
        checkpointer.paid_as(run.clone());
        let rows = match read() {
            Ok(rows) => rows,
            Err(refusal) => {
                payer.refund()?;
                return Err(refusal);
            }
        };
        payer.accept(rows.count())?;
        let spec = match paid {
            Some(spec) => spec,
            None => prepare(rows.count())?,
        };
        Ok(PaidRun { spec, rows, run })
    }
}

impl Training {
    /// Trains on rows that nobody keeps an account of: the guarantee is for this run alone.
    ///
    /// # Errors
    /// [`LearnError`], which depends on public facts alone.
    pub fn fit(&self, rows: impl Into<Rows>) -> Result<PrivateModel, LearnError> {
        let checkpointer = &mut Checkpointer::none();
        let run = self.open(&mut Unbooked, checkpointer, || Ok::<_, LearnError>(rows.into()))?;
        run.train(checkpointer)
    }
}

impl PaidRun {
    /// What will be done.
    pub fn spec(&self) -> &TrainingSpec {
        &self.spec
    }

    /// Carries it out: the only way to a certified model.
    ///
    /// # Errors
    /// [`LearnError`], which depends on public facts alone.
    pub fn train(self, checkpointer: &mut Checkpointer<'_>) -> Result<PrivateModel, LearnError> {
        let Self { spec, rows, run } = self;
        let (curator, encoding) = spec.curator(rows, Secure::from_os()?, checkpointer)?;
        let (mut parameters, mut certificate) = curator.certified(checkpointer)?;
        certificate.public_ranges = certificate.ranges.map(|_| spec.encoding.ranges());
        let TrainingSpec { task, label, layout, because, as_printed, .. } = spec;
        let RowLayout { problem, feature_bound, constant } = layout;
        let plan = spec.mechanism.common().public.plan;
        if constant == 0.0 && plan.algorithm() == PlanKind::Moments {
            // Without an intercept the one that was solved for is left out.
            parameters.truncate(encoding.dimension());
        }
        let predictor = Predictor { task, encoding, label, feature_bound, constant, parameters };
        let mut model = PrivateModel::new(predictor, plan, problem.ridge(), certificate);
        (model.because, model.as_printed, model.run) = (because, as_printed, run);
        Ok(model)
    }

    /// The parameters that [`PaidRun::train`] would find with noise from a seed, which anybody can repeat: for tests, and for
    /// nothing that is published. There is no way from them to a certificate.
    ///
    /// # Errors
    /// As [`PaidRun::train`].
    pub fn rehearse(self, seed: u64, checkpointer: &mut Checkpointer<'_>) -> Result<Vec<f64>, LearnError> {
        let (mut curator, _) = self.spec.curator(self.rows, Replay::from_seed(seed), checkpointer)?;
        run(&mut curator, checkpointer)
    }
}

impl TrainingSpec {
    /// Hands the rows to a curator, encoded by tighter ranges if those are looked for.
    fn curator<S: Source>(
        &self,
        rows: Rows,
        mut source: S,
        checkpointer: &Checkpointer<'_>,
    ) -> Result<(Curator<S>, Encoding), LearnError> {
        let (layout, mechanism, encoding) = (self.layout, self.mechanism.clone(), self.encoding.clone());
        let mut table = match rows {
            Rows::Here(table) => table,
            Rows::Parts(_) if mechanism.ranges().is_some() => {
                return Err(LearnError::OnePlace("the search for ranges"));
            }
            Rows::Parts(parts) => {
                let parts = parts.laid_out(self.row_layout(), self.columns())?;
                return Ok((Curator::open_parts(parts, mechanism, source)?, encoding));
            }
        };
        let mut found = encoding;
        if let Some(ranges) = mechanism.ranges() {
            // An interrupted run would count again.
            if checkpointer.keeps() {
                return Err(LearnError::NoProof("checkpoints of a run that looks for ranges"));
            }
            let (size, width) = (layout.problem.size(table.rows), table.columns);
            if layout.problem.neighbours() != Neighbours::ReplaceOne && table.rows > size {
                table.features.truncate(size * width);
                table.targets.truncate(size);
                table.rows = size;
            }
            found = tighten(&mut table, &found, &ranges, &mut source)?;
        }
        let records = self.row_layout().records(table)?;
        Ok((Curator::open(records, mechanism, source)?, found))
    }

    /// How rows become records: with the constant only where gradients need it there.
    fn row_layout(&self) -> RowLayout {
        let constant = if self.columns() > self.encoding.dimension() { self.layout.constant } else { 0.0 };
        RowLayout { constant, ..self.layout }
    }
}

impl RowLayout {
    /// Rows scaled down to the bound, each followed by the constant if there is one.
    pub(crate) fn records(&self, table: Table) -> Result<Records, LearnError> {
        let Table { mut features, mut columns, targets, .. } = table;
        if self.constant != 0.0 {
            let mut rows = Vec::with_capacity(features.len() + targets.len());
            for row in features.chunks_exact_mut(columns) {
                clip_row(row, self.feature_bound);
                rows.extend_from_slice(row);
                rows.push(self.constant);
            }
            (features, columns) = (rows, columns + 1);
        }
        Ok(Records::with_targets(features, columns, targets, self.problem.feature_bound())?)
    }
}

/// Asks a curator everything that its mechanism's algorithm asks, and returns the parameters that come of it: what training does
/// once records and mechanism are together. For whoever runs one mechanism many times.
///
/// # Errors
/// [`LearnError`], which depends on public facts alone; when a checkpoint is of another run or cannot be saved.
pub fn run<S: Source>(
    curator: &mut Curator<S>,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mechanism = curator.mechanism().clone();
    let Public { problem, plan, .. } = mechanism.common().public;
    let pace = Pace { problem, steps: plan.steps(), step_size: plan.step_size(), average: plan.average() };
    match &mechanism {
        Mechanism::Gradients(_) => noisy_gd(curator, &pace, checkpointer),
        Mechanism::Sampled(_) => noisy_sgd(curator, &pace, checkpointer),
        Mechanism::Online(_) => online_pair(curator, &pace, checkpointer),
        Mechanism::Output(_) => phases(curator, mechanism.releases(), checkpointer),
        Mechanism::Moments(moments) => solve_moments(curator, moments),
    }
}
