//! One command per chore: `cargo xtask --help` lists them.

mod api;
mod docs;
mod engines;
mod figures;
mod lint;
mod peers;
mod sdist;
mod storm;
mod test;

use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// A chore: its name, what may follow, what it does.
struct Task {
    name: &'static str,
    takes: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "test",
        takes: "",
        about: "everything that must hold before a change lands",
        run: test::run,
    },
    Task {
        name: "lint",
        takes: "",
        about: "format, lints, spelling, dependencies: what pre-commit runs",
        run: lint::run,
    },
    Task {
        name: "package",
        takes: "",
        about: "pack every published crate, in order, without the network",
        run: test::package,
    },
    Task {
        name: "api",
        takes: "[--check]",
        about: "the public items of every published crate, listed in docs/api; --check says what changed",
        run: api::run,
    },
    Task {
        name: "sdist",
        takes: "[--install]",
        about: "pack the Python package's sources; --install builds and tries them in an empty folder",
        run: sdist::run,
    },
    Task {
        name: "bench",
        takes: "[NAME] [--json]",
        about: "a benchmark of experiments/bench, `engines` or `peers`; without NAME, the list",
        run: bench,
    },
    Task {
        name: "audit-everything",
        takes: "[--tries N]",
        about: "neighbours that would break a claim, for all that a plan accepts",
        run: |rest| program("pairdp-bench", &[&["everything".to_owned()], rest].concat()),
    },
    Task {
        name: "fuzz",
        takes: "[TARGET] [--minutes M]",
        about: "damaged inputs for a parser; without TARGET, the list",
        run: |rest| program("pairdp-fuzz", rest),
    },
    Task {
        name: "storm",
        takes: "[--minutes M]",
        about: "kills, crowds, full disks and damaged files: is anything lost?",
        run: storm::run,
    },
    Task {
        name: "docs",
        takes: "[--wheel FILE]",
        about: "the site, in target/site: no warning, no dead link",
        run: docs::run,
    },
    Task {
        name: "figures",
        takes: "[--run PAGE | --run all] [--data DIR] [--out DIR]",
        about: "the commands behind the numbers of docs, listed or rerun",
        run: figures::run,
    },
    Task {
        name: "reproduce",
        takes: "NAME [--quick] [--data DIR] [--out DIR]",
        about: "the papers' tables, rerun; `list` shows them",
        run: |rest| program("pairdp-reproduce", rest),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = arguments.split_first().map(|(first, rest)| (first.as_str(), rest));
    let outcome = match asked {
        Some(("--help" | "-h" | "help", _)) => {
            say(&usage());
            Ok(())
        }
        Some((name, rest)) => match TASKS.iter().find(|task| task.name == name) {
            Some(task) => (task.run)(rest),
            None => Err(anyhow::anyhow!("there is no task `{name}`\n{}", usage())),
        },
        None => Err(anyhow::anyhow!("{}", usage())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = "usage: cargo xtask TASK".to_owned();
    for Task { name, takes, about, .. } in TASKS {
        let _ = write!(text, "\n  {:<58} {about}", format!("{name} {takes}"));
    }
    text
}

/// Engines and other libraries need Python; all else is a program of ours.
fn bench(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((name, rest)) if name == "engines" => engines::run(rest),
        Some((name, rest)) if name == "peers" => peers::run(rest),
        _ => program("pairdp-bench", arguments),
    }
}

/// Benchmarks and damaged inputs live in crates of their own, so that their dependencies never reach a user.
fn program(package: &str, arguments: &[String]) -> Result<()> {
    run(cargo().args(["run", "--quiet", "--release", "--package", package, "--"]).args(arguments))
}

/// The cargo that runs us, at the root of the workspace.
fn cargo() -> Command {
    #[expect(clippy::disallowed_methods, reason = "cargo says which cargo runs us")]
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a command to its end; a non-zero exit is an error that names the command.
fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {command:?}"))?;
    if !status.success() {
        bail!("failed: {command:?}");
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a command-line tool reports on standard error")]
fn say(line: &str) {
    eprintln!("{line}");
}
