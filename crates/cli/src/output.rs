//! Files that a command writes.
//!
//! A place is taken before anything is read or spent: an [`Output`] can only be made from a path that is none of the command's
//! inputs, holds nothing that could not be had again, and can be written to. So a run that has paid for a model has somewhere
//! to put it, and no slip of the keyboard costs anybody a table, a ledger, a schema or a model.

pub(crate) mod draft;
mod found;
pub(crate) mod paid;

use crate::args::Spending;
use crate::failure::Failure;
use crate::files::schema_beside;
use draft::{Draft, Onto};
use found::Found;
use pairdp_data::table_files;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What a command writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Model,
    Baseline,
    Predictions,
    Influence,
    Page,
    Onnx,
    Scoring,
    LedgerExport,
    Plot,
    Schema,
    Table,
    ManualPage,
    Checkpoint,
    AuditRuns,
    Check,
    SigningKey,
    PublicKey,
    Signature,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Model | Self::Baseline => "a model",
            Self::Predictions => "a file of predictions",
            Self::Influence => "a file of influences",
            Self::Page => "a page of pairdp",
            Self::Onnx => "an ONNX file of pairdp",
            Self::Scoring => "an exported model",
            Self::LedgerExport => "an exported history",
            Self::Plot => "a plot",
            Self::Schema => "a schema",
            Self::Table => "a table",
            Self::ManualPage => "a manual page",
            Self::Checkpoint => "a checkpoint",
            Self::AuditRuns => "a file of audited runs",
            Self::Check => "a custodian's check",
            Self::SigningKey => "a signing key",
            Self::PublicKey => "a public key",
            Self::Signature => "a signature",
        }
    }

    /// Whether it is about records and not protected by noise, or for the custodian alone until a run is done.
    fn for_its_owner(self) -> bool {
        matches!(
            self,
            Self::Baseline
                | Self::Predictions
                | Self::Influence
                | Self::Checkpoint
                | Self::Check
                | Self::SigningKey
        )
    }

    /// Whether a file of this kind can be had again by running the command again. A model cannot: it cost budget, and its noise
    /// is never the same twice. A table or a schema may have been somebody's work, and so may numbers under the name `score`:
    /// nothing in a file of predictions says who wrote it.
    fn replaces(self, found: Found) -> bool {
        match self {
            // A signature may be another's, and a key cannot be had again.
            Self::Model
            | Self::Schema
            | Self::Table
            | Self::Predictions
            | Self::Signature
            | Self::SigningKey
            | Self::PublicKey => false,
            _ => found == Found::Kind(self),
        }
    }
}

/// Whether something that cannot be had again may be replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    /// The command has no way to ask for it.
    Never,
    /// `--force` was not given.
    NotAsked,
    /// It was.
    Asked,
}

impl From<bool> for Force {
    fn from(asked: bool) -> Self {
        if asked { Self::Asked } else { Self::NotAsked }
    }
}

/// What a command has a file for.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Table,
    Schema,
    Model,
    Ledger,
    Key,
    Result,
}

impl Role {
    fn words(self) -> &'static str {
        match self {
            Self::Table => "this is the table that the command reads",
            Self::Schema => "this is the schema that the command reads",
            Self::Model => "this is the model that the command reads",
            Self::Ledger => "this belongs to the ledger that the command uses",
            Self::Key => "this is the key that the command reads",
            Self::Result => "the command already writes another of its files there",
        }
    }
}

/// What the names of files end in that belong to a ledger: its key, and its database's journals.
const LEDGER_ENDINGS: [&str; 4] = [".key", "-journal", "-wal", "-shm"];

/// The files that a command reads, and others that it writes.
#[derive(Default, Clone)]
pub(crate) struct Taken(Vec<(PathBuf, Role)>);

impl Taken {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    /// A file.
    pub(crate) fn and(mut self, path: impl Into<PathBuf>, role: Role) -> Self {
        self.0.push((path.into(), role));
        self
    }

