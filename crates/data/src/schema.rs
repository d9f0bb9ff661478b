//! What is publicly known about a table.

use crate::source::read_whole;
use crate::{DataError, Decimal, Delimiter, Label, LabelUse, PersonColumn, TextStyle, date};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Write as _;
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

/// A column as files write it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
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

fn private_unless_told() -> bool {
    true
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

/// What stands in a schema where somebody has to say what is publicly known. No table is read by it.
pub(crate) const FILL_IN: &str = "FILL IN";

/// A schema to fill in, made from the names in a header alone; the last is taken for the label. It is refused until it is filled in: a
/// guess would cut off every number, and nobody would notice.
pub fn template<'a>(header: impl IntoIterator<Item = &'a str>, delimiter: Delimiter) -> String {
    let mut names: Vec<&str> = header.into_iter().collect();
    let label = names.pop().unwrap_or("label");
    // An id that may be of the record itself is not taken for a person: that would protect records under the name of persons.
    let (person, unused) = match Likely::of(&names) {
        // Something has to be learned from.
        _ if names.len() < 2 => (None, None),
        Likely::Person(at) => (Some(names.remove(at)), None),
        Likely::Id(at) => (None, Some(names.remove(at))),
        Likely::Nobody => (None, None),
    };
    let mut text = String::from(
        "# What is publicly known about the table: never numbers taken from the table itself.\n\
         # A column with empty cells needs `missing`: a public value that they count as, or for numbers \"own\", which makes empty a value of its own.\n\
         private = true   # false if its records are public\n",
    );
    if delimiter != Delimiter::Comma {
        let _ = write!(
            text,
            "delimiter = \"{}\"\n# decimal = \",\"   # if 1,5 is a number between 1 and 2\n",
            delimiter.written()
        );
    }
    let ignored = unused.map(quoted).unwrap_or_default();
    let _ = write!(text, "ignore = [{ignored}]      # columns that are not used, such as an identifier\n\n");
    let label = quoted(label);
    let _ = write!(
        text,
        "[label]\ncolumn = {label}\n\
         positive = \"{FILL_IN}\"   # the value to look for; or: classes = [...], or: range = [low, high]\n\
         negative = \"{FILL_IN}\"\n\
         # For who fails first, instead of these: time = \"...\", event = \"...\", occurred = 1, censored = 0, horizon = ...\n"
    );
    if let Some(id) = unused {
        let id = quoted(id);
        let _ = write!(
            text,
            "\n# If {id} says whose each record is, and every person has one name only, move it here: each person is then protected with all of their records.\n\
             # [person]\n# column = {id}\n"
        );
    }
    if let Some(person) = person {
        let person = quoted(person);
        let _ = write!(
            text,
            "\n# Each person named here is protected with all of their records. Delete this if every record belongs to a different person.\n\
             [person]\ncolumn = {person}\nkind = \"text\"   # or \"integer\": 7 and 007 are then one person\n"
        );
    }
    for name in names {
        let name = quoted(name);
        let _ = write!(
            text,
            "\n[[column]]\nname = {name}\nrange = [nan, nan]   # {FILL_IN}: [lowest, highest]; or: categories = [...]; dates have kind = \"date\", too\n"
        );
    }
    text
}

/// What names alone, and never what repeats in a column, say about whose a record is.
enum Likely {
    /// A name that speaks of persons.
    Person(usize),
    /// An id of something: of a person, or of the record itself.
    Id(usize),
    /// Nothing.
    Nobody,
}

impl Likely {
    fn of(names: &[&str]) -> Self {
        const WORDS: [&str; 6] = ["patient", "person", "subject", "user", "client", "member"];
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_id = |name: &&String| *name == "id" || name.ends_with("_id");
        let speaks = |name: &&String| WORDS.iter().any(|word| name.contains(word));
        let at = |test: &dyn Fn(&&String) -> bool| names.iter().position(|name| test(&name));
        let named = || at(&|name| WORDS.contains(&name.as_str()));
        match at(&|name| is_id(name) && speaks(name)).or_else(named).or_else(|| at(&speaks)) {
            Some(person) => Self::Person(person),
            None => at(&is_id).map_or(Self::Nobody, Self::Id),
        }
    }
}

/// A text as TOML has it in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for symbol in text.chars() {
        match symbol {
            '"' | '\\' => quoted.extend(['\\', symbol]),
            _ if symbol.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(symbol));
            }
            _ => quoted.push(symbol),
        }
    }
    quoted.push('"');
    quoted
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

    fn filled_in(template: &str) -> String {
        let text = template.replacen(&format!("\"{FILL_IN}\""), "1", 1);
        text.replace(&format!("\"{FILL_IN}\""), "0").replace("[nan, nan]", "[0, 1]")
    }

    #[test]
    fn what_nobody_filled_in_is_refused() {
        let text = template(["age", "y"], Delimiter::Comma);
        let message = |text: &str| Schema::parse(text).unwrap_err();
        assert!(message(&text).contains("`positive` is still to be filled in"), "{}", message(&text));
        let half = text.replacen(&format!("\"{FILL_IN}\""), "1", 1);
        assert!(message(&half).contains("`negative` is still to be filled in"), "{}", message(&half));
        let most = half.replace(&format!("\"{FILL_IN}\""), "0");
        assert!(
            message(&most).contains("column `age`: its range is still to be filled in"),
            "{}",
            message(&most)
        );
        assert!(Schema::parse(&filled_in(&text)).is_ok());
    }

    #[test]
    fn templates_are_schemas_whatever_the_names() {
        let names = ["age", "a \"b\"", "back\\slash", "", "line\nend\0", "\u{7f}é\u{301}漢", "y # z"];
        let schema = Schema::parse(&filled_in(&template(names, Delimiter::Tab))).unwrap();
        let columns: Vec<&str> = schema.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!((columns.as_slice(), schema.label().column.as_str()), (&names[..6], names[6]));
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
