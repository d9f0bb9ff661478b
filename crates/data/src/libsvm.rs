//! LIBSVM: a record a line, `label index:value index:value …` with indices from 1 upward; what is absent is 0.
//!
//! There is no header: a schema names columns by their index, and the label by any name.

use crate::cell_encoder::{CellEncoder, Rule};
use crate::error::CellProblem;
use crate::lines::{self, LineFault, LineProblem, Lines, Part, Rows};
use crate::source::Source;
use crate::{DataError, PersonColumn, Piece, Table};
use memchr::{memchr, memrchr};
use std::collections::HashMap;
use std::path::Path;

/// Reads a table.
pub(crate) fn read(source: Source, rules: &CellEncoder<'_>) -> Result<(Table, Vec<u32>), DataError> {
    let lines = LibsvmLines::new(&source.path, rules)?;
    lines::read(source, Vec::new(), 1, rules, &lines)
}

/// Reads a table part by part; there is no name by which a cell could be kept.
pub(crate) fn in_parts<E: From<DataError>>(
    source: Source,
    rules: &CellEncoder<'_>,
    keep: &[PersonColumn],
    take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(column) = keep.first() {
        let column = column.column.clone();
        return Err(DataError::MissingColumn { path: source.path, column }.into());
    }
    let lines = LibsvmLines::new(&source.path, rules)?;
    let read = |part: Part<'_>| Ok(Piece::new(part.rows(&lines, rules)?.0, Vec::new()));
    lines::in_parts(source, Vec::new(), 1, rules.encoding.dimension(), &lines, read, take)
}

impl<'a> LibsvmLines<'a> {
    fn new(path: &Path, rules: &'a CellEncoder<'a>) -> Result<Self, DataError> {
        let columns = indices(path, rules)?;
        let mut absent = vec![0.0; rules.encoding.dimension()];
        // By rules that count nothing: an absent value is no cell.
        for rule in Rule::all(rules.encoding) {
            // A number is always readable: a range scales it, categories look it up.
            let _ = rule.write_number(0.0, &mut absent);
        }
        Ok(Self { rules, columns, absent })
    }
}

/// Which column has which index. No index can be the name of a person, nor say whether an event was seen.
pub(crate) fn indices(path: &Path, rules: &CellEncoder<'_>) -> Result<HashMap<u64, usize>, DataError> {
    if let Some(ids) = &rules.ids {
        let column = ids.person.column.clone();
        return Err(DataError::MissingColumn { path: path.to_owned(), column });
    }
    if let Some(times) = rules.times() {
        let column = times.event.clone();
        return Err(DataError::MissingColumn { path: path.to_owned(), column });
    }
    let encoding = rules.encoding;
    let mut columns = HashMap::new();
    for (column, name) in encoding.columns().iter().map(|column| &column.name).enumerate() {
        let (path, column_name) = (path.to_owned(), name.clone());
        if encoding.columns()[column].date {
            // What is absent is 0 there, which is no date.
            return Err(DataError::ColumnType { path, column: column_name });
        }
        let index = name.parse().ok().filter(|index| *index > 0);
        let index: u64 =
            index.ok_or(DataError::NotAnIndex { path: path.clone(), column: column_name.clone() })?;
        if columns.insert(index, column).is_some() {
            return Err(DataError::DuplicateColumn { path, column: column_name });
        }
    }
    Ok(columns)
}

struct LibsvmLines<'a> {
    rules: &'a CellEncoder<'a>,
    columns: HashMap<u64, usize>,
    /// A row in which every value is absent.
    absent: Vec<f64>,
}

impl Lines for LibsvmLines<'_> {
    fn whole_records(&self, text: &[u8]) -> usize {
        memrchr(b'\n', text).map_or(0, |end| end + 1)
    }

    fn parse(&self, text: &[u8], first_line: u64, rows: &mut Rows<'_>) -> Result<usize, LineProblem> {
        let width = self.absent.len();
        let mut filled = 0;
        for (line, record) in (first_line..).zip(text.split(|byte| *byte == b'\n')) {
            let record = &record[..memchr(b'#', record).unwrap_or(record.len())];
            let mut words = record.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let Some(label) = words.next() else { continue };
            let row = &mut rows.features[filled * width..(filled + 1) * width];
            let target = rows.targets.get_mut(filled);
            self.record(label, words, row, target).map_err(|what| LineProblem { line, what })?;
            filled += 1;
        }
        Ok(filled)
    }
}

impl LibsvmLines<'_> {
    fn record<'t>(
        &self,
        label: &[u8],
        words: impl Iterator<Item = &'t [u8]>,
        row: &mut [f64],
        target: Option<&mut f64>,
    ) -> Result<(), LineFault> {
        if label.contains(&b':') {
            return Err(LineFault::Malformed);
        }
        if let (Some(target), Some(rule)) = (target, &self.rules.label) {
            let refuse = |what: CellProblem| LineFault::Cell(rule.label.column.clone(), what);
            *target = rule.target(label).map_err(refuse)?;
        }
        row.copy_from_slice(&self.absent);
        let mut last = 0;
        for word in words {
            let (index, value) = split(word).ok_or(LineFault::Malformed)?;
            if index <= last {
                return Err(LineFault::Malformed);
            }
            last = index;
            let Some(&column) = self.columns.get(&index) else { continue };
            let rule = &self.rules.features[column];
            let name = || self.rules.encoding.columns()[column].name.clone();
            rule.clear(row);
            rule.write_text(value, row).map_err(|what| LineFault::Cell(name(), what))?;
        }
        Ok(())
    }
}

/// Index and value of `17:0.5`.
fn split(word: &[u8]) -> Option<(u64, &[u8])> {
    let (index, value) = word.split_at_checked(memchr(b':', word)?)?;
    if !index.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some((std::str::from_utf8(index).ok()?.parse().ok()?, &value[1..]))
}
