//! CSV: a header, then a record a line; cells between commas (or what the schema says), quoted where they hold commas, quotes or line ends.
//!
//! Written here rather than taken from a crate, because a table is read once and each cell goes straight into the
//! matrix: most cells are short numbers, and those are parsed while their end is being looked for.

use crate::cell_encoder::{CellEncoder, Scale};
use crate::error::CellProblem;
use crate::lines::{self, LineFault, LineProblem, Lines, Part, Rows};
use crate::number::scan;
use crate::source::Source;
use crate::{DataError, Decimal, Delimiter, Encoding, PersonColumn, Piece, Table};
use memchr::{memchr, memchr2, memrchr};
use pairdp_units::signed_time::signed_time;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

/// How much of a file is read to find its header, and the most a header may be.
const FIRST_READ: usize = 1 << 16;
const LONGEST_HEADER: usize = 1 << 24;

/// Reads a table.
pub(crate) fn read(mut source: Source, rules: &CellEncoder<'_>) -> Result<(Table, Vec<u32>), DataError> {
    let style = rules.encoding.text_style();
    let header = Header::read(&mut source, style.delimiter)?;
    let cells = header.cells(&source, rules)?;
    let lines = CsvLines { cells, rules, delimiter: style.delimiter.byte(), decimal: style.decimal };
    lines::read(source, header.rest, header.lines + 1, rules, &lines)
}

/// Reads a table part by part, with the cells of some columns as they are.
pub(crate) fn in_parts<E: From<DataError>>(
    mut source: Source,
    rules: &CellEncoder<'_>,
    keep: &[PersonColumn],
    take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let style = rules.encoding.text_style();
    let (delimiter, decimal) = (style.delimiter.byte(), style.decimal);
    let header = Header::read(&mut source, style.delimiter)?;
    let lines = CsvLines { cells: header.cells(&source, rules)?, rules, delimiter, decimal };
    let nothing = Encoding::of_nothing(style);
    let kept = |column| header.cells(&source, &CellEncoder::keeping(&nothing, column));
    let kept: Vec<Vec<Cell>> = keep.iter().map(kept).collect::<Result<_, DataError>>()?;
    let width = rules.encoding.dimension();
    let read = |part: Part<'_>| {
        let (table, _) = part.rows(&lines, rules)?;
        let cells = keep.iter().zip(&kept).map(|(column, cells)| {
            let rules = CellEncoder::keeping(&nothing, column);
            let lines = CsvLines { cells: cells.clone(), rules: &rules, delimiter, decimal };
            let (_, numbers) = part.rows(&lines, &rules)?;
            Ok(rules.kept(numbers))
        });
        Ok(Piece::new(table, cells.collect::<Result<_, LineProblem>>()?))
    };
    lines::in_parts(source, header.rest.clone(), header.lines + 1, width, &lines, read, take)
}

/// Whether the header has the columns that are to be read; returns its names.
pub(crate) fn check(mut source: Source, rules: &CellEncoder<'_>) -> Result<Vec<String>, DataError> {
    let header = Header::read(&mut source, rules.encoding.text_style().delimiter)?;
    header.cells(&source, rules)?;
    Ok(header.names)
}

/// The names of the columns, and what was read after them.
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    rest: Vec<u8>,
    /// Lines up to its end.
    lines: u64,
    delimiter: Delimiter,
}

impl Header {
    /// By what stands between names: the first that divides them, of those that a schema can say.
    pub(crate) fn guessed(path: &Path, packed: bool) -> Result<(Self, Delimiter), DataError> {
        let read = |delimiter| Self::read(&mut Source::open(path, packed)?, delimiter);
        let usual = read(Delimiter::default())?;
        if usual.names.len() == 1
            && let Some(found) = usual.other_delimiter()
        {
            return Ok((read(found)?, found));
        }
        Ok((usual, Delimiter::default()))
    }

    /// What stands between the names, if they were taken for one.
    fn other_delimiter(&self) -> Option<Delimiter> {
        let [name] = self.names.as_slice() else { return None };
        let others = Delimiter::ALL.into_iter().filter(|other| *other != self.delimiter);
        others.into_iter().find(|other| name.as_bytes().contains(&other.byte()))
    }

