//! The label: what a model learns to tell apart, to predict, or who fails first.

use crate::cell_encoder::Scale;
use crate::error::CellProblem;
use crate::number;
use crate::schema::{FILL_IN, Kind, Scalar};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The label column and its public values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Label {
    /// Name of the column; of the times, where they are what is learned from.
    pub column: String,
    /// What it holds.
    pub kind: LabelKind,
}

/// What a label column holds, and the target that a cell becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelKind {
    /// One of two values: +1 for the positive, −1 for the negative one. Good for ranking, classification and metrics.
    Binary {
        /// The value that should rank high.
        positive: String,
        /// The other value.
        negative: String,
    },
    /// +1 for one value, −1 for every other. Good for ranking and classification.
    OneAgainstOthers {
        /// The value that should rank high.
        positive: String,
    },
    /// One of a public list of classes: its place in the list, from 0. For metrics.
    Classes(Vec<String>),
    /// A number: cut off at a public range that is mapped to [−1, 1], as for features. For regression.
    Range([f64; 2]),
    /// When a record was last seen, and in another column whether its event was seen then: a
    /// [signed time](pairdp_units::signed_time). For survival.
    Times(Times),
}

/// What is publicly known of times and events.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// The column that says whether the event was seen.
    pub event: String,
    /// What it says if it was.
    pub occurred: String,
    /// What it says if it was not.
    pub censored: String,
    /// What is later is not told apart: such records are censored there. In units of the column of times.
    pub horizon: f64,
}

impl Times {
    fn check(&self, time: &str) -> Result<(), String> {
        if self.event == time {
            return Err("[label]: `time` and `event` are two columns".into());
        }
        if same_value(&self.occurred, &self.censored) {
            return Err("[label]: `occurred` and `censored` are the same".into());
        }
        if self.horizon.is_finite() && self.horizon > 0.0 {
            return Ok(());
        }
        Err("[label]: the horizon is a number above 0, in units of the column of times".into())
    }

    /// Whether a cell says that the event was seen.
    pub(crate) fn read_event(&self, cell: &str) -> Result<bool, CellProblem> {
        match cell {
            _ if same_value(cell, &self.occurred) => Ok(true),
            _ if same_value(cell, &self.censored) => Ok(false),
            _ => Err(CellProblem::UnknownEvent),
        }
    }
}

impl Times {
    /// The same for a truth value: `true` and `false` in any letters, or 1 and 0.
    pub(crate) fn read_truth(&self, truth: bool) -> Result<bool, CellProblem> {
        let says = |word: &str| match word.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        match (says(&self.occurred), says(&self.censored)) {
            (Some(occurred), Some(_)) => Ok(truth == occurred),
            _ => self.read_event(if truth { "1" } else { "0" }),
        }
    }
}

/// A time that is one.
pub(crate) fn read_time(time: f64) -> Result<f64, CellProblem> {
    if time.is_finite() && time >= 0.0 { Ok(time) } else { Err(CellProblem::NotATime) }
}

impl Label {
    /// A label of two values.
    pub fn binary(
        column: impl Into<String>,
        positive: impl Into<String>,
        negative: impl Into<String>,
    ) -> Self {
        let kind = LabelKind::Binary { positive: positive.into(), negative: negative.into() };
        Self { column: column.into(), kind }
    }

    /// Whether values and ranges are what they must be.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        match &self.kind {
            LabelKind::Binary { positive, .. } | LabelKind::OneAgainstOthers { positive }
                if positive == FILL_IN =>
            {
                Err("[label]: `positive` is still to be filled in".into())
            }
            LabelKind::Binary { negative, .. } if negative == FILL_IN => {
                Err("[label]: `negative` is still to be filled in".into())
            }
            LabelKind::Binary { positive, negative } if same_value(positive, negative) => {
                Err("the positive and the negative label are the same".into())
            }
            LabelKind::Binary { .. } | LabelKind::OneAgainstOthers { .. } => Ok(()),
            LabelKind::Classes(classes) if classes.len() < 2 => {
                Err("fewer than two classes are listed".into())
            }
            LabelKind::Classes(classes) => {
                let mut seen = HashSet::new();
                match classes.iter().find(|class| !seen.insert(Value::of(class))) {
                    Some(class) => Err(format!("class `{class}` is listed twice")),
                    None => Ok(()),
                }
            }
            LabelKind::Range(range) => Kind::Range(*range).check().map_err(|what| format!("[label]: {what}")),
            LabelKind::Times(times) => times.check(&self.column),
        }
    }

    /// What it is about times and events, if it is.
    pub fn times(&self) -> Option<&Times> {
        match &self.kind {
            LabelKind::Times(times) => Some(times),
            _ => None,
        }
    }

    /// Whether its cells are numbers: of a range, or times.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.kind, LabelKind::Range(_) | LabelKind::Times(_))
    }

    /// The columns that it is read from.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        [self.column.as_str()].into_iter().chain(self.times().map(|times| times.event.as_str()))
    }

    /// The target that a cell becomes; for times, the time.
    pub(crate) fn read(&self, cell: &str) -> Result<f64, CellProblem> {
        match &self.kind {
            LabelKind::Binary { positive, .. } if same_value(cell, positive) => Ok(1.0),
            LabelKind::Binary { negative, .. } if same_value(cell, negative) => Ok(-1.0),
            LabelKind::Binary { .. } => Err(CellProblem::UnknownLabel),
            LabelKind::OneAgainstOthers { positive } => {
                Ok(if same_value(cell, positive) { 1.0 } else { -1.0 })
            }
            LabelKind::Classes(classes) => classes
                .iter()
                .position(|class| same_value(cell, class))
                .map(|class| class as f64)
                .ok_or(CellProblem::UnknownLabel),
            LabelKind::Range(range) => Ok(Scale::new(*range).apply(number::parse(cell.as_bytes())?)),
            LabelKind::Times(_) => {
                number::parse(cell.as_bytes()).map_err(|_| CellProblem::NotATime).and_then(read_time)
            }
        }
    }
}

