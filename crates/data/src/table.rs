//! Reading a CSV file into vectors and labels.

use crate::error::CellProblem;
use crate::{DataError, Encoding, Label};
use csv::StringRecord;
use std::fs::File;
use std::path::Path;

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
}

/// Whether a table must hold labels.
#[derive(Clone, Copy)]
pub enum LabelUse<'a> {
    /// Read this label.
    Read(&'a Label),
    /// Labels are neither needed nor read.
    Ignore,
}

impl Table {
    /// Reads a CSV file with a header; columns that the encoding does not name are skipped.
    ///
    /// # Errors
    /// [`DataError`] with file, line and column; never with a cell's content.
    pub fn read_csv(path: &Path, encoding: &Encoding, labels: LabelUse<'_>) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|source| DataError::io(path, source))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(DataError::io(path, std::io::ErrorKind::IsADirectory.into()));
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
        let header = reader.headers().map_err(|error| malformed(path, error))?.clone();
        if header.iter().all(str::is_empty) {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        let columns = encoding
            .columns()
            .iter()
            .map(|c| position(path, &header, &c.name))
            .collect::<Result<Vec<_>, _>>()?;
        let label = match labels {
            LabelUse::Read(label) => Some((label, position(path, &header, &label.column)?)),
            LabelUse::Ignore => None,
        };

        let mut table =
            Self { features: Vec::new(), columns: encoding.dimension(), targets: Vec::new(), rows: 0 };
        let mut row = StringRecord::new();
        while reader.read_record(&mut row).map_err(|error| malformed(path, error))? {
            let line = row.position().map_or(0, csv::Position::line);
            if row.len() != header.len() {
                let (expected, found) = (header.len(), row.len());
                return Err(DataError::RowWidth { path: path.to_owned(), line, expected, found });
            }
            let refuse = |column: &str, what: CellProblem| DataError::Cell {
                path: path.to_owned(),
                line,
                column: column.to_owned(),
                what,
            };
            for (column, &at) in encoding.columns().iter().zip(&columns) {
                column
                    .kind
                    .encode(&row[at], &mut table.features)
                    .map_err(|what| refuse(&column.name, what))?;
            }
            if let Some((label, at)) = label {
                let target = label.read(&row[at]).map_err(|what| refuse(&label.column, what))?;
                table.targets.push(target);
            }
            table.rows += 1;
        }
        Ok(table)
    }

    /// The names in a file's header.
    ///
    /// # Errors
    /// [`DataError`] when the file cannot be read or is empty.
    pub fn header(path: &Path) -> Result<Vec<String>, DataError> {
        let file = File::open(path).map_err(|source| DataError::io(path, source))?;
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers().map_err(|error| malformed(path, error))?;
        if header.iter().all(str::is_empty) {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        Ok(header.iter().map(str::to_owned).collect())
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
        if self.rows < 2 {
            return Err(DataError::TooFewRecords { path: path.to_owned(), records: self.rows });
        }
        Ok(self)
    }
}

fn position(path: &Path, header: &StringRecord, name: &str) -> Result<usize, DataError> {
    let mut found = header.iter().enumerate().filter(|(_, cell)| cell.trim() == name).map(|(at, _)| at);
    let first = found
        .next()
        .ok_or_else(|| DataError::MissingColumn { path: path.to_owned(), column: name.to_owned() })?;
    match found.next() {
        Some(_) => Err(DataError::DuplicateColumn { path: path.to_owned(), column: name.to_owned() }),
        None => Ok(first),
    }
}

/// The csv crate's messages quote bytes; ours name the line alone.
fn malformed(path: &Path, error: csv::Error) -> DataError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => DataError::io(path, source),
        _ => DataError::Malformed { path: path.to_owned(), line },
    }
}
