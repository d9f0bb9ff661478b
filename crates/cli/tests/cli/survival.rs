//! Who fails first, from a table to a report.

use crate::common::Workplace;
use serde_json::Value;
use std::fmt::Write as _;

const SCHEMA: &str = "[label]\ntime = 'days'\nevent = 'died'\noccurred = 'yes'\ncensored = 'no'\nhorizon = 900\n\
                      [[column]]\nname = 'age'\nrange = [20, 100]\n[[column]]\nname = 'ward'\ncategories = ['a', 'b']\n";

/// Patients of whom the older die earlier, and some leave before.
fn with_patients(schema: &str) -> Workplace {
    let workplace = Workplace::new();
    let mut text = String::from("age,ward,days,died\n");
    for k in 0..800_u32 {
        let (age, ward) = (20 + k * 37 % 80, if k % 3 == 0 { "a" } else { "b" });
        let (fails, leaves) = ((101 - age) * (5 + k * 13 % 11), 100 + k * 53 % 1000);
        let died = if fails <= leaves { "yes" } else { "no" };
        writeln!(text, "{age},{ward},{},{died}", fails.min(leaves)).unwrap();
    }
    workplace.write("patients.csv", &text);
    workplace.write("patients.schema.toml", schema);
    workplace
}

#[test]
fn a_model_is_trained_verified_measured_and_reported() {
    let workplace = with_patients(SCHEMA);
    for algorithm in ["auto", "moments", "noisy-gd", "noisy-sgd", "output-gd", "phased-gd"] {
        let train = "train patients.csv --task survival --epsilon 2 --delta 1e-6 --force";
        let run = workplace.run(&format!("{train} --algorithm {algorithm}"));
        assert_eq!(run.code, 0, "{algorithm}: {}", run.err);
        let run = workplace.run("verify model.json");
        assert!(
            run.code == 0 && run.out.contains("yes: if training did what the certificate says"),
            "{algorithm}: {}",
            run.out
        );
    }
    workplace.run("train patients.csv --task survival --epsilon 2 --delta 1e-6 --force");
    let run = workplace.run("evaluate model.json patients.csv --private --epsilon 1 --json");
    let found: Value = serde_json::from_str(&run.out).unwrap();
    let c = &found["concordance"];
    assert!(c["value"].as_f64().unwrap() > 0.6 && c["low"].as_f64() < c["high"].as_f64(), "{found}");
    assert!(found["auc"].is_null() && found["comparable"]["value"].as_f64().unwrap() > 0.3);
    let run = workplace.run("evaluate model.json patients.csv");
    assert!(run.code == 1 && run.err.contains("the records are private"), "{}", run.err);
    let run = workplace.run("predict model.json patients.csv --out scores.csv");
    assert!(
        run.err.contains("higher means an earlier event")
            || run.out.contains("higher means an earlier event")
    );
    let run = workplace.run("report model.json --out report.html");
    assert_eq!(run.code, 0, "{}", run.err);
    let page = workplace.read("report.html");
    assert!(page.contains("When events came") && page.contains("share without an event"));
    let run = workplace.run("export model.json --to onnx --out model.onnx");
    assert_eq!(run.code, 0, "{}", run.err);
}

/// What a private evaluation found is kept in the ledger, and printed again without the table.
#[test]
fn a_ledger_pays_for_times_and_keeps_c() {
    let workplace = with_patients(SCHEMA);
    let create =
        "budget create stays --ledger l --epsilon 4 --delta 1e-5 --records 800 --schema patients.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    let booked = "--ledger l --dataset stays";
    let run = workplace.run(&format!("train patients.csv --task survival --epsilon 1 --delta 1e-6 {booked}"));
    assert_eq!(run.code, 0, "{}", run.err);
    let run =
        workplace.run(&format!("evaluate model.json patients.csv --private --epsilon 1 {booked} --json"));
    let found: Value = serde_json::from_str(&run.out).unwrap();
    std::fs::remove_file(workplace.path("patients.csv")).unwrap();
    let name = found["run"].as_str().unwrap();
    let run = workplace.run(&format!("budget result {name} --ledger l --json"));
    let again: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(again["concordance"], found["concordance"], "{}{}", run.out, run.err);
    // Another horizon reads the table in another way.
    workplace.write("patients.csv", "age,ward,days,died\n");
    workplace.write("patients.schema.toml", &SCHEMA.replace("900", "30"));
    let run = workplace.run(&format!(
        "train patients.csv --task survival --epsilon 1 --delta 1e-6 --out other.json {booked}"
    ));
    assert!(run.code == 1 && run.err.contains("schema"), "{}", run.err);
}

