//! Every number of the documents, and the command that prints it: `cargo xtask figures [--run PAGE] [--data DIR] [--out DIR]`.
//!
//! The table is a page of the documents themselves, `docs/figures.md`; a test holds it against the pages that it names. Without `--run`
//! it is listed. With it the commands of one page, or of all, run one after the other, and what each prints is kept in a file.

use crate::{cargo, root, say};
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A row of the table.
struct Figure {
    page: String,
    takes: String,
    command: String,
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let figures = listed(&std::fs::read_to_string(root().join("docs/figures.md"))?);
    if figures.is_empty() {
        bail!("docs/figures.md has no table");
    }
    let (mut wanted, mut data, mut out) = (None, None, PathBuf::from("figures"));
    for pair in arguments.chunks(2) {
        match pair {
            [flag, page] if flag == "--run" => wanted = Some(page),
            [flag, folder] if flag == "--data" => data = Some(std::path::absolute(folder)?),
            [flag, folder] if flag == "--out" => out = folder.into(),
            _ => bail!("usage: cargo xtask figures [--run PAGE | --run all] [--data DIR] [--out DIR]"),
        }
    }
    let Some(wanted) = wanted else {
        for Figure { page, takes, command } in &figures {
            say(&format!("{page:<20} {takes:<12} {command}"));
        }
        return Ok(());
    };
    let chosen: Vec<_> = figures.iter().filter(|figure| wanted == "all" || figure.page == *wanted).collect();
    if chosen.is_empty() {
        bail!("no figure is of the page `{wanted}`: `cargo xtask figures` lists them");
    }
    let out = std::path::absolute(out)?;
    std::fs::create_dir_all(&out).with_context(|| format!("{}", out.display()))?;
    let mut failed = 0;
    for (number, figure) in chosen.iter().enumerate() {
        let file =
            out.join(format!("{:02}-{}.txt", number + 1, figure.page.replace("../", "").replace('/', "-")));
        let data = data.as_ref().map(|folder| folder.display().to_string());
        if figure.command.contains(" DIR") && data.is_none() {
            say(&format!("left out, needs --data: {}", figure.command));
            continue;
        }
        say(&format!("{} > {}", figure.command, file.display()));
        let words = figure.command.split(' ').map(|word| match (word, &data) {
            ("DIR", Some(folder)) => folder.clone(),
            ("rerun", _) => out.join("rerun").display().to_string(),
            _ => word.to_owned(),
        });
        // What was measured is kept, whatever happens to the next.
        let kept = File::create(&file).with_context(|| format!("{}", file.display()))?;
        let status = command(&words.collect::<Vec<_>>())?.stdin(Stdio::null()).stdout(kept).status()?;
        if !status.success() {
            say("failed");
            failed += 1;
        }
    }
    if failed > 0 {
        bail!("{failed} of {} commands failed", chosen.len());
    }
    Ok(())
}

/// The rows of the table on the page: page, how long it takes, command in backquotes.
fn listed(text: &str) -> Vec<Figure> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let figure = |line: &str| match cells(line).as_slice() {
        [_, page, takes, command, _] => {
            let command = command.strip_prefix('`')?.strip_suffix('`')?;
            Some(Figure { page: page.clone(), takes: takes.clone(), command: command.to_owned() })
        }
        _ => None,
    };
    text.lines().filter_map(figure).collect()
}

/// A command of the table, at the root: `pairdp` is the one of this workspace.
fn command(words: &[String]) -> Result<Command> {
    let (program, rest) = words.split_first().context("a command without words")?;
    let mut command = match program.as_str() {
        "cargo" => cargo(),
        "pairdp" => {
            let mut command = cargo();
            command.args(["run", "--quiet", "--release", "--package", "pairdp-cli", "--"]);
            command
        }
        other => {
            let mut command = Command::new(other);
            command.current_dir(root());
            command
        }
    };
    command.args(rest);
    Ok(command)
}
