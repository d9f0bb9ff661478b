//! Lines of a CSV file into rows.

use super::ends::Ends;
use super::quotes::{blank_line, cell, first_record};
use crate::Decimal;
use crate::cell_encoder::{CellEncoder, Scale};
use crate::error::CellProblem;
use crate::lines::{LineFault, LineProblem, Lines, Rows};
use crate::number::{between, scan};
use memchr::{memchr, memrchr};
use pairdp_units::signed_time::signed_time;

/// What is done with the cells of a column.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    Skip,
    Number { scale: Scale, entry: usize, rule: usize },
    Category { rule: usize },
    Label,
    Event,
    Person,
}

pub(super) struct CsvLines<'a> {
    cells: Vec<Cell>,
    rules: &'a CellEncoder<'a>,
    delimiter: u8,
    decimal: Decimal,
    /// Length of a row.
    width: usize,
}

impl<'a> CsvLines<'a> {
    pub(super) fn new(cells: Vec<Cell>, rules: &'a CellEncoder<'a>) -> Self {
        let (style, width) = (rules.encoding.text_style(), rules.encoding.dimension());
        Self { cells, rules, delimiter: style.delimiter.byte(), decimal: style.decimal, width }
    }
}

impl Lines for CsvLines<'_> {
    fn whole_records(&self, text: &[u8]) -> usize {
        if memchr(b'"', text).is_none() {
            return memrchr(b'\n', text).map_or(0, |end| end + 1);
        }
        let mut whole = 0;
        while let Some(length) = first_record(&text[whole..], self.delimiter) {
            whole += length;
        }
        whole
    }

    fn parse(&self, text: &[u8], first_line: u64, rows: &mut Rows<'_>) -> Result<usize, LineProblem> {
        // Without quotes a record is a line, and every delimiter ends a cell.
        if memchr(b'"', text).is_some() {
            return self.quoted(text, first_line, rows);
        }
        self.unquoted(text, first_line, rows)
    }
}

/// What a record becomes.
struct Row<'r> {
    features: &'r mut [f64],
    target: Option<&'r mut f64>,
    person: Option<&'r mut u32>,
    /// Whether the event was seen, where the label is about times.
    event: bool,
}

