//! `pairdp budget` and `pairdp train --ledger`.

use crate::common::{Run, Workplace};
use serde_json::Value;

const GRANT: &str = "--ledger c.ledger --epsilon 1 --delta 1e-6";

/// A small cohort and a ledger that knows it as `stays`.
fn workplace(records: usize) -> Workplace {
    let workplace = Workplace::with_cohort(records);
    let run = workplace
        .run(&format!("budget create stays {GRANT} --records {records} --schema cohort.schema.toml"));
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

fn train(workplace: &Workplace, options: &str) -> Run {
    workplace
        .run(&format!("train cohort.csv --delta 1e-6 --ledger c.ledger --dataset stays --force {options}"))
}

fn balance(workplace: &Workplace) -> Value {
    let show = workplace.run("budget show stays --ledger c.ledger --json");
    assert_eq!(show.code, 0, "{}", show.err);
    let answer: Value = serde_json::from_str(&show.out).unwrap();
    answer["datasets"][0].clone()
}

#[test]
fn runs_are_counted_until_nothing_fits_and_what_is_offered_fits() {
    let workplace = workplace(200);
    let first = train(&workplace, "--epsilon 0.6");
    assert_eq!(first.code, 0, "{}", first.err);
    let refused = train(&workplace, "--epsilon 0.9 --out second.json");
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(
        refused.err.starts_with("error: the run needs (ε = 0.9, δ = 1e-6) but `stays`"),
        "{}",
        refused.err
    );
    assert!(!workplace.path("second.json").exists());
    let offered = refused.err.split("--epsilon ").nth(1).unwrap().split('`').next().unwrap();
    let second = train(&workplace, &format!("--epsilon {offered}"));
    assert_eq!(second.code, 0, "{}", second.err);
    let balance = balance(&workplace);
    assert_eq!(balance["committed"], 2);
    let spent = balance["spent_epsilon"].as_f64().unwrap();
    assert!(spent > 0.97 && spent <= 1.0, "{spent}");
    assert_eq!(train(&workplace, "--epsilon 0.2").code, 1);
}

#[test]
fn a_model_names_its_run_and_the_history_knows_it() {
    let workplace = workplace(200);
    for algorithm in
        ["noisy-gd --mechanism gaussian", "output-gd --radius 3 --mechanism gaussian", "noisy-sgd"]
    {
        let run = train(&workplace, &format!("--epsilon 0.3 --algorithm {algorithm} --json"));
        assert_eq!(run.code, 0, "{algorithm}: {}", run.err);
        let model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
        let name = model["run"].as_str().unwrap();
        assert_eq!(name.len(), 32);
        assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap()["run"], name);
        let history = workplace.run("budget history stays --ledger c.ledger").out;
        let lines: Vec<&str> = history.lines().filter(|line| line.contains(name)).collect();
        assert_eq!(lines.len(), 3, "{history}");
        assert!(lines[0].contains("reserved") && lines[0].contains(algorithm.split(' ').next().unwrap()));
        assert!(lines[1].contains("committed") && lines[2].contains("placed"));
        if algorithm == "noisy-gd" {
            assert_eq!(
                workplace.run("verify model.json").code,
                0,
                "a run's name is no part of the guarantee"
            );
        }
    }
    // Without a ledger there is no run to name.
    workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --force");
    assert!(!workplace.read("model.json").contains("\"run\""));
}

#[test]
fn a_run_may_take_exactly_what_was_granted() {
    for algorithm in ["noisy-gd", "noisy-gd --steps 7", "output-gd --radius 3", "noisy-sgd"] {
        let workplace = workplace(300);
        let run = train(&workplace, &format!("--epsilon 1 --algorithm {algorithm}"));
        assert_eq!(run.code, 0, "{algorithm}: {}", run.err);
        assert!((balance(&workplace)["spent_epsilon"].as_f64().unwrap() - 1.0).abs() < 1e-6);
        assert!(balance(&workplace)["left_epsilon"].is_null());
    }
}

