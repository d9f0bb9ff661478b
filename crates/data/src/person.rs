//! Whose records they are.

use crate::error::CellProblem;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The column that says whose a record is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonColumn {
    /// Its name in the header.
    pub column: String,
    /// What tells persons apart.
    #[serde(default)]
    pub kind: IdKind,
}

/// How two ids are compared. All files and parts of a table go by the same rule: one person under two ids would be two persons, of
/// which each is protected and both together are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdKind {
    /// As text, without space around it; whole numbers of typed files by their decimal digits.
    #[default]
    Text,
    /// As whole numbers: `7`, `007` and `+7` are one person.
    Integer,
}

impl PersonColumn {
    /// A column of ids that are compared as text.
    pub fn new(column: impl Into<String>) -> Self {
        Self { column: column.into(), kind: IdKind::Text }
    }
}

/// Who has which row: persons are numbered as they first appear.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owners {
    of_row: Vec<u32>,
    persons: usize,
}

impl Owners {
    /// From a number for each row, equal for rows of one person and for no others.
    pub fn new(numbers: Vec<u32>) -> Self {
        Self::in_order(numbers).0
    }

    /// The same, and what the number of each person was.
    fn in_order(mut numbers: Vec<u32>) -> (Self, Vec<u32>) {
        let mut known: HashMap<u32, u32> = HashMap::new();
        let mut before = Vec::new();
        for number in &mut numbers {
            let next = u32::try_from(before.len()).unwrap_or(u32::MAX);
            let own = *known.entry(*number).or_insert(next);
            if own == next && before.len() < known.len() {
                before.push(*number);
            }
            *number = own;
        }
        (Self { of_row: numbers, persons: before.len() }, before)
    }

    /// The person of each row, from 0 in the order of first appearance.
    pub fn of_row(&self) -> &[u32] {
        &self.of_row
    }

    /// How many persons there are.
    pub fn persons(&self) -> usize {
        self.persons
    }

    /// How many records each person has.
    pub fn records(&self) -> Vec<u32> {
        let mut records = vec![0_u32; self.persons];
        for owner in &self.of_row {
            records[*owner as usize] = records[*owner as usize].saturating_add(1);
        }
        records
    }
}

/// The id of each person of a table.
pub type PersonIds = Vec<Box<[u8]>>;

/// Ids that were met, compared in full, with a number for each.
pub(crate) struct Ids<'a> {
    pub(crate) person: &'a PersonColumn,
    /// Cells are kept as they are, empty ones too, and tell nobody apart.
    pub(crate) verbatim: bool,
    known: Mutex<HashMap<Box<[u8]>, u32>>,
}

impl<'a> Ids<'a> {
    pub(crate) fn new(person: &'a PersonColumn) -> Self {
        Self { person, verbatim: false, known: Mutex::default() }
    }

    /// The cells of any column, as they are.
    pub(crate) fn verbatim(column: &'a PersonColumn) -> Self {
        Self { verbatim: true, ..Self::new(column) }
    }

    /// The number of a cell's id.
    pub(crate) fn of_text(&self, cell: &[u8]) -> Result<u32, CellProblem> {
        // Space of any kind around it; what is no text has none.
        let cell = std::str::from_utf8(cell).map_or(cell, |text| text.trim().as_bytes());
        if self.verbatim {
            return self.number(cell);
        }
        if cell.is_empty() {
            return Err(CellProblem::MissingPerson);
        }
        match self.person.kind {
            // Programs write whole numbers as 7.0 where one of the column is missing: the same person as 7 elsewhere.
            IdKind::Text if is_whole_with_point(cell) => Err(CellProblem::NotAPerson),
            IdKind::Text => self.number(cell),
            IdKind::Integer => {
                let text = std::str::from_utf8(cell).ok();
                let whole = text.and_then(|text| text.parse().ok()).ok_or(CellProblem::NotAPerson)?;
                self.of_whole(whole)
            }
        }
    }

