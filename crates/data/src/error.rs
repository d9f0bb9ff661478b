use pairdp_units::Hint;
use std::path::{Path, PathBuf};

/// A file that does not have the promised form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file could not be read.
    #[error("{}: {}", path.display(), describe(source))]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file holds nothing, not even a header.
    #[error("{}: the file is empty", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// Too few rows to form a pair.
    #[error("{}: training needs at least 2 records, the file has {records}", path.display())]
    TooFewRecords {
        /// Which file.
        path: PathBuf,
        /// Rows found.
        records: usize,
    },
    /// A column of the schema is not in the header.
    #[error("{}: line 1: no column `{column}` in the header", path.display())]
    MissingColumn {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// The header names a column twice.
    #[error("{}: line 1: column `{column}` appears twice in the header", path.display())]
    DuplicateColumn {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// A row has too many or too few cells.
    #[error("{}: line {line}: {found} cells where the header has {expected}", path.display())]
    RowWidth {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: u64,
        /// Cells in the header.
        expected: usize,
        /// Cells in the row.
        found: usize,
    },
    /// A cell is not what its column promises.
    #[error("{}: line {line}, column `{column}`: {what}", path.display())]
    Cell {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: u64,
        /// Which column.
        column: String,
        /// What is wrong, never the cell itself.
        what: CellProblem,
    },
    /// The file is not CSV.
    #[error("{}: line {line}: not valid CSV text", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: u64,
    },
    /// The schema file is not valid.
    #[error("{}: {what}", path.display())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// What is wrong with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Text, or nothing, where a number should be.
    #[error("not a number")]
    NotANumber,
    /// Infinity or NaN.
    #[error("not a finite number")]
    NotFinite,
    /// A label that the schema does not name.
    #[error("the label is none of the values that the schema lists")]
    UnknownLabel,
}

/// The usual reasons in plain words, without the operating system's error numbers.
fn describe(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        std::io::ErrorKind::IsADirectory => "this is a folder, not a file".into(),
        _ => error.to_string(),
    }
}

impl DataError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl Hint for DataError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Io { .. } => "check the path",
            Self::Empty { .. } => "the first line must name the columns",
            Self::TooFewRecords { .. } => "a pair needs two records",
            Self::MissingColumn { .. } => "names must match the schema's exactly, case included",
            Self::DuplicateColumn { .. } => "rename one of the two",
            Self::RowWidth { .. } => "quote cells that contain commas",
            Self::Cell { what: CellProblem::UnknownLabel, .. } => {
                "list every value under [label] in the schema: `positive` and `negative`, or `classes`"
            }
            Self::Cell { .. } => "fill or drop such rows, or leave the column out of the schema",
            Self::Malformed { .. } => "save the table as UTF-8 CSV",
            Self::Schema { .. } => "see `pairdp train --help` for an example of a schema",
        };
        Some(hint.into())
    }
}
