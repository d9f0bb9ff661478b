use crate::args::Predict;
use crate::commands::show::{no_scores, signed};
use crate::failure::Failure;
use crate::files;
use crate::output::{Kind, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_data::{LabelKind, LabelUse, Survey, Table};
use pairdp_model::{FlagBy, Predictor, Task};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Predict, printer: &Printer) -> Result<ExitCode, Failure> {
    let reads = Taken::none().and(&arguments.model, Role::Model).and_table(&arguments.data, None);
    let place = |path: &PathBuf| Output::new(path, Kind::Predictions, arguments.force.into(), &reads);
    let out = arguments.out.as_ref().map(place).transpose()?;
    let predictor = files::read_predictor(&arguments.model)?;
    let encoding = &predictor.encoding;
    if arguments.strict {
        // Says where the first cell is that cannot be read.
        printer.reading(&arguments.data, encoding, LabelUse::Ignore)?;
    }
    let Survey { table, readable, kept, .. } =
        printer.surveying(&arguments.data, encoding, &arguments.keep)?;
    let mut predictions = Predictions::of(&predictor, &table, arguments.flag.by())?;
    if let Some(twice) = arguments.keep.iter().find(|name| predictions.names.contains(name)) {
        return Err(Failure::refused(
            format!("--keep {twice}: the predictions have a column of that name"),
            "give the column of the table another name",
        ));
    }
    if let Some(most) = arguments.reasons {
        let adds = predictor
            .explain(&table)
            .ok_or_else(|| no_scores(&arguments.model.display().to_string(), &predictor))?;
        predictions.explained(&predictor, &adds, most);
    }
    predictions.empty_unless(&readable);
    let unscored = readable.iter().filter(|readable| !**readable).count();
    predictions.prepend(&arguments.keep, kept);
    let without = match unscored {
        0 => String::new(),
        1 => "; 1 row could not be scored and has an empty cell".to_owned(),
        _ => format!("; {unscored} rows could not be scored and have an empty cell"),
    };
    match out {
        None if printer.json() => printer.result("", &predictions.json()),
        None => {
            printer.data(&predictions.csv());
            if unscored > 0 {
                printer.warning(without.trim_start_matches("; "));
            }
        }
        Some(out) => {
            let path = out.path().to_owned();
            out.write(predictions.csv().as_bytes())?;
            let what = match predictor.task {
                Task::Ranking => "scores, higher means more likely positive",
                Task::Classification => "scores and classes",
                Task::Regression => "predictions",
                Task::Survival => "scores, higher means an earlier event",
                Task::Metric => "rows mapped to where Euclidean distance is the metric's",
            };
            let scored = table.rows - unscored;
            let message = format!("wrote {} ({scored} {what}){without}", path.display());
            let object = json!({ "predictions": path, "records": table.rows, "unscored": unscored });
            printer.result(&message, &object);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Named columns, a row for each record.
struct Predictions<'a> {
    names: Vec<String>,
    rows: Vec<Vec<Cell<'a>>>,
}

enum Cell<'a> {
    Number(f64),
    Text(Cow<'a, str>),
    /// Of a row that cannot be scored.
    Empty,
}

impl<'a> Predictions<'a> {
    fn of(predictor: &'a Predictor, table: &Table, by: Option<FlagBy>) -> Result<Self, Failure> {
        let mut predictions = Self::scored(predictor, table);
        let flagged_from = by.map(|by| predictor.flagged_from(by)).transpose()?;
        let Some(line) = predictor.log_odds() else { return Ok(predictions) };
        predictions.names.push("probability".into());
        predictions.names.extend(flagged_from.map(|_| "flag".to_owned()));
        for (row, score) in predictions.rows.iter_mut().zip(predictor.scores(table)) {
            row.push(Cell::Number(line.probability(score)));
            if let Some((from, _)) = flagged_from {
                row.push(Cell::Text(if score >= from { "yes" } else { "no" }.into()));
            }
        }
        Ok(predictions)
    }

    fn scored(predictor: &'a Predictor, table: &Table) -> Self {
        let numbers = |values: Vec<f64>, width: usize| -> Vec<Vec<Cell<'a>>> {
            values.chunks_exact(width).map(|row| row.iter().copied().map(Cell::Number).collect()).collect()
        };
        let one = |name: &str, values: Vec<f64>| Self { names: vec![name.into()], rows: numbers(values, 1) };
        match (predictor.task, predictor.label.as_ref().map(|label| &label.kind)) {
            (Task::Metric, _) => Self {
                names: (1..=predictor.features()).map(|k| format!("m{k}")).collect(),
                rows: numbers(predictor.embed(table), predictor.features()),
            },
            (Task::Classification, Some(LabelKind::Binary { positive, negative })) => {
                let cut = predictor.cut();
                let class = |score: f64| Cell::Text(if score > cut { positive } else { negative }.into());
                let scores = predictor.scores(table).into_iter();
                Self {
                    names: vec!["score".into(), "class".into()],
                    rows: scores.map(|score| vec![Cell::Number(score), class(score)]).collect(),
                }
            }
            (Task::Regression, Some(LabelKind::Range([low, high]))) => {
                let value = |score: f64| low / 2.0 + high / 2.0 + score * (high / 2.0 - low / 2.0);
                one("prediction", predictor.scores(table).into_iter().map(value).collect())
            }
            _ => one("score", predictor.scores(table)),
        }
    }

    /// One more column: what adds most to each row, in words.
    fn explained(&mut self, predictor: &Predictor, adds: &[f64], most: usize) {
        let columns: Vec<&str> =
            predictor.encoding.columns().iter().map(|column| column.name.as_str()).collect();
        self.names.push("reasons".into());
        for (row, adds) in self.rows.iter_mut().zip(adds.chunks_exact(columns.len())) {
            let mut order: Vec<usize> = (0..columns.len()).filter(|k| adds[*k] != 0.0).collect();
            order.sort_by(|a, b| adds[*b].abs().total_cmp(&adds[*a].abs()));
            let words = order.iter().take(most).map(|k| format!("{} {}", columns[*k], signed(adds[*k])));
            row.push(Cell::Text(words.collect::<Vec<_>>().join("; ").into()));
        }
    }

    /// No prediction of a row that could not be read.
    fn empty_unless(&mut self, readable: &[bool]) {
        let unreadable = self.rows.iter_mut().zip(readable).filter(|(_, readable)| !**readable);
        unreadable.flat_map(|(row, _)| row).for_each(|cell| *cell = Cell::Empty);
    }

    /// Puts columns of the table first.
    fn prepend(&mut self, names: &[String], columns: Vec<Vec<String>>) {
        self.names.splice(0..0, names.iter().cloned());
        for (name_at, column) in columns.into_iter().enumerate() {
            for (row, cell) in self.rows.iter_mut().zip(column) {
                row.insert(name_at, Cell::Text(cell.into()));
            }
        }
    }

    fn csv(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| quoted(name)).collect();
        let mut text = names.join(",") + "\n";
        for row in &self.rows {
            if matches!(row[..], [Cell::Empty]) {
                // A line with nothing on it would be no row.
                text += "\"\"\n";
                continue;
            }
            for (k, cell) in row.iter().enumerate() {
                let comma = if k > 0 { "," } else { "" };
                let _ = match cell {
                    Cell::Number(value) => write!(text, "{comma}{value}"),
                    Cell::Text(value) => write!(text, "{comma}{}", quoted(value)),
                    Cell::Empty => write!(text, "{comma}"),
                };
            }
            text.push('\n');
        }
        text
    }

    fn json(&self) -> Value {
        let cell = |cell: &Cell<'_>| match cell {
            Cell::Number(value) => json!(value),
            Cell::Text(value) => json!(value),
            Cell::Empty => Value::Null,
        };
        let rows: Vec<Vec<Value>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        json!({ "columns": self.names, "rows": rows })
    }
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    // A spreadsheet runs what begins like this, unless it is a number.
    let runs = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.trim().parse::<f64>().is_err();
    if runs {
        return quoted(&format!("'{cell}"));
    }
    if cell.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn issue_22_10_no_cell_is_run_by_a_spreadsheet() {
        for (cell, written) in [
            ("yes", "yes"),
            ("-1", "-1"),
            ("+2.5e3", "+2.5e3"),
            ("a,b", "\"a,b\""),
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"a\",1)", "\"'=HYPERLINK(\"\"a\"\",1)\""),
        ] {
            assert_eq!(quoted(cell), written);
        }
    }
}
