//! How a row becomes a vector, as far as a model file says it.

use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The public rules that turn a row into a vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// One rule a column.
    pub columns: Vec<Column>,
    /// How text files with these columns are written; no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextStyle>,
}

/// What stands between cells, and before decimals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextStyle {
    /// Between cells.
    pub delimiter: String,
    /// Before decimals.
    pub decimal: String,
}

/// One column's rule: a range of numbers or a list of categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// Whether it holds dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Holds>,
    /// Numbers, or dates, are cut off here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Bounds>,
    /// A category is a 1 in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// What an empty cell counts as; in a column of numbers `own` is an entry of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Scalar>,
    /// Whether values outside the categories have an entry of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other: bool,
    /// Which way scores go with a column of numbers. Weights were changed for it after they were released: no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monotone: Option<Monotone>,
}

/// What a column holds that its range alone does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Dates, of which the days are counted.
    Date,
}

/// Where a column is cut off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bounds {
    /// Two numbers.
    Numbers([f64; 2]),
    /// Two dates, as `2024-02-29`.
    Dates([String; 2]),
}

impl Bounds {
    fn check(&self, dates: bool) -> Result<(), &'static str> {
        match self {
            Self::Numbers([low, high]) if !dates => {
                let good = low.is_finite() && high.is_finite() && low < high;
                if good { Ok(()) } else { Err("a range is two finite numbers, the smaller first") }
            }
            // Texts of this form are ordered as their days are.
            Self::Dates([first, last]) if dates => {
                let good = is_date(first) && is_date(last) && first < last;
                if good { Ok(()) } else { Err("a range of dates is two of them, the earlier first") }
            }
            _ => Err("dates, and they alone, have a range of dates"),
        }
    }
}

/// Whether a text has the form of a date; which day it is, no guarantee rests on.
pub(crate) fn is_date(text: &str) -> bool {
    let form = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

/// Which way scores go with a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Monotone {
    /// They never fall as it grows.
    Increasing,
    /// They never rise.
    Decreasing,
}

/// A value that people write with or without quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// In quotes.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// `true` or `false`.
    Truth(bool),
}

/// The label column and its public values; no guarantee rests on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Name of the column; none for times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The value that should rank high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<Scalar>,
    /// The other value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative: Option<Scalar>,
    /// What values are that are not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// A public list of classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<Scalar>>,
    /// A public range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The column of times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The column that says whether the event was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What it says if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred: Option<Scalar>,
    /// What it says if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<Scalar>,
    /// The public time beyond which nothing is told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<f64>,
}

/// What values are that a label does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// Negative.
    Negative,
}

impl Encoding {
    /// The ranges of the numeric columns, in their order.
    pub fn ranges(&self) -> Vec<[f64; 2]> {
        let numbers = |column: &Column| match column.range {
            Some(Bounds::Numbers(range)) => Some(range),
            _ => None,
        };
        self.columns.iter().filter_map(numbers).collect()
    }

    /// Length of the vector.
    pub fn dimension(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// Whether every column has one rule that can be followed.
    ///
    /// # Errors
    /// One line that says which column is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let named =
            |column: &Column| column.check().map_err(|what| format!("column `{}`: {what}", column.name));
        self.columns.iter().try_for_each(named)
    }
}

impl Column {
    /// Entries of the vector that the column takes.
    pub fn width(&self) -> usize {
        let own = || matches!(&self.missing, Some(Scalar::Text(word)) if word == "own");
        match &self.categories {
            Some(values) => values.len() + usize::from(self.other),
            None => 1 + usize::from(own()),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let dates = self.kind == Some(Holds::Date);
        match (&self.range, &self.categories, &self.missing) {
            (Some(bounds), None, missing) => match missing {
                _ if self.other => Err("`other` is for categories"),
                _ if bounds.check(dates).is_err() => bounds.check(dates),
                None => Ok(()),
                Some(Scalar::Text(word)) if word == "own" => Ok(()),
                Some(Scalar::Text(day)) if dates && is_date(day) => Ok(()),
                Some(_) if dates => Err("`missing` is a date, or \"own\", where the column holds dates"),
                Some(Scalar::Integer(_)) if !dates => Ok(()),
                Some(Scalar::Number(value)) if value.is_finite() => Ok(()),
                Some(_) => Err("`missing` is a finite number, or \"own\", where the column has a range"),
            },
            (None, Some(values), missing) => {
                let mut seen = HashSet::new();
                match missing {
                    _ if self.monotone.is_some() => Err("`monotone` is for numbers"),
                    _ if dates => Err("`kind` is for a range of dates"),
                    _ if values.is_empty() => Err("no category is listed"),
                    _ if !values.iter().all(|value| seen.insert(value)) => Err("a category is listed twice"),
                    None => Ok(()),
                    Some(Scalar::Text(value)) if seen.contains(value) => Ok(()),
                    Some(_) => Err("`missing` is one of the categories"),
                }
            }
            _ => Err("a column has either a range or categories"),
        }
    }
}