/// A table of the wrong form or size costs nothing, because nothing was released but what training tells anyway.
#[test]
fn refused_tables_are_not_charged_and_leave_a_trace() {
    let workplace = workplace(200);
    workplace.run("simulate --records 201 --out longer.csv");
    workplace.write("broken.csv", &workplace.read("cohort.csv").replacen('\n', "\n1,2\n", 1));
    for (table, word) in
        [("longer.csv", "has 201 records"), ("broken.csv", "line 2"), ("absent.csv", "no such file")]
    {
        let run = workplace.run(&format!(
            "train {table} --schema cohort.schema.toml --epsilon 0.5 --delta 1e-6 --ledger c.ledger --dataset stays"
        ));
        assert_eq!(run.code, 1, "{table}: {}", run.out);
        assert!(run.err.contains(word), "{table}: {}", run.err);
    }
    let balance = balance(&workplace);
    assert_eq!((balance["cancelled"].as_u64(), balance["spent_epsilon"].as_f64()), (Some(3), Some(0.0)));
    assert!(workplace.run("budget history --ledger c.ledger").out.contains("table refused"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let workplace = workplace(200);
    let before = workplace.files();
    for (arguments, word) in [
        ("budget show --ledger absent.ledger", "there is no ledger"),
        ("budget show nobody --ledger c.ledger", "no data set `nobody`"),
        ("budget history nobody --ledger c.ledger", "no data set `nobody`"),
        ("budget grant nobody --ledger c.ledger --epsilon 1 --delta 0", "no data set `nobody`"),
        ("budget grant stays --ledger c.ledger --epsilon NaN --delta 0", "ε must be"),
        ("budget create stays --ledger c.ledger --epsilon 1 --delta 1e-6 --records 9", "already"),
        ("budget create other --ledger c.ledger --epsilon 1 --delta 1e-6", "was not given"),
        ("budget create other --ledger c.ledger --epsilon 1 --delta 1e-6 --records 1", "at least 2"),
        ("budget create other --ledger new.ledger --epsilon 1 --delta 2 --records 9", "δ must be"),
        ("budget show --ledger cohort.csv", "no key"),
        ("budget check --ledger c.ledger --since nonsense", "COUNT:HASH"),
        ("train cohort.csv --epsilon 1 --delta 1e-6 --ledger c.ledger", "--dataset"),
        ("train cohort.csv --epsilon 1 --delta 1e-6 --dataset stays", "--ledger"),
        ("train cohort.csv --epsilon 1 --delta 1e-6 --ledger c.ledger --dataset nobody", "no data set"),
        (
            "train cohort.csv --epsilon 1 --delta 1e-6 --ledger c.ledger --dataset stays --steps 0",
            "at least 1",
        ),
    ] {
        let run = workplace.run(arguments);
        assert_eq!(run.code, 1, "{arguments}: {}", run.out);
        assert!(run.err.contains(word) && run.err.contains("error: "), "{arguments}: {}", run.err);
    }
    assert_eq!(workplace.files(), before);
    assert_eq!(
        workplace.run("budget check --ledger c.ledger --json").out.matches("\"entries\":1").count(),
        1
    );
    // A data set whose size is secret cannot be trained on.
    workplace
        .run("budget create secret --ledger c.ledger --epsilon 1 --delta 1e-6 --adjacency add-remove-one --schema cohort.schema.toml");
    let run = workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --ledger c.ledger --dataset secret");
    assert!(run.code == 1 && run.err.contains("how many records"), "{}", run.err);
}

/// Whoever may choose a promise would read the number of records off refusals. With a ledger it is the data set's.
#[test]
fn another_promise_is_refused_before_the_table_is_opened() {
    let workplace = workplace(200);
    let create = "budget create few --ledger c.ledger --epsilon 1 --delta 1e-6 --adjacency add-remove-promised \
                  --schema cohort.schema.toml";
    let refused = workplace.run(create);
    assert!(refused.code == 1 && refused.err.contains("were not given"), "{}", refused.err);
    assert_eq!(workplace.run(&format!("{create} --records 150")).code, 0);
    let train = |table: &str, cap: &str| {
        workplace.run(&format!(
            "train {table} --schema cohort.schema.toml --epsilon 0.2 --delta 1e-8 --max-records {cap} --ledger c.ledger \
             --dataset few --out other.json"
        ))
    };
    // The table is not there: had it been opened, the message would say so.
    let other = train("absent.csv", "199 --promised");
    assert!(other.code == 1 && other.err.contains("at most 150 records are promised"), "{}", other.err);
    let broken = workplace.run(
        "train cohort.csv --epsilon 0.2 --delta 1e-8 --max-records 150 --promised --ledger c.ledger --dataset few --out m.json",
    );
    assert!(broken.code == 1 && broken.err.contains("this refusal tells that"), "{}", broken.err);
    assert!(!workplace.files().iter().any(|file| file.contains("m.json")));
    let history = workplace.run("budget history few --ledger c.ledger").out;
    assert!(history.contains("cancelled") && !history.contains("committed"), "{history}");
    // Without a ledger nobody else can promise: a kept one is certified by name.
    let kept = workplace.run(
        "train cohort.csv --epsilon 1 --delta 1e-6 --max-records 300 --promised --out kept.json --force",
    );
    assert_eq!(kept.code, 0, "{}", kept.err);
    let verified = workplace.run("verify kept.json");
    assert!(verified.code == 0 && verified.out.contains("no more than the promised 300"), "{}", verified.out);
    assert_eq!(workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --promised").code, 1);
}

/// Whoever may write a schema may ask which line does not fit it. With a ledger the schema is the data set's.
#[test]
fn issue_18_04_a_run_with_another_schema_is_refused_before_the_table_is_opened() {
    let workplace = workplace(200);
    let own = workplace.read("cohort.schema.toml");
    workplace.write("curious.schema.toml", &own.replacen("positive = \"yes\"", "positive = \"no one\"", 1));
    assert_ne!(own, workplace.read("curious.schema.toml"));
    // The table is not there: had it been opened, the message would say so.
    let ask = |table: &str, schema: &str| {
        workplace.run(&format!(
            "train {table} --schema {schema} --epsilon 0.1 --delta 1e-6 --ledger c.ledger --dataset stays --out m.json"
        ))
    };
    let refused = ask("absent.csv", "curious.schema.toml");
    assert!(refused.code == 1 && refused.err.contains("another schema"), "{}", refused.err);
    assert!(ask("absent.csv", "cohort.schema.toml").err.contains("absent.csv"));
    let history = workplace.run("budget history stays --ledger c.ledger").out;
    assert!(history.contains("cancelled") && !history.contains("committed"), "{history}");
    // Its owner may change it, and the history keeps that.
    let change = "budget schema stays --ledger c.ledger --schema curious.schema.toml";
    assert_eq!(workplace.run(change).code, 0);
    assert!(ask("cohort.csv", "cohort.schema.toml").err.contains("another schema"));
    assert!(workplace.run("budget history stays --ledger c.ledger").out.contains("schema "));
    // What does not decide about refusals is free.
    assert_eq!(workplace.run("budget schema stays --ledger c.ledger --schema cohort.schema.toml").code, 0);
    let run = train(&workplace, "--epsilon 0.1 --algorithm noisy-gd --steps 2 --out m.json");
    assert_eq!(run.code, 0, "{}", run.err);
    // An evaluation reads by the model's schema, which is the same.
    let evaluate = "evaluate m.json cohort.csv --private --epsilon 0.1 --ledger c.ledger --dataset stays";
    let run = workplace.run(evaluate);
    assert_eq!(run.code, 0, "{}", run.err);
    let create = "budget create early --ledger c.ledger --epsilon 1 --delta 1e-6 --records 200";
    assert!(workplace.run(create).out.contains("no run can start before its owner says"));
    let run = workplace
        .run("train cohort.csv --epsilon 0.1 --delta 1e-6 --ledger c.ledger --dataset early --out e.json");
    assert!(run.code == 1 && run.err.contains("does not say by which schema"), "{}", run.err);
}

#[test]
fn issue_18_03_a_guarantee_for_features_is_not_booked_for_whole_records() {
    let workplace = workplace(200);
    let run = train(
        &workplace,
        "--epsilon 0.1 --task metric --public-labels --algorithm noisy-gd --steps 2 --out m.json",
    );
    assert!(run.code == 1 && run.err.contains("replace-features"), "{}", run.err);
    let create = format!(
        "budget create features {GRANT} --records 200 --schema cohort.schema.toml --adjacency replace-features"
    );
    assert_eq!(workplace.run(&create).code, 0);
    let run = workplace.run(
        "train cohort.csv --delta 1e-6 --ledger c.ledger --dataset features --epsilon 0.1 --task metric --public-labels \
         --algorithm noisy-gd --steps 2 --out m.json",
    );
    assert!(
        run.code == 0 && run.out.contains("the features of any one of 200 records"),
        "{}{}",
        run.out,
        run.err
    );
    let verified = workplace.run("verify m.json").out;
    assert!(verified.contains("labels count as public"), "{verified}");
    assert_eq!(workplace.run("report m.json --out r.html").code, 0);
    assert!(workplace.read("r.html").contains("the features of your record"));
}

#[test]
fn check_says_no_by_name_and_training_stops() {
    let workplace = workplace(200);
    train(&workplace, "--epsilon 0.3");
    let yes = workplace.run("budget check --ledger c.ledger");
    assert!(yes.code == 0 && yes.out.starts_with("yes: 4 entries"), "{}", yes.out);
    let head = yes.out.split("head ").nth(1).unwrap().trim().to_owned();
    let old = std::fs::read(workplace.path("c.ledger")).unwrap();
    train(&workplace, "--epsilon 0.3");
    assert_eq!(workplace.run(&format!("budget check --ledger c.ledger --since {head}")).code, 0);
    let newer = workplace.run("budget check --ledger c.ledger").out.split("head ").nth(1).unwrap().to_owned();

    let rolled_back = || std::fs::write(workplace.path("c.ledger"), &old).unwrap();
    rolled_back();
    let no = workplace.run(&format!("budget check --ledger c.ledger --since {newer}"));
    assert!(no.code == 1 && no.out.contains("no: the history does not continue"), "{}", no.out);

    // The claim of the first run, made ten times smaller with an editor.
    let text = "\"claim\":{\"epsilon\":0.3";
    let at = old.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let mut edited = old.clone();
    edited[at + text.len() - 1] = b'1';
    std::fs::write(workplace.path("c.ledger"), &edited).unwrap();
    let no = workplace.run("budget check --ledger c.ledger");
    assert!(no.code == 1 && no.out.contains("no: entry 2 is not what was written"), "{}", no.out);
    let stopped = train(&workplace, "--epsilon 0.1 --out late.json");
    assert!(stopped.code == 1 && stopped.err.contains("entry 2"), "{}", stopped.err);
    assert!(!workplace.path("late.json").exists());
}

/// The format that `docs/ledger.md` describes, recomputed by someone else's HMAC.
#[test]
fn an_export_can_be_recomputed_without_pairdp() {
    let workplace = workplace(200);
    train(&workplace, "--epsilon 0.3");
    assert_eq!(workplace.run("budget export --ledger c.ledger --out e.json").code, 0);
    let script = "\
import hmac, json, sys
key = bytes.fromhex(open('c.ledger.key').read().strip())
export = json.load(open('e.json'))
mac = lambda *parts: hmac.digest(key, b''.join(parts), 'sha256')
last = mac(b'pairdp-ledger/start/1\\n', bytes.fromhex(export['id']))
for k, entry in enumerate(export['entries'], 1):
    last = mac(b'pairdp-ledger/entry/1\\n', last, k.to_bytes(8, 'big'), entry['body'].encode())
    assert last.hex() == entry['hash'], k
print(f\"{len(export['entries'])}:{last.hex()}\")
";
    let python = std::process::Command::new("python3")
        .args(["-c", script])
        .current_dir(workplace.path("c.ledger").parent().unwrap())
        .output()
        .unwrap();
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let head = String::from_utf8(python.stdout).unwrap();
    let check = workplace.run("budget check --ledger c.ledger");
    assert!(check.out.contains(&format!("head {}", head.trim())), "{} {head}", check.out);
}

#[test]
fn a_key_can_come_from_a_command() {
    let workplace = Workplace::with_cohort(200);
    workplace.write("secret", &"5e".repeat(32));
    let create = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .args(format!("budget create stays {GRANT} --records 200 --key-command").split_whitespace())
        .arg("cat secret")
        .current_dir(workplace.path("secret").parent().unwrap())
        .output()
        .unwrap();
    assert!(create.status.success(), "{}", String::from_utf8_lossy(&create.stderr));
    assert!(!workplace.path("c.ledger.key").exists());
    assert_eq!(workplace.run("budget show --ledger c.ledger").code, 1);
    let failed = workplace.run("budget show --ledger c.ledger --key-command false");
    assert_eq!(failed.code, 2, "{}", failed.err);
}

#[test]
fn issue_22_5_a_ledger_that_many_make_at_once_is_made_once() {
    for round in 0..12 {
        let workplace = Workplace::new();
        let create = |name: &str| {
            let command =
                format!("budget create {name} --ledger c.ledger --epsilon 1 --delta 1e-6 --records 10");
            std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
                .args(command.split_whitespace())
                .current_dir(workplace.path(""))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..8).map(|k| create(&format!("s{k}"))).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{round}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let show: Value =
            serde_json::from_str(&workplace.run("budget show --ledger c.ledger --json").out).unwrap();
        assert_eq!(show["datasets"].as_array().unwrap().len(), 8);
        assert_eq!(workplace.files(), ["c.ledger", "c.ledger.key"]);
    }
}

/// A key that is not one is never to be written over: it may be all that is left of one.
#[test]
fn issue_22_5_nobody_is_told_to_overwrite_a_key() {
    let workplace = Workplace::new();
    workplace.write("c.ledger.key", "");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let owner = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(workplace.path("c.ledger.key"), owner).unwrap();
    }
    let run = workplace.run("budget create s --ledger c.ledger --epsilon 1 --delta 1e-6 --records 10");
    assert_eq!(run.code, 1);
    assert_eq!(
        run.err,
        "error: c.ledger.key: this is not a ledger key, which is 64 hexadecimal digits\n\
         hint: restore the key from a backup: a ledger opens with no other; a file that no ledger belongs to may be removed\n"
    );
}

/// Killed at any moment, making a ledger leaves nothing in the way of making it, and nothing else behind once it is made.
#[test]
fn issue_22_5_a_ledger_whose_making_was_killed_can_be_made() {
    let workplace = Workplace::new();
    let create = "budget create s --ledger c.ledger --epsilon 1 --delta 1e-6 --records 10";
    let start = std::time::Instant::now();
    assert_eq!(workplace.run(create).code, 0);
    let whole = start.elapsed();
    for kill in 0..40 {
        for name in workplace.files() {
            std::fs::remove_file(workplace.path(&name)).unwrap();
        }
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
            .args(create.split_whitespace())
            .current_dir(workplace.path(""))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(kill) / 40.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let again = workplace.run(create);
        assert!(again.code == 0 || again.err.contains("has a data set `s` already"), "{}", again.err);
        assert_eq!(workplace.run("budget check --ledger c.ledger").code, 0);
        if again.code == 0 {
            // Whoever is next in this folder tidies up.
            assert_eq!(workplace.run("simulate --records 2 --out t.csv").code, 0);
            assert_eq!(workplace.files(), ["c.ledger", "c.ledger.key", "t.csv", "t.schema.toml"]);
        }
    }
}
