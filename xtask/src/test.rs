//! Everything that must hold before a change lands, on a machine that has Rust, a C compiler and Python 3.11.

use crate::{cargo, root, run as execute, say};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A named part of the suite.
type Stage = (&'static str, fn() -> Result<()>);

const STAGES: &[Stage] = &[
    ("format", format),
    ("lints", lints),
    ("documentation", documentation),
    ("public items", crate::api::check),
    ("other systems", other_systems),
    ("packages", packages),
    ("source distribution", source_distribution),
    ("Rust tests", rust_tests),
    ("Rust doc-tests", doc_tests),
    ("a small storm", storm),
    ("Python wheel", python_wheel),
    ("Python tests", python_tests),
];

/// Runs every stage in order; the first that fails ends the run.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    nothing_more(arguments)?;
    let mut summary = Vec::new();
    for (name, stage) in STAGES {
        say(&format!("==> {name}"));
        let start = Instant::now();
        stage().with_context(|| format!("stage `{name}` failed"))?;
        summary.push(format!("    passed  {name} ({:.0} s)", start.elapsed().as_secs_f64()));
    }
    say("==> all stages passed");
    for line in &summary {
        say(line);
    }
    Ok(())
}

/// Refuses what a chore does not take.
pub(crate) fn nothing_more(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        Some(first) => bail!("`{first}` is not understood: this task takes nothing more"),
        None => Ok(()),
    }
}

/// Packs every published crate.
pub(crate) fn package(arguments: &[String]) -> Result<()> {
    nothing_more(arguments)?;
    packages()
}

pub(crate) fn format() -> Result<()> {
    execute(cargo().args(["fmt", "--all", "--check"]))
}

pub(crate) fn lints() -> Result<()> {
    execute(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn documentation() -> Result<()> {
    let arguments = ["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"];
    execute(cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Crates that need no C compiler are checked for other systems, where their standard library is installed.
fn other_systems() -> Result<()> {
    const CRATES: [&str; 7] =
        ["units", "noise", "accountant", "pairwise", "stability", "certificate", "verify"];
    for target in ["x86_64-pc-windows-msvc", "aarch64-apple-darwin"] {
        let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output()?;
        if !Path::new(String::from_utf8_lossy(&asked.stdout).trim()).is_dir() {
            say(&format!("    {target} is not installed: not checked"));
            continue;
        }
        let mut command = cargo();
        command.args(["check", "--quiet", "--target", target]);
        for name in CRATES {
            command.args(["--package", &format!("pairdp-{name}")]);
        }
        execute(&mut command)?;
    }
    Ok(())
}

/// Every published crate can be packed, in order, without the network. What is not published is named: a new crate is published
/// unless somebody says otherwise.
fn packages() -> Result<()> {
    let mut command = cargo();
    command.args(["package", "--quiet", "--workspace", "--no-verify", "--offline", "--allow-dirty"]);
    for package in ["xtask", "pairdp-py", "pairdp-bench", "pairdp-fuzz", "pairdp-reproduce"] {
        command.args(["--exclude", package]);
    }
    execute(&mut command)
}

/// The Python package's sources can be packed, with licences and a lock file that is their own.
fn source_distribution() -> Result<()> {
    crate::sdist::pack().map(drop)
}

fn rust_tests() -> Result<()> {
    execute(cargo().args(["test", "--workspace", "--lib", "--bins", "--tests"]))
}

fn doc_tests() -> Result<()> {
    execute(cargo().args(["test", "--workspace", "--doc"]))
}

fn storm() -> Result<()> {
    crate::storm::small()
}

/// Builds the package as a user would, with pip, into an environment of its own under `target/`.
fn python_wheel() -> Result<()> {
    let environment = environment();
    if environment.exists() {
        std::fs::remove_dir_all(&environment).context("could not empty the old Python environment")?;
    }
    execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    let package = format!("{}[test]", root().join("python").display());
    execute(python(&environment).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        &package,
    ]))?;
    engines(&environment);
    Ok(())
}

/// Ray, Dask and JAX are large and not everywhere to be had; without one, the tests that need it are skipped.
fn engines(environment: &Path) {
    for (name, package) in [
        ("Ray", "ray[client]>=2.52"),
        ("Dask", "distributed>=2024.8"),
        ("JAX", "jax>=0.4.30"),
        ("scikit-survival, an oracle", "scikit-survival>=0.24"),
    ] {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
        let installed = python(environment).args(pip).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !installed.is_ok_and(|status| status.success()) {
            say(&format!("    {name} could not be installed: its tests are skipped"));
        }
    }
}

fn python_tests() -> Result<()> {
    // Run from the tests' folder, so that the installed package is imported and not the source tree.
    execute(python(&environment()).args(["-m", "pytest", "-q", "."]).current_dir(root().join("python/tests")))
}

fn environment() -> PathBuf {
    root().join("target/python-test-env")
}

#[expect(clippy::disallowed_methods, reason = "which Python tests run on")]
pub(crate) fn system_python() -> std::ffi::OsString {
    std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into())
}

pub(crate) fn python(environment: &Path) -> Command {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    Command::new(environment.join(folder).join("python"))
}