/// A label's value: `1` and `1.0` are the same.
#[derive(PartialEq, Eq, Hash)]
enum Value<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> Value<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.trim();
        match text.parse::<f64>() {
            // The sum makes one zero of the two.
            Ok(number) if !number.is_nan() => Self::Number((number + 0.0).to_bits()),
            _ => Self::Text(text),
        }
    }
}

fn same_value(a: &str, b: &str) -> bool {
    a == b || Value::of(a) == Value::of(b)
}

/// A label as schemas and model files have it.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    positive: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negative: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Others>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<Scalar>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occurred: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    censored: Option<Scalar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<f64>,
}

/// What values are that are not named.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Others {
    Negative,
}

impl TryFrom<Written> for Label {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        if written.is_about_times() {
            return written.of_times();
        }
        let Written { column, positive, negative, others, classes, range, .. } = written;
        let column = column.ok_or("[label] needs `column`, or `time` and `event`")?;
        let kind = match (positive, negative, classes, range) {
            (Some(positive), None, None, None) if others.is_some() => {
                LabelKind::OneAgainstOthers { positive: positive.into_text() }
            }
            _ if others.is_some() => return Err("[label] has `others` with more than `positive`".to_owned()),
            (Some(positive), Some(negative), None, None) => {
                LabelKind::Binary { positive: positive.into_text(), negative: negative.into_text() }
            }
            (None, None, Some(classes), None) => {
                LabelKind::Classes(classes.into_iter().map(Scalar::into_text).collect())
            }
            (None, None, None, Some(range)) => LabelKind::Range(range),
            _ => {
                return Err(
                    "[label] needs one of: `positive` and `negative`, or `classes`, or `range`".to_owned()
                );
            }
        };
        let label = Self { column, kind };
        label.check()?;
        Ok(label)
    }
}

impl Written {
    fn is_about_times(&self) -> bool {
        self.time.is_some()
            || self.event.is_some()
            || self.occurred.is_some()
            || self.censored.is_some()
            || self.horizon.is_some()
    }

    fn of_times(self) -> Result<Label, String> {
        let Self { time, event, occurred, censored, horizon, .. } = self;
        let else_given = self.column.is_some()
            || self.positive.is_some()
            || self.negative.is_some()
            || self.others.is_some()
            || self.classes.is_some()
            || self.range.is_some();
        let (Some(column), Some(event), Some(occurred), Some(censored), Some(horizon), false) =
            (time, event, occurred, censored, horizon, else_given)
        else {
            return Err("[label] of times needs `time`, `event`, `occurred`, `censored` and `horizon`, and nothing else"
                .to_owned());
        };
        let (occurred, censored) = (occurred.into_text(), censored.into_text());
        let label = Label { column, kind: LabelKind::Times(Times { event, occurred, censored, horizon }) };
        label.check()?;
        Ok(label)
    }
}

