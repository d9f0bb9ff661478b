use crate::args::Reproduce;
use crate::failure::Failure;
use crate::output::{self, Force, Kept, Kind, Output, Taken, plot_file};
use crate::printer::Printer;
use crate::report::html;
use pairdp_reproduce::plot::{dots, short};
use pairdp_reproduce::{EXPERIMENTS, Experiment, Outcome, Scope, Value, found, run as compute};
use serde_json::json;
use std::fmt::{Display, Write as _};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Reproduce, printer: &Printer) -> Result<ExitCode, Failure> {
    if arguments.name == "LIST" || arguments.name == "list" {
        let mut text = String::new();
        for experiment in EXPERIMENTS {
            let _ = writeln!(text, "{:<18} {}", experiment.name, experiment.title);
        }
        let names =
            EXPERIMENTS.map(|experiment| json!({ "name": experiment.name, "title": experiment.title }));
        printer.result(&text, &json!({ "experiments": names }));
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = |experiment: &Experiment| arguments.name == "all" || experiment.name == arguments.name;
    if !EXPERIMENTS.iter().any(wanted) {
        let message = format!("there is no table called `{}`", arguments.name);
        return Err(Failure::refused(message, "see `pairdp reproduce list`"));
    }
    let out = &arguments.out;
    output::folder(out)?;
    let scope = Scope { data: arguments.data.as_deref(), quick: arguments.quick };
    let kept = Kept::new(&out.join("cells.jsonl"), Kind::Cells, &Taken::none())?;
    kept.unshare().map_err(|error| Failure::write(kept.place(), &error))?;
    let cells = kept.place();
    let (mut sections, mut text, mut objects) = (String::new(), String::new(), Vec::new());
    for experiment in &EXPERIMENTS {
        if !wanted(experiment) {
            // The page is about all that lies in the folder.
            let cells = found(experiment, cells).map_err(|error| refused(&error))?;
            if !cells.is_empty() {
                let outcome = Outcome { kept: cells.len(), cells, missing: Vec::new() };
                sections.push_str(&section(experiment, &outcome, &dots(experiment, &outcome.cells), false));
            }
            continue;
        }
        let about_to = |key: &str| printer.progress(&format!("{}: {key}", experiment.name));
        let outcome = compute(experiment, &scope, cells, about_to).map_err(|error| refused(&error))?;
        let plot = dots(experiment, &outcome.cells);
        write(&out.join(format!("{}.csv", experiment.name)), Kind::Reruns, &csv(experiment, &outcome))?;
        write(&out.join(format!("{}.svg", experiment.name)), Kind::Plot, &plot_file(&plot))?;
        sections.push_str(&section(experiment, &outcome, &plot, arguments.quick));
        let (count, kept) = (outcome.cells.len(), outcome.kept);
        let _ = writeln!(text, "{:<18} {count} cells, {kept} of them from an earlier run", experiment.name);
        if arguments.quick {
            let _ = writeln!(text, "{:<18} quick: {}", "", experiment.quick);
        }
        for missing in &outcome.missing {
            let _ = writeln!(text, "{:<18} skipped for want of {missing}", "");
        }
        objects.push(json!({
            "name": experiment.name, "kept": kept, "missing": outcome.missing, "cells": outcome.cells,
        }));
    }
    let page = out.join("index.html");
    let intro = html::paragraph("Means with one standard error.");
    write(
        &page,
        Kind::Page,
        &html::page(
            "The papers' tables, rerun",
            &format!("<h1>The papers' tables, rerun</h1>\n{intro}{sections}"),
        ),
    )?;
    let _ = writeln!(text, "wrote {}, and a .csv and .svg file for each beside it", page.display());
    printer.result(&text, &json!({ "experiments": objects, "page": page }));
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, kind: Kind, text: &str) -> Result<(), Failure> {
    Output::new(path, kind, Force::Never, &Taken::none())?.write(text.as_bytes())
}

fn refused(error: &impl Display) -> Failure {
    Failure::refused(format!("{error:#}"), "see `pairdp reproduce --help`")
}

/// One line for each number.
fn csv(experiment: &Experiment, outcome: &Outcome) -> String {
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

/// Plot and table of one experiment. Notes stand below the table, once each.
fn section(experiment: &Experiment, outcome: &Outcome, plot: &str, quick: bool) -> String {
    let mut notes: Vec<&str> = Vec::new();
    let mut table = "<table>\n<thead><tr><th>cell</th><th>row</th>".to_owned();
    for name in experiment.columns {
        let _ = write!(table, "<th>{}</th>", html::escape(name));
    }
    table.push_str("</tr></thead>\n");
    for cell in &outcome.cells {
        for row in &cell.rows {
            let _ =
                write!(table, "<tr><td>{}</td><td>{}</td>", html::escape(&cell.key), html::escape(&row.name));
            for value in &row.values {
                let mut shown = match *value {
                    Value { mean: Some(mean), error: Some(error), .. } => {
                        format!("{} ± {}", short(mean), short(error))
                    }
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
                let _ = write!(table, "<td>{}</td>", html::escape(&shown));
            }
            table.push_str("</tr>\n");
        }
    }
    table.push_str("</table>\n");
    let mut body = html::paragraph(experiment.source);
    for missing in &outcome.missing {
        body.push_str(&html::paragraph(&format!("Skipped for want of {missing}.")));
    }
    let repetitions = outcome.cells.first().map_or(0, |cell| cell.repetitions);
    let left_out = if quick { format!(" A quick run: {}.", experiment.quick) } else { String::new() };
    body.push_str(&html::figure(plot, &format!("Repetitions: {repetitions}.{left_out}")));
    body.push_str(&table);
    for (k, note) in notes.iter().enumerate() {
        body.push_str(&html::paragraph(&format!("({}) {note}", k + 1)));
    }
    html::section(experiment.title, &body)
}
