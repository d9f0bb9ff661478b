//! Where a storm happens: a cohort, a ledger, and what must hold in between.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

pub(super) const RECORDS: usize = 120;
/// A command that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(90);
/// What every run spends from, by words.
pub(super) const SPENDING: &str = "--ledger c.ledger --dataset stays";
/// Enough for the runs that one place sees.
const GRANT: f64 = 8.0;

pub(super) struct Place {
    pub(super) folder: PathBuf,
    pairdp: PathBuf,
    /// How long a whole run takes.
    pub(super) whole: Duration,
}

/// How a command ended.
pub(super) struct Ended {
    pub(super) out: String,
    pub(super) err: String,
    /// None if it was killed.
    pub(super) code: Option<i32>,
    pub(super) hung: bool,
}

impl Ended {
    /// Why this is no way for a command to end, even in a storm.
    pub(super) fn wrong(&self) -> Option<String> {
        match self.code {
            _ if self.hung => Some("a command hung".to_owned()),
            Some(0..=2) | None => None,
            code => Some(format!("a command ended with {code:?}: {}", self.err.trim())),
        }
    }
}

impl Place {
    pub(super) fn new(folder: PathBuf, pairdp: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(folder.join("tmp")).context("could not make a place for the storm")?;
        let mut place = Self { folder, pairdp, whole: Duration::ZERO };
        place.must(&format!("simulate --records {RECORDS} --out cohort.csv"))?;
        let create = format!("budget create stays --ledger c.ledger --epsilon {GRANT} --delta 1e-6");
        place.must(&format!("{create} --records {RECORDS} --schema cohort.schema.toml"))?;
        std::fs::create_dir(place.path("parts"))?;
        let table = std::fs::read_to_string(place.path("cohort.csv"))?;
        let (header, rows) = table.split_once('\n').context("a cohort has a header")?;
        let rows: Vec<&str> = rows.lines().collect();
        for (k, half) in rows.chunks(RECORDS / 2).enumerate() {
            std::fs::write(
                place.path(&format!("parts/{k}.csv")),
                format!("{header}\n{}\n", half.join("\n")),
            )?;
        }
        let start = Instant::now();
        place.must(&train("cohort.csv", "first.json", ""))?;
        place.whole = start.elapsed();
        Ok(place)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    pub(super) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(&self.pairdp);
        command.args(words.split_whitespace());
        self.dress(&mut command);
        command
    }

    /// The command under a limit on the size of files, in blocks of a shell: writes beyond it fail.
    pub(super) fn starved(&self, words: &str, blocks: u64) -> Command {
        let mut command = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(&self.pairdp).args(words.split_whitespace());
        self.dress(&mut command);
        command
    }

