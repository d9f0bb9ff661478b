use crate::args::Evaluate;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{LabelUse, Table};
use pairdp_learn::{Predictor, Task};
use pairdp_pairwise::{clip_row, measure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Neighbours that vote on a record's class.
const NEIGHBOURS: usize = 3;

pub(crate) fn run(arguments: &Evaluate, printer: &Printer) -> Result<ExitCode, Failure> {
    let predictor = files::read_predictor(&arguments.model)?;
    let label = predictor.label.as_ref().ok_or_else(|| {
        Failure::refused(
            format!("{}: the model does not say which column is the label", arguments.model.display()),
            "train it with `pairdp train`, from a file with a schema",
        )
    })?;
    let table = Table::read(&arguments.data, &predictor.encoding, LabelUse::Read(label))?
        .require_pairs(&arguments.data)?;
    let (text, mut object) = match predictor.task {
        Task::Ranking => ranking(&predictor, &table, &arguments.data)?,
        Task::Classification => classification(&predictor, &table, &arguments.data)?,
        Task::Regression => regression(&predictor, &table),
        Task::Metric => metric(&predictor, &table),
    };
    object["records"] = json!(table.rows);
    printer.result(&format!("{text} on {} records", table.rows), &object);
    Ok(ExitCode::SUCCESS)
}

fn ranking(predictor: &Predictor, table: &Table, data: &Path) -> Result<(String, Value), Failure> {
    let auc = auc(predictor, table, data)?;
    Ok((format!("AUC {auc:.4} (chance 0.5)"), json!({ "auc": auc })))
}

fn classification(predictor: &Predictor, table: &Table, data: &Path) -> Result<(String, Value), Failure> {
    let scores = predictor.scores(table);
    let right =
        scores.iter().zip(&table.targets).filter(|(score, target)| (**score > 0.0) == (**target > 0.0));
    let accuracy = right.count() as f64 / table.rows as f64;
    let auc = auc(predictor, table, data)?;
    Ok((format!("accuracy {accuracy:.4}, AUC {auc:.4}"), json!({ "accuracy": accuracy, "auc": auc })))
}

fn auc(predictor: &Predictor, table: &Table, data: &Path) -> Result<f64, Failure> {
    measure::auc(&predictor.scores(table), &table.positive()).ok_or_else(|| {
        Failure::refused(
            format!("{}: AUC needs a record of each class", data.display()),
            "evaluate on a larger table",
        )
    })
}

/// Errors in units of half the label's public range.
fn regression(predictor: &Predictor, table: &Table) -> (String, Value) {
    let n = table.rows as f64;
    let mean = table.targets.iter().sum::<f64>() / n;
    let square = |value: f64| value * value;
    let residual: f64 = predictor
        .scores(table)
        .iter()
        .zip(&table.targets)
        .map(|(score, target)| square(target - score))
        .sum();
    let spread: f64 = table.targets.iter().map(|target| square(target - mean)).sum();
    let (error, explained) = ((residual / n).sqrt(), 1.0 - residual / spread);
    let text = format!("root mean square error {error:.4} of half the label's range, R² {explained:.4}");
    (text, json!({ "rmse": error, "r2": explained.is_finite().then_some(explained) }))
}

/// Each record's class by a vote of its nearest others: under the metric, and under none.
fn metric(predictor: &Predictor, table: &Table) -> (String, Value) {
    let columns = table.columns;
    let mut plain = table.features.clone();
    plain.chunks_exact_mut(columns).for_each(|row| clip_row(row, predictor.feature_bound));
    let accuracy = |rows: &[f64]| measure::leave_one_out_accuracy(rows, &table.targets, columns, NEIGHBOURS);
    let (learned, euclidean) = (accuracy(&predictor.embed(table)), accuracy(&plain));
    let text =
        format!("{NEIGHBOURS}-neighbour accuracy {learned:.4} (plain Euclidean distance: {euclidean:.4})");
    (text, json!({ "neighbour_accuracy": learned, "euclidean_accuracy": euclidean }))
}