    /// A table with all its files, and its schema.
    pub(crate) fn and_table(self, data: &Path, schema: Option<&Path>) -> Self {
        let schema = schema.map_or_else(|| schema_beside(data), Path::to_owned);
        // A table that is not there is refused when it is read.
        let files = table_files(data).unwrap_or_default();
        let tables =
            files.into_iter().fold(self.and(data, Role::Table), |taken, file| taken.and(file, Role::Table));
        tables.and(schema, Role::Schema)
    }

    /// A ledger with its key and its database's journal.
    pub(crate) fn and_ledger(mut self, ledger: &Path) -> Self {
        for ending in [""].iter().chain(&LEDGER_ENDINGS) {
            let mut name = ledger.as_os_str().to_owned();
            name.push(ending);
            self = self.and(name, Role::Ledger);
        }
        self
    }

    /// The ledger that pays, if one does.
    pub(crate) fn and_spending(self, spending: &Spending) -> Self {
        match &spending.ledger {
            Some(ledger) => self.and_ledger(ledger),
            None => self,
        }
    }

    /// Refuses to write to one of them.
    pub(crate) fn refuse(&self, path: &Path) -> Result<(), Failure> {
        match self.0.iter().find(|(taken, _)| same(taken, path)) {
            Some((_, role)) => Err(Failure::refused(
                format!("{}: {}", path.display(), role.words()),
                "name another file to write",
            )),
            None => Ok(()),
        }
    }
}

/// Who wrote a Parquet file, as far as it says so itself.
pub(crate) const PARQUET_MARK: &str = "predictions of pairdp";

/// What every custodian's check begins with.
pub(crate) const NOT_PRIVATE: &str = "not private: do not publish";

/// What sets our plots apart from other pictures.
const PLOT_MARK: &str = "<!-- a plot of pairdp -->";

/// A plot as a file, with the mark by which it may be replaced.
pub(crate) fn plot_file(svg: &str) -> String {
    svg.replacen('>', &format!(">\n{PLOT_MARK}"), 1)
}

/// A place for a file that is written once, at the end.
pub(crate) struct Output {
    path: PathBuf,
    way: Way,
}

enum Way {
    /// Whole or not at all: written beside its place, then put there.
    Beside(Draft),
    /// Into a pipe or a device, which stays what it is.
    Through(File),
}

impl Output {
    /// Takes a place.
    pub(crate) fn new(path: &Path, kind: Kind, force: Force, taken: &Taken) -> Result<Self, Failure> {
        taken.refuse(path)?;
        let way = match Place::of(path)? {
            Place::Node => {
                let node = File::options().write(true).open(path);
                Way::Through(node.map_err(|error| Failure::write(path, &error))?)
            }
            Place::Regular(place) => {
                let onto = Onto::at(&place);
                if kind == Kind::Model
                    && place.file_name().is_some_and(|name| name.len() > paid::LONGEST_NAME)
                {
                    return Err(Failure::refused(
                        format!(
                            "{}: the name of a model has at most {} bytes",
                            path.display(),
                            paid::LONGEST_NAME
                        ),
                        "name it shorter: until it is in its place it is kept under a longer name",
                    ));
                }
                may_replace(path, kind, force)?;
                draft::sweep(&place);
                let draft = Draft::for_place(&place, onto, kind.for_its_owner());
                Way::Beside(draft.map_err(|error| Failure::write(path, &error))?)
            }
        };
        Ok(Self { path: path.to_owned(), way })
    }

