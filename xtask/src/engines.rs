//! What distributed engines add to the sums that they compute: `cargo xtask bench engines [--json] [--rows N]`, and what a worker
//! needs of the memory that a whole table takes: `cargo xtask bench engines --data FOLDER`.
//!
//! The scripts `bench/engines.py` and `bench/memory.py` run in an environment with Ray and Dask, under `target/`.

use crate::test::{python, system_python};
use crate::{root, run as execute, say};
use anyhow::Result;
use std::process::Command;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let environment = root().join("target/engines-env");
    if !environment.exists() {
        execute(Command::new(system_python()).args(["-m", "venv"]).arg(&environment))?;
    }
    say("engines: pip install ./python[ray,dask] pyarrow");
    let pip =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "./python[ray,dask]", "pyarrow"];
    execute(python(&environment).args(pip).current_dir(root()))?;
    match arguments {
        [flag, folder] if flag == "--data" => {
            execute(python(&environment).arg(root().join("bench/memory.py")).arg(folder))
        }
        _ => execute(python(&environment).arg(root().join("bench/engines.py")).args(arguments)),
    }
}
