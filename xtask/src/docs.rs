//! The site: `cargo xtask docs [--wheel FILE]`.
//!
//! Pages come from `docs`, `proofs` and the documents at the root (`docs/site/hook.py`); the Python reference is read off the package, which
//! is built into the environment unless a wheel is given. A warning, a link to nothing or a page in no group ends the build.

use crate::test::{python, system_python};
use crate::{root, run as execute, say};
use anyhow::{Result, bail};
use std::process::Command;

/// What makes pages of Markdown and docstrings; matplotlib, because a module of the reference draws with it.
const TOOLS: [&str; 3] = ["mkdocs-material>=9.5,<10", "mkdocstrings[python]>=0.29", "matplotlib>=3.8"];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let package = match arguments {
        [] => root().join("python"),
        [flag, wheel] if flag == "--wheel" => std::path::absolute(wheel)?,
        _ => bail!("usage: cargo xtask docs [--wheel FILE]"),
    };
    let environment = root().join("target/docs-env");
    if !environment.exists() {
        execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    }
    say(&format!("docs: pip install {} {}", TOOLS.join(" "), package.display()));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    execute(python(&environment).args(pip).args(TOOLS).arg(&package))?;
    // A wheel of the same version is put in place of an older one, too.
    execute(python(&environment).args(pip).args(["--force-reinstall", "--no-deps"]).arg(&package))?;
    let mut build = python(&environment);
    build.args(["-m", "mkdocs", "build", "--strict", "--clean"]).current_dir(root());
    // Material tells of its successor at every start: Zensical reads the same mkdocs.yml, and is to be tried before May 2027.
    execute(build.env("NO_MKDOCS_2_WARNING", "1"))?;
    execute(python(&environment).arg(root().join("docs/site/check.py")).arg(root().join("target/site")))?;
    say("docs: open target/site/index.html");
    Ok(())
}