impl CsvLines<'_> {
    /// The parts of a row.
    #[inline]
    fn row<'r>(&self, rows: &'r mut Rows<'_>, index: usize) -> Row<'r> {
        let width = self.width;
        Row {
            features: &mut rows.features[index * width..(index + 1) * width],
            target: rows.targets.get_mut(index),
            person: rows.persons.get_mut(index),
            event: false,
        }
    }

    /// Parses a text without quotes.
    fn unquoted(&self, text: &[u8], first_line: u64, rows: &mut Rows<'_>) -> Result<usize, LineProblem> {
        let mut ends = Ends::new(text, self.delimiter);
        let (mut at, mut line, mut filled) = (0, first_line, 0);
        while at < text.len() {
            if let blank @ 1.. = blank_line(&text[at..]) {
                ends.next();
                at += blank;
            } else {
                let record = self.record(text, at, &mut ends, self.row(rows, filled));
                at = record.map_err(|what| LineProblem { line, what })?;
                filled += 1;
            }
            line += 1;
        }
        Ok(filled)
    }

    /// Parses a text in which cells may be quoted.
    fn quoted(&self, text: &[u8], first_line: u64, rows: &mut Rows<'_>) -> Result<usize, LineProblem> {
        let (mut at, mut line, mut filled, mut scratch) = (0, first_line, 0, Vec::new());
        while at < text.len() {
            if let blank @ 1.. = blank_line(&text[at..]) {
                at += blank;
                line += 1;
                continue;
            }
            let end = self.quoted_record(text, at, self.row(rows, filled), &mut scratch);
            let end = end.map_err(|what| LineProblem { line, what })?;
            line += if scratch.is_empty() {
                1
            } else {
                memchr::memchr_iter(b'\n', &text[at..end]).count() as u64
            };
            scratch.clear();
            at = end;
            filled += 1;
        }
        Ok(filled)
    }

    /// Parses the record at `at` of a text without quotes and returns where the next one starts.
    #[inline]
    fn record(
        &self,
        text: &[u8],
        mut at: usize,
        ends: &mut Ends<'_>,
        mut row: Row<'_>,
    ) -> Result<usize, LineFault> {
        for (index, kind) in self.cells.iter().enumerate() {
            let end = ends.next().ok_or(LineFault::Malformed)?;
            if let Cell::Number { scale, entry, .. } = kind
                && let Some(value) = between(text, at, end)
            {
                row.features[*entry] = scale.apply(value);
            } else {
                // A carriage return before the line end goes with the spaces around the cell.
                self.put(kind, &text[at..end], &mut row)?;
            }
            let last = index + 1 == self.cells.len();
            if (text[end] == b'\n') != last {
                return Err(LineFault::Width);
            }
            at = end + 1;
        }
        self.settle(row);
        Ok(at)
    }

    /// The same where any cell may be quoted.
    fn quoted_record(
        &self,
        text: &[u8],
        mut at: usize,
        mut row: Row<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        for (index, kind) in self.cells.iter().enumerate() {
            let number = match kind {
                Cell::Number { scale, entry, .. } => scan(&text[at..])
                    .filter(|(_, length)| {
                        matches!(text[at + length], b'\n') || text[at + length] == self.delimiter
                    })
                    .map(|(value, length)| (scale, entry, value, length)),
                _ => None,
            };
            let end = if let Some((scale, entry, value, length)) = number {
                row.features[*entry] = scale.apply(value);
                at + length
            } else {
                let (cell, end) = cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?;
                self.put(kind, cell, &mut row)?;
                end
            };
            let last = index + 1 == self.cells.len();
            if (text[end] == b'\n') != last {
                return Err(LineFault::Width);
            }
            at = end + 1;
        }
        self.settle(row);
        Ok(at)
    }

    /// Puts times and events together, once both are read.
    fn settle(&self, row: Row<'_>) {
        if let (Some(target), Some(times)) = (row.target, self.rules.times()) {
            *target = signed_time(*target, row.event, times.horizon);
        }
    }

    /// What a cell becomes that is not a short plain number.
    #[inline]
    fn put(&self, kind: &Cell, cell: &[u8], row: &mut Row<'_>) -> Result<(), LineFault> {
        match kind {
            Cell::Skip => Ok(()),
            Cell::Label => self.label(cell, row),
            Cell::Number { rule, .. } | Cell::Category { rule } => self.feature(*rule, cell, row),
            Cell::Event => self.event(cell, row),
            Cell::Person => self.person(cell, row),
        }
    }

    fn feature(&self, rule: usize, cell: &[u8], row: &mut Row<'_>) -> Result<(), LineFault> {
        let name = || self.rules.encoding.columns()[rule].name.clone();
        let rule = &self.rules.features[rule];
        let decimal = if rule.as_number().is_some() { self.decimal } else { Decimal::Point };
        let written = match decimal.with_point(cell) {
            Ok(cell) => rule.write_text(&cell, row.features),
            Err(problem) => rule.refuse(problem, row.features),
        };
        written.map_err(|what| LineFault::Cell(name(), what))
    }

    #[inline]
    fn label(&self, cell: &[u8], row: &mut Row<'_>) -> Result<(), LineFault> {
        if let (Some(target), Some(rule)) = (&mut row.target, &self.rules.label) {
            let name = |what: CellProblem| LineFault::Cell(rule.label.column.clone(), what);
            let decimal = if rule.label.is_number() { self.decimal } else { Decimal::Point };
            **target = match decimal {
                Decimal::Point => rule.target(cell),
                Decimal::Comma => decimal.with_point(cell).and_then(|cell| rule.target(&cell)),
            }
            .map_err(name)?;
        }
        Ok(())
    }

    fn event(&self, cell: &[u8], row: &mut Row<'_>) -> Result<(), LineFault> {
        if let Some(times) = self.rules.times() {
            let name = |what: CellProblem| LineFault::Cell(times.event.clone(), what);
            let cell = std::str::from_utf8(cell).map_err(|_| name(CellProblem::NotText))?;
            row.event = times.read_event(cell).map_err(name)?;
        }
        Ok(())
    }

    fn person(&self, cell: &[u8], row: &mut Row<'_>) -> Result<(), LineFault> {
        if let (Some(person), Some(ids)) = (&mut row.person, &self.rules.ids) {
            let name = |what: CellProblem| LineFault::Cell(ids.person.column.clone(), what);
            **person = ids.of_text(cell).map_err(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, LabelUse, Schema};
    use proptest::prelude::*;
    use std::path::Path;

    const SCHEMA: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
        [[column]]\nname = 'a'\nrange = [-2, 2]\n\
        [[column]]\nname = 'b'\ncategories = ['x', 7]\nother = true\nmissing = 'x'\n\
        [[column]]\nname = 'c'\nrange = [0, 1e9]\nmissing = 'own'\n";

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => r"-?[0-9]{1,4}(\.[0-9]{0,7})?",
            4 => (-1e6..1e6_f64).prop_map(|value| value.to_string()),
            1 => r"[-+ ]?[0-9]{0,20}\.?[0-9]{0,20}(e-?[0-9]{1,3})? ?",
        ]
    }

    fn line() -> impl Strategy<Value = String> {
        let end = || prop_oneof![5 => Just("\n"), 1 => Just("\r\n")];
        let row =
            (number(), "[x7z ]{0,2}", prop_oneof![6 => number(), 1 => Just(String::new())], "[01]", end());
        prop_oneof![
            40 => row.prop_map(|(a, b, c, y, end)| format!("{a},{b},skipped,{c},{y}{end}")),
            1 => ("[0-9a.,-]{0,12}", end()).prop_map(|(text, end)| text + end),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        /// The two ways through a text agree in every bit, and in where and what they refuse, wherever both may be gone.
        #[test]
        fn a_text_without_quotes_reads_the_same_in_both_ways(lines in proptest::collection::vec(line(), 0..40)) {
            let schema = Schema::parse(SCHEMA).unwrap();
            let encoding = Encoding::of(&schema);
            let rules = CellEncoder::new(&encoding, LabelUse::Read(schema.label()));
            let plain = |at: usize| {
                let rule = &rules.features[at];
                Cell::Number { scale: rule.as_plain_number().unwrap(), entry: rule.at, rule: at }
            };
            let cells = vec![plain(0), Cell::Category { rule: 1 }, Cell::Skip, plain(2), Cell::Label];
            let csv = CsvLines::new(cells, &rules);
            let text = lines.concat();
            let read = |quoted: bool| {
                let (mut features, mut targets) = (vec![0.0; lines.len() * encoding.dimension()], vec![0.0; lines.len()]);
                let mut rows = Rows { features: &mut features, targets: &mut targets, persons: &mut [] };
                let filled = if quoted {
                    csv.quoted(text.as_bytes(), 2, &mut rows)
                } else {
                    csv.unquoted(text.as_bytes(), 2, &mut rows)
                };
                let filled = filled.map_err(|problem| problem.at(Path::new("t.csv")).to_string());
                let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
                let read = filled.is_ok();
                (filled, read.then(|| (bits(features), bits(targets))))
            };
            prop_assert_eq!(read(false), read(true));
        }
    }
}