    /// Where it was told to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Failure> {
        let Self { path, way } = self;
        way.write_whole(bytes).map_err(|error| Failure::write(&path, &error))
    }

    /// The file, to be written bit by bit.
    pub(crate) fn stream(self) -> Stream {
        let Self { path, way } = self;
        Stream { path, way: io::BufWriter::new(way) }
    }

    /// Writes what was paid for: if not to its place, then to one where it is not lost.
    pub(crate) fn write_paid(self, bytes: &[u8]) -> Result<(), Failure> {
        let Self { path, way } = self;
        let Err(error) = way.write_whole(bytes) else { return Ok(()) };
        let message = Failure::not_written(&path, &error);
        let kept = draft::elsewhere(bytes).map(|path| format!("was kept as {}", path.display()));
        let kept = kept.unwrap_or_else(|_| {
            let _ = io::stdout().write_all(bytes);
            "went to standard output".to_owned()
        });
        Err(Failure::Failed(format!("{message}; the model is paid for and {kept}")))
    }
}

impl Way {
    fn write_whole(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Beside(draft) => draft.put(bytes),
            Self::Through(mut node) => node.write_all(bytes).and_then(|()| node.flush()),
        }
    }
}

/// A file that is written bit by bit. It is in its place when it is whole, and never before.
pub(crate) struct Stream {
    path: PathBuf,
    way: io::BufWriter<Way>,
}

impl Stream {
    /// Puts it in its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { path, way } = self;
        let way = way.into_inner().map_err(io::IntoInnerError::into_error);
        let placed = way.and_then(|way| match way {
            Way::Beside(draft) => draft.place(),
            Way::Through(mut node) => node.flush(),
        });
        placed.map_err(|error| Failure::write(&path, &error))
    }
}

impl io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.way.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.way.flush()
    }
}

impl io::Write for Way {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(draft) => draft.write(bytes),
            Self::Through(node) => node.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(draft) => draft.flush(),
            Self::Through(node) => node.flush(),
        }
    }
}

/// A place for a file that is written again and again while a command runs, and read if it is there.
pub(crate) struct Kept {
    place: PathBuf,
    for_its_owner: bool,
}

impl Kept {
    pub(crate) fn new(path: &Path, kind: Kind, taken: &Taken) -> Result<Self, Failure> {
        taken.refuse(path)?;
        let Place::Regular(place) = Place::of(path)? else {
            return Err(Failure::refused(
                format!(
                    "{}: {} is read again, which a pipe or a device cannot be",
                    path.display(),
                    kind.name()
                ),
                "name a file",
            ));
        };
        let for_its_owner = kind.for_its_owner();
        draft::sweep(&place);
        may_replace(path, kind, Force::Never)?;
        Draft::for_place(&place, Onto::at(&place), for_its_owner)
            .map_err(|error| Failure::write(path, &error))?;
        Ok(Self { place, for_its_owner })
    }

    /// Where it is, with links followed.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    pub(crate) fn save(&self, bytes: &[u8]) -> io::Result<()> {
        Draft::for_place(&self.place, Onto::at(&self.place), self.for_its_owner)?.put(bytes)
    }
}

/// What a path leads to.
enum Place {
    /// A file, or none yet.
    Regular(PathBuf),
    /// A pipe or a character device.
    Node,
}

impl Place {
    fn of(path: &Path) -> Result<Self, Failure> {
        match std::fs::metadata(path) {
            Ok(there) if there.is_file() => match path.canonicalize() {
                Ok(place) => Ok(Self::Regular(place)),
                Err(error) => Err(Failure::write(path, &error)),
            },
            Ok(there) if there.is_dir() => {
                Err(Failure::refused(format!("{}: this is a folder", path.display()), "name a file"))
            }
            Ok(there) if is_stream(&there) => Ok(Self::Node),
            Ok(_) => Err(Failure::refused(
                format!("{}: this is neither a file nor something to write to", path.display()),
                "name a file",
            )),
            Err(_) if path.is_symlink() => Err(Failure::refused(
                format!("{}: this link leads nowhere", path.display()),
                "make the file that it should lead to, or name another",
            )),
            Err(_) => {
                let folder = folder_of(path);
                if path.file_name().is_none() || !folder.is_dir() {
                    return Err(Failure::refused(
                        format!("{}: no such folder", folder.display()),
                        "create it first",
                    ));
                }
                Ok(Self::Regular(path.to_owned()))
            }
        }
    }
}

