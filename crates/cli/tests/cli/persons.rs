//! Tables of persons with several records each.

use crate::common::Workplace;
use serde_json::Value;
use std::fmt::Write as _;

const SCHEMA: &str = "[label]\ncolumn = 'ill'\npositive = 'yes'\nnegative = 'no'\n\
                      [person]\ncolumn = 'patient'\n\
                      [[column]]\nname = 'age'\nrange = [0, 120]\n";

/// 60 patients of one to three stays, the last with as many as is said.
fn table(last: usize) -> String {
    let mut text = String::from("patient,age,ill\n");
    for patient in 0..60 {
        let stays = if patient == 59 { last } else { patient % 3 + 1 };
        for stay in 0..stays {
            let age = 20 + (patient * 7 + stay % 50) % 80;
            let ill = if (age + patient) % 90 > 45 { "yes" } else { "no" };
            writeln!(text, "P-{patient},{age},{ill}").unwrap();
        }
    }
    text
}

fn workplace(last: usize) -> Workplace {
    let workplace = Workplace::new();
    std::fs::write(workplace.path("stays.csv"), table(last)).unwrap();
    std::fs::write(workplace.path("stays.schema.toml"), SCHEMA).unwrap();
    workplace
}

/// Everything that commands print and write, but for released numbers, names of runs, times and what follows from them.
fn artefacts(last: usize) -> Vec<String> {
    let workplace = workplace(last);
    let mut all = Vec::new();
    for command in [
        "budget create stays --ledger l --epsilon 9 --delta 1e-4 --persons 60 --schema stays.schema.toml",
        "train stays.csv --epsilon 1 --delta 1e-6 --out a.json --ledger l --dataset stays",
        "train stays.csv --epsilon 1 --delta 1e-6 --out b.json --algorithm noisy-sgd --steps 60 --json",
        "train stays.csv --epsilon 1 --delta 1e-6 --out c.json --max-persons 70",
        "train stays.csv --epsilon 1 --delta 1e-6 --out d.json --checkpoint run --checkpoint-every 0",
        "train stays.csv --epsilon 1 --delta 1e-6 --out e.json --engine local:2",
        "evaluate a.json stays.csv --private --epsilon 1 --json",
        "verify a.json",
        "report a.json --out page.html",
        "budget export --ledger l",
        "plan --persons 60 --features 1 --epsilon 1 --delta 1e-6",
    ] {
        let run = workplace.run(command);
        assert_eq!(run.code, 0, "{command}: {}", run.err);
        all.push(without_numbers(&format!("{command}\n{}{}", run.out, run.err)));
    }
    for file in ["a.json", "b.json", "c.json", "d.json", "e.json"] {
        let mut value: Value = serde_json::from_str(&workplace.read(file)).unwrap();
        for path in [
            "/predictor/parameters",
            "/predictor/representation",
            "/certificate/released",
            "/training/order",
            "/certificate/provenance/run",
            "/certificate/provenance/weights",
            "/run",
        ] {
            if let Some(found) = value.pointer_mut(path) {
                *found = Value::Null;
            }
        }
        all.push(value.to_string());
    }
    all
}

/// Digits after a point, and names of runs and hashes, are released or random.
fn without_numbers(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split_inclusive([' ', '\n', ',', '"', ':', '[', ']', '{', '}']) {
        let random = word.len() > 20
            && word.trim_end_matches(|c: char| !c.is_ascii_hexdigit()).chars().all(|c| c.is_ascii_hexdigit());
        let released = word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let tiny = word.contains("e-") && word.starts_with(|c: char| c.is_ascii_digit());
        let time = word.len() == 11 && word.starts_with("17");
        words.push(if random || released || tiny || time { "#" } else { word });
    }
    words.concat()
}

