//! How good the model is on a public table.

use super::html;
use crate::commands::evaluate;
use crate::failure::Failure;
use pairdp_data::Table;
use pairdp_model::{Predictor, Task};
use pairdp_pairwise::measure;
use pairdp_plot::{Axis, Plot};
use pairdp_units::directed::{larger, smaller};
use std::path::Path;

/// Points of a curve or cloud that are drawn at most.
const MOST_POINTS: usize = 400;

/// What a public table says about a model.
pub(crate) struct Quality {
    /// The measure in a few words.
    headline: String,
    /// All of it, on how many records.
    text: String,
    figure: String,
}

impl Quality {
    /// Measures a model.
    pub(crate) fn of(predictor: &Predictor, table: &Table, path: &Path) -> Result<Self, Failure> {
        let measured = evaluate::measured(predictor, table, path)?;
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let text = format!("{} on the {} public records of {file}.", measured.text, table.rows);
        let figure = match predictor.task {
            Task::Ranking | Task::Classification => {
                roc(predictor, table, measured.object["auc"].as_f64().unwrap_or(f64::NAN))
            }
            Task::Regression => cloud(predictor, table),
            Task::Metric | Task::Survival => String::new(),
        };
        let number = |name: &str| measured.object[name].as_f64().unwrap_or(f64::NAN);
        let headline = match predictor.task {
            Task::Ranking => format!("AUC {:.3}", number("auc")),
            Task::Classification => format!("accuracy {:.3}", number("accuracy")),
            Task::Regression => format!("error {:.3}", number("rmse")),
            Task::Survival => format!("C {:.3}", number("concordance")),
            Task::Metric => format!("accuracy {:.3}", number("neighbour_accuracy")),
        };
        Ok(Self { headline, text, figure })
    }

    pub(super) fn headline(&self) -> &str {
        &self.headline
    }

    pub(super) fn section(&self) -> String {
        html::section("How good it is", &(html::paragraph(&self.text) + &self.figure))
    }
}

fn roc(predictor: &Predictor, table: &Table, auc: f64) -> String {
    let corners = measure::roc(&predictor.scores(table), &table.positive()).unwrap_or_default();
    let all: Vec<(f64, f64)> =
        corners.iter().map(|corner| (corner.false_positive_rate, corner.true_positive_rate)).collect();
    let points = thinned(&all);
    let plot = Plot::new(
        Axis::linear("share of negatives above the threshold", 0.0, 1.0),
        Axis::linear("share of positives above it", 0.0, 1.0),
    )
    .area(&points)
    .line(&[(0.0, 0.0), (1.0, 1.0)], "faint")
    .line(&points, "main")
    .words((0.55, 0.3), &format!("AUC {auc:.3}; chance is 0.5"));
    html::figure(
        &plot.svg("ROC curve"),
        "The ROC curve: AUC is the area below it, the share of pairs in the right order.",
    )
}

/// Predicted against true targets, both in units of half the label's range.
fn cloud(predictor: &Predictor, table: &Table) -> String {
    let all: Vec<(f64, f64)> = table.targets.iter().copied().zip(predictor.scores(table)).collect();
    let low = all.iter().fold(-1.0, |low, point| smaller(low, point.1));
    let high = all.iter().fold(1.0, |high, point| larger(high, point.1));
    let plot = Plot::new(Axis::linear("target", -1.0, 1.0), Axis::linear("prediction", low, high))
        .line(&[(-1.0, -1.0), (1.0, 1.0)], "faint")
        .dots(&thinned(&all));
    html::figure(
        &plot.svg("Predictions against targets"),
        "Predictions against targets, −1 to 1 being the label's public range.",
    )
}

/// Every so many points, the first and the last among them.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOST_POINTS);
    let mut kept: Vec<(f64, f64)> = points.iter().copied().step_by(every.max(1)).collect();
    kept.extend(points.last().filter(|_| every > 1));
    kept
}
