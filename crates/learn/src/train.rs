//! From settings to a model: the one way, for tables in memory and in parts, with a ledger and without, for every front end.
//!
//! ```text
//! Training { settings, encoding, label, budget }
//!     .open(payer, checkpointer, read)   size → TrainingSpec → its price is paid → the table is read → PaidRun
//!     .train(checkpointer)               releases, solve or descend → PrivateModel
//! ```

use crate::{Settings, TrainingSpec};
use pairdp_accountant::{Origin, Payer, Unbooked};
use pairdp_certificate::{Algorithm, Certificate, Provenance, RandomFeatures, Representation, Stage};
use pairdp_data::{Encoding, Label, Table, date_text};
use pairdp_model::representation::{self, Map, TargetMap};
use pairdp_model::{Predictor, PrivateModel, Task, probabilities};
use pairdp_noise::lattice::Lattice;
use pairdp_noise::{Secure, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::knots::{KnotSums, Spacing};
use pairdp_pairwise::{Neighbours, Problem, Score, Strata};
use pairdp_release::parts::{CountedParts, RowLayout};
use pairdp_release::{
    Checkpointer, Curator, ForeignScore, Law as _, LearnError, PublicFacts, can_ask_parts, fingerprint,
    foreign_start, keeps_promise, persons, start_of,
};
use pairdp_units::Budget;
use pairdp_units::directed::{larger, smaller};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::SystemTime;

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
    /// How many records or, where the table says whose they are, how many persons there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Here(table) => table.size(),
            Self::Parts(parts) => parts.size(),
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
    pub(crate) spec: TrainingSpec,
    pub(crate) rows: Rows,
    /// Its name in a ledger.
    run: Option<String>,
    /// The function that scores rows, if it is not ours.
    pub(crate) foreign: Option<Arc<dyn ForeignScore>>,
    /// What is publicly known of the table.
    origin: Origin,
    /// The day on which the run began.
    date: String,
}

impl Training {
    /// Pays, then reads. Where the payer knows the public size, the run is calibrated and paid for before `read` opens the
    /// table, and a table that is refused gives the price back; otherwise the size is the table's.
    ///
    /// ```
    /// use pairdp_accountant::Unbooked;
    /// use pairdp_data::{Encoding, Table};
    /// use pairdp_learn::{Settings, Training};
    /// use pairdp_release::{Checkpointer, LearnError};
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
        self.open_scored(None, payer, checkpointer, read)
    }

    /// The same with scores of a function that is not ours, which is asked about rows of zeros before anything is paid.
    ///
    /// # Errors
    /// As [`Training::open`]; [`LearnError::WrongAnswer`] for a function that does not answer, [`LearnError::NoFunction`] for one that nobody asks.
    pub fn open_scored<P: Payer, X: From<LearnError> + From<P::Error>>(
        &self,
        foreign: Option<Arc<dyn ForeignScore>>,
        payer: &mut P,
        checkpointer: &mut Checkpointer<'_>,
        read: impl FnOnce() -> Result<Rows, X>,
    ) -> Result<PaidRun, X> {
        checkpointer.reads(&self.encoding, self.label.as_ref(), self.settings.random_features()?)?;
        let settings = self.settings_of(checkpointer)?;
        let prepare = |records| -> Result<TrainingSpec, LearnError> {
            let spec = settings.prepare(records, &self.encoding, self.budget)?;
            spec.check_memory()?;
            match (spec.problem().score(), &foreign) {
                (Score::Foreign(form), Some(score)) => {
                    _ = foreign_start(score.as_ref(), form, spec.columns())?;
                }
                (Score::Linear | Score::Network(_), None) => {}
                _ => return Err(LearnError::NoFunction),
            }
            Ok(TrainingSpec { label: self.label.clone(), ..spec })
        };
        // Before a record is read: how long it takes to learn from them, and until which day, is theirs to know.
        let date = today();
        let interrupted = checkpointer.interrupted()?;
        let (mut paid, mut run) = (None, None);
        if let Some(size) = payer.size(settings.max_records)? {
            let spec = prepare(size)?;
            checkpointer.fits(&spec.mechanism)?;
            run = payer.pay(spec.price()?, interrupted.as_ref())?;
            paid = Some(spec);
        }
        let askable = |rows: &Rows| match (rows, &paid) {
            (Rows::Parts(_), Some(spec)) => can_ask_parts(&spec.mechanism),
            _ => Ok(()),
        };
        let rows = match read().and_then(|rows| askable(&rows).map(|()| rows).map_err(X::from)) {
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
        if let Rows::Parts(_) = &rows {
            // Where nobody knew the size, this is the first time that it can be said.
            can_ask_parts(&spec.mechanism)?;
        }
        if let Err(refusal) = keeps_promise(spec.problem(), rows.count()) {
            payer.refund()?;
            return Err(refusal.into());
        }
        if let Err(refusal) = whole_blocks(spec.problem(), &rows) {
            payer.refund()?;
            return Err(refusal.into());
        }
        checkpointer.paid_as(run.clone(), payer.witness())?;
        Ok(PaidRun { spec, rows, run, foreign, origin: payer.origin(), date })
    }
}