    fn dress(&self, command: &mut Command) {
        command.current_dir(&self.folder).env("TMPDIR", self.path("tmp"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    pub(super) fn run(&self, words: &str) -> Result<Ended> {
        ended(self.command(words).spawn()?)
    }

    /// Runs it and kills it at a moment.
    pub(super) fn killed(&self, words: &str, moment: Duration) -> Result<Ended> {
        let mut child = self.command(words).spawn()?;
        std::thread::sleep(moment);
        let _ = child.kill();
        ended(child)
    }

    fn must(&self, words: &str) -> Result<Ended> {
        let ended = self.run(words)?;
        ensure!(ended.code == Some(0), "{words}: {}", ended.err);
        Ok(ended)
    }

    pub(super) fn json(&self, words: &str) -> Result<Value> {
        let ended = self.must(&format!("{words} --json"))?;
        serde_json::from_str(&ended.out).context("not JSON")
    }

    pub(super) fn balance(&self) -> Result<Value> {
        Ok(self.json("budget show --ledger c.ledger")?["datasets"][0].clone())
    }

    /// Runs that were ever reserved and not cancelled.
    pub(super) fn spent_runs(&self) -> Result<u64> {
        let balance = self.balance()?;
        Ok(balance["open"].as_u64().unwrap_or(0) + balance["committed"].as_u64().unwrap_or(0))
    }

    /// Whether a checkpoint is the last state that the ledger was told of; not if it was killed between the two writes.
    pub(super) fn told_of(&self, checkpoint: &str) -> Result<bool> {
        let digest = Command::new("sha256sum").arg(self.path(checkpoint)).output()?.stdout;
        let history = self.json("budget history --ledger c.ledger")?;
        let lines = history["entries"].as_array().context("entries")?;
        let last = lines.iter().rev().map(|line| &line["entry"]["action"]).find(|a| a["kind"] == "saved");
        let state = last.and_then(|action| action["state"].as_str());
        Ok(state.is_some_and(|state| digest.starts_with(state.as_bytes())))
    }

    /// What is wrong in this place, if anything.
    pub(super) fn unsound(&self) -> Option<String> {
        self.look().err().map(|error| format!("{error:#}"))
    }

    fn look(&self) -> Result<()> {
        let check = self.run("budget check --ledger c.ledger")?;
        ensure!(check.code == Some(0), "the ledger is damaged: {}{}", check.out, check.err);
        for folder in [".", "tmp"] {
            let recover = self.run(&format!("budget recover {folder} --ledger c.ledger --json"))?;
            ensure!(matches!(recover.code, Some(0 | 1)), "recover: {}", recover.err);
            let said: Value = serde_json::from_str(&recover.out)?;
            ensure!(said["left"] == Value::Array(vec![]), "a model is left: {said}");
            ensure!(
                folder == "." || said["missing"] == Value::Array(vec![]),
                "a run is done and its model is lost: {said}"
            );
            self.models_agree(&self.path(folder))?;
        }
        let balance = self.balance()?;
        let spent = balance["spent_epsilon"].as_f64().context("spent")?;
        ensure!(spent <= GRANT, "overspent: {spent}");
        self.numbers_are_kept()
    }

    /// Every model that is there verifies, and its run is done; then it has been looked at, and goes.
    fn models_agree(&self, folder: &Path) -> Result<()> {
        let history = self.json("budget history --ledger c.ledger")?;
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.starts_with("model") {
                continue;
            }
            let model: Value = serde_json::from_slice(&std::fs::read(&path)?).context("a torn model")?;
            let verified = self.run(&format!("verify {}", path.display()))?;
            ensure!(verified.code == Some(0), "{name} does not verify: {}{}", verified.out, verified.err);
            if let Some(run) = model["run"].as_str() {
                let done = |line: &Value| {
                    let action = &line["entry"]["action"];
                    action["kind"] == "committed"
                        && action["run"] == run
                        && action["outcome"]["kind"] == "model"
                };
                let known = history["entries"].as_array().is_some_and(|lines| lines.iter().any(done));
                ensure!(known, "{name} was published and its run {run} is not done");
            }
            std::fs::remove_file(&path)?;
        }
        Ok(())
    }

    /// The last evaluation that is done can be printed again.
    fn numbers_are_kept(&self) -> Result<()> {
        let history = self.json("budget history --ledger c.ledger")?;
        let lines = history["entries"].as_array().context("entries")?;
        let last = lines.iter().rev().map(|line| &line["entry"]["action"]);
        let Some(action) =
            last.filter(|a| a["kind"] == "committed").find(|a| a["outcome"]["kind"] == "numbers")
        else {
            return Ok(());
        };
        let run = action["run"].as_str().context("run")?;
        let again = self.json(&format!("budget result {run} --ledger c.ledger"))?;
        ensure!(again["auc"]["value"] == action["outcome"]["numbers"]["auc"], "{again}");
        Ok(())
    }
}

/// Training in a few words.
pub(super) fn train(table: &str, out: &str, options: &str) -> String {
    format!(
        "train {table} --schema cohort.schema.toml --epsilon 0.02 --delta 1e-7 --algorithm noisy-gd --steps 40 \
         --mechanism gaussian {SPENDING} --out {out} --quiet {options}"
    )
}

/// Waits for a command, but not for ever.
pub(super) fn ended(mut child: Child) -> Result<Ended> {
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + LONGEST;
    let mut hung = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            hung = true;
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    // What it started may hold its streams a little longer, but not for ever either.
    let mut text = |reader: Receiver<String>| {
        reader.recv_timeout(LONGEST).unwrap_or_else(|_| {
            hung = true;
            String::new()
        })
    };
    let (out, err) = (text(out), text(err));
    Ok(Ended { out, err, code: status.code(), hung })
}

/// Reads what a command says while it says it: a pipe that nobody reads would stop it.
fn reader(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (said, hear) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        let _ = said.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    hear
}
