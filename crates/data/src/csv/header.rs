//! The header of a CSV file, and which of its columns are read.

use super::quotes::{cell, first_record};
use super::records::Cell;
use crate::cell_encoder::CellEncoder;
use crate::source::Source;
use crate::{DataError, Decimal, Delimiter};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

/// How much of a file is read to find its header, and the most a header may be.
const FIRST_READ: usize = 1 << 16;
const LONGEST_HEADER: usize = 1 << 24;

/// The names of the columns, and what was read after them.
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    pub(super) rest: Vec<u8>,
    /// Lines up to its end.
    pub(super) lines: u64,
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
    pub(super) fn cells(&self, source: &Source, rules: &CellEncoder<'_>) -> Result<Vec<Cell>, DataError> {
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
