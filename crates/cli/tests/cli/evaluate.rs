//! `pairdp evaluate`: exact on public records, noisy on private ones, refused otherwise.

use crate::common::Workplace;
use serde_json::Value;

/// A cohort whose schema calls it private, and a model trained on it.
fn private_workplace(options: &str) -> Workplace {
    let workplace = Workplace::with_cohort(600);
    let run = workplace.run(&format!("train cohort.csv --epsilon 3 --delta 1e-6 --force {options}"));
    assert_eq!(run.code, 0, "{}", run.err);
    let schema = workplace.read("cohort.schema.toml").replace("private = false", "private = true");
    workplace.write("cohort.schema.toml", &schema);
    workplace
}

#[test]
fn exact_measures_need_public_records() {
    let workplace = private_workplace("");
    workplace.write("unnamed.csv", &workplace.read("cohort.csv"));
    workplace.write("open.schema.toml", &workplace.read("cohort.schema.toml").replace("= true", "= false"));
    for (arguments, word) in [
        ("evaluate model.json cohort.csv", "the records are private, as cohort.schema.toml says"),
        ("evaluate model.json cohort.csv --public", "the records are private"),
        ("evaluate model.json unnamed.csv", "nothing says that the records are public"),
        ("report model.json cohort.csv", "the records are private"),
        ("report model.json unnamed.csv", "nothing says that the records are public"),
        ("report model.json unnamed.csv --schema cohort.schema.toml", "the records are private"),
        // The schema beside a table is its custodian's, and no other overrules it.
        ("evaluate model.json cohort.csv --schema open.schema.toml", "as cohort.schema.toml says"),
        ("report model.json cohort.csv --schema open.schema.toml", "as cohort.schema.toml says"),
    ] {
        let run = workplace.run(arguments);
        assert!(run.code == 1 && run.err.contains(word), "{arguments}: {}{}", run.out, run.err);
        assert!(run.err.contains("--private --epsilon"), "{}", run.err);
        let error: Value = serde_json::from_str(&workplace.run(&format!("{arguments} --json")).err).unwrap();
        assert_eq!(error["code"], "private-data");
    }
    assert!(!workplace.path("model.html").exists());
    for arguments in ["unnamed.csv --public", "unnamed.csv --schema open.schema.toml"] {
        let run = workplace.run(&format!("evaluate model.json {arguments}"));
        assert!(run.code == 0 && run.out.starts_with("AUC 0."), "{}{}", run.out, run.err);
    }
}

/// A schema that does not say it, one that cannot be read, and one beside the table that a link leads to, are no permission.
#[test]
fn issue_18_13_both_schemas_have_to_call_the_records_public() {
    let workplace = private_workplace("");
    let open = workplace.read("cohort.schema.toml").replace("= true", "= false");
    workplace.write("open.schema.toml", &open);
    let silent = open.replace("private = false", "");
    for (beside, word) in
        [(silent.as_str(), "as cohort.schema.toml says"), ("label = 3", "cohort.schema.toml")]
    {
        workplace.write("cohort.schema.toml", beside);
        let run = workplace.run("evaluate model.json cohort.csv --schema open.schema.toml");
        assert!(run.code == 1 && run.err.contains(word), "{}{}", run.out, run.err);
        assert_eq!(run.out, "");
    }
    workplace.write("cohort.schema.toml", &silent);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("cohort.csv", workplace.path("link.csv")).unwrap();
        for options in ["--public", "--schema open.schema.toml"] {
            let run = workplace.run(&format!("evaluate model.json link.csv {options}"));
            assert!(run.code == 1 && run.err.contains("cohort.schema.toml says"), "{}{}", run.out, run.err);
        }
    }
    workplace.write("cohort.schema.toml", &open);
    let run = workplace.run("evaluate model.json cohort.csv --schema open.schema.toml");
    assert_eq!(run.code, 0, "{}", run.err);
}

/// With hardly any noise the private measures are the exact ones; with much of it they come with long intervals.
#[test]
fn noisy_measures_surround_the_exact_ones() {
    let workplace = private_workplace("--task classification");
    workplace.write("open.csv", &workplace.read("cohort.csv"));
    let exact = workplace.run("evaluate model.json open.csv --public --json");
    let exact: Value = serde_json::from_str(&exact.out).unwrap();
    let run = workplace.run("evaluate model.json cohort.csv --private --epsilon 10000 --json");
    assert_eq!(run.code, 0, "{}", run.err);
    let noisy: Value = serde_json::from_str(&run.out).unwrap();
    for name in ["auc", "accuracy"] {
        let (a, b) = (exact[name].as_f64().unwrap(), noisy[name]["value"].as_f64().unwrap());
        assert!((a - b).abs() < 1e-3, "{name}: {a} and {b}");
    }
    let run = workplace.run("evaluate model.json cohort.csv --private --epsilon 0.1");
    assert!(run.out.contains("AUC") && run.out.contains("95 times in 100"), "{}", run.out);
    // Two answers to one question differ: noise is never the same twice.
    assert_ne!(run.out, workplace.run("evaluate model.json cohort.csv --private --epsilon 0.1").out);
}