/// A network's sums are the same wherever they are made if parts hold whole blocks of rows, the last one excepted.
fn whole_blocks(problem: Problem, rows: &Rows) -> Result<(), LearnError> {
    match rows {
        Rows::Parts(parts) if !problem.score().is_linear() && !parts.hold_whole(kernel::BLOCK as u64) => {
            Err(LearnError::BrokenBlocks(kernel::BLOCK))
        }
        _ => Ok(()),
    }
}

impl Training {
    /// The model, with its file's text, of an interrupted run of these very settings that had made all its releases. Nothing is
    /// read or paid for it. The model is what the file says: its certificate is for the caller to verify.
    ///
    /// # Errors
    /// [`LearnError::Checkpoint`] for the model of another run.
    pub fn finished(
        &self,
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<Option<(PrivateModel, String)>, LearnError> {
        let Some((mechanism, text)) = checkpointer.finished()? else { return Ok(None) };
        let model = PrivateModel::from_json(&text).map_err(|_| LearnError::Checkpoint)?;
        let settings = self.settings_of(checkpointer)?;
        let spec = settings.prepare(model.certificate.records, &self.encoding, self.budget)?;
        let Predictor { encoding, label, .. } = &model.predictor;
        let same = fingerprint(&spec.mechanism)? == mechanism;
        if same && *encoding == self.encoding && *label == self.label {
            Ok(Some((model, text)))
        } else {
            Err(LearnError::Checkpoint)
        }
    }

    /// With the public order of an interrupted run, unless another is asked for.
    fn settings_of(&self, checkpointer: &mut Checkpointer<'_>) -> Result<Settings, LearnError> {
        let order_seed = self.settings.order_seed.or(checkpointer.order_seed()?);
        Ok(Settings { order_seed, ..self.settings.clone() })
    }

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

    /// The same with the form of the schema by which the table was read, unless a ledger has said it.
    #[must_use]
    pub fn read_by(mut self, form: &str) -> Self {
        self.origin.schema.get_or_insert_with(|| hash(form.as_bytes()));
        self
    }

    /// Carries it out: the only way to a certified model.
    ///
    /// # Errors
    /// [`LearnError`], which depends on public facts alone.
    pub fn train(self, checkpointer: &mut Checkpointer<'_>) -> Result<PrivateModel, LearnError> {
        let Self { spec, rows, run, foreign, origin, date } = self;
        checkpointer.runs(&spec.mechanism)?;
        let condition = foreign.as_ref().map(|score| score.condition());
        let (curator, representation) = spec.curator(rows, Secure::from_os()?, checkpointer)?;
        let mut curator = curator.scored_by(foreign)?;
        let parameters = pairdp_release::run(&mut curator, checkpointer)?;
        let predictor = spec.predictor(parameters, representation, &mut curator)?;
        let PublicFacts { plan, problem, .. } = spec.facts();
        let TrainingSpec { because, as_printed, .. } = spec;
        let provenance = provenance(&predictor, date, origin, run.clone());
        let certificate = Certificate { condition, provenance: Some(provenance), ..curator.close() };
        let mut model = PrivateModel::new(predictor, plan.into(), problem.ridge(), certificate);
        (model.because, model.as_printed, model.run) = (because, as_printed, run);
        Ok(model)
    }
}

/// Where a model comes from, from public facts and what was released.
fn provenance(predictor: &Predictor, date: String, origin: Origin, run: Option<String>) -> Provenance {
    let places = predictor.representation.as_ref().map_or(&[][..], |released| &released.weights);
    Provenance {
        software: format!("pairdp {}", env!("CARGO_PKG_VERSION")),
        date,
        data_set: origin.data_set,
        run,
        schema: origin.schema,
        weights: hash(&Provenance::hashed(&predictor.parameters, places)),
    }
}

/// SHA-256, in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The day in UTC, by this machine's clock.
fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    date_text((since.as_secs() / 86_400) as f64)
}

