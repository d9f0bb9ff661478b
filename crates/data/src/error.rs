use crate::Delimiter;
use pairdp_units::{FrontEnd, Hint};
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
    /// A folder or pattern without a table.
    #[error("{}: no table was found there", path.display())]
    NoTables {
        /// Which folder or pattern.
        path: PathBuf,
    },
    /// Too few rows to form a pair.
    #[error("{}: training needs at least 2 records", path.display())]
    TooFewRecords {
        /// Which file.
        path: PathBuf,
    },
    /// Too few persons to form a pair.
    #[error("{}: training needs at least 2 persons", path.display())]
    TooFewPersons {
        /// Which file.
        path: PathBuf,
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
    /// The header has one cell, and another delimiter in it.
    #[error("{}: line 1: cells stand between {}, and not between {}", path.display(), found.name(), expected.name())]
    OtherDelimiter {
        /// Which file.
        path: PathBuf,
        /// What stands between its names.
        found: Delimiter,
        /// What the schema says.
        expected: Delimiter,
    },
    /// A row has too many or too few cells.
    #[error("{}: line {line}: not as many cells as the header has", path.display())]
    RowWidth {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: u64,
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
    /// A cell of a file without lines is not what its column promises.
    #[error("{}: record {record}, column `{column}`: {what}", path.display())]
    Record {
        /// Which file.
        path: PathBuf,
        /// Which record, from 1.
        record: usize,
        /// Which column.
        column: String,
        /// What is wrong, never the cell itself.
        what: CellProblem,
    },
    /// The same, of a table about whose rows nothing may be said.
    #[error("{}: {}{what}", path.display(), in_column(column.as_deref()))]
    Somewhere {
        /// Which file.
        path: PathBuf,
        /// Which column, if it is one cell.
        column: Option<String>,
        /// What is wrong.
        what: String,
        /// The way out.
        hint: &'static str,
    },
    /// A column of a Parquet file is of a type that is not read.
    #[error("{}: column `{column}` is neither numbers nor text", path.display())]
    ColumnType {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// A column of a Parquet file is stored in a way that is not read.
    #[error("{}: column `{column}` is stored in an encoding that is not read", path.display())]
    ColumnEncoding {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// A schema for a LIBSVM file names a column by something else than its index.
    #[error("{}: column `{column}` of the schema is not an index, and a LIBSVM file has no other names", path.display())]
    NotAnIndex {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// The file's name does not say what it is.
    #[error("{}: the ending of its name is not that of a table", path.display())]
    UnknownEnding {
        /// Which file.
        path: PathBuf,
    },
    /// Something among the parts of a table that is not one.
    #[error("{}: this lies among the parts of a table but is not a table", path.display())]
    NoPart {
        /// Which file, link or folder.
        path: PathBuf,
    },
    /// A file without a header, where one is needed.
    #[error("{}: a LIBSVM file has no header", path.display())]
    NoHeader {
        /// Which file.
        path: PathBuf,
    },
    /// A line is not a record.
    #[error("{}: line {line}: not a valid record", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: u64,
    },
    /// The file cannot be unpacked or decoded.
    #[error("{}: the file is damaged or not of the kind that its name says", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// The table does not fit in memory.
    #[error("{}: the table is too large to be read", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
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
    /// Nothing, where the schema has no default for it.
    #[error("empty, and the schema does not say what an empty cell counts as")]
    Missing,
    /// Bytes that are not text.
    #[error("not UTF-8 text")]
    NotText,
    /// Text where a number should be.
    #[error("not a number")]
    NotANumber,
    /// Infinity.
    #[error("not a finite number")]
    NotFinite,
    /// A record without a label.
    #[error("the label is empty")]
    MissingLabel,
    /// Nothing where it must say whose a record is.
    #[error("the id is empty, so nobody knows whose record this is")]
    MissingPerson,
    /// What tells no persons apart.
    #[error("neither text nor a whole number, and a person must be named by one or the other")]
    NotAPerson,
    /// What is no date.
    #[error("not a date")]
    NotADate,
    /// A point in a number, where commas stand before decimals.
    #[error("a point in a number, where the schema says that commas stand before decimals")]
    PointForComma,
    /// What is no time.
    #[error("a time is a number of at least 0, and every record has one")]
    NotATime,
    /// What says neither that an event was seen nor that none was.
    #[error("neither of the two values that the schema lists for the event")]
    UnknownEvent,
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

/// The column that a message is about.
fn in_column(column: Option<&str>) -> String {
    column.map(|column| format!("column `{column}`: ")).unwrap_or_default()
}

impl DataError {
    /// The same refusal without the row, which says how many came before it: for tables of a secret size, and for parts of one
    /// that others hold.
    #[must_use]
    pub fn without_row(self) -> Self {
        let hint = self.way_out(FrontEnd::Command);
        let somewhere =
            |path, column, what: &str| Self::Somewhere { path, column, what: what.to_owned(), hint };
        match self {
            Self::Cell { path, column, what, .. } | Self::Record { path, column, what, .. } => {
                somewhere(path, Some(column), &what.to_string())
            }
            Self::RowWidth { path, .. } => somewhere(path, None, "a row has not as many cells as the header"),
            Self::Malformed { path, .. } => somewhere(path, None, "a line is not a valid record"),
            other => other,
        }
    }

    fn way_out(&self, to: FrontEnd) -> &'static str {
        match self {
            Self::Io { .. } => "check the path",
            Self::Empty { .. } => "the first line must name the columns",
            Self::TooFewRecords { .. } => "a pair needs two records",
            Self::TooFewPersons { .. } => "a pair needs records of two persons",
            Self::MissingColumn { .. } => {
                "check the spelling: names must match exactly, upper and lower case included"
            }
            Self::DuplicateColumn { .. } => "rename one of the two",
            Self::OtherDelimiter { found: Delimiter::Comma, .. } => "leave `delimiter` out of the schema",
            Self::OtherDelimiter { found: Delimiter::Semicolon, .. } => {
                "say `delimiter = \";\"` in the schema, on its first lines; a model reads tables written as its schema said"
            }
            Self::OtherDelimiter { found: Delimiter::Tab, .. } => {
                "say `delimiter = \"\\t\"` in the schema, on its first lines"
            }
            Self::OtherDelimiter { found: Delimiter::Bar, .. } => {
                "say `delimiter = \"|\"` in the schema, on its first lines"
            }
            Self::RowWidth { .. } => "quote cells that contain the delimiter",
            Self::Cell { what, .. } | Self::Record { what, .. } => what.hint(),
            Self::Somewhere { hint, .. } => hint,
            Self::ColumnType { .. } => {
                "store it as numbers or text; a date needs `kind = \"date\"` in the schema, and lists columns of their own"
            }
            Self::ColumnEncoding { .. } => "write the file with plain or dictionary encoding",
            Self::NotAnIndex { .. } => "name columns by their index: name = \"17\"",
            Self::NoTables { .. } | Self::UnknownEnding { .. } => {
                "tables end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .svm, .svm.gz, .libsvm or .libsvm.gz"
            }
            Self::NoHeader { .. } => {
                "write the schema by hand, and name columns by their index: name = \"17\""
            }
            Self::Malformed { .. } => "quotes open and close around whole cells; text is UTF-8",
            Self::Damaged { .. } => "write the file again",
            Self::NoPart { .. } => {
                "move it away, or name the parts by a pattern such as 'parts/*.csv'; what begins with a dot or _ is not looked at"
            }
            Self::TooLarge { .. } => "list fewer columns and categories in the schema, or split the table",
            Self::Schema { .. } => to.either(
                "see `pairdp train --help` for an example of a schema",
                "see docs/data.md for an example of a schema",
            ),
        }
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl Hint for DataError {
    fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "file",
            Self::Schema { .. } => "schema",
            _ => "table",
        }
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        Some(self.way_out(to).into())
    }
}

impl CellProblem {
    /// What the user can do.
    pub fn hint(self) -> &'static str {
        match self {
            Self::UnknownLabel => {
                "list every value under [label] in the schema: `positive` and `negative`, or `classes`"
            }
            Self::Missing => {
                "set `missing` for the column in the schema: a public value that empty cells count as, or for numbers \"own\", which makes empty a value of its own"
            }
            Self::MissingLabel => "fill in the label, or leave records without one out of the table",
            Self::MissingPerson => "every record is somebody's: fill the column, or leave such records out",
            Self::NotAPerson => {
                "write ids as text, or as whole numbers if the schema says `kind = \"integer\"`"
            }
            Self::NotText => "save the table as UTF-8",
            Self::NotANumber => {
                "correct the cell, or leave the column out of the schema; decimal commas need `decimal = \",\"` there"
            }
            Self::NotFinite => "correct the cell, or leave the column out of the schema",
            Self::NotADate => "write dates as 2024-02-29, with or without a time after it",
            Self::PointForComma => {
                "write 1234,5 without points between thousands, or leave `decimal` out of the schema"
            }
            Self::NotATime => "correct the cell: a time counts from the start of observation",
            Self::UnknownEvent => "correct the cell, or `occurred` and `censored` in the schema",
        }
    }
}
