//! One checkpoint, or copies of it, and several runs: one of them goes on.

use super::{Running, agree, balance, kept, killed_after_commit, runs, train, wait_for, workplace};
use crate::common::Workplace;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Two runs that went on from one checkpoint would make its next releases twice.
#[cfg(unix)]
#[test]
fn issue_22_1_a_checkpoint_has_one_lock_whatever_link_leads_to_it() {
    let workplace = workplace();
    killed_after_commit(&workplace, "--checkpoint run.checkpoint");
    std::os::unix::fs::symlink("run.checkpoint", workplace.path("link")).unwrap();
    let lock = std::fs::File::open(workplace.path("run.checkpoint.lock")).unwrap();
    lock.lock().unwrap();
    let run = workplace.run(&train("absent.csv", "--checkpoint link"));
    assert!(run.code == 1 && run.err.contains("another run uses this checkpoint"), "{}{}", run.out, run.err);
    drop(lock);
    let run = workplace.run(&train("absent.csv", "--checkpoint link"));
    assert_eq!(run.code, 0, "{}", run.err);
    agree(&workplace, "model.json");
}

/// A run of so many steps that is killed when it has saved a state that was not there before.
fn killed_halfway(workplace: &Workplace, options: &str, checkpoint: &str) {
    let before = std::fs::read(workplace.path(checkpoint)).unwrap_or_default();
    let options = format!("{options} --checkpoint {checkpoint}");
    let running = Running::start(workplace, &options).feed(workplace, || ());
    let made =
        |text: &[u8]| serde_json::from_slice::<Value>(text).ok().and_then(|text| text["made"].as_u64());
    wait_for(|| std::fs::read(workplace.path(checkpoint)).is_ok_and(|now| made(&now) > made(&before)));
    running.kill();
}

/// Both copies would make the next releases, under one reservation.
#[test]
fn issue_22_1_of_two_copies_of_a_checkpoint_one_goes_on() {
    const OPTIONS: &str = "--checkpoint-every 0 --algorithm noisy-gd --steps 2000 --mechanism gaussian";
    let workplace = workplace();
    killed_halfway(&workplace, OPTIONS, "run.checkpoint");
    std::fs::copy(workplace.path("run.checkpoint"), workplace.path("copy.checkpoint")).unwrap();
    // What follows the copy's last release is released once.
    killed_halfway(&workplace, OPTIONS, "run.checkpoint");
    let spent = balance(&workplace)["spent_epsilon"].clone();
    let copy = copied(OPTIONS);
    let run = workplace.run(&copy);
    assert!(
        run.code == 1 && run.err.contains("was already continued from another copy"),
        "{}{}",
        run.out,
        run.err
    );
    assert!(run.err.contains("hint: continue from that copy"), "{}", run.err);
    assert!(!workplace.path("other.json").exists());
    assert_eq!((balance(&workplace)["spent_epsilon"].clone(), runs(&workplace)), (spent, [1, 0, 0]));

    let run = workplace.run(&train("cohort.csv", &format!("{OPTIONS} --checkpoint run.checkpoint")));
    assert!(run.code == 0 && run.out.contains("continued an interrupted run"), "{}{}", run.out, run.err);
    agree(&workplace, "model.json");
    let run = workplace.run(&copy);
    assert!(run.code == 1 && run.err.contains("is done and cannot go on"), "{}{}", run.out, run.err);
    assert_eq!(runs(&workplace), [0, 1, 0]);
}

/// The command that goes on from a copy.
fn copied(options: &str) -> String {
    train("cohort.csv", &format!("{options} --checkpoint copy.checkpoint"))
        .replace("--out model.json", "--out other.json")
}

/// A process that lives on beside its copy ends without a word of what it released.
#[cfg(target_os = "linux")]
#[test]
fn issue_22_1_a_run_that_was_overtaken_by_a_copy_writes_nothing_more() {
    const OPTIONS: &str = "--checkpoint-every 0 --algorithm noisy-gd --steps 2000 --mechanism gaussian";
    let workplace = workplace();
    let running = Running::start(&workplace, &format!("{OPTIONS} --checkpoint run.checkpoint"));
    let running = running.feed(&workplace, || ());
    wait_for(|| workplace.path("run.checkpoint").exists());
    let signal = |name: &str| {
        let id = running.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    // It stands still, though not while it holds the ledger.
    wait_for(|| {
        signal("-STOP");
        std::thread::sleep(Duration::from_millis(20));
        let script = "import sqlite3; sqlite3.connect('c.ledger', timeout=0).execute('BEGIN EXCLUSIVE')";
        let look = Command::new("python3").args(["-c", script]).current_dir(workplace.path("")).output();
        let free = look.unwrap().status.success();
        if !free {
            signal("-CONT");
        }
        free
    });
    let halfway = workplace.read("run.checkpoint");
    workplace.write("copy.checkpoint", &halfway);
    let run = workplace.run(&copied(OPTIONS));
    assert!(run.code == 0 && run.out.contains("continued an interrupted run"), "{}{}", run.out, run.err);
    signal("-CONT");
    let first = running.end();
    assert!(
        first.code == 1 && first.err.contains("was already continued from another copy"),
        "{}",
        first.err
    );
    assert!(!workplace.path("model.json").exists() && kept(&workplace).is_empty());
    // It may have been writing when it was stopped.
    let left = std::fs::read_to_string(workplace.path("run.checkpoint"));
    assert!(left.is_err() || left.is_ok_and(|left| left == halfway), "what was released twice can be seen");
    agree(&workplace, "other.json");
    assert_eq!(runs(&workplace), [0, 1, 0]);
}
