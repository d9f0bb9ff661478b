//! Audits of programs that are not ours: two tables in, numbers out.

use super::{collect, saved};
use crate::args::Audit as Arguments;
use crate::failure::Failure;
use crate::printer::Printer;
use pairdp_audit::table_pair::{extremes, typical};
use pairdp_audit::{Family, Numbers, Pair, Report, report};
use pairdp_units::Budget;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command on the two tables, as often as asked, and bounds its ε with a linear test learned from half of the runs.
pub(super) fn audit(arguments: &Arguments, command: &str, printer: &Printer) -> Result<Report, Failure> {
    if !(command.contains("{data}") && command.contains("{model}")) {
        return Err(Failure::refused(
            "the command does not say where its files go",
            "write {data} for the table it reads and {model} for the file it writes",
        ));
    }
    let claim = Budget::new(arguments.epsilon, arguments.delta)?;
    let problem = arguments.tuning.settings().problem(arguments.features)?;
    let (n, columns) = (arguments.records, arguments.features);
    let neighbours = match arguments.pair {
        Pair::Worst => extremes(problem, n, columns, 0).swap_remove(WORST),
        Pair::Typical => typical(problem, n, columns),
    };
    let folder =
        tempfile::tempdir().map_err(|error| Failure::Failed(format!("no temporary folder: {error}")))?;
    let tables = [folder.path().join("second.csv"), folder.path().join("first.csv")];
    for (path, table) in tables.iter().zip([&neighbours.second, &neighbours.first]) {
        std::fs::write(path, table.to_csv()).map_err(|error| Failure::write(path, &error))?;
    }
    let mut runs = saved(arguments, format!("{command} {neighbours:?}"))?;
    let run = |first: bool, k: u64| {
        let model = folder.path().join(format!("model-{k}"));
        execute(command, &tables[usize::from(first)], &model)?;
        let text = std::fs::read_to_string(&model)
            .map_err(|error| Failure::Failed(format!("the command wrote no model: {error}")))?;
        let _ = std::fs::remove_file(&model);
        numbers(&text)
    };
    collect(arguments, printer, &mut runs, run)?;
    Ok(report(runs.all(), Numbers::Unknown, &Family::Any, claim, None, arguments.confidence)?)
}

/// Of the extremes: a record like all others, exchanged for one of the other label at the far end.
const WORST: usize = 2;

fn execute(command: &str, data: &Path, model: &Path) -> Result<(), Failure> {
    let quoted = |path: &Path| format!("'{}'", path.display());
    let line = command.replace("{data}", &quoted(data)).replace("{model}", &quoted(model));
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let output = Command::new(shell)
        .args([flag, &line])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::Failed(format!("the command could not be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::refused(
        format!("the command ended with {}: {}", output.status, said.lines().next().unwrap_or("no message")),
        "try it by hand on a CSV file first",
    ))
}

/// Every number of a JSON document, in order, or of a text of numbers.
fn numbers(text: &str) -> Result<Vec<f64>, Failure> {
    let mut found = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => gather(&value, &mut found),
        Err(_) => found.extend(
            text.split([' ', ',', ';', '\t', '\r', '\n']).filter_map(|word| word.parse::<f64>().ok()),
        ),
    }
    if found.is_empty() {
        return Err(Failure::refused(
            "the model holds no number",
            "write JSON, or numbers separated by commas or spaces",
        ));
    }
    Ok(found)
}

fn gather(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, found)),
        _ => {}
    }
}
