//! What a model says, as numbers that people can read: per column, in its own unit.
//!
//! A column of numbers as its range puts it adds so much for each unit. By its ranks it adds a curve, of which the lowest and the
//! highest place are told; a category or an empty cell adds one number. All of it follows from the model file.

use super::shapes::{Shape, ShapeParts};
use crate::representation;
use crate::{Predictor, PrivateModel, Task};
use pairdp_certificate::Released;
use pairdp_data::{Column, LabelKind, Table, date_text};
use pairdp_units::directed::larger;
use serde::Serialize;

/// What a model says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effects {
    /// What it is for.
    pub task: Task,
    /// What a row has before any column adds to it: of the score, or in the label's unit for regression.
    pub start: f64,
    /// What columns add, those that move a score most first.
    pub effects: Vec<Effect>,
    /// Whether no row can be longer than the bound, so that none is ever scaled down.
    pub exact: bool,
    /// What these numbers are and are not, in sentences.
    pub notes: Vec<String>,
}

/// One number of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// The column.
    pub column: String,
    /// What it is the effect of.
    pub of: Of,
    /// The place of a column of numbers, in its unit, or the category.
    pub at: Option<At>,
    /// What that adds to the score, or in the label's unit for regression.
    pub adds: f64,
    /// How far the noise alone may have moved it, as a standard deviation; none where that is not known.
    pub noise: Option<f64>,
}

/// What adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Each unit of a number.
    Unit,
    /// Each day of a date.
    Day,
    /// The place at which a number adds least.
    Lowest,
    /// The place at which it adds most.
    Highest,
    /// A category.
    Category,
    /// An empty cell.
    Empty,
}

/// Where.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum At {
    /// A number of the column.
    Number(f64),
    /// One of its categories, or a date.
    Category(String),
}

impl Effects {
    /// What a predictor says; none for metrics, which have no score, and networks, which have no coefficients.
    pub fn of(predictor: &Predictor) -> Option<Self> {
        let mut said = Self::from(predictor, predictor.shapes(None)?);
        said.notes.push("The model was trained without privacy, so there is no noise in it.".into());
        Some(said)
    }

    /// What a private model says, and how much of it may be noise.
    pub fn of_private(model: &PrivateModel) -> Option<Self> {
        let mut said = Self::from(&model.predictor, model.shapes()?);
        said.notes.push(about_noise(&model.certificate.released).into());
        Some(said)
    }

    fn from(predictor: &Predictor, mut shapes: Vec<Shape>) -> Self {
        shapes.sort_by(|a, b| b.reach().total_cmp(&a.reach()));
        let effects = shapes.iter().flat_map(|shape| effects(shape, predictor.maps_rows())).collect();
        let exact = longest_row(predictor) <= predictor.feature_bound * (1.0 + 1e-9);
        let what = if predictor.task == Task::Regression { "prediction" } else { "score" };
        let scaled = if exact {
            format!("No row is ever scaled down, so a {what} is exactly the sum of these.")
        } else {
            format!(
                "A row that is far out in many columns is scaled down, and then all its columns add less, by one factor. Signs and \
                 proportions are exact; sizes are those of a row that is not scaled down. For what adds up to the {what} of a given row, exactly, \
                 see `pairdp predict --reasons` or, in Python, `explain`."
            )
        };
        Self { task: predictor.task, start: predictor.start(), effects, exact, notes: vec![scaled] }
    }
}

/// What is known of the noise, in a sentence.
fn about_noise(released: &Released) -> &'static str {
    match released {
        Released::Gradients { .. } => {
            "± is the standard error that the noise alone gives, from σ and the steps, as if no step corrected an earlier \
             one; usually the true one is smaller. It does not count the chance of who is in the table."
        }
        Released::Output { phases, .. } if phases.len() == 1 => {
            "± is the standard error that the noise alone gives: σ of the one release. It does not count the chance of who is in the table."
        }
        Released::Output { .. } => {
            "How much of this is noise is not known: later descents correct the noise of earlier ones, and by how much depends on the records."
        }
        Released::SampledGradients { .. } | Released::Online { .. } => {
            "How much of this is noise is not known: a descent corrects the noise of earlier steps, and by how much depends on the records."
        }
        Released::Moments { .. } => {
            "How much of this is noise is not in the file: it follows from the released moments, of which only the weights are kept."
        }
    }
}