impl TrainingSpec {
    /// What is done with a row, from what training found; with probabilities where they are to be released, which is done here.
    pub(crate) fn predictor<S: Source>(
        &self,
        mut parameters: Vec<f64>,
        representation: Option<Representation>,
        curator: &mut Curator<S>,
    ) -> Result<Predictor, LearnError> {
        let spec = self.clone();
        let targets = representation.as_ref().and_then(|released| TargetMap::new(&spec.first, released));
        let PublicFacts { plan, features, records, .. } = spec.mechanism.facts();
        let TrainingSpec { task, encoding, label, layout, .. } = spec;
        let RowLayout { problem, feature_bound, random_features, constant } = layout;
        let score = problem.score();
        if let Some(targets) = targets {
            targets.undo(&mut parameters);
            problem.project(&mut parameters);
        }
        if constant == 0.0 && plan.algorithm() == Algorithm::Moments {
            // Without an intercept the one that was solved for is left out.
            parameters.truncate(features);
        }
        let probabilities = None;
        let mut predictor = Predictor {
            task,
            encoding,
            label,
            feature_bound,
            constant,
            parameters,
            representation,
            probabilities,
            random_features,
            score,
        };
        if predictor.follow_schema() {
            problem.project(&mut predictor.parameters);
        }
        if let (Some(noise), Some(stretch)) = (self.mechanism.probability_noise(), predictor.stretch()) {
            // Records have the constant only where gradients need it there.
            let columns = self.columns();
            let weights = &predictor.parameters[..columns];
            let added = if columns < predictor.parameters.len() { predictor.intercept() } else { 0.0 };
            let counts = curator.noisy_cells(stretch, weights, added)?;
            let deviation = noise.sigma * plan.law().spread(1);
            let secret = problem.neighbours() != Neighbours::ReplaceOne;
            let counted = probabilities::released(stretch, counts, deviation, records as f64, secret);
            predictor.probabilities = Some(counted);
        }
        Ok(predictor)
    }

