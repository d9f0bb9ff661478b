//! Killing `pairdp train --ledger` at any moment: what was started is spent, and the ledger stays sound.

use crate::common::{Workplace, interruptible};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills in a usual run; `PAIRDP_KILLS` asks for another number.
const KILLS: u32 = 200;

/// A run that does not outlive its test.
struct Running(Child);

impl Running {
    /// Whether it ended well; a run that waits for something that never comes is ended.
    fn finished(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_mins(2);
        while Instant::now() < deadline {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the run is stuck");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(workplace: &Workplace, table: &str, epsilon: &str, out: &str) -> Running {
    let child = interruptible()
        .args(["train", table, "--schema", "cohort.schema.toml", "--delta", "1e-6", "--epsilon", epsilon])
        .args(["--ledger", "c.ledger", "--dataset", "stays", "--out", out, "--quiet"])
        .current_dir(workplace.path("").as_path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Running(child)
}

fn workplace(records: usize) -> Workplace {
    let workplace = Workplace::with_cohort(records);
    let create = format!(
        "budget create stays --ledger c.ledger --epsilon 1 --delta 1e-6 --records {records} --schema cohort.schema.toml"
    );
    assert_eq!(workplace.run(&create).code, 0);
    workplace
}

fn balance(workplace: &Workplace) -> Value {
    let check = workplace.run("budget check --ledger c.ledger");
    assert_eq!(check.code, 0, "{}{}", check.out, check.err);
    let show = workplace.run("budget show --ledger c.ledger --json");
    assert_eq!(show.code, 0, "{}", show.err);
    serde_json::from_str::<Value>(&show.out).unwrap()["datasets"][0].clone()
}

#[test]
fn every_run_that_was_killed_is_spent_or_never_began() {
    #[expect(clippy::disallowed_methods, reason = "how many runs a test kills")]
    let kills = std::env::var("PAIRDP_KILLS").ok().map_or(KILLS, |kills| kills.parse().unwrap());
    let workplace = workplace(2000);
    let started = Instant::now();
    assert!(start(&workplace, "cohort.csv", "0.05", "model.json").finished());
    let whole = started.elapsed();

    let mut state = std::process::id();
    let (mut models, mut spent, mut moments) = (1, 0.0, [0_u32; 3]);
    for kill in 0..kills {
        // Any moment of a run, and a little after its end.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wait = whole.mul_f64(1.3 * f64::from(state >> 8) / f64::from(1 << 24));
        let before = balance(&workplace);
        let mut child = start(&workplace, "cohort.csv", "0.05", &format!("model{kill}.json"));
        std::thread::sleep(wait);
        let _ = child.0.kill();
        child.finished();

        let after = balance(&workplace);
        let runs = |balance: &Value| ["open", "committed"].map(|kind| balance[kind].as_u64().unwrap());
        let ([open_before, done_before], [open, done]) = (runs(&before), runs(&after));
        assert!(open + done <= open_before + done_before + 1);
        assert!(open >= open_before && done >= done_before, "a spent run was forgotten");
        moments[usize::from(open > open_before) + 2 * usize::from(done > done_before)] += 1;
        let now = after["spent_epsilon"].as_f64().unwrap();
        assert!(now >= spent && now <= 1.0, "{spent} became {now}");
        spent = now;
        if let Ok(text) = std::fs::read_to_string(workplace.path(&format!("model{kill}.json"))) {
            models += 1;
            assert!(done > done_before, "a model was published that nobody paid for");
            let model: Value = serde_json::from_str(&text).unwrap();
            let history = workplace.run("budget history --ledger c.ledger").out;
            assert!(history.contains(&format!("committed  {}", model["run"].as_str().unwrap())));
        }
    }
    let end = balance(&workplace);
    assert!(end["committed"].as_u64().unwrap() >= models);
    assert_eq!(end["cancelled"], 0);
    println!(
        "{kills} kills: {} before the reservation or refused, {} between reservation and commit, {} after the commit",
        moments[0], moments[1], moments[2]
    );
}

/// The table is a pipe, so the test knows when it is opened and read, and ends the run at that very moment.
#[cfg(unix)]
#[test]
fn the_budget_is_spent_before_the_table_is_opened() {
    // Ctrl-C and kill, when nothing was read and when half the table was.
    for (signal, part) in [("-INT", 0), ("-KILL", 0), ("-INT", 2), ("-KILL", 2)] {
        let workplace = workplace(200);
        assert!(Command::new("mkfifo").arg(workplace.path("pipe.csv")).status().unwrap().success());
        let table = workplace.read("cohort.csv");
        let mut child = start(&workplace, "pipe.csv", "0.5", "model.json");
        // Opening waits for a reader.
        let mut pipe = std::fs::OpenOptions::new().write(true).open(workplace.path("pipe.csv")).unwrap();
        let spent = balance(&workplace);
        assert_eq!(spent["open"], 1, "the table was opened before anything was reserved");
        assert!((spent["spent_epsilon"].as_f64().unwrap() - 0.5).abs() < 1e-6);
        if let Some(bytes) = table.len().checked_div(part) {
            pipe.write_all(&table.as_bytes()[..bytes]).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(Command::new("kill").args([signal, &child.0.id().to_string()]).status().unwrap().success());
        assert!(!child.finished());
        assert_eq!(balance(&workplace), spent, "{signal} after 1/{part} gave something back");
        assert!(!workplace.path("model.json").exists());
    }
}

/// The same pipe, read to its end, becomes a model.
#[cfg(unix)]
#[test]
fn a_run_that_may_finish_commits() {
    let workplace = workplace(200);
    assert!(Command::new("mkfifo").arg(workplace.path("pipe.csv")).status().unwrap().success());
    let mut child = start(&workplace, "pipe.csv", "0.5", "model.json");
    std::fs::write(workplace.path("pipe.csv"), workplace.read("cohort.csv")).unwrap();
    assert!(child.finished());
    assert_eq!(balance(&workplace)["committed"], 1);
}
