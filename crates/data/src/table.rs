//! Files into vectors and targets.

use crate::cell_encoder::CellEncoder;
use crate::format::Format;
use crate::source::{Growth, Source};
use crate::{DataError, Delimiter, Encoding, Label, Owners, PersonColumn, PersonIds, csv, libsvm, parquet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Entries that a row may still get: the constant that some ways to learn append to it. With room for it, no second matrix is needed.
pub(crate) const SPARE: usize = 1;

/// So many zeros with room for more, straight from the operating system: what is never touched takes no memory.
pub(crate) fn zeros(length: usize, room: usize) -> Vec<f64> {
    let mut zeros = vec![0.0; room];
    zeros.truncate(length);
    zeros
}

/// An encoded table.
pub struct Table {
    /// Row-major vectors.
    pub features: Vec<f64>,
    /// Length of a vector.
    pub columns: usize,
    /// A target a row, as its [`LabelKind`](crate::LabelKind) says; empty when labels were not asked for.
    pub targets: Vec<f64>,
    /// Number of rows.
    pub rows: usize,
    /// Whose each row is, where persons were asked for.
    pub owners: Option<Owners>,
}

/// Whether a table must hold labels.
#[derive(Clone, Copy)]
pub enum LabelUse<'a> {
    /// Read this label.
    Read(&'a Label),
    /// Read this label, and whose each record is.
    OfPersons(&'a Label, &'a PersonColumn),
    /// Labels are neither needed nor read.
    Ignore,
}

impl Table {
    /// Reads a table; columns that the encoding does not name are skipped. The file's ending says what it is.
    ///
    /// # Errors
    /// [`DataError`] with file, line and column; never with a cell's content.
    pub fn read(path: &Path, encoding: &Encoding, labels: LabelUse<'_>) -> Result<Self, DataError> {
        Self::read_counted(path, encoding, labels, &Arc::default())
    }

    /// Reads the files of one table, in order.
    ///
    /// # Errors
    /// As [`Table::read`]; [`DataError::NoTables`] without files.
    pub fn read_files(
        paths: &[PathBuf],
        encoding: &Encoding,
        labels: LabelUse<'_>,
    ) -> Result<Self, DataError> {
        Self::read_with_ids(paths, encoding, labels).map(|(table, _)| table)
    }

    /// The same with the id of each person, in the order of [`Owners`]; none where persons were not asked for.
    ///
    /// # Errors
    /// As [`Table::read_files`].
    pub fn read_with_ids(
        paths: &[PathBuf],
        encoding: &Encoding,
        labels: LabelUse<'_>,
    ) -> Result<(Self, PersonIds), DataError> {
        // One person may be in several files.
        let rules = CellEncoder::new(encoding, labels);
        let mut tables = paths.iter().map(|path| Self::read_by(path, &rules, &Arc::default()));
        let (mut all, mut persons) =
            tables.next().unwrap_or_else(|| Err(DataError::NoTables { path: PathBuf::new() }))?;
        for table in tables {
            let (table, of_row) = table?;
            all.features.extend_from_slice(&table.features);
            all.targets.extend_from_slice(&table.targets);
            all.rows += table.rows;
            persons.extend_from_slice(&of_row);
        }
        Ok(match rules.ids {
            Some(known) => {
                let (owners, ids) = known.owners(persons);
                (Self { owners: Some(owners), ..all }, ids)
            }
            None => (all, Vec::new()),
        })
    }

    /// [`Table::read`] for whoever waits: the counter has how many bytes of a text file were read so far.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_counted(
        path: &Path,
        encoding: &Encoding,
        labels: LabelUse<'_>,
        counter: &Arc<AtomicU64>,
    ) -> Result<Self, DataError> {
        let rules = CellEncoder::new(encoding, labels);
        let (table, persons) = Self::read_by(path, &rules, counter)?;
        Ok(table.owned(rules.ids.is_some(), persons))
    }

    /// A table and, if they were asked for, a number for the person of each row.
    pub(crate) fn read_by(
        path: &Path,
        rules: &CellEncoder<'_>,
        counter: &Arc<AtomicU64>,
    ) -> Result<(Self, Vec<u32>), DataError> {
        let growth = if rules.ids.is_some() { Growth::Unbounded } else { Growth::WithinReason };
        let open = |packed| Source::counted(path, packed, growth, Arc::clone(counter));
        match Format::of(path)? {
            Format::Csv { packed } => csv::read(open(packed)?, rules),
            Format::Libsvm { packed } => libsvm::read(open(packed)?, rules),
            Format::Parquet => parquet::read(path, rules),
        }
    }

    fn owned(self, of_persons: bool, persons: Vec<u32>) -> Self {
        Self { owners: of_persons.then(|| Owners::new(persons)), ..self }
    }

    /// A table of vectors of a length, with a target for each.
    ///
    /// # Panics
    /// If there is not a target for each: a mistake of the caller.
    pub fn new(features: Vec<f64>, columns: usize, targets: Vec<f64>) -> Self {
        assert_eq!(features.len(), columns * targets.len(), "a target for each row");
        Self { rows: targets.len(), features, columns, targets, owners: None }
    }

    /// A table of so many vectors of zeros.
    pub(crate) fn of_zeros(rows: usize, columns: usize) -> Self {
        let features = zeros(rows * columns, rows * (columns + SPARE));
        Self { features, rows, ..Self::empty(columns) }
    }

    /// An empty table of vectors of a length.
    pub(crate) fn empty(columns: usize) -> Self {
        Self { features: Vec::new(), columns, targets: Vec::new(), rows: 0, owners: None }
    }

    /// How many persons there are, where they were asked for, and otherwise how many records.
    pub fn size(&self) -> usize {
        self.owners.as_ref().map_or(self.rows, Owners::persons)
    }

    /// The names of a file's columns, without a look at its records.
    ///
    /// # Errors
    /// [`DataError`] when the file cannot be read, is empty, or is of a kind that has no names.
    pub fn header(path: &Path) -> Result<Vec<String>, DataError> {
        match Format::of(path)? {
            Format::Csv { packed } => Ok(csv::Header::guessed(path, packed)?.0.names),
            Format::Libsvm { .. } => Err(DataError::NoHeader { path: path.to_owned() }),
            Format::Parquet => parquet::header(path),
        }
    }

    /// What seems to stand between the cells of a file's header, for whoever writes its schema.
    ///
    /// # Errors
    /// As [`Table::header`].
    pub fn delimiter(path: &Path) -> Result<Delimiter, DataError> {
        match Format::of(path)? {
            Format::Csv { packed } => Ok(csv::Header::guessed(path, packed)?.1),
            _ => Ok(Delimiter::default()),
        }
    }

    /// Whether a file has the columns that are to be read, without a look at its records. Returns the names of all
    /// its columns: none, for a kind that has no names.
    ///
    /// # Errors
    /// [`DataError`] that says which column is not there, or not of a type that can be read.
    pub fn check(path: &Path, encoding: &Encoding, labels: LabelUse<'_>) -> Result<Vec<String>, DataError> {
        let rules = CellEncoder::new(encoding, labels);
        match Format::of(path)? {
            Format::Csv { packed } => csv::check(Source::open(path, packed)?, &rules),
            Format::Libsvm { packed } => {
                let source = Source::open(path, packed)?;
                libsvm::indices(&source.path, &rules).map(|_| Vec::new())
            }
            Format::Parquet => parquet::check(path, &rules),
        }
    }

    /// Lengthens with zeros to so many rows; `false` if there is no such memory.
    pub(crate) fn make_room(&mut self, rows: usize, labelled: bool) -> bool {
        let grow = |values: &mut Vec<f64>, columns: usize, spare: usize| {
            let sizes = rows.checked_mul(columns).zip(rows.checked_mul(columns + spare));
            let Some((length, room)) = sizes else { return false };
            if !values.is_empty() {
                let fits = values.try_reserve_exact(room.saturating_sub(values.len())).is_ok();
                if fits {
                    values.resize(length, 0.0);
                }
                return fits;
            }
            let fits = Vec::<f64>::new().try_reserve_exact(room).is_ok();
            if fits {
                *values = zeros(length, room);
            }
            fits
        };
        grow(&mut self.features, self.columns, SPARE) && grow(&mut self.targets, usize::from(labelled), 0)
    }

    /// Which rows have a target above 0: the positive ones of a binary label.
    pub fn positive(&self) -> Vec<bool> {
        self.targets.iter().map(|target| *target > 0.0).collect()
    }

    /// Refuses tables that cannot form a pair.
    ///
    /// # Errors
    /// [`DataError::TooFewRecords`].
    pub fn require_pairs(self, path: &Path) -> Result<Self, DataError> {
        if self.size() < 2 {
            let path = path.to_owned();
            return Err(match self.owners {
                Some(_) => DataError::TooFewPersons { path },
                None => DataError::TooFewRecords { path },
            });
        }
        Ok(self)
    }
}
