//! Cells of Parquet files, and what they become.

use crate::cell_encoder::{LabelRule, Rule};
use crate::date;
use crate::error::CellProblem;
use crate::label::Times;
use crate::person::Ids;
use parquet::data_type::Int96;

/// A cell.
pub(super) enum Value<'a> {
    Missing,
    Truth(bool),
    Integer(i128),
    Number(f64),
    /// Since 1970-01-01.
    Day(f64),
    Text(&'a [u8]),
}

/// The day of a moment as older programs write it: nanoseconds of a day, and the day of Julius Scaliger's calendar.
pub(super) fn julian_day(moment: &Int96) -> f64 {
    const DAY: u64 = 86_400_000_000_000;
    let [low, high, day] = moment.data() else { return f64::NAN };
    let nanoseconds = u64::from(*low) | u64::from(*high) << 32;
    f64::from(*day) - 2_440_588.0 + (nanoseconds / DAY) as f64
}

impl Value<'_> {
    pub(super) fn decimal(unscaled: i128, scale: i32) -> Self {
        Self::Number(unscaled as f64 / 10f64.powi(scale))
    }

    /// Big-endian two's complement; what is wider than 128 bits is beyond any range and counts as no number.
    pub(super) fn wide_decimal(bytes: &[u8], scale: i32) -> Self {
        if bytes.is_empty() || bytes.len() > 16 {
            return Self::Text(b"?");
        }
        let negative = bytes[0] >= 0x80;
        let start = if negative { -1 } else { 0 };
        Self::decimal(bytes.iter().fold(start, |value, byte| (value << 8) | i128::from(*byte)), scale)
    }

    /// A finite number, or a truth as 1 or 0, which need no second look where a column holds numbers.
    #[inline]
    pub(super) fn as_number(&self) -> Option<f64> {
        let number = match self {
            Self::Number(value) => *value,
            Self::Truth(truth) => f64::from(u8::from(*truth)),
            Self::Integer(value) => *value as f64,
            Self::Missing | Self::Day(_) | Self::Text(_) => return None,
        };
        number.is_finite().then_some(number)
    }

    pub(super) fn write(self, rule: &Rule, row: &mut [f64]) -> Result<(), CellProblem> {
        let number = rule.as_number().is_some();
        match self {
            Self::Missing => rule.write_missing(row),
            Self::Truth(truth) if number => rule.write_number(f64::from(u8::from(truth)), row),
            Self::Truth(truth) => rule.write_text(truth.to_string().as_bytes(), row),
            Self::Integer(value) if number => rule.write_number(value as f64, row),
            Self::Integer(value) => rule.write_text(value.to_string().as_bytes(), row),
            Self::Number(value) => rule.write_number(value, row),
            Self::Day(day) => rule.write_day(day, row),
            Self::Text(text) => rule.write_text(text, row),
        }
    }

    pub(super) fn target(self, rule: &LabelRule<'_>) -> Result<f64, CellProblem> {
        match self {
            Self::Missing => Err(CellProblem::MissingLabel),
            // Booleans may be called 1 and 0 in the schema.
            Self::Truth(truth) => rule
                .target(truth.to_string().as_bytes())
                .or_else(|_| rule.target_of_number(f64::from(u8::from(truth)))),
            Self::Integer(value) => rule.target(value.to_string().as_bytes()),
            Self::Number(value) => rule.target_of_number(value),
            Self::Day(_) => Err(CellProblem::NotANumber),
            Self::Text(text) => rule.target(text),
        }
    }
}

impl Value<'_> {
    pub(super) fn event(self, times: &Times) -> Result<bool, CellProblem> {
        match self {
            Self::Missing | Self::Day(_) => Err(CellProblem::UnknownEvent),
            Self::Truth(truth) => times.read_truth(truth),
            Self::Integer(value) => times.read_event(&value.to_string()),
            Self::Number(value) => times.read_event(&value.to_string()),
            Self::Text(text) => {
                times.read_event(std::str::from_utf8(text).map_err(|_| CellProblem::NotText)?)
            }
        }
    }

    /// Numbers with a point, and booleans, tell no persons apart: 7 and 7.0 would be two, or one, by chance.
    pub(super) fn person(self, ids: &Ids<'_>) -> Result<u32, CellProblem> {
        match self {
            Self::Missing if ids.verbatim => ids.of_text(b""),
            Self::Truth(truth) if ids.verbatim => ids.of_text(truth.to_string().as_bytes()),
            Self::Number(number) if ids.verbatim => ids.of_text(number.to_string().as_bytes()),
            Self::Day(day) if ids.verbatim => ids.of_text(date::date_text(day).as_bytes()),
            Self::Missing => Err(CellProblem::MissingPerson),
            Self::Integer(id) => ids.of_whole(id),
            Self::Text(id) => ids.of_text(id),
            Self::Truth(_) | Self::Number(_) | Self::Day(_) => Err(CellProblem::NotAPerson),
        }
    }
}
