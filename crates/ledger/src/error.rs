use pairdp_accountant::AccountantError;
use pairdp_units::{Adjacency, Budget, Delta, FrontEnd, Hint, Unit, shown};
use std::path::PathBuf;

/// What a ledger refuses, or why it cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The run does not fit what is left.
    #[error("the run needs {asked} but `{dataset}` has already spent ε = {} of its {granted}", shown::up(*spent))]
    DoesNotFit {
        /// The data set.
        dataset: String,
        /// What the run claims.
        asked: Budget,
        /// ε spent so far.
        spent: f64,
        /// The grant.
        granted: Budget,
        /// The largest ε of a run with Gaussian noise, at the δ asked for, that would fit.
        fits: Option<f64>,
    },
    /// No data set of that name.
    #[error("the ledger has no data set `{0}`")]
    NoDataSet(String),
    /// A data set of that name is there already.
    #[error("the ledger has a data set `{0}` already")]
    DataSetExists(String),
    /// A name or label that cannot be shown safely.
    #[error("{what} must be 1 to {most} characters without control characters")]
    Text {
        /// What it names.
        what: &'static str,
        /// The most characters.
        most: usize,
    },
    /// A run under another adjacency than the data set's.
    #[error("the grant of `{dataset}` is for {expected}, and the run is private for {found}")]
    Adjacency {
        /// The data set.
        dataset: String,
        /// Its adjacency.
        expected: Adjacency,
        /// The run's.
        found: Adjacency,
    },
    /// The run would read the table by a schema that is not the data set's.
    #[error("`{0}` is read by another schema than this one, and the schema belongs to the data set")]
    OtherSchema(String),
    /// Nobody said what the table is read by.
    #[error("the ledger does not say by which schema `{0}` is read")]
    NoSchema(String),
    /// Nobody said how many records the table has.
    #[error("the ledger does not say how many records `{0}` has")]
    NoSize(String),
    /// Another cap than the owner promised.
    #[error("at most {promised} records are promised of `{dataset}`, and the run promises another number")]
    OtherPromise {
        /// The data set.
        dataset: String,
        /// The cap that the ledger knows.
        promised: usize,
    },
    /// The table is not the one that was booked.
    #[error("the table has {found} {}, the ledger says {known} for `{dataset}`", .unit.many())]
    OtherSize {
        /// The data set.
        dataset: String,
        /// What is counted.
        unit: Unit,
        /// So many of the table.
        found: usize,
        /// Records that the ledger knows.
        known: usize,
    },
    /// The releases cost more than is claimed.
    #[error("the run claims {claim} but its releases cost ε = {}", shown::up(*epsilon))]
    Claim {
        /// What is claimed.
        claim: Budget,
        /// What it costs at that δ.
        epsilon: f64,
    },
    /// The part of δ for the sampler is more than all of it.
    #[error("{claim} does not cover the δ = {sampler_delta} that drawing the noise costs")]
    SamplerDelta {
        /// Set aside for the sampler.
        sampler_delta: Delta,
        /// What is claimed.
        claim: Budget,
    },
    /// A run that is done was to go on.
    #[error("run {0} is done and cannot go on")]
    RunIsDone(String),
    /// A saved state that is not the last of its run.
    #[error("run {0} was already continued from another copy of its checkpoint")]
    WentOnElsewhere(String),
    /// A model that was found is not of the run that it names.
    #[error("run {0} reserved other releases than those of this model")]
    OtherReleases(String),
    /// The run is over already, or of another ledger.
    #[error("run {0} is not open in this ledger")]
    NoOpenRun(String),
    /// More was released than reserved; it was recorded and charged.
    #[error("run {0} released more than it had reserved; both were recorded as spent")]
    ReleasedMore(String),
    /// No bound for this kind of release.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// The history is not what was written.
    #[error("the history was changed: {0}")]
    Damaged(#[from] Damage),
    /// Another key made this ledger.
    #[error("the key is not the one this ledger was made with")]
    WrongKey,
    /// There is no key file.
    #[error("{0}: there is no key")]
    NoKey(PathBuf),
    /// Others can read the key.
    #[error("{0}: other users can read this key")]
    OpenKey(PathBuf),
    /// Not a key.
    #[error("{0}: this is not a ledger key, which is 64 hexadecimal digits")]
    MalformedKey(String),
    /// The command that should give the key did not.
    #[error("the key command failed: {0}")]
    KeyCommand(String),
    /// There is no ledger.
    #[error("{0}: there is no ledger")]
    Missing(PathBuf),
    /// There is a file already.
    #[error("{0}: the file exists already")]
    Exists(PathBuf),
    /// Another kind of file.
    #[error("{0}: this is not a pairdp ledger")]
    NotALedger(PathBuf),
    /// A newer version wrote it.
    #[error("the ledger has version {found}, this pairdp reads up to {known}")]
    Newer {
        /// The file's.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Someone else holds the lock.
    #[error("the ledger is locked by another process")]
    Busy,
    /// SQLite could not do its part.
    #[error("the ledger could not be read or written: {0}")]
    Store(#[source] rusqlite::Error),
    /// The file system could not.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No randomness for a run's name or a key.
    #[error("the operating system gives no randomness: {0}")]
    Randomness(#[from] getrandom::Error),
    /// An entry could not be written as JSON.
    #[error("an entry could not be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// What is wrong with a history, by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// A row's content or place does not match its hash.
    #[error("entry {0} is not what was written there")]
    Entry(u64),
    /// A row is not there.
    #[error("entry {0} is missing")]
    Missing(u64),
    /// Rows were cut off or put on at the end.
    #[error("there are {found} entries where {sealed} were sealed")]
    Count {
        /// Rows found.
        found: u64,
        /// The sealed number.
        sealed: u64,
    },
    /// The seal does not match.
    #[error("the seal of the last entry does not match")]
    Seal,
    /// Tables, triggers or views that do not belong.
    #[error("the tables are not those of a ledger")]
    Tables,
    /// SQLite's own structures are broken.
    #[error("the file is not a sound database")]
    Database,
    /// An entry that is authentic but contradicts those before it.
    #[error("entry {0} contradicts the entries before it")]
    Contradiction(u64),
    /// An earlier state is not part of this history.
    #[error("the history does not continue {0}: an old copy may have been put back")]
    Rollback(String),
}

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy,
            Some(DatabaseCorrupt | NotADatabase) => Damage::Database.into(),
            _ => Self::Store(error),
        }
    }
}