#[test]
fn refusals_say_what_is_missing_and_never_what_is_there() {
    for (from, to, word) in [
        ("horizon = 900\n", "", "horizon"),
        ("horizon = 900", "horizon = 0", "above 0"),
        ("censored = 'no'", "censored = 'yes'", "the same"),
        ("event = 'died'", "event = 'days'", "two columns"),
        ("[label]\n", "[label]\ncolumn = 'died'\n", "[label]"),
    ] {
        let workplace = with_patients(&SCHEMA.replace(from, to));
        let run = workplace.run("train patients.csv --task survival --epsilon 1 --delta 1e-6");
        assert!(run.code == 1 && run.err.contains(word), "{from} → {to}: {}", run.err);
    }
    let workplace = with_patients(SCHEMA);
    for (arguments, word) in [
        ("--epsilon 1 --delta 1e-6", "--task survival"),
        ("--task survival --epsilon 1 --delta 1e-6 --public-labels", "labels"),
        ("--task survival --epsilon 1 --delta 1e-6 --form symmetric", "symmetric"),
        ("--task survival --epsilon 1 --delta 1e-6 --algorithm matching-sgd", "matching-sgd"),
        ("--task survival --epsilon 1 --delta 1e-6 --risk records", "risk of records"),
    ] {
        let run = workplace.run(&format!("train patients.csv {arguments}"));
        assert!(run.code == 1 && run.err.contains(word), "{arguments}: {}", run.err);
        assert!(!workplace.path("model.json").exists());
    }
    for cells in ["50,a,-7777,yes", "50,a,,yes", "50,a,soon,yes", "50,a,7777,perhaps", "50,a,inf,no"] {
        workplace.write("patients.csv", &format!("age,ward,days,died\n20,a,5,no\n{cells}\n"));
        let run = workplace.run("train patients.csv --task survival --epsilon 1 --delta 1e-6");
        assert!(run.code == 1 && run.err.contains("line 3"), "{cells}: {}", run.err);
        assert!(["7777", "soon", "perhaps"].iter().all(|cell| !run.err.contains(cell)), "{}", run.err);
    }
}

/// Noisy measures tell how many records they are of: a model that keeps that secret is measured where it is public.
#[test]
fn a_secret_number_of_records_is_not_told_by_measuring() {
    let workplace = with_patients(SCHEMA);
    let run = workplace.run("train patients.csv --task survival --epsilon 2 --delta 1e-6 --max-records 1000");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = workplace.run("evaluate model.json patients.csv --private --epsilon 1");
    assert!(run.code == 1 && run.err.contains("--public-size") && !run.err.contains("800"), "{}", run.err);
    let run = workplace.run("evaluate model.json patients.csv --private --epsilon 1 --public-size");
    assert_eq!(run.code, 0, "{}", run.err);
}

/// A run under another schema is another run, though its mechanism is the same.
#[test]
fn a_checkpoint_is_not_gone_on_from_under_another_schema() {
    let workplace = with_patients(SCHEMA);
    let train = "train patients.csv --task survival --algorithm noisy-gd --steps 3000 --epsilon 1 --delta 1e-6 --checkpoint c --checkpoint-every 0";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .args(train.split(' '))
        .current_dir(workplace.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..2000 {
        if workplace.path("c").is_file() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(workplace.path("c").is_file(), "it was done before it could be killed");
    workplace.write("patients.schema.toml", &SCHEMA.replace("900", "30"));
    let run = workplace.run(train);
    assert!(run.code == 1 && run.err.contains("checkpoint"), "{}", run.err);
    workplace.write("patients.schema.toml", SCHEMA);
    let run = workplace.run(train);
    assert!(run.code == 0 && run.out.contains("continued an interrupted run"), "{}{}", run.out, run.err);
}

/// Persons, and a table in parts by local workers.
#[test]
fn patients_with_several_times_and_tables_in_parts_are_learned_from() {
    let workplace = with_patients(&format!("{SCHEMA}[person]\ncolumn = 'id'\n"));
    let rows = workplace.read("patients.csv");
    let mut lines = rows.lines();
    let header = format!("id,{}\n", lines.next().unwrap());
    let rows: Vec<String> = lines.enumerate().map(|(k, row)| format!("p{},{row}\n", k % 300)).collect();
    std::fs::create_dir(workplace.path("parts")).unwrap();
    for (k, part) in rows.chunks(300).enumerate() {
        workplace.write(&format!("parts/{k}.csv"), &(header.clone() + &part.concat()));
    }
    workplace.write("patients.csv", &(header + &rows.concat()));
    for table in ["patients.csv", "parts --engine local:2 --schema patients.schema.toml"] {
        let run = workplace.run(&format!("train {table} --task survival --epsilon 2 --delta 1e-6 --force"));
        assert!(run.code == 0 && run.out.contains("300 persons"), "{table}: {}{}", run.out, run.err);
        assert_eq!(workplace.run("verify model.json").code, 0);
    }
    let run = workplace
        .run("train parts --engine local:2 --schema patients.schema.toml --task survival --algorithm noisy-gd --epsilon 2 --delta 1e-6 --out other.json");
    assert!(run.code == 1 && !workplace.path("other.json").exists(), "{}", run.err);
}
