use crate::args::Predict;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{LabelKind, LabelUse, Table};
use pairdp_learn::{Predictor, Task};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Predict, printer: &Printer) -> Result<ExitCode, Failure> {
    let predictor = files::read_predictor(&arguments.model)?;
    let table = Table::read(&arguments.data, &predictor.encoding, LabelUse::Ignore)?;
    let text = predictions(&predictor, &table);
    match &arguments.out {
        None => Printer::data(&text),
        Some(path) => {
            files::check_writable(path)?;
            files::write(path, &text)?;
            let what = match predictor.task {
                Task::Ranking => "scores, higher means more likely positive",
                Task::Classification => "scores and classes",
                Task::Regression => "predictions",
                Task::Metric => "rows mapped to where Euclidean distance is the metric's",
            };
            let message = format!("wrote {} ({} {what})", path.display(), table.rows);
            printer.result(&message, &json!({ "predictions": path, "records": table.rows }));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One line for each row, under a header.
pub(crate) fn predictions(predictor: &Predictor, table: &Table) -> String {
    let mut text = String::new();
    match (predictor.task, predictor.label.as_ref().map(|label| &label.kind)) {
        (Task::Metric, _) => {
            let names: Vec<String> = (1..=table.columns).map(|k| format!("m{k}")).collect();
            let _ = writeln!(text, "{}", names.join(","));
            for row in predictor.embed(table).chunks_exact(table.columns) {
                let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
                let _ = writeln!(text, "{}", cells.join(","));
            }
        }
        (Task::Classification, Some(LabelKind::Binary { positive, negative })) => {
            text.push_str("score,class\n");
            for score in predictor.scores(table) {
                let _ = writeln!(text, "{score},{}", quoted(if score > 0.0 { positive } else { negative }));
            }
        }
        (Task::Regression, Some(LabelKind::Range([low, high]))) => {
            text.push_str("prediction\n");
            for score in predictor.scores(table) {
                let value = low / 2.0 + high / 2.0 + score * (high / 2.0 - low / 2.0);
                let _ = writeln!(text, "{value}");
            }
        }
        _ => {
            text.push_str("score\n");
            for score in predictor.scores(table) {
                let _ = writeln!(text, "{score}");
            }
        }
    }
    text
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}
