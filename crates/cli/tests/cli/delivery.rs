//! Between the last release of a run and its model in its place: killed anywhere, the model is had for what was paid once.

mod copies;
mod recovered;

use crate::common::{Run, Workplace};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RECORDS: usize = 200;
const SPENDING: &str = "--ledger c.ledger --dataset stays";

fn workplace() -> Workplace {
    let workplace = Workplace::with_cohort(RECORDS);
    let create = "budget create stays --ledger c.ledger --epsilon 2 --delta 1e-6 --schema cohort.schema.toml";
    let run = workplace.run(&format!("{create} --records {RECORDS}"));
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

fn balance(workplace: &Workplace) -> Value {
    assert_eq!(workplace.run("budget check --ledger c.ledger").code, 0);
    let show = workplace.run("budget show --ledger c.ledger --json");
    serde_json::from_str::<Value>(&show.out).unwrap()["datasets"][0].clone()
}

/// Open runs, done ones, and done ones whose model was not seen.
fn runs(workplace: &Workplace) -> [usize; 3] {
    let balance = balance(workplace);
    let count = |kind: &str| usize::try_from(balance[kind].as_u64().unwrap()).unwrap();
    [count("open"), count("committed"), balance["unplaced"].as_array().unwrap().len()]
}

fn kept(workplace: &Workplace) -> Vec<String> {
    workplace.files().into_iter().filter(|name| name.starts_with(".pairdp-model-")).collect()
}

/// Certificate, ledger and model agree: the model verifies, its run is done in the ledger, and the ledger's digest is its file's.
fn agree(workplace: &Workplace, model: &str) {
    assert_eq!(workplace.run(&format!("verify {model}")).code, 0);
    let text = workplace.read(model);
    let run = serde_json::from_str::<Value>(&text).unwrap()["run"].as_str().unwrap().to_owned();
    let history: Value =
        serde_json::from_str(&workplace.run("budget history --ledger c.ledger --json").out).unwrap();
    let actions = history["entries"].as_array().unwrap().iter().map(|line| &line["entry"]["action"]);
    let of_run = actions.filter(|action| action["run"] == run.as_str() && action["kind"] != "saved");
    let of_run: Vec<&Value> = of_run.collect();
    let kinds: Vec<&str> = of_run.iter().map(|action| action["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reserved", "committed", "placed"], "{run}");
    assert_eq!(of_run[0]["cost"]["event"], of_run[1]["released"], "more or less was released than reserved");
    let certificate: Value = serde_json::from_str::<Value>(&text).unwrap()["certificate"].clone();
    assert_eq!(of_run[0]["cost"]["claim"]["epsilon"], certificate["claim"]["epsilon"]);
    let digest = Command::new("sha256sum").arg(workplace.path(model)).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap();
    assert_eq!(of_run[1]["outcome"]["digest"], digest.split_whitespace().next().unwrap());
}

/// A run that does not outlive its test. The table is a pipe, so that the test decides when it is read.
struct Running(Option<Child>);

impl Running {
    fn start(workplace: &Workplace, options: &str) -> Self {
        if !workplace.path("pipe.csv").exists() {
            assert!(Command::new("mkfifo").arg(workplace.path("pipe.csv")).status().unwrap().success());
        }
        let child = Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args(train("pipe.csv", options).split_whitespace())
            .current_dir(workplace.path(""))
            .env("TMPDIR", workplace.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(Some(child))
    }

    /// Lets it read the table, after something was done while it waited.
    fn feed(self, workplace: &Workplace, meanwhile: impl FnOnce()) -> Self {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(workplace.path("pipe.csv")).unwrap();
        meanwhile();
        pipe.write_all(workplace.read("cohort.csv").as_bytes()).unwrap();
        self
    }

    fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn end(mut self) -> Run {
        Run::from(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn train(table: &str, options: &str) -> String {
    format!(
        "train {table} --schema cohort.schema.toml --epsilon 0.5 --delta 1e-6 {SPENDING} --out model.json {options}"
    )
}

/// Nobody can write to the ledger as long as this lives.
struct Held(Child);

impl Held {
    fn ledger(workplace: &Workplace) -> Self {
        let script = "import sqlite3, sys, time
ledger = sqlite3.connect('c.ledger', isolation_level=None)
ledger.execute('BEGIN IMMEDIATE')
print('held', flush=True)
sys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .current_dir(workplace.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        Self(child)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(what: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !what() {
        assert!(Instant::now() < deadline, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run that is killed when its model is whole and its reservation still open.
fn killed_before_commit(workplace: &Workplace, options: &str) {
    let mut held = None;
    let running = Running::start(workplace, options);
    let running = running.feed(workplace, || held = Some(Held::ledger(workplace)));
    wait_for(|| !kept(workplace).is_empty());
    running.kill();
    drop(held);
    assert_eq!(runs(workplace), [1, 0, 0]);
    assert!(!workplace.path("model.json").exists());
}

/// One that is killed when it is committed and its model not yet in its place: a folder that is in the way, for a while, is as good.
fn killed_after_commit(workplace: &Workplace, options: &str) {
    let folder: PathBuf = workplace.path("model.json");
    let running = Running::start(workplace, options);
    let run = running.feed(workplace, || std::fs::create_dir_all(folder.join("full")).unwrap()).end();
    assert!(run.code == 2 && run.err.contains("kept as"), "{}", run.err);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(runs(workplace), [0, 1, 1]);
    assert_eq!(kept(workplace).len(), 1);
}

#[test]
fn issue_22_1_a_model_is_whole_before_its_run_is_done() {
    let workplace = workplace();
    let run = workplace.run(&train("cohort.csv", ""));
    assert_eq!(run.code, 0, "{}", run.err);
    agree(&workplace, "model.json");
    assert_eq!((runs(&workplace), kept(&workplace)), ([0, 1, 0], vec![]));
}

#[test]
fn issue_22_1_recover_puts_the_model_in_place_and_pays_nothing() {
    for killed in [killed_before_commit, killed_after_commit] {
        let workplace = workplace();
        killed(&workplace, "");
        let spent = balance(&workplace)["spent_epsilon"].clone();
        let model = workplace.read(&kept(&workplace)[0]);
        // Whoever just tries again is told, and nothing is spent.
        let run = workplace.run(&train("cohort.csv", ""));
        assert_eq!(run.code, 1, "{}", run.out);
        assert!(run.err.contains("is waiting to be put here"), "{}", run.err);
        assert!(run.err.contains("pairdp budget recover --ledger c.ledger"), "{}", run.err);

        let run = workplace.run("budget recover --ledger c.ledger");
        assert!(run.code == 0 && run.out.contains("its model is now ./model.json"), "{}{}", run.out, run.err);
        assert_eq!(workplace.read("model.json"), model);
        agree(&workplace, "model.json");
        assert_eq!((runs(&workplace), kept(&workplace)), ([0, 1, 0], vec![]));
        assert_eq!(balance(&workplace)["spent_epsilon"], spent);
        let again = workplace.run("budget recover --ledger c.ledger --json");
        assert_eq!((again.code, again.out.as_str()), (0, "{\"placed\":[],\"left\":[],\"missing\":[]}\n"));
    }
}

/// Every algorithm, those that save nothing before their end included.
#[test]
fn issue_22_1_the_same_checkpoint_puts_the_same_model_in_place_and_pays_nothing() {
    for algorithm in ["moments", "noisy-gd --steps 20", "phased-gd", "noisy-sgd --steps 20"] {
        for killed in [killed_before_commit, killed_after_commit] {
            let workplace = workplace();
            let options =
                format!("--algorithm {algorithm} --checkpoint run.checkpoint --checkpoint-every 1000");
            killed(&workplace, &options);
            let model = workplace.read(&kept(&workplace)[0]);
            let spent = balance(&workplace)["spent_epsilon"].clone();
            // Another run is not this one.
            let other = options.replace("--checkpoint-every", "--radius 1.5 --checkpoint-every");
            let run = workplace.run(&train("cohort.csv", &other));
            assert!(run.code == 1 && run.err.contains("belongs to another run"), "{}{}", run.out, run.err);
            // The table is not even there: nothing is read.
            let run = workplace.run(&train("absent.csv", &options));
            assert!(run.code == 0 && run.out.contains("had made all its releases"), "{}{}", run.out, run.err);
            assert_eq!(workplace.read("model.json"), model, "noise was drawn twice");
            agree(&workplace, "model.json");
            assert_eq!((runs(&workplace), kept(&workplace)), ([0, 1, 0], vec![]));
            assert_eq!(balance(&workplace)["spent_epsilon"], spent);
            assert!(!workplace.path("run.checkpoint").exists());
        }
    }
}

/// Killed after the model is in its place: with the checkpoint still there, and before the ledger was told.
#[test]
fn issue_22_1_a_model_that_is_in_its_place_stays_there() {
    let workplace = workplace();
    let options = "--checkpoint run.checkpoint --algorithm moments";
    killed_after_commit(&workplace, options);
    std::fs::rename(workplace.path(&kept(&workplace)[0]), workplace.path("model.json")).unwrap();
    let model = workplace.read("model.json");
    let run = workplace.run(&train("absent.csv", options));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(workplace.read("model.json"), model);
    agree(&workplace, "model.json");
    assert_eq!(runs(&workplace), [0, 1, 0]);
}

/// Two runs that began when there was no model both have one at their end.
#[test]
fn issue_22_1_a_model_that_another_run_put_there_meanwhile_stays() {
    let workplace = workplace();
    let running = Running::start(&workplace, "");
    let run = running.feed(&workplace, || assert_eq!(workplace.run(&train("cohort.csv", "")).code, 0)).end();
    assert!(run.code == 2 && run.err.contains("kept as"), "{}{}", run.out, run.err);
    agree(&workplace, "model.json");
    assert_eq!((runs(&workplace), kept(&workplace).len()), ([0, 2, 1], 1));
    let run = workplace.run("budget recover --ledger c.ledger");
    assert!(run.code == 1 && run.out.contains("there is a model already"), "{}{}", run.out, run.err);
    std::fs::rename(workplace.path("model.json"), workplace.path("first.json")).unwrap();
    let run = workplace.run("budget recover --ledger c.ledger");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    agree(&workplace, "first.json");
    agree(&workplace, "model.json");
}

/// A disk that is full when the model is written: it is kept elsewhere, and the ledger knows what to look for.
#[cfg(target_os = "linux")]
#[test]
fn issue_22_1_a_pipe_that_nobody_reads_to_its_end_loses_no_model() {
    let workplace = workplace();
    std::fs::create_dir(workplace.path("tmp")).unwrap();
    let run = workplace.run_with(
        &train("cohort.csv", "").replace("model.json", "/dev/full"),
        &[("TMPDIR", workplace.path("tmp").to_str().unwrap())],
    );
    assert!(run.code == 2 && run.err.contains("the disk is full; the model is paid for and was kept as"));
    assert_eq!(runs(&workplace), [0, 1, 1]);
    let said = workplace.run("budget recover tmp --ledger c.ledger");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    agree(&workplace, "tmp/full");
}

/// A pipe's reader and a run that looked into the pipe first would wait for each other.
#[cfg(target_os = "linux")]
#[test]
fn issue_22_2_a_run_that_goes_on_from_its_end_writes_to_a_pipe() {
    let workplace = workplace();
    let options = "--checkpoint run.checkpoint";
    killed_after_commit(&workplace, options);
    let model = workplace.read(&kept(&workplace)[0]);
    let script = format!(
        "mkfifo out.pipe; cat out.pipe > got.json & timeout 60 \"$0\" {}; code=$?; test $code = 0 || kill $!; wait; exit $code",
        train("absent.csv", options).replace("model.json", "out.pipe")
    );
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_pairdp")])
        .current_dir(workplace.path(""))
        .env("TMPDIR", workplace.path(""))
        .output()
        .unwrap();
    let run = Run::from(output);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert_eq!(workplace.read("got.json"), model);
    assert_eq!(runs(&workplace), [0, 1, 0]);
}

/// A disk on which no file grows beyond so many blocks of half a kilobyte.
fn on_a_small_disk(workplace: &Workplace, words: &str, blocks: u32) -> Run {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_pairdp")])
        .args(words.split_whitespace())
        .current_dir(workplace.path(""))
        .output()
        .unwrap();
    Run::from(output)
}

/// Whatever goes wrong, and after what is done about it: the model verifies, its certificate claims what was reserved, the ledger
/// knows its digest, and it was paid for once.
#[cfg(target_os = "linux")]
#[test]
fn issue_22_certificate_ledger_and_model_agree_after_every_fault() {
    const LONG: &str = "--algorithm noisy-gd --steps 2000 --mechanism gaussian --quiet";
    type Fault = fn(&Workplace) -> &'static str;
    let faults: [(&str, Fault); 7] = [
        ("none", |workplace| {
            assert_eq!(workplace.run(&train("cohort.csv", "")).code, 0);
            "model.json"
        }),
        ("killed before the commit", |workplace| {
            killed_before_commit(workplace, "");
            "model.json"
        }),
        ("killed after the commit", |workplace| {
            killed_after_commit(workplace, "");
            "model.json"
        }),
        ("killed on the way, three times", |workplace| {
            // Every checkpoint waits for the disk.
            let options = LONG.replace("2000", "300") + " --checkpoint run.checkpoint --checkpoint-every 0";
            for _ in 0..3 {
                let before = std::fs::read(workplace.path("run.checkpoint")).unwrap_or_default();
                let running = Running::start(workplace, &options).feed(workplace, || ());
                wait_for(|| std::fs::read(workplace.path("run.checkpoint")).unwrap_or_default() != before);
                running.kill();
            }
            assert_eq!(workplace.run(&train("cohort.csv", &options)).code, 0);
            "model.json"
        }),
        ("a worker killed while it loads, and started again", |workplace| {
            let script = format!(
                "#!/bin/sh\n[ -e killed ] || {{ touch killed; kill -9 $$; }}\nexec {} worker\n",
                env!("CARGO_BIN_EXE_pairdp")
            );
            workplace.write("python", &script);
            assert!(
                Command::new("chmod").arg("+x").arg(workplace.path("python")).status().unwrap().success()
            );
            let words = train("cohort.csv", "--engine dask://127.0.0.1:1 --algorithm noisy-gd");
            let python = workplace.path("python");
            let run = workplace.run_with(&words, &[("PAIRDP_PYTHON", python.to_str().unwrap())]);
            assert_eq!(run.code, 0, "{}", run.err);
            assert!(workplace.path("killed").exists());
            "model.json"
        }),
        ("a full disk", |workplace| {
            let run = on_a_small_disk(workplace, &train("cohort.csv", LONG), 200);
            assert!(run.code == 2 && run.err.contains("went to standard output"), "{}", run.err);
            workplace.write("printed.json", &run.out);
            "printed.json"
        }),
        ("a full device", |workplace| {
            let words = train("cohort.csv", "").replace("model.json", "/dev/full");
            let here = workplace.path("");
            let run = workplace.run_with(&words, &[("TMPDIR", here.to_str().unwrap())]);
            assert_eq!(run.code, 2, "{}", run.err);
            "full"
        }),
    ];
    for (name, fault) in faults {
        let workplace = workplace();
        let model = fault(&workplace);
        let recover = workplace.run("budget recover --ledger c.ledger");
        assert_eq!(recover.code, 0, "{name}: {}{}", recover.out, recover.err);
        agree(&workplace, model);
        assert_eq!((runs(&workplace), kept(&workplace)), ([0, 1, 0], vec![]), "{name}");
    }
}
