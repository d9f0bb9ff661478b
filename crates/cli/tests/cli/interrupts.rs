//! Ctrl-C at any moment: the run counts as spent, and no file is half written.

#![cfg(unix)]

use crate::common::{Workplace, interruptible};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn an_interrupted_run_is_spent_and_leaves_whole_files_or_none() {
    let workplace = Workplace::with_cohort(400);
    let create = "budget create stays --ledger c.ledger --epsilon 9 --delta 1e-6 --records 400 --schema cohort.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    let before = workplace.files();
    let balance = || {
        let show = workplace.run("budget show --ledger c.ledger --json");
        serde_json::from_str::<Value>(&show.out).unwrap()["datasets"][0].clone()
    };
    let (mut interrupted, mut attempt) = (0, 0);
    // Later and later moments, on a slow machine until one falls between reservation and end.
    while attempt < 12 || (balance()["open"] == 0 && attempt < 60) {
        attempt += 1;
        let arguments = "train cohort.csv --epsilon 0.2 --delta 1e-6 --algorithm noisy-gd --steps 20000 \
                         --ledger c.ledger --dataset stays --checkpoint run.checkpoint --checkpoint-every 0 \
                         --order-seed 1 --out model.json";
        let mut child = interruptible()
            .args(arguments.split_whitespace())
            .current_dir(workplace.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(23 * attempt));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        interrupted += u32::from(sent.success() && !status.success());

        let check = workplace.run("budget check --ledger c.ledger");
        assert_eq!(check.code, 0, "{}{}", check.out, check.err);
        if let Ok(text) = std::fs::read_to_string(workplace.path("run.checkpoint")) {
            serde_json::from_str::<Value>(&text).expect("a checkpoint is whole or absent");
        }
        if workplace.path("model.json").exists() {
            assert_eq!(workplace.run("verify model.json").code, 0, "a model is whole or absent");
        }
    }
    assert!(interrupted >= 6, "only {interrupted} runs were interrupted");
    let balance = balance();
    let (open, done) = (balance["open"].as_u64().unwrap(), balance["committed"].as_u64().unwrap());
    assert!(open >= 1, "no interrupted run was counted as spent");
    assert_eq!(balance["cancelled"], 0);
    assert!(open + done <= attempt);
    // What a temporary file leaves behind is hidden and never under a name that was asked for.
    let names = workplace.files();
    let left = names.iter().filter(|name| !before.contains(name) && !name.starts_with(".pairdp-"));
    // A journal of the ledger is what a killed writer had not finished; the next writer takes it away.
    let known = ["run.checkpoint", "run.checkpoint.lock", "model.json", "c.ledger-journal"];
    assert!(left.clone().all(|name| known.contains(&name.as_str())), "{names:?}");
}