impl From<Label> for Written {
    fn from(Label { column, kind }: Label) -> Self {
        if let LabelKind::Times(Times { event, occurred, censored, horizon }) = kind {
            let (occurred, censored) = (Some(Scalar::Text(occurred)), Some(Scalar::Text(censored)));
            return Self {
                time: Some(column),
                event: Some(event),
                occurred,
                censored,
                horizon: Some(horizon),
                ..Self::default()
            };
        }
        let mut written = Self { column: Some(column), ..Self::default() };
        match kind {
            LabelKind::Binary { positive, negative } => {
                written.positive = Some(Scalar::Text(positive));
                written.negative = Some(Scalar::Text(negative));
            }
            LabelKind::OneAgainstOthers { positive } => {
                written.positive = Some(Scalar::Text(positive));
                written.others = Some(Others::Negative);
            }
            LabelKind::Classes(classes) => {
                written.classes = Some(classes.into_iter().map(Scalar::Text).collect());
            }
            LabelKind::Range(range) => written.range = Some(range),
            LabelKind::Times(_) => {}
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(body: &str) -> Result<Label, String> {
        toml::from_str(&format!("column = 'y'\n{body}")).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn each_kind_has_its_targets() {
        let binary = label("positive = 1\nnegative = 'no'").unwrap();
        assert_eq!(binary, Label::binary("y", "1", "no"));
        let targets = |label: &Label, cells: &[&str]| {
            cells.iter().map(|cell| label.read(cell).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(targets(&binary, &[" 1.0", "no "]), [1.0, -1.0]);
        let one = label("positive = 'ill'\nothers = 'negative'").unwrap();
        assert_eq!(targets(&one, &["ill", "well", "unheard of"]), [1.0, -1.0, -1.0]);
        let classes = label("classes = ['a', 'b', 3]").unwrap();
        assert_eq!(targets(&classes, &["b", "a", "3.0"]), [1.0, 0.0, 2.0]);
        let range = label("range = [0, 10]").unwrap();
        assert_eq!(targets(&range, &["7.5", "-4", "99"]), [0.5, -1.0, 1.0]);
        assert_eq!(binary.read("maybe"), Err(CellProblem::UnknownLabel));
        assert_eq!(classes.read("c"), Err(CellProblem::UnknownLabel));
        assert_eq!(range.read("high"), Err(CellProblem::NotANumber));
        assert_eq!(range.read("NaN"), Err(CellProblem::Missing));
        assert_eq!(range.read("inf"), Err(CellProblem::NotFinite));
    }

    #[test]
    fn times_and_events_are_two_columns() {
        let text = "time = 'days'\nevent = 'died'\noccurred = 1\ncensored = 0\nhorizon = 365";
        let label: Label = toml::from_str(text).unwrap();
        assert_eq!(label.columns().collect::<Vec<_>>(), ["days", "died"]);
        let times = label.times().unwrap();
        assert_eq!(["1.0", "0", " 1 "].map(|cell| times.read_event(cell).unwrap()), [true, false, true]);
        assert_eq!(times.read_event("2"), Err(CellProblem::UnknownEvent));
        assert_eq!(times.read_event(" "), Err(CellProblem::UnknownEvent));
        assert_eq!(label.read("-1"), Err(CellProblem::NotATime));
        assert!((label.read("400").unwrap() - 400.0).abs() < 1e-12);
        let json = serde_json::to_value(&label).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["time", "event", "occurred", "censored", "horizon"]);
        assert_eq!(serde_json::from_value::<Label>(json).unwrap(), label);
        for (from, to, expected) in [
            ("horizon = 365", "", "needs `time`"),
            ("time = 'days'\n", "", "needs `time`"),
            ("horizon = 365", "horizon = 0", "above 0"),
            ("horizon = 365", "horizon = nan", "above 0"),
            ("horizon = 365", "horizon = 365\npositive = 1", "nothing else"),
            ("horizon = 365", "horizon = 365\ncolumn = 'y'", "nothing else"),
            ("event = 'died'", "event = 'days'", "two columns"),
            ("censored = 0", "censored = 1.0", "are the same"),
        ] {
            let message = toml::from_str::<Label>(&text.replace(from, to)).unwrap_err();
            assert!(message.message().contains(expected), "{to}: {message}");
        }
    }

    #[test]
    fn a_label_is_of_exactly_one_kind() {
        for (body, expected) in [
            ("", "needs one of"),
            ("positive = 1", "needs one of"),
            ("positive = 1\nnegative = 0\nrange = [0, 1]", "needs one of"),
            ("classes = [1, 2]\nrange = [0, 1]", "needs one of"),
            ("positive = 1\nnegative = 0\nothers = 'negative'", "more than `positive`"),
            ("positive = 1\nothers = 'positive'", "unknown variant"),
            ("classes = ['a']", "fewer than two"),
            ("classes = ['a', 1, '1.0']", "listed twice"),
            ("classes = ['0', '-0.0']", "listed twice"),
            ("range = [1, 0]", "smaller first"),
            ("positive = 1\nnegative = 1.0", "are the same"),
        ] {
            let message = label(body).unwrap_err();
            assert!(message.contains(expected), "{body}\n-> {message}");
        }
    }

    #[test]
    fn labels_are_written_flat() {
        for (label, keys) in [
            (Label::binary("y", "1", "0"), vec!["column", "positive", "negative"]),
            (label("positive = 1\nothers = 'negative'").unwrap(), vec!["column", "positive", "others"]),
            (label("classes = [1, 'b']").unwrap(), vec!["column", "classes"]),
            (label("range = [0.1, 1]").unwrap(), vec!["column", "range"]),
        ] {
            let json = serde_json::to_value(&label).unwrap();
            assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
            assert_eq!(serde_json::from_value::<Label>(json).unwrap(), label);
        }
    }
}