fn effects(shape: &Shape, ranks: bool) -> Vec<Effect> {
    let noise = |k: usize| shape.noise.as_ref().map(|noise| noise[k]);
    let effect = |of: Of, at: Option<At>, adds: f64, noise| Effect {
        column: shape.column.clone(),
        of,
        at,
        adds,
        noise,
    };
    let mut effects = match &shape.parts {
        ShapeParts::Curve(points) if ranks => {
            let by = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
            let place = |k: usize| {
                let place = points[k].0;
                if shape.date { At::Category(date_text(place)) } else { At::Number(place) }
            };
            let at = |of: Of, k: usize| effect(of, Some(place(k)), points[k].1, noise(k));
            let lowest = (0..points.len()).min_by(by).map(|k| at(Of::Lowest, k));
            let highest = (0..points.len()).max_by(by).map(|k| at(Of::Highest, k));
            lowest.into_iter().chain(highest).collect()
        }
        ShapeParts::Curve(points) => match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                let width = last.0 - first.0;
                // At the end of the range the entry is 1, half the width from its middle.
                let error = noise(points.len() - 1).map(|error| error / (width / 2.0));
                let of = if shape.date { Of::Day } else { Of::Unit };
                vec![effect(of, None, (last.1 - first.1) / width, error)]
            }
            _ => Vec::new(),
        },
        ShapeParts::Bars(bars) => {
            let bar = |(k, (name, adds)): (usize, &(String, f64))| {
                // Names of entries are `column=category`, and `column≠` for what is not listed.
                let category = name.strip_prefix(&format!("{}=", shape.column)).unwrap_or("any other");
                effect(Of::Category, Some(At::Category(category.into())), *adds, noise(k))
            };
            bars.iter().enumerate().map(bar).collect()
        }
    };
    effects.extend(shape.missing.map(|cell| effect(Of::Empty, None, cell.adds, cell.noise)));
    effects
}

/// No row is longer, from public facts and released numbers.
fn longest_row(predictor: &Predictor) -> f64 {
    let lengths = |shape: &Shape| {
        let own = shape.noise.iter().flatten().copied();
        own.chain(shape.missing.and_then(|cell| cell.noise)).fold(0.0, larger)
    };
    // Noise of 1 in each weight is the length of what it is multiplied by.
    let shapes = predictor.shapes(Some(1.0)).unwrap_or_default();
    shapes.iter().map(|shape| (lengths(shape) / predictor.unit()).powi(2)).sum::<f64>().sqrt()
}

impl Predictor {
    /// What a score of 1 is worth: half the label's range for regression.
    pub(crate) fn unit(&self) -> f64 {
        match (self.task, self.label.as_ref().map(|label| &label.kind)) {
            (Task::Regression, Some(LabelKind::Range([low, high]))) => high / 2.0 - low / 2.0,
            _ => 1.0,
        }
    }

    /// What a row has before any column adds to it.
    pub fn start(&self) -> f64 {
        match (self.task, self.label.as_ref().map(|label| &label.kind)) {
            (Task::Regression, Some(LabelKind::Range([low, high]))) => {
                low / 2.0 + high / 2.0 + self.intercept() * self.unit()
            }
            _ => self.intercept(),
        }
    }

    /// What each column adds to the score of every row of an encoded table, row by row: with [`Predictor::start`] they add up to it, or
    /// to the prediction in the label's unit. Exact, also for rows that are scaled down. None for metrics, which have no
    /// score, and for networks and random features, whose columns do not add up.
    pub fn explain(&self, table: &Table) -> Option<Vec<f64>> {
        if !self.is_additive() {
            return None;
        }
        let (widths, unit) = (self.widths(), self.unit());
        let mut adds = Vec::with_capacity(table.rows * widths.len());
        self.each_row(table, |row| {
            let mut place = 0;
            for width in &widths {
                let (cells, weights) = (&row[place..place + width], &self.parameters[place..place + width]);
                adds.push(unit * cells.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>());
                place += width;
            }
        });
        Some(adds)
    }

    /// How many entries of a mapped row are each column's.
    fn widths(&self) -> Vec<usize> {
        let map = representation::map(&self.encoding, self.representation.as_ref());
        let entries = self.encoding.columns().iter().map(Column::width).enumerate();
        let mapped = |(index, width): (usize, usize)| match &map {
            Some(map) => map.column(index, &vec![0.0; width], self.feature_bound).len(),
            None => width,
        };
        entries.map(mapped).collect()
    }
}
