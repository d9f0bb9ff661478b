//! A schema's columns in the form that readers of files apply cell by cell.

use crate::error::CellProblem;
use crate::label::{Times, read_time};
use crate::person::Ids;
use crate::schema::{Kind, Missing};
use crate::{Column, Encoding, Label, LabelKind, LabelUse, PersonColumn, date, number};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What to do with the cells of a feature column.
pub(crate) struct Rule {
    /// Where the column's entries start in the vector.
    pub(crate) at: usize,
    /// How many there are.
    width: usize,
    kind: RuleKind,
    /// What is met is counted, and a cell that cannot be read leaves a mark in its row, where the whole table is looked at.
    tally: Option<Tally>,
}

/// Cells of a column that are not what a schema expects of most.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) clipped: AtomicU64,
    pub(crate) unlisted: AtomicU64,
    pub(crate) missing: AtomicU64,
    pub(crate) unreadable: AtomicU64,
}

/// In a row's place for a cell that cannot be read. No cell becomes it: numbers are finite.
pub(crate) const UNREADABLE: f64 = f64::NAN;

enum RuleKind {
    Number {
        scale: Scale,
        missing: Option<Empty>,
        /// Cells are dates, of which the days are counted.
        date: bool,
    },
    Category {
        places: Lookup<usize>,
        /// The place of every value that is not listed.
        other: Option<usize>,
        missing: Option<usize>,
    },
}

/// What an empty cell of a column of numbers becomes.
#[derive(Clone, Copy)]
enum Empty {
    As(f64),
    /// 0, and a 1 behind it.
    Own,
}

/// Cuts a number off at its range and maps the range to [−1, 1].
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    middle: f64,
    half: f64,
}

impl Scale {
    pub(crate) fn new([low, high]: [f64; 2]) -> Self {
        // Halves first: high − low could overflow.
        Self { low, high, middle: low / 2.0 + high / 2.0, half: high / 2.0 - low / 2.0 }
    }

    #[inline]
    pub(crate) fn apply(self, value: f64) -> f64 {
        // NaN is neither below nor above, and stays.
        let cut = if value < self.low { self.low } else { value };
        let cut = if cut > self.high { self.high } else { cut };
        (cut - self.middle) / self.half
    }
}

/// Scales of columns, each bound in a row of its own: whole rows of cells go through them in registers.
pub(crate) struct Scales {
    bounds: [Vec<f64>; 4],
    missing: Vec<f64>,
}

impl Scales {
    /// With what stands for NaN.
    pub(crate) fn new(columns: &[(Scale, f64)]) -> Self {
        let each = |of: fn(&Scale) -> f64| columns.iter().map(|(scale, _)| of(scale)).collect();
        let bounds = [each(|s| s.low), each(|s| s.high), each(|s| s.middle), each(|s| s.half)];
        Self { bounds, missing: columns.iter().map(|(_, missing)| *missing).collect() }
    }

    /// As [`Scale::apply`], cell by cell.
    pub(crate) fn apply(&self, cells: &[f64], out: &mut [f64]) {
        let [low, high, middle, half] = &self.bounds;
        let columns = self.missing.len();
        for (row, out) in cells.chunks_exact(columns).zip(out.chunks_exact_mut(columns)) {
            let scales = low.iter().zip(high).zip(middle).zip(half).zip(&self.missing);
            for ((out, value), ((((low, high), middle), half), missing)) in
                out.iter_mut().zip(row).zip(scales)
            {
                let scale = Scale { low: *low, high: *high, middle: *middle, half: *half };
                *out = scale.apply(if value.is_nan() { *missing } else { *value });
            }
        }
    }
}

impl Rule {
    /// One rule a column, in order.
    pub(crate) fn all(encoding: &Encoding) -> Vec<Self> {
        let mut at = 0;
        let rule = |column: &Column| {
            let start = at;
            at += column.width();
            Self::new(column, start)
        };
        encoding.columns().iter().map(rule).collect()
    }

