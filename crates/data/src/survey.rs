//! A table read as far as it can be: rows that cannot are told from the others, cells are counted, and columns are kept as they are.
//!
//! For whoever scores rows, and for a custodian who looks after a schema. Training reads strictly.

use crate::cell_encoder::{CellEncoder, Rule, Tally};
use crate::error::CellProblem;
use crate::format::Format;
use crate::source::{Growth, Source};
use crate::{
    DataError, Decimal, Encoding, Label, LabelKind, LabelUse, PersonColumn, Table, csv, libsvm, number,
    parquet,
};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A table with all that was met on the way.
pub struct Survey {
    /// Its rows; those that cannot be read are zeros.
    pub table: Table,
    /// Whether each row could be read.
    pub readable: Vec<bool>,
    /// What was met in each column of the encoding.
    pub columns: Vec<CellCounts>,
    /// The cells of the columns that were to be kept, column by column.
    pub kept: Vec<Vec<String>>,
}

/// Cells of a column that are not what a schema expects of most.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CellCounts {
    /// The column.
    pub column: String,
    /// Numbers outside the range, which count as its ends.
    pub clipped: u64,
    /// Categories, or labels, that are not listed.
    pub unlisted: u64,
    /// Empty cells.
    pub missing: u64,
    /// Cells that are not what the column holds, such as text among numbers.
    pub unreadable: u64,
}

impl CellCounts {
    fn of(column: &str, tally: &Tally) -> Self {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            column: column.to_owned(),
            clipped: count(&tally.clipped),
            unlisted: count(&tally.unlisted),
            missing: count(&tally.missing),
            unreadable: count(&tally.unreadable),
        }
    }
}

/// Some of a table's rows, in their order.
pub struct Piece {
    /// The rows; those that cannot be read are zeros.
    pub table: Table,
    /// Whether each row could be read.
    pub readable: Vec<bool>,
    /// The cells of the columns that were to be kept, column by column.
    pub kept: Vec<Vec<String>>,
}

impl Piece {
    pub(crate) fn new(mut table: Table, kept: Vec<Vec<String>>) -> Self {
        let mut readable = vec![true; table.rows];
        let width = table.columns.max(1);
        for (row, readable) in table.features.chunks_exact_mut(width).zip(&mut readable) {
            if row.iter().any(|entry| entry.is_nan()) {
                row.fill(0.0);
                *readable = false;
            }
        }
        Self { table, readable, kept }
    }
}

impl Survey {
    /// Reads a table without labels, and keeps the cells of some columns, the model's own among them if they are named.
    ///
    /// # Errors
    /// [`DataError`] when the file is no table with these columns, and never for what is in a cell of the encoding's columns.
    pub fn read(
        path: &Path,
        encoding: &Encoding,
        keep: &[String],
        counter: &Arc<AtomicU64>,
    ) -> Result<Self, DataError> {
        let (mut table, mut readable) = (Table::empty(encoding.dimension()), Vec::new());
        let mut kept = vec![Vec::new(); keep.len()];
        let columns = Self::in_pieces(path, encoding, keep, counter, |piece| {
            table.features.extend_from_slice(&piece.table.features);
            table.rows += piece.table.rows;
            readable.extend_from_slice(&piece.readable);
            kept.iter_mut().zip(piece.kept).for_each(|(all, cells)| all.extend(cells));
            Ok::<(), DataError>(())
        })?;
        Ok(Self { table, readable, columns, kept })
    }

    /// The same piece by piece, for tables that memory does not hold: a few hundred kilobytes of a text file, or a row group of a Parquet
    /// file, at a time. Returns what was met in the columns.
    ///
    /// # Errors
    /// As [`Survey::read`], and what `take` says.
    pub fn in_pieces<E: From<DataError>>(
        path: &Path,
        encoding: &Encoding,
        keep: &[String],
        counter: &Arc<AtomicU64>,
        take: impl FnMut(Piece) -> Result<(), E>,
    ) -> Result<Vec<CellCounts>, E> {
        let features = Rule::all(encoding).into_iter().map(Rule::tallied).collect();
        let rules = CellEncoder { encoding, features, label: None, ids: None };
        let keep: Vec<PersonColumn> = keep.iter().map(PersonColumn::new).collect();
        in_parts(path, &rules, &keep, counter, take)?;
        let tallies = rules.features.iter().zip(encoding.columns());
        Ok(tallies.filter_map(|(rule, column)| Some(CellCounts::of(&column.name, rule.tally()?))).collect())
    }
}

impl Survey {
    /// Reads a table without labels and keeps nothing of it.
    ///
    /// # Errors
    /// [`DataError`] that says where the first cell is that cannot be read.
    pub fn require_readable(path: &Path, encoding: &Encoding) -> Result<(), DataError> {
        let rules = CellEncoder::new(encoding, LabelUse::Ignore);
        in_parts(path, &rules, &[], &Arc::default(), |_| Ok(()))
    }
}

