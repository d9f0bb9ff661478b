use crate::args::Stability;
use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Taken, plot_file};
use crate::printer::Printer;
use pairdp_audit::gap::{Gap, gaps};
use pairdp_audit::stability::{Cell, Descent, Loss, Method, TableRow, measure, table_one};
use pairdp_plot::{Axis, Plot};
use pairdp_units::directed::{larger, smaller};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Stability, printer: &Printer) -> Result<ExitCode, Failure> {
    let place = |path: &PathBuf| Output::new(path, Kind::Plot, Force::Never, &Taken::none());
    let plot = arguments.plot.as_ref().map(place).transpose()?;
    let mut cells = Vec::new();
    let mut published = Vec::new();
    for &records in &arguments.records {
        for &steps in &arguments.steps {
            for &step_size in &arguments.step_size {
                for method in Method::ALL {
                    for loss in Loss::ALL {
                        cells.push(measure(Descent { method, loss, records, steps, step_size })?);
                    }
                }
                published.extend(table_one(records, steps, step_size)?);
            }
        }
    }
    let averages = gaps(50, 50)?;
    if let Some(plot) = plot {
        let text = format!("wrote {}", plot.path().display());
        plot.write(plot_file(&picture()?).as_bytes())?;
        printer.progress(&text);
    }
    let outside = cells.iter().filter(|cell| !cell.within).count();
    let text = format!(
        "{}\n{}\n{}\n{} of {} measurements are within their bounds",
        cells_table(&cells),
        published_table(&published),
        gaps_table(&averages),
        cells.len() - outside,
        cells.len()
    );
    printer.result(
        &text,
        &json!({ "cells": cells, "table_one": published, "gaps": averages, "outside": outside }),
    );
    Ok(ExitCode::from(u8::from(outside > 0)))
}

fn cells_table(cells: &[Cell]) -> String {
    let mut text = format!(
        "{:<22} {:<13} {:>6} {:>6} {:>6} {:>10} {:>10} {:>10} {:>10} {:>6}\n",
        "descent", "loss", "n", "T", "η", "measured", "bound", "formula", "G(η√T+…)", "share"
    );
    for cell in cells {
        let Descent { method, loss, records, steps, step_size } = cell.descent;
        let _ = writeln!(
            text,
            "{:<22} {:<13} {records:>6} {steps:>6} {step_size:>6} {:>10.5} {:>10.5} {:>10.5} {:>10.5} {:>6.2}{}",
            method.name(),
            loss.name(),
            cell.measured,
            cell.bound,
            cell.formula,
            cell.scale,
            cell.measured / cell.bound,
            if cell.within { "" } else { "  OUTSIDE" },
        );
    }
    text.push_str(
        "measured: the largest distance of two runs, for random indices its mean over 8 sequences. bound: ours, for these\n\
         indices. formula: for any indices, in expectation. share: measured over bound.\n",
    );
    text
}

fn published_table(rows: &[TableRow]) -> String {
    let mut text = format!(
        "Bassily et al. (2020), Table 1, measured on the construction\n{:<22} {:>6} {:>6} {:>6} {:>10} {:>10} {:>10} {:>10} {:>8}\n",
        "descent", "n", "T", "η", "upper", "ours", "measured", "lower: Ω", "measured/Ω"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<22} {:>6} {:>6} {:>6} {:>10.5} {:>10.5} {:>10.5} {:>10.5} {:>8.2}",
            row.method.name(),
            row.records,
            row.steps,
            row.step_size,
            row.upper,
            row.ours,
            row.measured,
            row.lower,
            row.measured / row.lower
        );
    }
    text
}

fn gaps_table(rows: &[Gap]) -> String {
    let mut text = format!(
        "Stability on average, and risk on new records less risk on the table\n{:<28} {:>5} {:>5} {:>7} {:>10} {:>10} {:>10} {:>10}\n",
        "setting", "n", "T", "η", "stability", "bound", "gap", "bound"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<28} {:>5} {:>5} {:>7.4} {:>10.5} {:>10.5} {:>10.5} {:>10.5}",
            row.setting,
            row.records,
            row.steps,
            row.step_size,
            row.stability,
            row.stability_bound,
            row.gap,
            row.gap_bound
        );
    }
    text
}

/// How the distance grows with T on the construction: like √T while T is small beside n², like T after.
fn picture() -> Result<String, Failure> {
    const RATE: f64 = 0.01;
    let steps: Vec<u32> = (3..=12).map(|k| 1 << k).collect();
    let mut curves = Vec::new();
    for (records, colour) in [(8, "crimson"), (50, "darkorange"), (100_000, "teal")] {
        let mut points = Vec::new();
        for &steps in &steps {
            let descent =
                Descent { method: Method::Gd, loss: Loss::Construction, records, steps, step_size: RATE };
            points.push((f64::from(steps), measure(descent)?.measured));
        }
        curves.push((format!("measured, n = {records}"), points, colour, false));
        let bound =
            |&t: &u32| (f64::from(t), 2.0 * RATE * (f64::from(t).sqrt() + f64::from(t) / records as f64));
        curves.push((format!("bound, n = {records}"), steps.iter().map(bound).collect(), colour, true));
    }
    let line = |of: fn(f64) -> f64| steps.iter().map(|&t| (f64::from(t), RATE * of(f64::from(t)))).collect();
    curves.push(("η√T".to_owned(), line(f64::sqrt), "#888", true));
    curves.push(("ηT/8".to_owned(), line(|t| t / 8.0), "#888", true));
    let heights = || curves.iter().flat_map(|(_, points, ..)| points.iter().map(|point| point.1));
    let (low, high) = (heights().fold(f64::MAX, smaller), heights().fold(f64::MIN_POSITIVE, larger));
    let across = Axis::logarithmic("steps T", f64::from(steps[0]), f64::from(steps[steps.len() - 1]));
    let plot = Plot::new(across, Axis::logarithmic("distance after the last step", low, high));
    let plot = curves
        .iter()
        .fold(plot, |plot, (name, points, colour, dashed)| plot.curve(name, points, colour, *dashed));
    Ok(plot.file("Distance of two full-batch descents, η = 0.01"))
}
