//! What a feature column holds, and how files say it.

use crate::date;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// A feature column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawColumn", into = "RawColumn")]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether its numbers are dates: days since 1970-01-01, which files write as dates.
    pub date: bool,
    /// What an empty cell counts as; without it an empty cell is an error.
    pub missing: Option<Missing>,
    /// Whether values outside the categories have an entry of their own; without it they are none of the categories.
    pub other: bool,
    /// Whether a score may only rise, or only fall, with a column of numbers.
    pub monotone: Option<Monotone>,
}

/// Which way a score goes with a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Monotone {
    /// It never falls as the number grows.
    Increasing,
    /// It never rises.
    Decreasing,
}

/// What stands for an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Missing {
    /// In a column of numbers, a public one; of dates, a day.
    Number(f64),
    /// In a column of numbers, an entry of its own: the word `own` in files.
    Own,
    /// In a column of categories, one of them, whatever it is called.
    Category(String),
}

/// How files call [`Missing::Own`].
const OWN: &str = "own";

const NO_RANGE: &str = "a range is two finite numbers, the smaller first";
const NO_DATES: &str =
    "a range of dates is two of them, the earlier first: range = [\"2020-01-01\", \"2024-12-31\"]";

/// Whether it is a day that can be written as a date.
fn is_day(day: f64) -> bool {
    day.fract() == 0.0 && day >= date::EARLIEST as f64 && day <= date::LATEST as f64
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Numbers, or dates, cut off at a public range.
    Range([f64; 2]),
    /// One of a public list of values; any other value encodes as none of them.
    Categories(Vec<String>),
}

/// A column as files write it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawColumn {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Says>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Vec<Scalar>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Scalar>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    monotone: Option<Monotone>,
}

/// What is said of a column beside its range.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Says {
    Date,
}

/// A value that people write with or without quotes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Text(String),
    Integer(i64),
    Number(f64),
    Truth(bool),
    /// As TOML has dates without quotes.
    Date(toml::value::Datetime),
}

impl Scalar {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
            Self::Date(date) => date.to_string(),
        }
    }

    fn into_number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Integer(number) => Some(number as f64),
            _ => None,
        }
    }

    /// Numbers are none: whether 20240229 is a day, and which, would be a guess.
    fn into_day(self) -> Option<f64> {
        match self {
            Self::Text(text) => date::parse_date(&text),
            Self::Date(date) => date::parse_date(&date.to_string()),
            _ => None,
        }
    }
}

impl Column {
    /// A column whose empty cells are errors.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, date: false, missing: None, other: false, monotone: None }
    }

    /// A column of dates, of which empty ones are errors; the range is in days since 1970-01-01.
    pub fn of_dates(name: impl Into<String>, days: [f64; 2]) -> Self {
        Self { date: true, ..Self::new(name, Kind::Range(days)) }
    }

    /// A number of the column as people write it: a date, where it holds dates.
    pub fn text_of(&self, value: f64) -> String {
        if self.date { date::date_text(value) } else { value.to_string() }
    }

    /// Entries of the vector that the column takes.
    pub fn width(&self) -> usize {
        match &self.kind {
            Kind::Range(_) => 1 + usize::from(self.missing == Some(Missing::Own)),
            Kind::Categories(values) => values.len() + usize::from(self.other),
        }
    }

    /// Whether it is a column that can be encoded; files can hold anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.kind
            .check()
            .and_then(|()| self.check_missing())
            .map_err(|what| format!("column `{}`: {what}", self.name))
    }

    fn check_missing(&self) -> Result<(), String> {
        match (&self.kind, &self.missing) {
            (Kind::Categories(_), _) if self.date => Err("`kind = \"date\"` is for a range of dates".into()),
            (Kind::Range(days), _) if self.date && !days.iter().all(|day| is_day(*day)) => {
                Err(NO_DATES.into())
            }
            (Kind::Range(_), Some(Missing::Number(day))) if self.date && !is_day(*day) => {
                Err("`missing` is a date, or \"own\", where the column holds dates".into())
            }
            (Kind::Range(_), _) if self.other => Err("`other` is for categories".into()),
            (Kind::Categories(_), _) if self.monotone.is_some() => {
                Err("`monotone` is for numbers: categories have no order".into())
            }
            (Kind::Range(_), Some(Missing::Own)) | (_, None) => Ok(()),
            (Kind::Range(_), Some(Missing::Number(value))) if value.is_finite() => Ok(()),
            (Kind::Range(_), Some(_)) => {
                Err("`missing` is a finite number, or \"own\", where the column has a range".into())
            }
            (Kind::Categories(values), Some(Missing::Category(value))) if values.contains(value) => Ok(()),
            (Kind::Categories(_), Some(_)) => Err("`missing` is one of the categories".into()),
        }
    }
}