fn in_parts<E: From<DataError>>(
    path: &Path,
    rules: &CellEncoder<'_>,
    keep: &[PersonColumn],
    counter: &Arc<AtomicU64>,
    take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let open = |packed| Source::counted(path, packed, Growth::WithinReason, Arc::clone(counter));
    match Format::of(path)? {
        Format::Csv { packed } => csv::in_parts(open(packed)?, rules, keep, take),
        Format::Libsvm { packed } => libsvm::in_parts(open(packed)?, rules, keep, take),
        Format::Parquet => parquet::in_parts(path, rules, keep, take),
    }
}

impl Label {
    /// What the cells of the label's columns are, in the order of [`Label::columns`], of a table whose numbers are written so.
    pub fn count_cells(&self, columns: &[Vec<String>], decimal: Decimal) -> Vec<CellCounts> {
        let decimal = if self.is_number() { decimal } else { Decimal::Point };
        let count = |(at, (name, cells)): (usize, (&str, &Vec<String>))| {
            let mut counts = CellCounts { column: name.to_owned(), ..CellCounts::default() };
            for cell in cells {
                let written =
                    if at == 0 { decimal.with_point(cell.as_bytes()) } else { Ok(cell.as_bytes().into()) };
                let judged = written.map(|cell| self.judge(at, &String::from_utf8_lossy(&cell)));
                match judged.unwrap_or_else(Judged::Bad) {
                    Judged::Good => {}
                    Judged::Clipped => counts.clipped += 1,
                    Judged::Bad(CellProblem::UnknownLabel) => counts.unlisted += 1,
                    Judged::Bad(CellProblem::Missing | CellProblem::MissingLabel) => counts.missing += 1,
                    Judged::Bad(_) => counts.unreadable += 1,
                }
            }
            counts
        };
        self.columns().zip(columns).enumerate().map(count).collect()
    }

    fn judge(&self, column: usize, cell: &str) -> Judged {
        let within = |low: f64, high: f64| match number::parse(cell.as_bytes()) {
            Ok(value) if value > high || (value < low && low.is_finite()) => Judged::Clipped,
            Ok(_) => self.read(cell).map_or_else(Judged::Bad, |_| Judged::Good),
            Err(problem) => Judged::Bad(problem),
        };
        match &self.kind {
            _ if cell.trim().is_empty() => Judged::Bad(CellProblem::MissingLabel),
            LabelKind::Times(times) if column > 0 => {
                times.read_event(cell).map_or_else(Judged::Bad, |_| Judged::Good)
            }
            LabelKind::Times(times) => within(f64::NEG_INFINITY, times.horizon),
            LabelKind::Range([low, high]) => within(*low, *high),
            _ => self.read(cell).map_or_else(Judged::Bad, |_| Judged::Good),
        }
    }
}

enum Judged {
    Good,
    Clipped,
    Bad(CellProblem),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    const SCHEMA: &str = "[label]\ncolumn = 'ill'\npositive = 'yes'\nnegative = 'no'\n\
        [[column]]\nname = 'age'\nrange = [0, 100]\n\
        [[column]]\nname = 'ward'\ncategories = ['a', 'b']\nmissing = 'a'\n";
    const CELLS: &str = "id,age,ward,ill\nx,50,a,yes\n7.0,,b,no\n\"a, b\",1e9,c,\n,old,,maybe\n";

    fn survey(schema: &Schema, keep: &[&str]) -> Result<Survey, DataError> {
        let path =
            std::env::temp_dir().join(format!("pairdp-survey-{}-{}.csv", std::process::id(), keep.len()));
        std::fs::write(&path, CELLS).unwrap();
        let keep: Vec<String> = keep.iter().map(|name| (*name).to_owned()).collect();
        let read = Survey::read(&path, &Encoding::of(schema), &keep, &Arc::default());
        std::fs::remove_file(&path).unwrap();
        read
    }

    #[test]
    fn rows_that_cannot_be_read_are_zeros_and_told() {
        let read = survey(&Schema::parse(SCHEMA).unwrap(), &[]).unwrap();
        assert_eq!(read.readable, [true, false, true, false]);
        assert_eq!(read.table.features, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let counts = |column: &str, [clipped, unlisted, missing, unreadable]: [u64; 4]| CellCounts {
            column: column.into(),
            clipped,
            unlisted,
            missing,
            unreadable,
        };
        assert_eq!(read.columns, [counts("age", [1, 0, 1, 1]), counts("ward", [0, 1, 1, 0])]);
    }

    #[test]
    fn kept_cells_are_as_they_are_and_labels_are_counted() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let read = survey(&schema, &["id", "age", "ill"]).unwrap();
        assert_eq!(read.kept[0], ["x", "7.0", "a, b", ""]);
        assert_eq!(read.kept[1], ["50", "", "1e9", "old"]);
        let labels = schema.label().count_cells(&read.kept[2..], Decimal::Point);
        assert_eq!((labels[0].missing, labels[0].unlisted, labels[0].unreadable), (1, 1, 0));
        assert!(matches!(survey(&schema, &["nowhere"]), Err(DataError::MissingColumn { .. })));
    }
}
