//! A table read as far as it can be: rows that cannot are told from the others, cells are counted, and columns are kept as they are.
//!
//! For whoever scores rows, and for a custodian who looks after a schema. Training reads strictly.

use crate::cell_encoder::{CellEncoder, Rule, Tally};
use crate::error::CellProblem;
use crate::person::Ids;
use crate::{DataError, Encoding, Label, LabelKind, PersonColumn, Table, number};
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
    /// The cells of the columns that were to be kept, row by row.
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
        let rules = || Rule::all(encoding).into_iter().map(Rule::tallied).collect();
        let encoder = CellEncoder { encoding, features: rules(), label: None, ids: None };
        let (mut table, _) = Table::read_by(path, &encoder, counter)?;
        let mut readable = vec![true; table.rows];
        let width = table.columns.max(1);
        for (row, readable) in table.features.chunks_exact_mut(width).zip(&mut readable) {
            if row.iter().any(|entry| entry.is_nan()) {
                row.fill(0.0);
                *readable = false;
            }
        }
        let tallies = encoder.features.iter().zip(encoding.columns());
        let columns =
            tallies.filter_map(|(rule, column)| Some(CellCounts::of(&column.name, rule.tally()?))).collect();
        let kept = keep.iter().map(|column| cells(path, encoding, column)).collect::<Result<_, _>>()?;
        Ok(Self { table, readable, columns, kept })
    }
}

/// The cells of a column, as they are but for space around them. What is read beside it does not matter.
fn cells(path: &Path, encoding: &Encoding, column: &str) -> Result<Vec<String>, DataError> {
    let kept = PersonColumn::new(column);
    let features = Rule::all(encoding).into_iter().map(Rule::tallied).collect();
    let encoder = CellEncoder { encoding, features, label: None, ids: Some(Ids::verbatim(&kept)) };
    let (_, numbers) = Table::read_by(path, &encoder, &Arc::default())?;
    let Some(ids) = encoder.ids else { return Ok(Vec::new()) };
    let (owners, texts) = ids.owners(numbers);
    let texts: Vec<String> = texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    Ok(owners.of_row().iter().map(|number| texts[*number as usize].clone()).collect())
}

impl Label {
    /// What the cells of the label's columns are, in the order of [`Label::columns`].
    pub fn count_cells(&self, columns: &[Vec<String>]) -> Vec<CellCounts> {
        let count = |(at, (name, cells)): (usize, (&str, &Vec<String>))| {
            let mut counts = CellCounts { column: name.to_owned(), ..CellCounts::default() };
            for cell in cells {
                match self.judge(at, cell) {
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
        let labels = schema.label().count_cells(&read.kept[2..]);
        assert_eq!((labels[0].missing, labels[0].unlisted, labels[0].unreadable), (1, 1, 0));
        assert!(matches!(survey(&schema, &["nowhere"]), Err(DataError::MissingColumn { .. })));
    }
}
