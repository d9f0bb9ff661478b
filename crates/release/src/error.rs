use pairdp_accountant::{AccountantError, Contested};
use pairdp_certificate::Algorithm;
use pairdp_data::DataError;
use pairdp_model::ModelError;
use pairdp_noise::NoiseError;
use pairdp_pairwise::{ProblemError, RecordsError};
use pairdp_stability::StabilityError;
use pairdp_units::{Budget, FrontEnd, Hint, UnitError, shown};

/// What pairs of times need.
pub(crate) const ORDER_OF_TIME: &str = "a descent over pairs in the order of time";

/// Training that cannot be done as asked. Every variant depends on public facts alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A budget that cannot be.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A problem that cannot be.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A table of the wrong shape.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// No noise level for this budget.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// No secure noise.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// No proved sensitivity for this path.
    #[error(transparent)]
    Stability(#[from] StabilityError),
    /// The records were clipped to a larger norm than the noise covers.
    #[error("the records are clipped to norm {}, the mechanism covers {}", shown::as_given(*.found), shown::as_given(*.allowed))]
    FeatureBound {
        /// κ of the problem.
        allowed: f64,
        /// What the records were clipped to.
        found: f64,
    },
    /// A choice that only networks have.
    #[error("{0} are for networks, and these scores are linear")]
    OfNetworks(&'static str),
    /// A network that is too large to be trained.
    #[error("a network of {hidden} hidden units on {columns} columns has more than ten million weights")]
    LargeNetwork {
        /// H.
        hidden: usize,
        /// Columns of a record.
        columns: usize,
    },
    /// Parts that end within a block.
    #[error("a network takes parts of whole blocks of {0} rows, the last part excepted")]
    BrokenBlocks(usize),
    /// What only linear scores have.
    #[error("a network has no {0}")]
    NotOfNetworks(&'static str),
    /// What only columns that add up have.
    #[error("random features take all columns together, which leaves no {0}")]
    NotOfRandomFeatures(&'static str),
    /// An odd number of cosines and sines.
    #[error("random features are pairs of a cosine and a sine: {0} of them cannot be")]
    OddFeatures(u32),
    /// What a foreign score cannot have.
    #[error("a score of your own cannot have {0}")]
    NotOfForeign(&'static str),
    /// A run that needs a function, or has one that it does not need.
    #[error("a foreign score comes with the function that computes it, and no other score does")]
    NoFunction,
    /// A function that does not answer as it should to rows of zeros.
    #[error("the foreign score, asked about {rows} rows of {columns} zeros: {what}")]
    WrongAnswer {
        /// What was asked.
        rows: usize,
        /// Columns of a row.
        columns: usize,
        /// What came back.
        what: String,
    },
    /// A function that failed on records. What it said may be about them, and is not passed on.
    #[error(
        "the foreign score {0} on the records: the run ends and claims nothing, and what it released is spent"
    )]
    ForeignFailed(&'static str),
    /// A combination without a proof.
    #[error("there is no proved sensitivity for {0}")]
    NoProof(&'static str),
    /// A choice that another task has.
    #[error("the task {task} cannot be combined with {what}")]
    NotForTask {
        /// What was chosen.
        what: &'static str,
        /// What is to be learned.
        task: &'static str,
    },
    /// What is proved for tables of public size alone.
    #[error("there is no proof for {0} where the number of records is secret")]
    SecretSize(&'static str),
    /// Labels that everyone knows have a number that everyone knows.
    #[error("public labels would tell how many records there are, which is secret here")]
    PublicLabelsOfSecretSize,
    /// A table that does not say whose records they are.
    #[error("persons are to be protected, and the table does not say whose records they are")]
    NoPersons,
    /// A table of persons for a guarantee about records.
    #[error("the table says whose records they are, and only records would be protected")]
    Persons,
    /// A table of another number of persons.
    #[error("the table has {found} persons, the run is for {expected}")]
    WrongNumberOfPersons {
        /// What the run is for.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// A pair needs records of two persons.
    #[error("pairwise learning needs at least 2 persons, not {0}")]
    TooFewPersons(usize),
    /// Beyond what the records of a person are counted in.
    #[error("tables of persons have fewer than 2³² records")]
    TooManyRecords,
    /// How many labels a person has is secret.
    #[error(
        "labels cannot be public where persons are protected: they would tell how many records a person has"
    )]
    PublicLabelsOfPersons,
    /// What is proved for one record of each person alone.
    #[error("there is no proof for {0} with all records of a person")]
    NoWeights(&'static str),
    /// A promise about a number of records that is public anyway.
    #[error("a cap was promised, but none was given")]
    PromiseOfNothing,
    /// More records than the custodian promised. That it is refused tells so much of the table, and no guarantee covers it.
    #[error(
        "the table has more than the {0} records that were promised; this refusal tells that, and no guarantee covers it"
    )]
    BrokenPromise(usize),
    /// Public labels would weaken the promise and spare no noise.
    #[error("{0} needs as much noise for public labels as for private ones")]
    LabelsMakeNoDifference(&'static str),
    /// A model that cannot say what it is asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A measure that cannot be released.
    #[error("there is no private measure of a {task} model: {because}")]
    NoPrivateMeasure {
        /// What the model is for.
        task: &'static str,
        /// Why not.
        because: &'static str,
    },
    /// An algorithm of pairs for a loss of single records.
    #[error("`{}` learns from pairs, and this loss is of single records", .0.name())]
    NeedsPairs(Algorithm),
    /// A history of single records.
    #[error("`sgd-history` learns from pairs, and this loss is of single records")]
    NoHistory,
    /// A constant cancels in a pair.
    #[error("an intercept makes no difference to pairs")]
    NoIntercept,
    /// The number of records decides the number of steps.
    #[error("the number of steps of `{}` is fixed: it is {steps} here", .algorithm.name())]
    FixedSteps {
        /// Which algorithm.
        algorithm: Algorithm,
        /// Its steps.
        steps: usize,
    },
    /// Following every record at every step would take too long.
    #[error("{steps} steps over {records} records are too many to follow the influence of each record")]
    PathTooLong {
        /// Records.
        records: usize,
        /// Steps.
        steps: usize,
    },
    /// A loss that another task has.
    #[error("{task} has no {loss} loss")]
    TaskLoss {
        /// What is learned.
        task: &'static str,
        /// What was asked for.
        loss: &'static str,
    },
    /// A paper that says nothing about this.
    #[error("no printed formula for {0}")]
    NotPrinted(&'static str),
    /// A printed formula that does not give what it claims.
    #[error(
        "as printed by {paper} this is not certified: {because} (claimed ε = {claimed}; for this loss σ = {sigma:.4} gives ε = {delivered:.4}, which the claim does not show)"
    )]
    PrintedRefused {
        /// Whose formula.
        paper: &'static str,
        /// What is wrong.
        because: &'static str,
        /// The printed noise.
        sigma: f64,
        /// What it really gives.
        delivered: f64,
        /// What it is said to give.
        claimed: f64,
    },
    /// A plan that this machine cannot carry out.
    #[error("the plan needs {gigabytes:.0} GB of memory beside the table, which this machine does not give")]
    Memory {
        /// From public numbers alone.
        gigabytes: f64,
    },
    /// A part of a table that cannot be read.
    #[error(transparent)]
    Data(Box<DataError>),
    /// A table without files.
    #[error("there is no file to learn from")]
    NoParts,
    /// What cannot be asked of parts.
    #[error("{0} needs the table in one place")]
    OnePlace(&'static str),
    /// Workers that do not answer as they should.
    #[error("the engine failed: {0}")]
    Engine(String),
    /// Parameters that the noise does not cover.
    #[error("the parameters are outside the domain that the noise was calibrated for")]
    OutsideDomain,
    /// A checkpoint of another run.
    #[error(
        "the checkpoint belongs to another run, or was changed: plan, problem, table size or budget differ"
    )]
    Checkpoint,
    /// Whoever keeps count of the run, who does not let it go on.
    #[error(transparent)]
    Contested(#[from] Contested),
    /// A checkpoint that cannot be read or written.
    #[error("the checkpoint cannot be used: {0}")]
    Store(std::io::Error),
    /// Whoever waited for the run does not want it any more.
    #[error("training was stopped")]
    Stopped,
    /// The curator was opened for another kind of query.
    #[error("the curator was not opened for {0}")]
    WrongQuery(&'static str),
    /// A number of the plan is out of range.
    #[error("{what} must be {range}, not {}", shown::as_given(*.value))]
    Plan {
        /// Which number.
        what: &'static str,
        /// What is accepted.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// The budget's δ does not even cover the sampler's distance from the ideal.
    #[error("{0} is not possible: drawing the noise alone takes more δ than that")]
    DeltaTooSmall(Budget),
    /// The curator was opened for fewer releases.
    #[error("the curator was opened for {0} releases and has made them")]
    Exhausted(u32),
    /// The mechanism was calibrated for another table size.
    #[error(
        "the mechanism is for {expected} records of {expected_features} features, the table has {found} of {found_features}"
    )]
    WrongTable {
        /// Records it was calibrated for.
        expected: usize,
        /// Features it was calibrated for.
        expected_features: usize,
        /// Records found.
        found: usize,
        /// Features found.
        found_features: usize,
    },
}

/// Of a payer that never refuses.
impl From<std::convert::Infallible> for LearnError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl Hint for LearnError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unit(error) => error.code(),
            Self::Problem(error) => error.code(),
            Self::Accountant(error) => error.code(),
            Self::Noise(error) => error.code(),
            Self::Data(error) => error.code(),
            Self::Model(error) => error.code(),
            Self::NoParts => "table",
            Self::OnePlace(_) | Self::Engine(_) => "engine",
            Self::Checkpoint | Self::Contested(_) | Self::Store(_) => "checkpoint",
            Self::NoPrivateMeasure { .. } => "no-private-measure",
            _ => "plan",
        }
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        match self {
            Self::Unit(error) => error.hint(to),
            Self::Problem(error) => error.hint(to),
            Self::Records(error) => error.hint(to),
            Self::Accountant(error) => error.hint(to),
            Self::Noise(error) => error.hint(to),
            Self::DeltaTooSmall(_) => Some("choose a larger δ or a smaller ε".into()),
            Self::Stability(error) => error.hint(to),
            Self::NoProof(_) => Some("use `noisy-gd`, or leave out the choice that it is combined with".into()),
            Self::NotForTask { task: "survival", what } if !what.contains(' ') => Some(
                "choose `moments`, `noisy-gd`, `noisy-sgd`, `output-gd` or `phased-gd`".into(),
            ),
            Self::NotForTask { .. } => Some("leave it out".into()),
            Self::OfNetworks(_) => {
                Some(format!("{} asks for a network", to.setting("scores", "network")))
            }
            Self::LargeNetwork { .. } => Some("take fewer hidden units, or list fewer columns in the schema".into()),
            Self::BrokenBlocks(rows) => Some(format!(
                "write every part but the last with a multiple of {rows} rows, or train without an engine"
            )),
            Self::NotOfForeign(_) => Some(format!("leave it out, or train {}", to.setting("scores", "network"))),
            Self::NoFunction => Some("train from Python: `scores=` takes a `pairdp.scores.Score`".into()),
            Self::WrongAnswer { .. } | Self::ForeignFailed(_) => {
                Some("`pairdp.scores.check` says what is wrong, on rows that are public".into())
            }
            Self::OddFeatures(_) => Some("choose an even number, at least 2 and at most two million".into()),
            Self::NotOfNetworks(_) | Self::NotOfRandomFeatures(_) => {
                Some(format!("train linear scores: {}", to.setting("scores", "linear")))
            }
            Self::SecretSize(_) => {
                Some(format!("use the logistic loss and `noisy-gd` or `moments`, and promise the cap for probabilities ({}); or make the number of records public", to.either("`--promised`", "`promised=True`")))
            }
            Self::PublicLabelsOfSecretSize => Some(format!("leave out {} or {}", to.either("`--public-labels`", "`public_labels`"), to.either("`--max-records`", "`max_records`"))),
            Self::NoPersons => Some(
                to.either("name their column in the schema: [person] with `column = ...`", "pass `groups=`, which says whose record each row is")
                    .into(),
            ),
            Self::Persons => Some(
                to.either(
                    "leave [person] out of the schema if every record belongs to a different person",
                    "leave `groups` out, or set `unit=\"person\"`",
                )
                .into(),
            ),
            Self::PublicLabelsOfPersons => Some("leave public labels out".into()),
            Self::NoWeights(_) => Some(format!(
                "pass {}, which learns from one record of each person, drawn in secret",
                to.setting("per_person", "one")
            )),
            Self::PromiseOfNothing => Some(format!(
                "say how many records there are at most: {}",
                to.either("`--max-records`", "`max_records=`")
            )),
            Self::BrokenPromise(_) => Some(
                "nothing was released; leave the promise out, and do not try one cap after another: every refusal tells more".into(),
            ),
            Self::LabelsMakeNoDifference(_) => {
                Some("leave public labels out: the guarantee then covers labels too, at no cost".into())
            }
            Self::NeedsPairs(_) | Self::NoHistory => {
                Some("use `output-sgd` or `noisy-sgd`, which can learn from either".into())
            }
            Self::NoIntercept => Some("leave it out; the order of scores does not depend on it".into()),
            Self::NoPrivateMeasure { .. } => {
                Some("evaluate it on public records, leave out what cannot be released, or keep the exact measure inside".into())
            }
            Self::Model(error) => error.hint(to),
            Self::FixedSteps { .. } => Some("leave the number of steps out".into()),
            Self::PathTooLong { .. } => {
                Some("take fewer steps, or use `output-gd`, which does not have to".into())
            }
            Self::Data(error) => error.hint(to),
            Self::NoParts => Some("name a folder of tables, or a pattern such as 'parts/*.parquet'".into()),
            Self::OnePlace(ORDER_OF_TIME) => Some("use `moments`, or train without an engine".into()),
            Self::OnePlace(_) => Some(
                "train without an engine; or, with one, use `noisy-gd`, `output-gd`, `phased-gd` or `moments` with the logistic, hinge or squared loss, a public number of records and all records of a person"
                    .into(),
            ),
            Self::Contested(Contested::Elsewhere(_)) => Some(
                "continue from that copy; from this one, noise would be drawn twice for a budget that was paid once"
                    .into(),
            ),
            Self::Checkpoint => Some("delete it to start over, which spends the budget again".into()),
            Self::Memory { .. } => Some(format!(
                "list fewer columns and categories in the schema; the memory of {} grows with their number and not with its square, except for metrics",
                to.setting("algorithm", "noisy-gd")
            )),
            Self::TaskLoss { .. } => Some("leave the loss out for the usual one".into()),
            Self::NotPrinted(_) => Some(format!("{} has noise for it", to.setting("calibration", "certified"))),
            Self::PrintedRefused { .. } => {
                Some(format!("{} has noise that suffices", to.setting("calibration", "certified")))
            }
            Self::Plan { .. }
            | Self::Contested(Contested::Unknown(_))
            | Self::Store(_)
            | Self::Stopped
            | Self::Exhausted(_)
            | Self::WrongTable { .. }
            | Self::WrongNumberOfPersons { .. }
            | Self::TooFewPersons(_)
            | Self::TooManyRecords
            | Self::WrongQuery(_)
            | Self::Engine(_)
            | Self::OutsideDomain
            | Self::FeatureBound { .. } => None,
        }
    }
}