/// One patient with a single stay, or with 100,000 of them: nothing that is printed or written tells which.
#[test]
fn nothing_tells_how_many_records_a_person_has() {
    let (few, many) = (artefacts(1), artefacts(100_000));
    for (few, many) in few.iter().zip(&many) {
        assert_eq!(few, many);
    }
    let all = few.concat();
    assert!(all.contains("60 persons") && all.contains("replace-one-person"));
}

#[test]
fn whom_a_command_protects_is_said_by_the_schema() {
    let workplace = workplace(2);
    let refused = |command: &str, expected: &str| {
        let run = workplace.run(command);
        assert_eq!(run.code, 1, "{command}: {}", run.out);
        assert!(run.err.contains(expected), "{command}: {}", run.err);
    };
    let train = "train stays.csv --epsilon 1 --delta 1e-6 --out m.json";
    refused(&format!("{train} --max-records 70"), "use --max-persons");
    refused(&format!("{train} --per-person weights --algorithm noisy-sgd"), "--per-person one");
    refused(&format!("{train} --per-person weights --task metric"), "no proof for this loss");
    refused(&format!("{train} --engine local:2 --per-person one"), "needs the table in one place");
    refused("influence stays.csv", "not computed yet");
    let grant = "--ledger l --epsilon 3 --delta 1e-5";
    refused(&format!("budget create s {grant} --records 60 --schema stays.schema.toml"), "pass --persons");
    refused(&format!("budget create s {grant} --persons 60 --adjacency replace-one"), "about records");
    assert_eq!(
        workplace.run(&format!("budget create s {grant} --persons 61 --schema stays.schema.toml")).code,
        0
    );
    refused(&format!("{train} --ledger l --dataset s"), "the table has 60 persons, the ledger says 61");
    let schema = SCHEMA.replace("[person]\ncolumn = 'patient'\n", "");
    std::fs::write(workplace.path("records.schema.toml"), &schema).unwrap();
    refused(&format!("{train} --schema records.schema.toml --ledger l --dataset s"), "another schema");
    refused("budget schema s --ledger l --schema records.schema.toml", "does not say whose records");
    refused(&format!("{train} --schema records.schema.toml --max-persons 9"), "--max-records");
    assert_eq!(workplace.run(train).code, 0);
    std::fs::write(workplace.path("alone.csv"), table(2)).unwrap();
    refused("evaluate m.json alone.csv --private --epsilon 1", "nothing says which person");
}

/// An id that is missing, or not of the kind that the schema says, is a fault of form: where it is, but not in which row.
#[test]
fn ids_that_name_nobody_are_refused_without_their_row() {
    for (cell, kind, expected) in [
        ("", "text", "nobody knows whose record"),
        ("  ", "text", "nobody knows whose record"),
        ("7.0", "integer", "neither text nor a whole number"),
        ("x7", "integer", "neither text nor a whole number"),
    ] {
        let workplace = workplace(2);
        let text = format!("patient,age,ill\n1,30,yes\n2,40,no\n{cell},50,yes\n");
        std::fs::write(workplace.path("stays.csv"), text).unwrap();
        let schema = SCHEMA.replace("'patient'\n", &format!("'patient'\nkind = '{kind}'\n"));
        std::fs::write(workplace.path("stays.schema.toml"), schema).unwrap();
        let run = workplace.run("train stays.csv --epsilon 1 --delta 1e-6 --out m.json");
        assert_eq!(run.code, 1);
        assert!(run.err.contains(expected) && run.err.contains("`patient`"), "{}", run.err);
        assert!(
            !run.err.contains("line") && !run.err.contains("7.0") && !run.err.contains("x7"),
            "{}",
            run.err
        );
    }
    let workplace = workplace(2);
    std::fs::write(workplace.path("stays.csv"), "patient,age,ill\n1,30,yes\n1,40,no\n").unwrap();
    let run = workplace.run("train stays.csv --epsilon 1 --delta 1e-6 --out m.json");
    assert!(run.code == 1 && run.err.contains("at least 2 persons"), "{}", run.err);
}