impl Kind {
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Range([low, high]) if low.is_finite() && high.is_finite() && low < high => Ok(()),
            Self::Range([low, high]) if low.is_nan() && high.is_nan() => {
                Err("its range is still to be filled in, from public knowledge".into())
            }
            Self::Range(_) => Err(NO_RANGE.into()),
            Self::Categories(values) if values.is_empty() => Err("no category is listed".into()),
            Self::Categories(values) => {
                let mut seen = HashSet::new();
                match values.iter().find(|value| !seen.insert(value.as_str())) {
                    Some(value) => Err(format!("category `{value}` is listed twice")),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What its words mean depends on what the column holds: `own` may be the name of a category.
impl TryFrom<RawColumn> for Column {
    type Error = String;

    fn try_from(raw: RawColumn) -> Result<Self, String> {
        let named = |what: &str| format!("column `{}`: {what}", raw.name);
        let date = raw.kind == Some(Says::Date);
        let kind = match (raw.range, raw.categories) {
            (Some(range), None) => {
                let read = if date { Scalar::into_day } else { Scalar::into_number };
                let range: Option<Vec<f64>> = range.into_iter().map(read).collect();
                let range = range.and_then(|range| range.try_into().ok());
                Kind::Range(range.ok_or_else(|| named(if date { NO_DATES } else { NO_RANGE }))?)
            }
            (None, Some(values)) => Kind::Categories(values.into_iter().map(Scalar::into_text).collect()),
            _ => return Err(format!("column `{}` needs either `range` or `categories`", raw.name)),
        };
        let missing = match (raw.missing, &kind) {
            (None, _) => None,
            (Some(Scalar::Text(word)), Kind::Range(_)) if word == OWN => Some(Missing::Own),
            (Some(value), Kind::Range(_)) if date => {
                let day = value.into_day();
                let no_day = || named("`missing` is a date, or \"own\", where the column holds dates");
                Some(Missing::Number(day.ok_or_else(no_day)?))
            }
            (Some(Scalar::Number(number)), Kind::Range(_)) => Some(Missing::Number(number)),
            (Some(Scalar::Integer(number)), Kind::Range(_)) => Some(Missing::Number(number as f64)),
            (Some(value), _) => Some(Missing::Category(value.into_text())),
        };
        let (other, monotone) = (raw.other.unwrap_or(false), raw.monotone);
        Ok(Self { name: raw.name, kind, date, missing, other, monotone })
    }
}

impl From<Column> for RawColumn {
    fn from(column: Column) -> Self {
        let scalar = |value: f64| {
            if column.date { Scalar::Text(date::date_text(value)) } else { Scalar::Number(value) }
        };
        let (range, categories) = match column.kind {
            Kind::Range(range) => (Some(range.map(scalar).into()), None),
            Kind::Categories(values) => (None, Some(values.into_iter().map(Scalar::Text).collect())),
        };
        let missing = column.missing.map(|missing| match missing {
            Missing::Number(value) => scalar(value),
            Missing::Own => Scalar::Text(OWN.to_owned()),
            Missing::Category(value) => Scalar::Text(value),
        });
        let (kind, other) = (column.date.then_some(Says::Date), column.other.then_some(true));
        Self { name: column.name, kind, range, categories, missing, other, monotone: column.monotone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Schema};

    const LABEL: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n";

    #[test]
    fn defaults_for_empty_cells_travel_in_files() {
        let text = format!(
            "{LABEL}[[column]]\nname = 'a'\nrange = [0, 9]\nmissing = 4\n\
             [[column]]\nname = 'b'\ncategories = [1, 'x']\nmissing = 1\nother = true\n\
             [[column]]\nname = 'c'\nrange = [0, 1]\n\
             [[column]]\nname = 'd'\nrange = [0, 1]\nmissing = 'own'\n\
             [[column]]\nname = 'e'\ncategories = ['own', 'x']\nmissing = 'own'\n"
        );
        let columns = Schema::parse(&text).unwrap().columns().to_vec();
        let json = serde_json::to_string(&columns).unwrap();
        assert_eq!(
            json,
            r#"[{"name":"a","range":[0.0,9.0],"missing":4.0},{"name":"b","categories":["1","x"],"missing":"1","other":true},{"name":"c","range":[0.0,1.0]},{"name":"d","range":[0.0,1.0],"missing":"own"},{"name":"e","categories":["own","x"],"missing":"own"}]"#
        );
        assert_eq!(serde_json::from_str::<Vec<Column>>(&json).unwrap(), columns);
        let means: Vec<_> =
            columns[3..].iter().map(|column| (column.missing.clone(), column.width())).collect();
        assert_eq!(means, [(Some(Missing::Own), 2), (Some(Missing::Category("own".into())), 2)]);
    }

    /// It is in the model's file, and not in what a ledger holds a table's readers to.
    #[test]
    fn which_way_scores_go_is_the_models_and_refuses_no_table() {
        let schema = |word: &str| {
            let text = format!("{LABEL}[[column]]\nname = 'a'\nrange = [0, 9]\n{word}");
            Schema::parse(&text).unwrap()
        };
        let (plain, told) = (schema(""), schema("monotone = 'decreasing'\n"));
        assert_eq!(told.columns()[0].monotone, Some(Monotone::Decreasing));
        let form = |schema: &Schema| crate::Encoding::of(schema).form(schema.label(), None).unwrap();
        assert_eq!(form(&plain), form(&told));
        let text = serde_json::to_string(&told.columns()[0]).unwrap();
        assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), told.columns()[0]);
    }

    #[test]
    fn dates_travel_as_they_are_written() {
        let text = format!(
            "{LABEL}[[column]]\nname = 'a'\nkind = 'date'\nrange = [2020-01-01, 2024-12-31]\nmissing = 2022-06-01\n\
             [[column]]\nname = 'b'\nkind = 'date'\nrange = ['0001-01-01', '9999-12-31']\nmissing = 'own'\n"
        );
        let columns = Schema::parse(&text).unwrap().columns().to_vec();
        assert_eq!(columns[0].kind, Kind::Range([18_262.0, 20_088.0]));
        let json = serde_json::to_string(&columns).unwrap();
        assert_eq!(
            json,
            r#"[{"name":"a","kind":"date","range":["2020-01-01","2024-12-31"],"missing":"2022-06-01"},{"name":"b","kind":"date","range":["0001-01-01","9999-12-31"],"missing":"own"}]"#
        );
        assert_eq!(serde_json::from_str::<Vec<Column>>(&json).unwrap(), columns);
        let in_code = |days| Schema::new(Label::binary("y", "1", "0"), vec![Column::of_dates("a", days)]);
        assert!(in_code([18_262.0, 20_088.0]).is_ok());
        for absurd in [[18_262.5, 20_088.0], [-1e300, 1e300], [f64::NAN, 1.0], [0.0, 2_932_897.0]] {
            assert!(in_code(absurd).is_err(), "{absurd:?}");
        }
    }
}
