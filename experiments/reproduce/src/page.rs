//! What a run found, for people and for other programs.

use crate::plot::short;
use crate::{Experiment, Outcome, Value};
use std::fmt::Write as _;

/// The first lines of the page about all tables.
pub const TITLE: &str = "# The papers' tables, rerun\n\nMeans with one standard error.\n";

/// One line for each number.
pub fn csv(experiment: &Experiment, outcome: &Outcome) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut text = "experiment,cell,repetitions,row,column,mean,standard_error,note\n".to_owned();
    for cell in &outcome.cells {
        for row in &cell.rows {
            for (column, value) in experiment.columns.iter().zip(&row.values) {
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{}",
                    experiment.name,
                    quoted(&cell.key),
                    cell.repetitions,
                    quoted(&row.name),
                    quoted(column),
                    number(value.mean),
                    number(value.error),
                    quoted(value.note.as_deref().unwrap_or_default()),
                );
            }
        }
    }
    text
}

/// Plot and table of one experiment, as Markdown. Notes stand below the table, once each.
pub fn section(experiment: &Experiment, outcome: &Outcome, quick: bool) -> String {
    let mut text = format!("\n## {}\n\n{}\n", experiment.title, experiment.source);
    for missing in &outcome.missing {
        let _ = write!(text, "\nSkipped for want of {missing}.\n");
    }
    let repetitions = outcome.cells.first().map_or(0, |cell| cell.repetitions);
    let left_out = if quick { format!(" A quick run: {}.", experiment.quick) } else { String::new() };
    let _ = write!(
        text,
        "\n![{}]({}.svg)\n\nRepetitions: {repetitions}.{left_out}\n\n",
        experiment.title, experiment.name
    );
    let cells = |cells: &mut dyn Iterator<Item = String>| -> String {
        cells.fold(String::new(), |line, cell| line + " " + &cell.replace('|', "\\|") + " |")
    };
    let names = ["cell", "row"].iter().chain(experiment.columns).map(|name| (*name).to_owned());
    let _ = writeln!(text, "|{}", cells(&mut names.clone()));
    let _ = writeln!(text, "|{}", "---|".repeat(names.count()));
    let mut notes: Vec<&str> = Vec::new();
    for cell in &outcome.cells {
        for row in &cell.rows {
            let values = row.values.iter().map(|value| shown(value, &mut notes));
            let _ = writeln!(
                text,
                "|{}",
                cells(&mut [cell.key.clone(), row.name.clone()].into_iter().chain(values))
            );
        }
    }
    for (k, note) in notes.iter().enumerate() {
        let _ = write!(text, "\n({}) {note}\n", k + 1);
    }
    text
}

fn shown<'a>(value: &'a Value, notes: &mut Vec<&'a str>) -> String {
    let mut shown = match *value {
        Value { mean: Some(mean), error: Some(error), .. } => format!("{} ± {}", short(mean), short(error)),
        Value { mean: Some(mean), .. } => short(mean),
        _ => "–".to_owned(),
    };
    if let Some(note) = &value.note {
        let at = notes.iter().position(|known| known == note).unwrap_or(notes.len());
        if at == notes.len() {
            notes.push(note);
        }
        let _ = write!(shown, " ({})", at + 1);
    }
    shown
}
