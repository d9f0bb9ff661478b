//! What is publicly known about a table.

mod column;
mod template;

pub(crate) use column::Scalar;
pub use column::{Column, Kind, Missing, Monotone};
pub(crate) use template::FILL_IN;
pub use template::template;

use crate::source::read_whole;
use crate::{DataError, Decimal, Delimiter, Label, LabelUse, PersonColumn, TextStyle};
use column::RawColumn;
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

/// A device may never end; a schema of a million columns is shorter.
const LONGEST: u64 = 1 << 27;

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
    ignored: Vec<String>,
    private: bool,
    person: Option<PersonColumn>,
    style: TextStyle,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSchema {
    #[serde(default = "private_unless_told")]
    private: bool,
    #[serde(default)]
    delimiter: Delimiter,
    #[serde(default)]
    decimal: Decimal,
    #[serde(default)]
    ignore: Vec<String>,
    label: Label,
    person: Option<PersonColumn>,
    #[serde(default, rename = "column")]
    columns: Vec<RawColumn>,
}

fn private_unless_told() -> bool {
    true
}

impl Schema {
    /// Reads a schema file.
    ///
    /// # Errors
    /// [`DataError`] when the file cannot be read or is not a valid schema.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let bytes = read_whole(path, LONGEST, |_| true).map_err(|source| DataError::io(path, source))?;
        let schema = |what: &str| DataError::Schema { path: path.to_owned(), what: what.to_owned() };
        let text = String::from_utf8(bytes).map_err(|_| schema("not UTF-8 text"))?;
        if text.len() as u64 > LONGEST {
            return Err(schema("longer than any schema"));
        }
        Self::parse(&text).map_err(|what| DataError::Schema { path: path.to_owned(), what })
    }

    /// Reads a schema from its TOML text.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::of(toml::from_str(text).map_err(|error| one_line(text, &error))?)
    }

    /// Reads a schema from JSON text of the same shape, as programs write it.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse_json(text: &str) -> Result<Self, String> {
        let value: serde_json::Result<serde_json::Value> = serde_json::from_str(text);
        // Not where in a text that nobody wrote.
        Self::of(value.and_then(serde_json::from_value).map_err(|error| error.to_string())?)
    }

    fn of(raw: RawSchema) -> Result<Self, String> {
        let columns = raw.columns.into_iter().map(Column::try_from).collect::<Result<Vec<_>, _>>()?;
        let (ignored, private, person) = (raw.ignore, raw.private, raw.person);
        let style = TextStyle { delimiter: raw.delimiter, decimal: raw.decimal };
        Self { ignored, private, person, style, ..Self::unchecked(raw.label, columns) }.checked()
    }

    /// Checks a schema made in code.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn new(label: Label, columns: Vec<Column>) -> Result<Self, String> {
        Self::unchecked(label, columns).checked()
    }

    fn unchecked(label: Label, columns: Vec<Column>) -> Self {
        let (ignored, style) = (Vec::new(), TextStyle::default());
        Self { label, columns, ignored, private: true, person: None, style }
    }

    fn checked(self) -> Result<Self, String> {
        self.label.check()?;
        self.style.check()?;
        if self.columns.is_empty() {
            return Err("no [[column]] is listed".into());
        }
        let mut seen: HashSet<&str> = self.label.columns().collect();
        for column in &self.columns {
            if !seen.insert(&column.name) {
                return Err(format!("column `{}` is listed twice", column.name));
            }
            column.check()?;
        }
        if let Some(PersonColumn { column, .. }) = &self.person
            && !seen.insert(column)
        {
            return Err(format!("column `{column}` names persons and is also listed"));
        }
        match self.ignored.iter().find(|name| !seen.insert(name)) {
            Some(name) => Err(format!("column `{name}` is ignored and also listed")),
            None => Ok(self),
        }
    }

    /// The label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The column that says whose a record is, if one person may have several.
    pub fn person(&self) -> Option<&PersonColumn> {
        self.person.as_ref()
    }

    /// What is read of a table to learn from it or to measure a model: labels, and persons where the schema has them.
    pub fn label_use(&self) -> LabelUse<'_> {
        match &self.person {
            Some(person) => LabelUse::OfPersons(&self.label, person),
            None => LabelUse::Read(&self.label),
        }
    }

    /// The feature columns, in the order of the model's parameters.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How its text files are written.
    pub fn style(&self) -> TextStyle {
        self.style
    }

    /// Columns that are known and not used.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Whether the records are private, as they are unless the schema says `private = false`.
    pub fn private(&self) -> bool {
        self.private
    }
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
            (column("range = [0, 'x']"), "column `a`: a range is two finite numbers"),
            (column("range = 3"), "line 7"),
            (column("kind = 'date'\nrange = [20200101, 20241231]"), "a range of dates is two of them"),
            (column("kind = 'date'\nrange = ['2024-12-31', '2020-01-01']"), "smaller first"),
            (column("kind = 'date'\nrange = ['2024-12-31', '2024-12-31']"), "smaller first"),
            (
                column("kind = 'date'\nrange = ['2023-02-29', '2024-12-31']"),
                "a range of dates is two of them",
            ),
            (column("kind = 'date'\nrange = ['1.1.2020', '31.12.2020']"), "a range of dates is two of them"),
            (
                column("kind = 'date'\nrange = [2020-01-01T10:00:00, 2024-12-31]"),
                "a range of dates is two of them",
            ),
            (column("kind = 'date'\nrange = [2020-01-01, 2024-12-31]\nmissing = 5"), "`missing` is a date"),
            (
                column("kind = 'date'\nrange = [2020-01-01, 2024-12-31]\nmissing = 'never'"),
                "`missing` is a date",
            ),
            (column("kind = 'date'\ncategories = ['x']"), "is for a range of dates"),
            (column("kind = 'day'\nrange = [0, 1]"), "unknown variant `day`"),
            (column("range = [2020-01-01, 2024-12-31]"), "two finite numbers"),
            (format!("delimiter = ':'\n{}", column("range = [0, 1]")), "unknown variant `:`"),
            (format!("decimal = ','\n{}", column("range = [0, 1]")), "needs a `delimiter` that is no comma"),
            (column("categories = []"), "no category"),
            (column("categories = ['a', 'a']"), "listed twice"),
            (column("rnage = [0, 1]"), "rnage"),
            (format!("{}[[column]]\nname = 'a'\nrange = [0, 1]\n", column("range = [0, 1]")), "listed twice"),
            (column("range = [0, 1]").replace("negative = 0", "negative = 1.0"), "are the same"),
            (column("range = [0, 1]").replace("'a'", "'y'"), "listed twice"),
            (column("range = [0, 1]\nmissing = 'x'"), "`missing` is a finite number"),
            (column("range = [0, 1]\nmissing = nan"), "`missing` is a finite number"),
            (column("range = [0, 1]\nmissing = 'Own'"), "or \"own\""),
            (column("categories = ['x']\nmissing = 'own'"), "`missing` is one of"),
            (column("categories = ['x']\nmonotone = 'increasing'"), "`monotone` is for numbers"),
            (column("range = [0, 1]\nmonotone = 'up'"), "unknown variant `up`"),
            (column("categories = ['x']\nmissing = 'y'"), "`missing` is one of"),
            (column("range = [0, 1]\nother = true"), "`other` is for categories"),
            (format!("ignore = ['a']\n{}", column("range = [0, 1]")), "ignored and also listed"),
            ("[label".to_owned(), "line 1"),
            (String::new(), "label"),
        ] {
            let message = Schema::parse(&text).unwrap_err();
            assert!(message.contains(expected), "{text}\n-> {message}");
            assert_eq!(message.lines().count(), 1);
        }
    }

    #[test]
    fn json_of_the_same_shape_is_the_same_schema() {
        let toml =
            format!("ignore = ['id']\n{LABEL}[[column]]\nname = 'a'\ncategories = [1, 'x']\nmissing = 1\n");
        let json = r#"{"ignore": ["id"], "label": {"column": "y", "positive": 1, "negative": 0},
            "column": [{"name": "a", "categories": [1, "x"], "missing": 1}]}"#;
        assert_eq!(Schema::parse_json(json), Schema::parse(&toml));
        let wrong = Schema::parse_json(&json.replace("missing", "mising")).unwrap_err();
        assert!(wrong.contains("mising") && !wrong.contains("line"), "{wrong}");
    }

    #[test]
    fn records_are_private_unless_the_schema_says_otherwise() {
        let column = "[[column]]\nname = 'a'\nrange = [0, 1]\n";
        let schema = Schema::parse(&format!("{LABEL}{column}")).unwrap();
        assert!(schema.private() && schema.ignored().is_empty());
        let text = format!("private = false\nignore = ['id']\n{LABEL}{column}");
        let schema = Schema::parse(&text).unwrap();
        assert_eq!((schema.private(), schema.ignored()), (false, &["id".to_owned()][..]));
    }

    #[test]
    fn how_files_are_written_is_said_once_for_the_table() {
        let text =
            format!("delimiter = \"\\t\"\ndecimal = ','\n{LABEL}[[column]]\nname = 'a'\nrange = [0, 1]\n");
        let schema = Schema::parse(&text).unwrap();
        assert_eq!(schema.style(), TextStyle { delimiter: Delimiter::Tab, decimal: Decimal::Comma });
        let form = |schema: &Schema| crate::Encoding::of(schema).form(schema.label(), None).unwrap();
        let usual = Schema::parse(text.split_once("','\n").unwrap().1).unwrap();
        assert!(form(&schema) != form(&usual) && !form(&usual).contains("delimiter"));
    }
}