fn may_replace(path: &Path, kind: Kind, force: Force) -> Result<(), Failure> {
    let shown = path.display();
    if let Some(ledger) = ledger_beside(path) {
        return Err(Failure::refused(
            format!("{shown}: this name belongs to the ledger {}", ledger.display()),
            "name another file to write",
        ));
    }
    let found = Found::at(path).map_err(|error| Failure::write(path, &error))?;
    let named = || match found {
        Found::Kind(Kind::Model) if kind == Kind::Model => {
            format!("{shown}: there is a model already, which cost budget")
        }
        Found::Kind(other) => format!("{shown}: there is {} already", other.name()),
        Found::Ledger => format!("{shown}: this is a ledger"),
        Found::Key => format!("{shown}: this is a key"),
        Found::SimulatedSchema => format!("{shown}: there is {} already", Kind::Schema.name()),
        _ if kind == Kind::Table => format!("{shown}: there is a file already"),
        _ => format!("{shown}: there is a file already, and it is not {}", kind.name()),
    };
    let by_force = match kind {
        Kind::Model | Kind::Predictions | Kind::Signature => found == Found::Kind(kind),
        // It says that the table is public, and must not take the place of a schema that somebody wrote.
        Kind::Schema => found == Found::SimulatedSchema,
        Kind::Table => {
            matches!(found, Found::Other | Found::SimulatedSchema | Found::Kind(Kind::Predictions))
        }
        _ => false,
    };
    match (found, force) {
        (Found::Nothing, _) => Ok(()),
        _ if kind.replaces(found) || (by_force && force == Force::Asked) => Ok(()),
        (_, Force::NotAsked) if by_force => {
            Err(Failure::coded("exists", named(), "name another file with --out, or replace it with --force"))
        }
        (Found::Ledger | Found::Key, _) => Err(Failure::refused(named(), "name another file to write")),
        _ => {
            Err(Failure::coded("exists", named(), "name another file to write, or move this one away first"))
        }
    }
}

/// The ledger whose key this would be, or whose database would read it as its journal and roll back what was spent.
fn ledger_beside(path: &Path) -> Option<PathBuf> {
    let folder = folder_of(path).canonicalize().ok()?;
    let name = path.file_name()?.to_str()?;
    let mut ledgers = LEDGER_ENDINGS.iter().filter_map(|ending| name.strip_suffix(*ending));
    let is_ledger = |name: &&str| {
        let place = folder.join(name);
        place.is_file() && Found::at(&place).is_ok_and(|found| found == Found::Ledger)
    };
    ledgers.find(is_ledger).map(|name| path.with_file_name(name))
}

/// Whether a file holds just this. A pipe is not asked: whoever reads from it waits for what we are about to write.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> bool {
    path.is_file() && std::fs::read(path).is_ok_and(|found| found == bytes)
}

/// Makes a folder for outputs, unless it is there.
pub(crate) fn folder(path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_dir() => {
            Err(Failure::refused(format!("{}: this is a file", path.display()), "name a folder"))
        }
        _ => std::fs::create_dir_all(path).map_err(|error| Failure::write(path, &error)),
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether two paths lead to one file: by links of either kind, or to one that is not there yet.
fn same(a: &Path, b: &Path) -> bool {
    let name = |path: &Path| {
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?)))
    };
    let one_file = identity(a).is_some() && identity(a) == identity(b);
    one_file || name(a).is_some_and(|a| Some(a) == name(b))
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let there = std::fs::metadata(path).ok()?;
    // Everybody may share a terminal or /dev/null.
    (!is_device(&there)).then(|| (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(unix)]
fn is_device(there: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    there.file_type().is_char_device()
}

#[cfg(unix)]
fn is_stream(there: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    there.file_type().is_fifo() || is_device(there)
}

#[cfg(not(unix))]
fn is_stream(_: &std::fs::Metadata) -> bool {
    false
}