#[test]
fn a_ledger_pays_before_the_table_is_read() {
    let workplace = private_workplace("");
    let grant = "budget create stays --ledger c.ledger --epsilon 0.3 --delta 0 --records 600 --schema cohort.schema.toml";
    assert_eq!(workplace.run(grant).code, 0);
    let evaluate = |table: &str, epsilon: &str| {
        workplace.run(&format!(
            "evaluate model.json {table} --private --epsilon {epsilon} --ledger c.ledger --dataset stays --json"
        ))
    };
    let spent = || {
        let show = workplace.run("budget show --ledger c.ledger --json");
        let answer: Value = serde_json::from_str(&show.out).unwrap();
        answer["datasets"][0]["spent_epsilon"].as_f64().unwrap()
    };
    let run = evaluate("cohort.csv", "0.2");
    assert_eq!(run.code, 0, "{}", run.err);
    let name = serde_json::from_str::<Value>(&run.out).unwrap()["run"].as_str().unwrap().to_owned();
    let history = workplace.run("budget history --ledger c.ledger").out;
    assert!(history.contains(&format!("reserved   {name}  evaluate")), "{history}");
    assert!(history.contains(&format!("committed  {name}")), "{history}");
    assert!((spent() - 0.2).abs() < 1e-6, "{}", spent());

    let refused = evaluate("cohort.csv", "0.2");
    assert_eq!(refused.code, 1);
    assert_eq!(serde_json::from_str::<Value>(&refused.err).unwrap()["code"], "over-budget");
    // A table of another size costs nothing.
    workplace.run("simulate --records 500 --out other.csv");
    assert_eq!(evaluate("other.csv", "0.05").code, 1);
    assert!((spent() - 0.2).abs() < 1e-6);
}

#[test]
fn what_cannot_be_released_is_refused_with_the_reason() {
    let workplace = private_workplace("--task metric --steps 2 --algorithm noisy-gd");
    let run = workplace.run("evaluate model.json cohort.csv --private --epsilon 1");
    assert!(run.code == 1 && run.err.contains("nearest of all others"), "{}", run.err);
    for (arguments, word) in [
        ("--private", "--epsilon"),
        ("--epsilon 1", "--private"),
        ("--private --public --epsilon 1", "cannot be used with"),
        ("--private --epsilon 0", "ε must be"),
        ("--private --epsilon NaN", "ε must be"),
    ] {
        let run = workplace.run(&format!("evaluate model.json cohort.csv {arguments}"));
        assert!(run.code == 1 && run.err.contains(word), "{arguments}: {}", run.err);
    }
}

/// The numbers that noise was paid for are in the ledger before they are printed, and are printed again without the table.
#[cfg(target_os = "linux")]
#[test]
fn issue_22_3_released_numbers_that_could_not_be_printed_are_had_again() {
    let workplace = Workplace::with_cohort(300);
    for command in [
        "budget create stays --ledger c.ledger --epsilon 2 --delta 1e-6 --records 300 --schema cohort.schema.toml",
        "train cohort.csv --task classification --epsilon 1 --delta 1e-6 --out m.json",
    ] {
        let run = workplace.run(command);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let evaluate =
        "evaluate m.json cohort.csv --private --epsilon 0.5 --ledger c.ledger --dataset stays --json";
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .args(evaluate.split_whitespace())
        .current_dir(workplace.path(""))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    let released = said.lines().next().unwrap();
    let run =
        serde_json::from_str::<serde_json::Value>(released).unwrap()["run"].as_str().unwrap().to_owned();

    std::fs::remove_file(workplace.path("cohort.csv")).unwrap();
    let spent = workplace.run("budget show --ledger c.ledger").out;
    let again = workplace.run(&format!("budget result {run} --ledger c.ledger --json"));
    assert_eq!((again.code, again.out.trim_end()), (0, released), "{}", again.err);
    let text = workplace.run(&format!("budget result {run} --ledger c.ledger"));
    assert!(
        text.out.contains("accuracy") && text.out.contains(&format!("spent as run {run}")),
        "{}",
        text.out
    );
    assert_eq!(workplace.run("budget show --ledger c.ledger").out, spent, "printing again costs nothing");
    // Released numbers and public ones, and nothing else.
    let history = workplace.run("budget history --ledger c.ledger --json").out;
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    let kept =
        &history["entries"].as_array().unwrap().last().unwrap()["entry"]["action"]["outcome"]["numbers"];
    let names: Vec<&str> = kept.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "accuracy",
            "accuracy-high",
            "accuracy-low",
            "auc",
            "auc-high",
            "auc-low",
            "delta",
            "epsilon",
            "noise-scale",
            "positives",
            "positives-high",
            "positives-low",
            "records"
        ]
    );
    let unknown = workplace.run("budget result 00 --ledger c.ledger");
    assert!(unknown.code == 1 && unknown.err.contains("has no result of an evaluation"), "{}", unknown.err);
}
