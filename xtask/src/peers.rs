//! A race against other libraries: `cargo xtask bench peers [--data DIR] [--ranges REGIME] [--quick] [--only JOB] [--splits K]
//! [--torch]`. With ranges, training is on the sets of `bench utility` under `tight`, `documented` or `loose` ones.
//!
//! Every peer lives in a Python environment of its own under `target/peers`; one that does not install is reported as such.
//! Contenders print lines of JSON, which `bench/tables.py` turns into tables of ratios. All run on one thread.

use crate::test::{python, system_python};
use crate::{cargo, root, run as execute, say};
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// An environment and what pip is told to install into it.
const ENVIRONMENTS: [(&str, &[&str]); 8] = [
    ("pairdp", &["./python"]),
    ("accounting", &["dp-accounting", "prv-accountant"]),
    ("opendp", &["opendp", "numpy"]),
    ("sklearn", &["scikit-learn"]),
    // Their latest releases do not work with scikit-learn 1.8 or later.
    ("diffprivlib", &["diffprivlib", "scikit-learn<1.8"]),
    ("metric-learn", &["metric-learn", "scikit-learn<1.8"]),
    ("opacus", &["opacus"]),
    ("interpret", &["interpret-core", "scikit-learn"]),
];

/// A job, the environment that it runs in, and how it is called; `ours` is the benchmark program.
const RUNS: [(&str, &str, &[&str]); 19] = [
    ("accountant", "ours", &["race", "--job", "accountant"]),
    ("accountant", "accounting", &["accountant.py"]),
    ("noise", "ours", &["race", "--job", "noise"]),
    ("noise", "opendp", &["noise.py"]),
    ("gradient", "ours", &["race", "--job", "gradient"]),
    ("gradient", "sklearn", &["gradient.py"]),
    ("gradient", "opacus", &["gradient.py", "--torch"]),
    ("training", "sklearn", &["training.py", "ceiling"]),
    ("training", "pairdp", &["training.py", "ours"]),
    ("training", "diffprivlib", &["training.py", "diffprivlib"]),
    ("training", "opacus", &["training.py", "opacus"]),
    ("training", "interpret", &["training.py", "dp-ebm"]),
    ("metric", "pairdp", &["metric.py", "ours"]),
    ("metric", "metric-learn", &["metric.py", "metric-learn"]),
    ("speed", "pairdp", &["speed.py", "moments"]),
    ("speed", "pairdp", &["speed.py", "ours"]),
    ("speed", "diffprivlib", &["speed.py", "diffprivlib"]),
    ("speed", "opacus", &["speed.py", "opacus"]),
    ("speed", "sklearn", &["speed.py", "ceiling"]),
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let folder = root().join("target/peers");
    std::fs::create_dir_all(&folder)?;
    let only = after("--only");
    let splits = folder.join("splits");
    let chosen: Vec<_> = RUNS.iter().filter(|(job, ..)| only.is_none_or(|only| only == job)).collect();
    if chosen.is_empty() {
        bail!("--only accountant, noise, gradient, training, metric or speed");
    }
    let results = folder.join("results.jsonl");
    let mut out = File::create(&results).with_context(|| format!("{}", results.display()))?;
    if chosen.iter().any(|(job, ..)| ["training", "metric", "speed"].contains(job)) {
        let count = after("--splits").map_or(if has("--quick") { "4" } else { "10" }, |count| count);
        let mut write = ours(&["splits", "--splits", count]);
        write.arg("--out").arg(&splits);
        if let Some(data) = after("--data") {
            write.arg("--data").arg(std::path::absolute(data)?);
        }
        if let Some(ranges) = after("--ranges") {
            write.arg("--ranges").arg(ranges);
        }
        execute(write.stdout(out.try_clone()?))?;
    }
    for (_, environment, call) in chosen {
        let mut command = if *environment == "ours" {
            ours(call)
        } else {
            if let Err(why) = installed(&folder, environment, has("--torch")) {
                say(&format!("{environment}: {why:#}"));
                writeln!(out, "{{\"job\": \"absent\", \"peer\": \"{environment}\", \"why\": \"{why}\"}}")?;
                continue;
            }
            let mut command = python(&folder.join(environment));
            command.arg(root().join("bench").join(call[0])).args(&call[1..]);
            command
        };
        command.arg("--splits").arg(&splits);
        if has("--quick") {
            command.arg("--quick");
        }
        for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(threads, "1");
        }
        say(&format!("{environment}: {}", call.join(" ")));
        // Straight into the file, so that what was measured survives a kill.
        if !command.stdout(out.try_clone()?).status()?.success() {
            let call = call.join(" ");
            writeln!(
                out,
                "{{\"job\": \"absent\", \"peer\": \"{environment}\", \"why\": \"{call} failed\"}}"
            )?;
        }
    }
    execute(Command::new(system_python()).arg(root().join("bench/tables.py")).arg(results))
}

/// The benchmark program with results as lines of JSON.
fn ours(call: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "pairdp-bench", "--"]).args(call).arg("--json");
    command
}

/// Makes an environment unless an earlier run did; our own package is built anew.
fn installed(folder: &Path, name: &str, torch: bool) -> Result<()> {
    let (_, packages) =
        ENVIRONMENTS.iter().find(|(known, _)| *known == name).context("an environment of ours")?;
    let environment = folder.join(name);
    let done = folder.join(format!("{name}.installed"));
    if done.exists() && name != "pairdp" {
        return Ok(());
    }
    if name == "opacus" && !torch {
        bail!("left out: PyTorch is some gigabytes, --torch installs it");
    }
    say(&format!("{name}: pip install {}", packages.join(" ")));
    if !environment.exists() {
        execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    }
    let mut pip = python(&environment);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(*packages);
    execute(pip.current_dir(root())).map_err(|_| anyhow::anyhow!("does not install"))?;
    File::create(done)?;
    Ok(())
}