    pub(crate) fn read(source: &mut Source, delimiter: Delimiter) -> Result<Self, DataError> {
        let mut text = Vec::new();
        let mut wanted = FIRST_READ;
        let (start, length) = loop {
            let missing = wanted - text.len();
            let read = (&mut source.reader).take(missing as u64).read_to_end(&mut text);
            let ended = read.map_err(|error| source.failed(error))? < missing;
            if ended && text.last() != Some(&b'\n') {
                text.push(b'\n');
            }
            // The mark that some programs put before UTF-8 text, and blank lines.
            let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let blank = text[mark..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            if let Some(length) = first_record(&text[mark + blank..], delimiter.byte()) {
                break (mark + blank, length);
            }
            if ended && mark + blank == text.len() {
                return Err(DataError::Empty { path: source.path.clone() });
            }
            wanted *= 2;
            if ended || wanted > LONGEST_HEADER {
                return Err(DataError::Malformed { path: source.path.clone(), line: 1 });
            }
        };
        let rest = text.split_off(start + length);
        let lines = memchr::memchr_iter(b'\n', &text).count() as u64;
        let names = names(&text[start..], delimiter.byte());
        let names = names.ok_or_else(|| DataError::Malformed { path: source.path.clone(), line: 1 })?;
        if names.iter().all(String::is_empty) {
            return Err(DataError::Empty { path: source.path.clone() });
        }
        Ok(Self { names, rest, lines, delimiter })
    }

    /// What is done with each column.
    fn cells(&self, source: &Source, rules: &CellEncoder<'_>) -> Result<Vec<Cell>, DataError> {
        let mut cells = vec![Cell::Skip; self.names.len()];
        let places = self.places();
        let style = rules.encoding.text_style();
        for (at, (rule, column)) in rules.features.iter().zip(rules.encoding.columns()).enumerate() {
            cells[places.of(source, &column.name)?] = match rule.as_plain_number() {
                Some(scale) if style.decimal == Decimal::Point => {
                    Cell::Number { scale, entry: rule.at, rule: at }
                }
                _ => Cell::Category { rule: at },
            };
        }
        if let Some(label) = &rules.label {
            cells[places.of(source, &label.label.column)?] = Cell::Label;
            if let Some(times) = label.times() {
                cells[places.of(source, &times.event)?] = Cell::Event;
            }
        }
        if let Some(ids) = &rules.ids {
            cells[places.of(source, &ids.person.column)?] = Cell::Person;
        }
        Ok(cells)
    }

    fn places(&self) -> Places<'_> {
        let mut places = HashMap::with_capacity(self.names.len());
        for (at, name) in self.names.iter().enumerate() {
            let place = if places.contains_key(name.as_str()) { None } else { Some(at) };
            places.insert(name.as_str(), place);
        }
        Places { of_name: places, header: self }
    }
}

/// Where columns are, by name; nowhere in particular if there are two of a name. A table may have a hundred thousand.
struct Places<'a> {
    of_name: HashMap<&'a str, Option<usize>>,
    header: &'a Header,
}

impl Places<'_> {
    fn of(&self, source: &Source, name: &str) -> Result<usize, DataError> {
        let (path, column) = (source.path.clone(), name.to_owned());
        match self.of_name.get(name) {
            Some(Some(at)) => Ok(*at),
            Some(None) => Err(DataError::DuplicateColumn { path, column }),
            None => Err(match self.header.other_delimiter() {
                Some(found) => DataError::OtherDelimiter { path, found, expected: self.header.delimiter },
                None => DataError::MissingColumn { path, column },
            }),
        }
    }
}

/// The cells of a header.
fn names(record: &[u8], delimiter: u8) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let (mut at, mut scratch) = (0, Vec::new());
    loop {
        let (cell, end) = cell(record, at, delimiter, &mut scratch)?;
        names.push(std::str::from_utf8(cell).ok()?.trim().to_owned());
        if record[end] == b'\n' {
            return Some(names);
        }
        at = end + 1;
    }
}

/// What is done with the cells of a column.
#[derive(Clone, Copy)]
enum Cell {
    Skip,
    Number { scale: Scale, entry: usize, rule: usize },
    Category { rule: usize },
    Label,
    Event,
    Person,
}

struct CsvLines<'a> {
    cells: Vec<Cell>,
    rules: &'a CellEncoder<'a>,
    delimiter: u8,
    decimal: Decimal,
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
        let width = self.rules.encoding.dimension();
        let (mut at, mut line, mut filled, mut scratch) = (0, first_line, 0, Vec::new());
        while at < text.len() {
            if let blank @ 1.. = blank_line(&text[at..]) {
                at += blank;
                line += 1;
                continue;
            }
            let row = &mut rows.features[filled * width..(filled + 1) * width];
            let own = (rows.targets.get_mut(filled), rows.persons.get_mut(filled));
            let end = self.record(text, at, row, own, &mut scratch);
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
}

