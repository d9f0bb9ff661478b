//! Tables and public schemas.
//!
//! A [`Schema`] holds what is publicly known about a table: its columns, their ranges or categories, the label and
//! its values. An [`Encoding`] turns a row into a vector by public rules alone. Nothing here looks at the
//! data to decide anything: a range taken from the records would be a release nobody paid for.
//!
//! Errors are about a table's form (file, line, column) and never quote a cell.

mod cell_encoder;
mod cells;
mod csv;
mod date;
mod encoding;
mod error;
mod folder;
mod format;
mod label;
mod libsvm;
mod lines;
mod number;
mod pages;
mod parquet;
mod person;
mod schema;
pub mod simulate;
mod source;
mod style;
mod survey;
mod table;
mod thrift;
mod written;

pub use cells::{BadCell, Cells};
pub use date::date_text;
pub use encoding::{ColumnEncoding, Encoding};
pub use error::{CellProblem, DataError};
pub use folder::table_files;
pub use label::{Label, LabelKind, Times};
pub use person::{IdKind, Owners, PersonColumn, PersonIds};
pub use schema::{Column, Kind, Missing, Monotone, Schema, template};
pub use source::read_whole;
pub use style::{Decimal, Delimiter, TextStyle};
pub use survey::{CellCounts, Piece, Survey};
pub use table::{LabelUse, Table};
pub use written::{ParquetWriter, WrittenColumn};
