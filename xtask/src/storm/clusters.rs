//! Ray and Dask for a storm: started by `bench/clusters.py` in an environment of their own under `target/`, and ended with it.
//!
//! Ray listens on the machine's own address whatever it is told, so the storm runs in a namespace of network and processes that holds
//! nothing else, and takes everything with it when it ends. Where namespaces are not permitted, Ray is left out, and said to be.

use super::engines::{Engine, Workers};
use super::place::Place;
use crate::test::{python, system_python};
use crate::{root, run as execute, say};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What says to an inner storm that clusters can be started, and whether Ray can.
pub(super) const INNER: &str = "--clusters";
/// Faults on clusters in every so manieth round.
const EVERY: u32 = 4;

/// The storm again, with all that clusters need; none if they cannot be had, which is said.
pub(super) fn shelter(folder: &Path, minutes: f64) -> Result<Option<Command>> {
    let environment = root().join("target/engines-env");
    if let Err(why) = install(&environment) {
        say(&format!("    Ray and Dask are skipped: {why:#}"));
        return Ok(None);
    }
    let program = std::env::current_exe()?;
    let mut command = match namespace() {
        // A shell comes first, because whoever is first has to bury those whose parents were killed.
        Some(mut command) => {
            command.args(["sh", "-c", "\"$0\" \"$@\"; exit $?"]).arg(program);
            command
        }
        None => Command::new(program),
    };
    let ray = if namespace().is_some() { "ray" } else { "no-ray" };
    command.args(["storm", "--minutes", &minutes.to_string(), INNER, ray]);
    // Sockets live here, and their paths must be short.
    let home = folder.join("ray");
    std::fs::create_dir_all(&home)?;
    command.env("HOME", &home).env("RAY_TMPDIR", &home);
    command.env("PAIRDP_PYTHON", python(&environment).get_program());
    command.env("RAY_AUTH_MODE", "token").env("RAY_AUTH_TOKEN", token()?);
    command.env("RAY_worker_niceness", "0").env("RAY_USAGE_STATS_ENABLED", "0").env("OMP_NUM_THREADS", "1");
    // Whoever reaches the loopback of this machine may see the cohort, which is simulated.
    command.env("PAIRDP_DASK_PLAIN_TCP", "trusted");
    Ok(Some(command))
}

fn install(environment: &Path) -> Result<()> {
    if !environment.exists() {
        execute(Command::new(system_python()).args(["-m", "venv"]).arg(environment))?;
    }
    let pip = |what: &str| {
        let mut command = python(environment);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]);
        command.current_dir(root()).stdout(Stdio::null());
        command
    };
    say("    pip install ./python ray dask");
    execute(&mut pip("./python"))?;
    for (name, package) in [("Ray", "ray[client]>=2.52"), ("Dask", "distributed>=2024.8")] {
        if execute(pip(package).stderr(Stdio::null())).is_err() {
            say(&format!("    {name} could not be installed"));
        }
    }
    Ok(())
}

/// How to run a command in a namespace of its own, if that is permitted.
fn namespace() -> Option<Command> {
    let command = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        command
    };
    let tried = command().arg("true").stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success()).then(command)
}

/// What strangers do not know.
fn token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut text = String::new();
    bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
    Ok(text)
}

/// Clusters that run until this is dropped.
pub(super) struct Clusters {
    process: Child,
    found: Value,
}

impl Drop for Clusters {
    fn drop(&mut self) {
        // They end with their input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

impl Clusters {
    pub(super) fn start(folder: &Path, ray: bool) -> Result<Self> {
        let folder: PathBuf = folder.join("clusters");
        std::fs::create_dir_all(&folder)?;
        #[expect(clippy::disallowed_methods, reason = "the outer storm says which Python has the engines")]
        let python = std::env::var_os("PAIRDP_PYTHON").context("PAIRDP_PYTHON")?;
        let mut command = Command::new(python);
        command.arg(root().join("bench/clusters.py")).arg(folder).args(ray.then_some("--ray"));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("a stream")?).read_line(&mut line)?;
        let found = serde_json::from_str(&line).context("clusters.py did not say where clusters are")?;
        Ok(Self { process, found })
    }

    /// Those that run; of the others it is said why not.
    pub(super) fn engines(&self, place: &Place) -> Result<Vec<Engine>> {
        let mut engines = Vec::new();
        let dask = Workers::Below(self.process.id(), "spawn_main");
        for (name, workers) in [("ray", Workers::Titled("ray::_Worker")), ("dask", dask)] {
            match self.found[name]["address"].as_str() {
                Some(address) => engines.push(Engine::new(name, address, EVERY, workers, place)?),
                None => say(&format!("    {name} is skipped: {}", self.found[name]["why"])),
            }
        }
        Ok(engines)
    }
}
