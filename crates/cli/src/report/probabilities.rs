//! Probabilities and thresholds, as the last release of a model says.

use super::html::{escape, figure, paragraph, section as titled};
use pairdp_certificate::Counted;
use pairdp_learn::{Estimate, Histogram, Threshold};
use pairdp_model::{FlagBy, PrivateModel};
use pairdp_plot::{Axis, Plot};
use std::fmt::Write as _;

/// The section; none for a model that counted no labels.
pub(super) fn section(model: &PrivateModel) -> Option<String> {
    let predictor = &model.predictor;
    let counted = predictor.probabilities.as_ref()?;
    let line = predictor.log_odds()?;
    let ((intercept, slope), [low, high]) = (line.line(), line.ends());
    let histogram = Histogram {
        low: counted.low,
        high: counted.high,
        noise: counted.noise,
        law: model.training.law,
        records: counted.counted,
        counts: counted.counts.clone(),
        log_odds: Some([intercept, slope, low, high]),
    };
    let mut body = paragraph(&match counted.of {
        Counted::Private => format!(
            "Labels of the table were counted in {} equal cells of the score after training, with noise of a standard deviation of {:.1} on each count: \
             it is part of what ε pays for. Probabilities, classes and thresholds follow from these counts and other released numbers alone.",
            counted.counts.len() / 2,
            counted.noise
        ),
        Counted::Public => format!(
            "Probabilities, classes and thresholds follow from the labels of a public table of {} records, which no guarantee speaks of.",
            counted.counted
        ),
    });
    match line.majority() {
        Some(positive) => {
            let class = if positive { "positive" } else { "negative" };
            let _ = writeln!(
                body,
                "<p class=\"caution\"><strong>One class for all:</strong> no score makes the smaller class more likely than not, so the class of every record is {class}. \
                 Scores still rank records, and thresholds can be chosen by a share or by costs.</p>"
            );
        }
        None => {
            body += &paragraph(&format!(
                "Records with a score above {:.3} are more likely positive than not.",
                predictor.flagged_from(FlagBy::CostRatio(1.0)).ok()?.0
            ));
        }
    }
    let at = |k: u32| counted.low + (counted.high - counted.low) * f64::from(k) / 100.0;
    let curve: Vec<(f64, f64)> = (0..=100).map(|k| (at(k), line.probability(at(k)))).collect();
    let mut plot = Plot::new(
        Axis::linear("score", counted.low, counted.high),
        Axis::linear("probability of being positive", 0.0, 1.0),
    )
    .line(&curve, "main");
    let cells = histogram.calibration();
    // Where the noise says nothing there is nothing to draw.
    let known: Vec<_> = cells.iter().filter(|cell| cell.positives.high - cell.positives.low < 0.9).collect();
    for cell in &known {
        let middle = f64::midpoint(cell.low, cell.high);
        plot = plot.line(&[(middle, cell.positives.low), (middle, cell.positives.high)], "faint");
    }
    let shares: Vec<(f64, f64)> =
        known.iter().map(|cell| (f64::midpoint(cell.low, cell.high), cell.positives.value)).collect();
    let caption = "The line is what the model says; dots are the shares of positive records that were counted in each cell, with intervals \
                   that hold the table's own share 95 times in 100.";
    body += &figure(&plot.dots(&shares).svg("Probability by score"), caption);
    body += &thresholds(&histogram.thresholds());
    Some(titled("Probabilities and thresholds", &body))
}

fn thresholds(rows: &[Threshold]) -> String {
    let mut text = paragraph("If all records of the counted table with at least this score were flagged:");
    text += "<table>\n<thead><tr><th>score</th><th>probability</th><th>flagged</th><th>sensitivity</th><th>precision</th></tr></thead>\n";
    let percent = |Estimate { value, low, high }: Estimate| {
        format!("{:.0} % ({:.0}–{:.0})", 100.0 * value, 100.0 * low, 100.0 * high)
    };
    for row in rows {
        let _ = writeln!(
            text,
            "<tr><td>{:.2}</td><td>{:.3}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            row.score,
            row.probability.unwrap_or(f64::NAN),
            escape(&percent(row.flagged)),
            escape(&percent(row.sensitivity)),
            escape(&percent(row.precision)),
        );
    }
    text + "</table>\n"
}
