//! Runs that are killed and go on.

use super::common::Workplace;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// A generator of moments; which ones does not matter.
struct Moments(u64);

impl Moments {
    fn next(&mut self, most_milliseconds: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros((self.0 >> 33) % (1000 * most_milliseconds))
    }
}

/// The public state after so many releases: their number, the parameters, the terms of each.
fn state(workplace: &Workplace) -> Option<(u64, Value, Vec<Value>)> {
    let text = std::fs::read_to_string(workplace.path("run.checkpoint")).ok()?;
    let checkpoint: Value = serde_json::from_str(&text).expect("a checkpoint is whole or absent");
    // After the last release it is the model.
    let releases = checkpoint["releases"].as_array()?.clone();
    Some((checkpoint["made"].as_u64().unwrap(), checkpoint["iterates"].clone(), releases))
}

/// Kills a run at random moments, then lets it finish; returns the model.
fn train_under_fire(options: &str, kills: usize, most_milliseconds: u64) -> (Value, u64) {
    let workplace = Workplace::with_cohort(400);
    let arguments = format!(
        "train cohort.csv --epsilon 1 --delta 1e-6 {options} --checkpoint run.checkpoint --checkpoint-every 0 --out m.json"
    );
    let mut moments = Moments(7);
    let mut before: Option<(u64, Value, Vec<Value>)> = None;
    for _ in 0..kills {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args(arguments.split_whitespace())
            .current_dir(workplace.path(""))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(moments.next(most_milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        if workplace.path("m.json").exists() {
            break;
        }
        let after = state(&workplace);
        if let (Some(before), Some(after)) = (&before, &after) {
            assert!(after.0 >= before.0, "a release was forgotten");
            if after.0 == before.0 {
                assert_eq!(after, before, "a release was made twice");
            }
            assert_eq!(after.2[..before.2.len()], before.2[..], "an earlier release changed");
        }
        before = after.or(before);
    }
    let resumed_from = before.as_ref().map_or(0, |state| state.0);
    if !workplace.path("m.json").exists() {
        let run = workplace.run(&arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        if resumed_from > 0 {
            let went_on = format!("had made {resumed_from} of its releases");
            assert!(run.out.contains(&went_on) || run.out.contains("made all its releases"), "{}", run.out);
        }
    }
    if workplace.path("run.checkpoint").exists() {
        // Killed with the model in its place: the same command finds both, and has nothing left to do but tidy up.
        let model = workplace.read("m.json");
        let run = workplace.run(&arguments);
        assert!(run.code == 0 && run.out.contains("made all its releases"), "{}{}", run.out, run.err);
        assert_eq!(workplace.read("m.json"), model);
    }
    assert!(!workplace.path("run.checkpoint").exists(), "a finished run leaves no checkpoint");
    assert_eq!(workplace.run("verify m.json").code, 0);
    let model: Value = serde_json::from_str(&workplace.read("m.json")).unwrap();
    if let Some((made, _, releases)) = before {
        let listed = model["certificate"]["released"]["releases"].as_array();
        if let Some(listed) = listed {
            assert_eq!(releases.len() as u64, made);
            assert_eq!(listed[..releases.len()], releases[..], "a release of the checkpoint changed");
        }
    }
    (model, resumed_from)
}

/// The certificate of a killed run is that of a run in one piece: the same terms of privacy, all releases, each once.
#[test]
fn fifty_kills_change_no_release() {
    let (model, resumed_from) = train_under_fire("--steps 1500 --step-size 0.5", 50, 60);
    let released = &model["certificate"]["released"];
    assert_eq!(released["releases"].as_array().unwrap().len(), 1500);
    assert_eq!(released["steps"], 1500);
    assert!(resumed_from > 0, "no run lived long enough to save anything");

    let workplace = Workplace::with_cohort(400);
    let run = workplace
        .run("train cohort.csv --epsilon 1 --delta 1e-6 --steps 1500 --step-size 0.5 --out whole.json");
    assert_eq!(run.code, 0, "{}", run.err);
    let mut whole: Value = serde_json::from_str(&workplace.read("whole.json")).unwrap();
    let mut killed = model;
    for model in [&mut whole, &mut killed] {
        model["certificate"]["released"]["releases"] = Value::Null;
        // Each is of weights of its own, and of the day on which it began.
        model["certificate"]["provenance"]["weights"] = Value::Null;
        model["certificate"]["provenance"]["date"] = Value::Null;
    }
    assert_eq!(whole["certificate"], killed["certificate"]);
}

#[test]
fn other_algorithms_survive_kills() {
    for options in [
        "--algorithm noisy-sgd --steps 1500",
        "--algorithm online-pair",
        "--algorithm phased-gd",
        "--algorithm matching-sgd --steps 5000",
    ] {
        let (model, _) = train_under_fire(options, 8, 40);
        assert!(model["certificate"]["released"].is_object());
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let workplace = Workplace::with_cohort(200);
    workplace.write("run.checkpoint", "{\"format\": \"pairdp-checkpoint/1\"}");
    let budget = "--epsilon 1 --delta 1e-6 --checkpoint run.checkpoint";
    let run = workplace.run(&format!("train cohort.csv {budget}"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("belongs to another run"), "{}", run.err);
    assert!(!workplace.path("model.json").exists());
    let run = workplace.run(&format!("train cohort.csv {budget} --checkpoint-every -1"));
    assert_eq!(run.code, 1, "{}", run.err);
}
