//! `cargo xtask reproduce NAME`: the papers' tables and figures, rerun beside what they print.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]

use anyhow::{Result, bail};
use clap::Parser;
use pairdp_reproduce::plot::dots;
use pairdp_reproduce::{EXPERIMENTS, Experiment, Outcome, Scope, files, found, page, run};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Rerun the tables and figures of the papers, beside what they print
#[derive(Parser)]
#[command(
    bin_name = "cargo xtask reproduce",
    after_help = "\
Each finished cell is kept in DIR/cells.jsonl; a run that was stopped goes on where it was. Tables that need a set which is not
there are skipped, with a word on where to get it.

Examples:
  cargo xtask reproduce list
  cargo xtask reproduce yang-norms --quick --out rerun
  cargo xtask reproduce all --data sets --out rerun"
)]
struct Arguments {
    /// A name that `list` shows, `all`, or `list`
    name: String,
    /// Folder with pima.csv and debrecen.csv
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for cells, tables, plots and the page
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Few repetitions: minutes for all of them
    #[arg(long)]
    quick: bool,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match rerun(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn list(as_json: bool) {
    if as_json {
        let names = EXPERIMENTS.map(|one| json!({ "name": one.name, "title": one.title }));
        println!("{}", json!({ "experiments": names }));
    } else {
        EXPERIMENTS.iter().for_each(|one| println!("{:<18} {}", one.name, one.title));
    }
}

fn rerun(arguments: &Arguments) -> Result<()> {
    if arguments.name == "list" {
        list(arguments.json);
        return Ok(());
    }
    let wanted = |experiment: &Experiment| arguments.name == "all" || experiment.name == arguments.name;
    if !EXPERIMENTS.iter().any(wanted) {
        bail!("there is no table called `{}`; see `cargo xtask reproduce list`", arguments.name);
    }
    let scope = Scope { data: arguments.data.as_deref(), quick: arguments.quick };
    let cells = files::open(&arguments.out)?;
    let (mut whole, mut objects) = (page::TITLE.to_owned(), Vec::new());
    for experiment in &EXPERIMENTS {
        if !wanted(experiment) {
            // The page is about all that lies in the folder.
            let cells = found(experiment, &cells)?;
            if !cells.is_empty() {
                let outcome = Outcome { kept: cells.len(), cells, missing: Vec::new() };
                whole.push_str(&page::section(experiment, &outcome, false));
            }
            continue;
        }
        let about_to = |key: &str| eprintln!("{}: {key}", experiment.name);
        let outcome = run(experiment, &scope, &cells, about_to)?;
        let place = |end: &str| arguments.out.join(format!("{}.{end}", experiment.name));
        files::write(&place("csv"), &page::csv(experiment, &outcome))?;
        files::write(&place("svg"), &dots(experiment, &outcome.cells))?;
        whole.push_str(&page::section(experiment, &outcome, arguments.quick));
        objects.push(json!({
            "name": experiment.name, "kept": outcome.kept, "missing": outcome.missing, "cells": outcome.cells,
        }));
        if !arguments.json {
            summary(experiment, &outcome, arguments.quick);
        }
    }
    let place = arguments.out.join("index.md");
    files::write(&place, &whole)?;
    if arguments.json {
        println!("{}", json!({ "experiments": objects, "page": place }));
    } else {
        println!("wrote {}, and a .csv and .svg file for each beside it", place.display());
    }
    Ok(())
}

fn summary(experiment: &Experiment, outcome: &Outcome, quick: bool) {
    let (name, count, kept) = (experiment.name, outcome.cells.len(), outcome.kept);
    println!("{name:<18} {count} cells, {kept} of them from an earlier run");
    if quick {
        println!("{:<18} quick: {}", "", experiment.quick);
    }
    for missing in &outcome.missing {
        println!("{:<18} skipped for want of {missing}", "");
    }
}