fn grant(dataset: &str, to: FrontEnd) -> String {
    to.either(
        format!("`pairdp budget grant {dataset}`"),
        format!("`Ledger.grant({dataset:?}, epsilon=..., delta=...)`"),
    )
}

fn set_schema(dataset: &str) -> String {
    format!("`Ledger.set_schema({dataset:?}, ...)`")
}

impl Hint for LedgerError {
    fn code(&self) -> &'static str {
        match self {
            Self::DoesNotFit { .. } => "over-budget",
            Self::Damaged(_) => "ledger-damaged",
            _ => "ledger",
        }
    }

    fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Busy | Self::Store(_) | Self::Io { .. } | Self::Randomness(_) | Self::KeyCommand(_)
        )
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        Some(match self {
            Self::NoSize(_) => {
                format!("enter the data set with its number of records; where that is secret, say how many there are at most: {}", to.either("`--max-records` or `--max-persons`", "`max_records=` or `max_persons=`"))
            }
            Self::OtherPromise { promised, .. } => {
                format!("pass {}", to.setting("max_records", &promised.to_string()))
            }
            Self::OtherSize { .. } => {
                "nothing was spent; name the table's own data set, or enter this table as a new one".into()
            }
            Self::DoesNotFit { dataset, fits: Some(epsilon), .. } => format!(
                "pass {}, which fits with Gaussian noise, or ask the owner to run {}",
                to.setting("epsilon", &epsilon.to_string()),
                grant(dataset, to)
            ),
            Self::DoesNotFit { dataset, fits: None, .. } => {
                format!("no run with Gaussian noise at this δ fits what is left; a smaller ε or another δ may fit, or ask the owner to run {}", grant(dataset, to))
            }
            Self::NoDataSet(name) => {
                let (show, create) = to.either(
                    ("pairdp budget show", format!("pairdp budget create {name}")),
                    ("Ledger.show", format!("Ledger.add({name:?}, ...)")),
                );
                format!("`{show}` lists them; `{create}` makes one")
            }
            Self::DataSetExists(name) => {
                format!("{} changes what it may spend", grant(name, to))
            }
            Self::OtherSchema(name) => format!(
                "use the schema that was set; nothing was opened or spent. Its owner changes it with {}",
                to.either(format!("`pairdp budget schema {name}`"), set_schema(name))
            ),
            Self::NoSchema(name) => {
                let command = format!("`pairdp budget schema {name} --schema FILE`");
                format!("its owner sets it once: {}", to.either(command, set_schema(name)))
            }
            Self::RunIsDone(_) => {
                "`pairdp budget recover` puts its model in place; to train another model, which costs budget again, remove the checkpoint".into()
            }
            Self::WentOnElsewhere(_) => {
                "continue from that copy; from this one, noise would be drawn twice for a budget that was paid once".into()
            }
            Self::SamplerDelta { .. } => "choose a larger δ or a smaller ε".into(),
            Self::Accountant(error) => return error.hint(to),
            Self::Damaged(Damage::Rollback(_)) => {
                "find out who restored the file; until then take what was spent from your own notes".into()
            }
            Self::Damaged(_) => {
                format!("do not train on its data sets; restore a copy that {} accepts and compare it with an export", to.either("`pairdp budget check`", "`Ledger.check`"))
            }
            Self::WrongKey | Self::NoKey(_) => {
                format!("the key is made with the ledger, in FILE.key; restore it from a backup, or pass {}", to.either("--key-command", "`key_command=`"))
            }
            Self::OpenKey(path) => format!("let only its owner read it: chmod 600 {}", path.display()),
            Self::MalformedKey(_) => {
                "restore the key from a backup: a ledger opens with no other; a file that no ledger belongs to may be removed".into()
            }
            Self::Missing(_) => {
                to.either("`pairdp budget create NAME --ledger FILE` makes one", "`Ledger.create` makes one").into()
            }
            Self::Exists(_) => "name another file".into(),
            Self::NotALedger(_) => {
                format!("name a file that {} made", to.either("`pairdp budget create`", "`Ledger.create`"))
            }
            Self::Newer { .. } => "use a newer pairdp".into(),
            Self::Busy => "try again; a command holds the lock for milliseconds only".into(),
            Self::Adjacency { .. } => {
                "the two protect different things; enter the table as another data set with its own grant".into()
            }
            Self::Text { .. }
            | Self::Claim { .. }
            | Self::OtherReleases(_)
            | Self::NoOpenRun(_)
            | Self::ReleasedMore(_)
            | Self::KeyCommand(_)
            | Self::Store(_)
            | Self::Io { .. }
            | Self::Randomness(_)
            | Self::Json(_) => return None,
        })
    }
}
