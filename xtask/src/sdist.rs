//! The source distribution of the Python package: `cargo xtask sdist [--install]`.
//!
//! maturin packs the crates that the extension module needs, but the workspace's whole lock file, which cargo then wants to shorten:
//! `--locked` would fail. So the lock is shortened here, in what was unpacked, and packed again. With `--install` the result is built
//! and installed in an empty folder, as from a registry, and the README's Python example is run with it.

use crate::test::{python, system_python};
use crate::{cargo, root, run as execute, say};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What maturin may be; as in `python/pyproject.toml`.
const MATURIN: &str = "maturin>=1.9,<2";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let install = match arguments {
        [] => false,
        [only] if only == "--install" => true,
        [first, ..] => bail!("`{first}` is not understood: `cargo xtask sdist [--install]`"),
    };
    let packed = pack()?;
    say(&format!("    {}", packed.display()));
    if install { try_out(&packed) } else { Ok(()) }
}

/// Packs the source distribution, with a lock file that is its own.
pub(crate) fn pack() -> Result<PathBuf> {
    let folder = emptied(&root().join("target/sdist"))?;
    let environment = folder.join("environment");
    execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    execute(python(&environment).args(pip).arg(MATURIN))?;
    let mut maturin = python(&environment);
    maturin.args(["-m", "maturin", "sdist", "--out"]).arg(folder.join("as-packed"));
    execute(maturin.current_dir(root().join("python")))?;
    let archive = only_entry(&folder.join("as-packed"))?;
    execute(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder))?;
    let name = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let unpacked = name.strip_suffix(".tar.gz").context("maturin packs .tar.gz")?.to_owned();
    let here = folder.join(&unpacked);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !here.join(licence).is_file() {
            bail!("{licence} is not in the source distribution");
        }
    }
    // maturin leaves it behind: without it, noise is drawn at half the speed.
    fs::create_dir_all(here.join(".cargo"))?;
    fs::copy(root().join(".cargo/config.toml"), here.join(".cargo/config.toml"))?;
    metadata(&here, &["--offline"])?;
    metadata(&here, &["--offline", "--locked"]).context("the lock file is not the distribution's own")?;
    let packed = folder.join(name);
    execute(Command::new("tar").arg("-czf").arg(&packed).arg("-C").arg(&folder).arg(&unpacked))?;
    Ok(packed)
}

/// Reads the packages of a folder; without `--locked` cargo drops from the lock file what is not there.
fn metadata(folder: &Path, options: &[&str]) -> Result<()> {
    let mut command = cargo();
    command.args(["metadata", "--quiet", "--format-version", "1"]).args(options);
    execute(command.current_dir(folder).stdout(Stdio::null()))
}

/// Installs the packed distribution into an environment of its own, outside the workspace, and runs the README's example.
fn try_out(packed: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let environment = folder.path().join("environment");
    execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    execute(python(&environment).args(pip).arg(packed).current_dir(folder.path()))?;
    let readme = fs::read_to_string(root().join("README.md"))?;
    let example = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let example = example.context("the README has no Python example")?;
    execute(python(&environment).args(["-c", example]).current_dir(folder.path()))
}

fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_owned())
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next().context("nothing was packed")??;
    Ok(entry.path())
}