    /// The number of an id that is a whole number.
    pub(crate) fn of_whole(&self, id: i128) -> Result<u32, CellProblem> {
        self.number(id.to_string().as_bytes())
    }

    /// Whose each row is, by the numbers that were given, and the id of each person.
    pub(crate) fn owners(self, numbers: Vec<u32>) -> (Owners, PersonIds) {
        let (owners, given) = Owners::in_order(numbers);
        let known = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut of_number: HashMap<u32, Box<[u8]>> =
            known.into_iter().map(|(id, number)| (number, id)).collect();
        let ids = given.iter().map(|number| of_number.remove(number).unwrap_or_default()).collect();
        (owners, ids)
    }

    fn number(&self, id: &[u8]) -> Result<u32, CellProblem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.get(id) {
            return Ok(*number);
        }
        let number = u32::try_from(known.len()).map_err(|_| CellProblem::NotAPerson)?;
        known.insert(id.into(), number);
        Ok(number)
    }
}

/// Digits, a point, and nothing or zeros after it.
fn is_whole_with_point(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or(cell.strip_prefix(b"+")).unwrap_or(cell);
    let mut halves = digits.splitn(2, |byte| *byte == b'.');
    let (whole, rest) = (halves.next().unwrap_or_default(), halves.next());
    !whole.is_empty()
        && whole.iter().all(u8::is_ascii_digit)
        && rest.is_some_and(|rest| rest.iter().all(|byte| *byte == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_are_numbered_as_they_appear() {
        let owners = Owners::new(vec![7, 3, 7, 9, 3, 3]);
        assert_eq!((owners.of_row(), owners.persons()), (&[0, 1, 0, 2, 1, 1][..], 3));
        assert_eq!(owners.records(), [2, 3, 1]);
        assert_eq!(Owners::new(Vec::new()).persons(), 0);
        let column = PersonColumn::new("id");
        let ids = Ids::new(&column);
        let numbers = [&b"x"[..], b"b", b"x", b"a"].map(|id| ids.of_text(id).unwrap());
        let reversed = numbers.into_iter().rev().collect();
        let (owners, names) = ids.owners(reversed);
        assert_eq!((owners.of_row(), owners.persons()), (&[0, 1, 2, 1][..], 3));
        assert_eq!(names, [&b"a"[..], b"x", b"b"].map(Box::from));
    }

    #[test]
    fn ids_are_compared_as_their_kind_says() {
        let text = PersonColumn::new("id");
        let ids = Ids::new(&text);
        assert_eq!(ids.of_text(b" 7 ").unwrap(), ids.of_whole(7).unwrap());
        assert_ne!(ids.of_text(b"7").unwrap(), ids.of_text(b"007").unwrap());
        for same in ["7\u{a0}", "\u{2003}7", "7\u{b}"] {
            assert_eq!(ids.of_text(same.as_bytes()), ids.of_whole(7));
        }
        for perhaps in [&b"7.0"[..], b"7.", b"-12.000"] {
            assert_eq!(ids.of_text(perhaps), Err(CellProblem::NotAPerson));
        }
        for name in [&b"7.5"[..], b"1.0.2", b".0", b"v7.0"] {
            assert!(ids.of_text(name).is_ok());
        }
        assert_eq!(ids.of_text(b" \t"), Err(CellProblem::MissingPerson));
        let whole = PersonColumn { kind: IdKind::Integer, ..text };
        let ids = Ids::new(&whole);
        let seven = ids.of_whole(7).unwrap();
        for same in [&b"7"[..], b"007", b"+7", b" 7"] {
            assert_eq!(ids.of_text(same), Ok(seven));
        }
        for wrong in [&b"7.0"[..], b"x", b"7e0", b"\xff"] {
            assert_eq!(ids.of_text(wrong), Err(CellProblem::NotAPerson));
        }
    }
}
