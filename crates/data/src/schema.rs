//! What is publicly known about a table.

use crate::{DataError, Label};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

/// Columns and label of a table, with public ranges and categories.
///
/// ```
/// let schema = pairdp_data::Schema::parse(r#"
///     [label]
///     column = "readmitted"
///     positive = "yes"
///     negative = "no"
///
///     [[column]]
///     name = "age"
///     range = [18, 100]
///
///     [[column]]
///     name = "sex"
///     categories = ["female", "male"]
/// "#)?;
/// assert_eq!(schema.columns().len(), 2);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    label: Label,
    columns: Vec<Column>,
}

/// A feature column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Numbers, cut off at a public range.
    Range([f64; 2]),
    /// One of a public list of values; any other value encodes as none of them.
    Categories(Vec<String>),
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSchema {
    label: Label,
    #[serde(default, rename = "column")]
    columns: Vec<RawColumn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
    name: String,
    range: Option<Vec<f64>>,
    categories: Option<Vec<Scalar>>,
}

/// A value that people write with or without quotes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Text(String),
    Integer(i64),
    Number(f64),
    Truth(bool),
}

impl Scalar {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.trim().to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

impl Schema {
    /// Reads a schema file.
    ///
    /// # Errors
    /// [`DataError`] when the file cannot be read or is not a valid schema.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let text = std::fs::read_to_string(path).map_err(|source| DataError::io(path, source))?;
        Self::parse(&text).map_err(|what| DataError::Schema { path: path.to_owned(), what })
    }

    /// Reads a schema from its TOML text.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: RawSchema = toml::from_str(text).map_err(|error| one_line(text, &error))?;
        let columns = raw.columns.into_iter().map(check_column).collect::<Result<Vec<_>, _>>()?;
        Self::new(raw.label, columns)
    }

    /// Checks a schema made in code.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn new(label: Label, columns: Vec<Column>) -> Result<Self, String> {
        label.check()?;
        if columns.is_empty() {
            return Err("no [[column]] is listed".into());
        }
        let mut seen = HashSet::from([label.column.as_str()]);
        for column in &columns {
            if !seen.insert(&column.name) {
                return Err(format!("column `{}` is listed twice", column.name));
            }
            column.kind.check().map_err(|what| format!("column `{}`: {what}", column.name))?;
        }
        Ok(Self { label, columns })
    }

    /// The label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The feature columns, in the order of the model's parameters.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
}

impl Kind {
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Range([low, high]) if low.is_finite() && high.is_finite() && low < high => Ok(()),
            Self::Range(_) => Err("a range is two finite numbers, the smaller first".into()),
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

fn check_column(raw: RawColumn) -> Result<Column, String> {
    let kind = match (raw.range, raw.categories) {
        (Some(range), None) => Kind::Range(range.try_into().map_err(|_| {
            format!("column `{}`: a range is two finite numbers, the smaller first", raw.name)
        })?),
        (None, Some(values)) => Kind::Categories(values.into_iter().map(Scalar::into_text).collect()),
        _ => return Err(format!("column `{}` needs either `range` or `categories`", raw.name)),
    };
    Ok(Column { name: raw.name, kind })
}

/// The parser's message on one line, with the line it is about.
fn one_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => {
            format!("line {}: {message}", text[..span.start.min(text.len())].matches('\n').count() + 1)
        }
        None => message,
    }
}

/// A schema to fill in, made from the names in a header alone.
pub fn template<'a>(header: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = header.into_iter().collect();
    let label = names.pop().unwrap_or("label");
    let mut text = format!("[label]\ncolumn = {label:?}\npositive = 1\nnegative = 0\n");
    for name in names {
        let _ = write!(text, "\n[[column]]\nname = {name:?}\nrange = [0, 1]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n";

    #[test]
    fn bad_schemas_are_refused_in_one_line() {
        let column = |body: &str| format!("{LABEL}[[column]]\nname = 'a'\n{body}\n");
        for (text, expected) in [
            (LABEL.to_owned(), "no [[column]]"),
            (column(""), "either `range` or `categories`"),
            (column("range = [1, 1]"), "smaller first"),
            (column("range = [0, inf]"), "smaller first"),
            (column("range = [0, nan]"), "smaller first"),
            (column("range = [0, 1, 2]"), "two finite numbers"),
            (column("range = [0, 'x']"), "line 7"),
            (column("categories = []"), "no category"),
            (column("categories = ['a', 'a']"), "listed twice"),
            (column("rnage = [0, 1]"), "rnage"),
            (format!("{}[[column]]\nname = 'a'\nrange = [0, 1]\n", column("range = [0, 1]")), "listed twice"),
            (column("range = [0, 1]").replace("negative = 0", "negative = 1.0"), "are the same"),
            (column("range = [0, 1]").replace("'a'", "'y'"), "listed twice"),
            ("[label".to_owned(), "line 1"),
            (String::new(), "label"),
        ] {
            let message = Schema::parse(&text).unwrap_err();
            assert!(message.contains(expected), "{text}\n-> {message}");
            assert_eq!(message.lines().count(), 1);
        }
    }

    #[test]
    fn template_is_a_schema() {
        let schema = Schema::parse(&template(["age", "a \"b\"", "y"])).unwrap();
        assert_eq!(schema.label().column, "y");
        assert_eq!(schema.columns()[1].name, "a \"b\"");
    }
}