impl CsvLines<'_> {
    /// Parses the record at `at` and returns where the next one starts.
    #[inline]
    fn record(
        &self,
        text: &[u8],
        mut at: usize,
        row: &mut [f64],
        (mut target, mut person): (Option<&mut f64>, Option<&mut u32>),
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        let mut event = false;
        for (index, kind) in self.cells.iter().enumerate() {
            let end = match kind {
                Cell::Number { scale, entry, rule } => match scan(&text[at..]) {
                    Some((value, length))
                        if text[at + length] == self.delimiter || text[at + length] == b'\n' =>
                    {
                        row[*entry] = scale.apply(value);
                        at + length
                    }
                    _ => self.feature(*rule, text, at, row, scratch)?,
                },
                Cell::Category { rule } => self.feature(*rule, text, at, row, scratch)?,
                Cell::Label => self.label(text, at, target.as_deref_mut(), scratch)?,
                Cell::Event => self.event(text, at, &mut event, scratch)?,
                Cell::Person => self.person(text, at, person.take(), scratch)?,
                Cell::Skip => cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?.1,
            };
            let last = index + 1 == self.cells.len();
            if (text[end] == b'\n') != last {
                return Err(LineFault::Width);
            }
            at = end + 1;
        }
        if let (Some(target), Some(times)) = (target, self.rules.times()) {
            *target = signed_time(*target, event, times.horizon);
        }
        Ok(at)
    }

    fn event(
        &self,
        text: &[u8],
        at: usize,
        event: &mut bool,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        let (cell, end) = cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?;
        if let Some(times) = self.rules.times() {
            let name = |what: CellProblem| LineFault::Cell(times.event.clone(), what);
            let cell = std::str::from_utf8(cell).map_err(|_| name(CellProblem::NotText))?;
            *event = times.read_event(cell).map_err(name)?;
        }
        Ok(end)
    }

    fn feature(
        &self,
        rule: usize,
        text: &[u8],
        at: usize,
        row: &mut [f64],
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        let (cell, end) = cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?;
        let name = || self.rules.encoding.columns()[rule].name.clone();
        let rule = &self.rules.features[rule];
        let decimal = if rule.as_number().is_some() { self.decimal } else { Decimal::Point };
        let written = match decimal.with_point(cell) {
            Ok(cell) => rule.write_text(&cell, row),
            Err(problem) => rule.refuse(problem, row),
        };
        written.map_err(|what| LineFault::Cell(name(), what))?;
        Ok(end)
    }

    fn label(
        &self,
        text: &[u8],
        at: usize,
        target: Option<&mut f64>,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        let (cell, end) = cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?;
        if let (Some(target), Some(rule)) = (target, &self.rules.label) {
            let name = |what: CellProblem| LineFault::Cell(rule.label.column.clone(), what);
            let decimal = if rule.label.is_number() { self.decimal } else { Decimal::Point };
            *target = decimal.with_point(cell).and_then(|cell| rule.target(&cell)).map_err(name)?;
        }
        Ok(end)
    }
}

impl CsvLines<'_> {
    fn person(
        &self,
        text: &[u8],
        at: usize,
        person: Option<&mut u32>,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, LineFault> {
        let (cell, end) = cell(text, at, self.delimiter, scratch).ok_or(LineFault::Malformed)?;
        if let (Some(person), Some(ids)) = (person, &self.rules.ids) {
            let name = |what: CellProblem| LineFault::Cell(ids.person.column.clone(), what);
            *person = ids.of_text(cell).map_err(name)?;
        }
        Ok(end)
    }
}

/// The length of a blank line, or 0.
#[inline]
fn blank_line(text: &[u8]) -> usize {
    match text {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// The cell at `at`, and where its comma or line end is. `None` if a quoted cell does not end, or goes on after its
/// closing quote. Quotes inside an unquoted cell are ordinary text.
///
/// `text` ends with a line end. `scratch` is left with something in it if the cell was quoted.
#[inline]
fn cell<'t>(text: &'t [u8], at: usize, delimiter: u8, scratch: &'t mut Vec<u8>) -> Option<(&'t [u8], usize)> {
    if text[at] == b'"' {
        return quoted_cell(text, at + 1, delimiter, scratch);
    }
    let rest = &text[at..];
    // Cells are short: the first bytes are looked at one by one.
    let short = rest.iter().take(16).position(|byte| *byte == delimiter || *byte == b'\n');
    let length = short.or_else(|| memchr2(delimiter, b'\n', rest))?;
    // A carriage return before the line end goes with the spaces around the cell.
    Some((&rest[..length], at + length))
}

#[cold]
fn quoted_cell<'t>(
    text: &'t [u8],
    mut at: usize,
    delimiter: u8,
    scratch: &'t mut Vec<u8>,
) -> Option<(&'t [u8], usize)> {
    // A mark that lines must be counted, then the cell.
    scratch.clear();
    scratch.push(b'"');
    loop {
        let length = memchr(b'"', text.get(at..)?)?;
        scratch.extend_from_slice(&text[at..at + length]);
        at += length + 1;
        match text.get(at..)? {
            [b'"', ..] => {
                scratch.push(b'"');
                at += 1;
            }
            [end, ..] if *end == delimiter || *end == b'\n' => return Some((&scratch[1..], at)),
            [b'\r', b'\n', ..] => return Some((&scratch[1..], at + 1)),
            _ => return None,
        }
    }
}

/// The length of the record at the start of `text`, its line end included; `None` if it does not end.
fn first_record(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        // Up to the next cell or line that starts with a quote: what is before it has no quoted cell.
        if text.get(at) == Some(&b'"') {
            at += 1;
            loop {
                at += memchr(b'"', text.get(at..)?)? + 1;
                if text.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
        }
        at += memchr2(delimiter, b'\n', text.get(at..)?)?;
        at += 1;
        if text[at - 1] == b'\n' {
            return Some(at);
        }
    }
}
