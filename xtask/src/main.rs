//! One command per chore: `cargo xtask test`, `cargo xtask bench NAME [--json]`, `cargo xtask audit-everything`,
//! `cargo xtask fuzz TARGET`, `cargo xtask reproduce NAME`.

mod engines;
mod peers;
mod test;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask test                    format, lints, docs, Rust tests, wheel, Python tests
       cargo xtask bench NAME [--json]     a benchmark of experiments/bench; without NAME, the list
       cargo xtask bench engines [--json]  training on local processes, Ray and Dask
       cargo xtask bench peers [--data DIR] [--quick] [--only JOB] [--torch]   the race against other libraries
       cargo xtask audit-everything [--tries N]   neighbours that would break a claim, for all that a plan accepts
       cargo xtask fuzz TARGET [--minutes M]   damaged inputs for a parser; without TARGET, the list
       cargo xtask reproduce NAME [--quick]    the papers' tables, rerun; `list` shows them";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((first, [])) if first == "test" => test::run(),
        Some((first, [name, rest @ ..])) if first == "bench" && name == "engines" => engines::run(rest),
        Some((first, [name, rest @ ..])) if first == "bench" && name == "peers" => peers::run(rest),
        Some((first, rest)) if first == "bench" => program("pairdp-bench", rest),
        Some((first, rest)) if first == "audit-everything" => {
            program("pairdp-bench", &[&["everything".to_owned()], rest].concat())
        }
        Some((first, rest)) if first == "fuzz" => program("pairdp-fuzz", rest),
        Some((first, rest)) if first == "reproduce" => program("pairdp-reproduce", rest),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Benchmarks and damaged inputs live in crates of their own, so that their dependencies never reach a user.
fn program(package: &str, arguments: &[String]) -> Result<()> {
    run(cargo().args(["run", "--quiet", "--release", "--package", package, "--"]).args(arguments))
}

/// The cargo that runs us, at the root of the workspace.
fn cargo() -> Command {
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