    fn new(column: &Column, at: usize) -> Self {
        let kind = match &column.kind {
            Kind::Range(range) => {
                let scale = Scale::new(*range);
                let missing = match column.missing {
                    Some(Missing::Number(value)) => Some(Empty::As(scale.apply(value))),
                    Some(Missing::Own) => Some(Empty::Own),
                    _ => None,
                };
                RuleKind::Number { scale, missing, date: column.date }
            }
            Kind::Categories(values) => {
                let places = Lookup::new(values.iter().map(String::as_str).zip(0..));
                let missing = match &column.missing {
                    Some(Missing::Category(value)) => places.get(value.as_bytes()),
                    _ => None,
                };
                RuleKind::Category { places, other: column.other.then_some(values.len()), missing }
            }
        };
        Self { at, width: column.width(), kind, tally: None }
    }

    /// The same, but no cell is refused: see [`UNREADABLE`].
    pub(crate) fn tallied(self) -> Self {
        Self { tally: Some(Tally::default()), ..self }
    }

    /// What was counted.
    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_ref()
    }

    /// Counts, where that was asked for.
    fn count(&self, which: fn(&Tally) -> &AtomicU64) {
        if let Some(tally) = &self.tally {
            which(tally).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Refuses a cell, or marks its row.
    fn settled(&self, outcome: Result<(), CellProblem>, row: &mut [f64]) -> Result<(), CellProblem> {
        let Err(problem) = outcome else { return Ok(()) };
        if self.tally.is_none() {
            return Err(problem);
        }
        if problem != CellProblem::Missing {
            self.count(|tally| &tally.unreadable);
        }
        row[self.at] = UNREADABLE;
        Ok(())
    }

    /// Refuses a cell that a reader could not make out.
    pub(crate) fn refuse(&self, problem: CellProblem, row: &mut [f64]) -> Result<(), CellProblem> {
        self.settled(Err(problem), row)
    }

    fn scaled(&self, scale: Scale, value: f64) -> f64 {
        if value < scale.low || value > scale.high {
            self.count(|tally| &tally.clipped);
        }
        scale.apply(value)
    }

    /// How to scale, if the column holds numbers that nobody counts: readers then need no call for each.
    pub(crate) fn as_plain_number(&self) -> Option<Scale> {
        self.as_number().filter(|_| self.tally.is_none())
    }

    /// How to scale, if the column holds numbers, and not dates.
    #[inline]
    pub(crate) fn as_number(&self) -> Option<Scale> {
        match self.kind {
            RuleKind::Number { scale, date: false, .. } => Some(scale),
            _ => None,
        }
    }

    /// Whether it holds dates.
    pub(crate) fn is_date(&self) -> bool {
        matches!(self.kind, RuleKind::Number { date: true, .. })
    }

    /// Makes the column's entries zeros.
    pub(crate) fn clear(&self, row: &mut [f64]) {
        row[self.at..self.at + self.width].fill(0.0);
    }

    /// Writes a cell's entries into a row of zeros.
    pub(crate) fn write_text(&self, cell: &[u8], row: &mut [f64]) -> Result<(), CellProblem> {
        let outcome = self.text(cell, row);
        self.settled(outcome, row)
    }

    fn text(&self, cell: &[u8], row: &mut [f64]) -> Result<(), CellProblem> {
        match &self.kind {
            RuleKind::Number { scale, date, .. } => {
                match if *date { date::parse(cell) } else { number::parse(cell) } {
                    Ok(value) => row[self.at] = self.scaled(*scale, value),
                    Err(CellProblem::Missing) => return self.missing(row),
                    Err(problem) => return Err(problem),
                }
            }
            RuleKind::Category { places, other, .. } => {
                let cell = cell.trim_ascii();
                match places.get(cell) {
                    Some(place) => row[self.at + place] = 1.0,
                    None if cell.is_empty() => return self.missing(row),
                    // A listed value in another encoding would pass for an unlisted one.
                    None if std::str::from_utf8(cell).is_err() => return Err(CellProblem::NotText),
                    None => {
                        self.count(|tally| &tally.unlisted);
                        if let Some(place) = other {
                            row[self.at + place] = 1.0;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a number's entries into a row of zeros; in a column of categories it counts as its shortest text.
    pub(crate) fn write_number(&self, value: f64, row: &mut [f64]) -> Result<(), CellProblem> {
        let outcome = self.number(value, row);
        self.settled(outcome, row)
    }

    fn number(&self, value: f64, row: &mut [f64]) -> Result<(), CellProblem> {
        if value.is_nan() {
            return self.missing(row);
        }
        match &self.kind {
            // Days come by `write_day`; which day another number means would be a guess.
            RuleKind::Number { date: true, .. } => Err(CellProblem::NotADate),
            RuleKind::Number { .. } if value.is_infinite() => Err(CellProblem::NotFinite),
            RuleKind::Number { scale, .. } => {
                row[self.at] = self.scaled(*scale, value);
                Ok(())
            }
            RuleKind::Category { .. } => self.text(value.to_string().as_bytes(), row),
        }
    }

    /// Writes a day since 1970-01-01; NaN where there is none. Only columns of dates are asked.
    pub(crate) fn write_day(&self, day: f64, row: &mut [f64]) -> Result<(), CellProblem> {
        let outcome = match self.kind {
            _ if day.is_nan() => self.missing(row),
            RuleKind::Number { scale, date: true, .. } if day.is_finite() => {
                row[self.at] = self.scaled(scale, day);
                Ok(())
            }
            _ => Err(CellProblem::NotADate),
        };
        self.settled(outcome, row)
    }

    /// Writes what an empty cell is into a row of zeros.
    pub(crate) fn write_missing(&self, row: &mut [f64]) -> Result<(), CellProblem> {
        let outcome = self.missing(row);
        self.settled(outcome, row)
    }

    fn missing(&self, row: &mut [f64]) -> Result<(), CellProblem> {
        self.count(|tally| &tally.missing);
        match self.kind {
            RuleKind::Number { missing: Some(Empty::As(value)), .. } => row[self.at] = value,
            RuleKind::Number { missing: Some(Empty::Own), .. } => row[self.at + 1] = 1.0,
            RuleKind::Category { missing: Some(place), .. } => row[self.at + place] = 1.0,
            _ => return Err(CellProblem::Missing),
        }
        Ok(())
    }
}

/// How a table is read: a rule a feature column, the label and whose a record is, if they are asked for.
pub(crate) struct CellEncoder<'a> {
    pub(crate) encoding: &'a Encoding,
    pub(crate) features: Vec<Rule>,
    pub(crate) label: Option<LabelRule<'a>>,
    pub(crate) ids: Option<Ids<'a>>,
}

impl<'a> CellEncoder<'a> {
    pub(crate) fn new(encoding: &'a Encoding, labels: LabelUse<'a>) -> Self {
        let (label, person) = match labels {
            LabelUse::Read(label) => (Some(label), None),
            LabelUse::OfPersons(label, person) => (Some(label), Some(person)),
            LabelUse::Ignore => (None, None),
        };
        let (label, ids) = (label.map(LabelRule::new), person.map(Ids::new));
        Self { encoding, features: Rule::all(encoding), label, ids }
    }

    /// The cells of one column, as they are but for space around them.
    pub(crate) fn keeping(nothing: &'a Encoding, column: &'a PersonColumn) -> Self {
        Self { encoding: nothing, features: Vec::new(), label: None, ids: Some(Ids::verbatim(column)) }
    }

    /// The cells that were kept, by the number that each row got.
    pub(crate) fn kept(self, numbers: Vec<u32>) -> Vec<String> {
        let Some(ids) = self.ids else { return Vec::new() };
        let (owners, texts) = ids.owners(numbers);
        let texts: Vec<String> =
            texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        owners.of_row().iter().map(|number| texts[*number as usize].clone()).collect()
    }
}

impl<'a> CellEncoder<'a> {
    /// Times and events, if they are read.
    pub(crate) fn times(&self) -> Option<&'a Times> {
        self.label.as_ref().and_then(LabelRule::times)
    }
}

/// The label, with the targets of the texts that files use most.
pub(crate) struct LabelRule<'a> {
    pub(crate) label: &'a Label,
    known: Lookup<f64>,
    scale: Option<Scale>,
}

impl<'a> LabelRule<'a> {
    pub(crate) fn new(label: &'a Label) -> Self {
        let (values, scale): (Vec<&str>, _) = match &label.kind {
            LabelKind::Binary { positive, negative } => (vec![positive, negative], None),
            LabelKind::OneAgainstOthers { positive } => (vec![positive], None),
            LabelKind::Classes(classes) => (classes.iter().map(String::as_str).collect(), None),
            LabelKind::Range(range) => (Vec::new(), Some(Scale::new(*range))),
            LabelKind::Times(_) => (Vec::new(), None),
        };
        let known =
            Lookup::new(values.into_iter().filter_map(|value| Some((value, label.read(value).ok()?))));
        Self { label, known, scale }
    }

    /// The target that a cell becomes; the time, where another column says whether the event was seen.
    #[inline]
    pub(crate) fn target(&self, cell: &[u8]) -> Result<f64, CellProblem> {
        if let Some(scale) = self.scale {
            return match number::parse(cell) {
                Err(CellProblem::Missing) => Err(CellProblem::MissingLabel),
                number => Ok(scale.apply(number?)),
            };
        }
        if let Some(target) = self.known.get(cell) {
            return Ok(target);
        }
        if cell.trim_ascii().is_empty() {
            return Err(CellProblem::MissingLabel);
        }
        self.label.read(std::str::from_utf8(cell).map_err(|_| CellProblem::NotText)?)
    }

    /// The target that a number becomes.
    pub(crate) fn target_of_number(&self, value: f64) -> Result<f64, CellProblem> {
        match self.scale {
            _ if value.is_nan() => Err(CellProblem::MissingLabel),
            Some(_) if value.is_infinite() => Err(CellProblem::NotFinite),
            Some(scale) => Ok(scale.apply(value)),
            None if self.label.times().is_some() => read_time(value),
            None => self.target(value.to_string().as_bytes()),
        }
    }
}

impl<'a> LabelRule<'a> {
    /// Times and events, if the label is about them.
    pub(crate) fn times(&self) -> Option<&'a Times> {
        self.label.times()
    }
}

/// Texts and what they stand for.
enum Lookup<T> {
    /// So few that comparing with each is faster than hashing.
    Few(Vec<(Vec<u8>, T)>),
    Many(HashMap<Vec<u8>, T>),
}

impl<T: Copy> Lookup<T> {
    fn new<'a>(entries: impl Iterator<Item = (&'a str, T)>) -> Self {
        let entries: Vec<_> = entries.map(|(text, meaning)| (text.as_bytes().to_vec(), meaning)).collect();
        if entries.len() <= 8 { Self::Few(entries) } else { Self::Many(entries.into_iter().collect()) }
    }

    #[inline]
    fn get(&self, text: &[u8]) -> Option<T> {
        match self {
            Self::Few(entries) => {
                // Texts are short: byte by byte is faster than a call.
                let same =
                    |known: &[u8]| known.len() == text.len() && known.iter().zip(text).all(|(a, b)| a == b);
                entries.iter().find(|(known, _)| same(known)).map(|(_, meaning)| *meaning)
            }
            Self::Many(entries) => entries.get(text).copied(),
        }
    }
}