    /// Hands the rows to a curator: as ranges put them, or by what a first release says of where columns lie.
    pub(crate) fn curator<S: Source>(
        &self,
        rows: Rows,
        mut source: S,
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<(Curator<S>, Option<Representation>), LearnError> {
        let (layout, mechanism) = (self.row_layout(), self.mechanism.clone());
        let PublicFacts { problem, plan, records, .. } = mechanism.facts();
        let (mut rows, strata) = match rows {
            Rows::Here(table) => {
                let (table, strata) = persons::settle(table, problem, records, &mut source)?;
                (Rows::Here(table), strata)
            }
            // Parts know what their own rows count.
            Rows::Parts(parts) => match (problem.per_person().is_some(), parts.has_persons()) {
                (true, false) => return Err(LearnError::NoPersons),
                (false, true) => return Err(LearnError::Persons),
                _ => (Rows::Parts(parts), Strata::plain(0)),
            },
        };
        let Some(Stage::Knots { coordinates, counts_records, noise, .. }) = mechanism.first_stage() else {
            let curator = match rows {
                Rows::Here(table) => Curator::open(layout.records(table, strata)?, mechanism, source)?,
                Rows::Parts(parts) => {
                    Curator::open_parts(parts.laid_out(layout, None, self.columns())?, mechanism, source)?
                }
            };
            return Ok((curator, None));
        };
        let columns = &self.first;
        // What an interrupted run released is not released again.
        let representation = if let Some(released) = checkpointer.representation(&mechanism)? {
            if !representation::fits(&released, &self.encoding) || released.weights.len() != coordinates {
                return Err(LearnError::Checkpoint);
            }
            released
        } else {
            let lattice = Lattice::new(noise.sigma, noise.lattice_bits)?;
            let drawn = plan.law().draw(&lattice, &mut source, coordinates);
            let sums = match &mut rows {
                Rows::Here(Table { features, columns: width, targets, .. }) => {
                    // Where nothing is learned from labels, none is looked at.
                    let alike = vec![-1.0; if self.rests() { targets.len() } else { 0 }];
                    let targets = if self.rests() { &alike } else { targets };
                    KnotSums::new(columns, features, *width, targets, &strata, Par::Parallel)
                }
                Rows::Parts(parts) => parts.knots(columns)?,
            };
            let mut released = sums.query(columns, counts_records)?;
            lattice.release_in_place(&mut released, &drawn);
            let deviation = noise.sigma * plan.law().spread(1);
            let mut read = representation::read(columns, released, deviation, records);
            if self.rests() {
                read.reading = representation::READING_DISTANCES.into();
            }
            read
        };
        checkpointer.represented(Some(representation.clone()));
        let start = self.start(representation::label_share(columns, &representation));
        let targets = TargetMap::new(columns, &representation);
        let curator = match rows {
            Rows::Here(mut table) => {
                if let Some(map) = representation::map(&self.encoding, Some(&representation)) {
                    map.apply_to(&mut table, layout.feature_bound);
                }
                if let Some(targets) = targets {
                    targets.apply(&mut table.targets);
                }
                Curator::open(layout.records(table, strata)?, mechanism, source)?
            }
            Rows::Parts(parts) => {
                let parts =
                    parts.laid_out(layout, Some((representation.clone(), targets)), self.columns())?;
                Curator::open_parts(parts, mechanism, source)?
            }
        };
        Ok((curator.starting_at(start)?, Some(representation)))
    }

    /// Where a descent starts: at a constant score, that of the released share of positives.
    fn start(&self, positives: f64) -> Vec<f64> {
        /// Log-odds beyond which rarer makes no difference.
        const MOST: f64 = 6.0;
        let (columns, constant) = (self.columns(), self.row_layout().constant);
        // What the constant's weight is multiplied by, beside it.
        let scale = match self.problem().score() {
            Score::Linear | Score::Foreign(_) => 1.0,
            Score::Network(form) => form.linear,
        };
        let mut start = start_of(self.problem(), columns);
        let constant = constant * scale;
        let last = columns.checked_sub(1).and_then(|last| start.get_mut(last));
        if let (Some(last), true) = (last, constant > 0.0 && self.task != Task::Regression) {
            let odds = libm::log(positives / (1.0 - positives));
            // Well within the domain, whatever was released.
            let most = smaller(MOST, 0.9 * self.problem().domain().radius() * constant);
            *last = smaller(larger(odds, -most), most) / constant;
        }
        start
    }

    /// How rows become records: with the constant only where gradients need it there.
    pub(crate) fn row_layout(&self) -> RowLayout {
        let in_records = self.columns() > self.features();
        RowLayout { constant: if in_records { self.layout.constant } else { 0.0 }, ..self.layout }
    }

    /// Features of a record, without a constant.
    fn features(&self) -> usize {
        let row = if self.first.maps_rows() {
            Map::width_of(&representation::layout(&self.encoding, Spacing::default()))
        } else {
            self.encoding.dimension()
        };
        row + self.layout.random_features.map_or(0, RandomFeatures::count)
    }

    /// Whether where columns lie is all that is released.
    fn rests(&self) -> bool {
        self.plan().steps() == 0
    }
}
