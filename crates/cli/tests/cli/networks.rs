//! Networks as users of the command meet them.

use crate::common::Workplace;
use serde_json::Value;

fn trained(more: &str) -> Workplace {
    let workplace = Workplace::with_cohort(1500);
    let run = workplace.run(&format!(
        "train cohort.csv --epsilon 2 --delta 1e-6 --scores network --hidden 6 --out model.json {more}"
    ));
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

#[test]
fn a_network_is_trained_verified_scored_exported_and_reported() {
    let workplace = trained("--start-seed 9");
    assert_eq!(workplace.run("verify model.json").code, 0);
    let model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
    let network = &model["certificate"]["problem"]["score"]["network"];
    assert_eq!(
        (&network["hidden"], &network["seed"], &network["activation"]),
        (&6.into(), &9.into(), &"tanh".into())
    );
    assert_eq!(model["certificate"]["released"]["kernel"], "network/1");
    assert_eq!(workplace.run("predict model.json cohort.csv --out scores.csv").code, 0);
    assert_eq!(workplace.read("scores.csv").lines().count(), 1501);
    let layers: Value = serde_json::from_str(&workplace.run("export model.json --to json").out).unwrap();
    assert_eq!(layers["hidden"]["outer"].as_array().unwrap().len(), 6);
    assert_eq!(layers["format"], "pairdp-scoring/3");
    assert_eq!(workplace.run("export model.json --to onnx --out model.onnx").code, 0);
    assert_eq!(workplace.run("report model.json --out model.html").code, 0);
    let page = workplace.read("model.html");
    assert!(
        page.contains("A network has no coefficients") && page.contains("started from the public seed 9")
    );
    assert!(!page.contains("What each column adds"));
}

/// Layers of the plain export compute the scores that the command writes.
#[test]
fn plain_layers_are_all_that_a_program_needs() {
    let workplace = Workplace::new();
    let rows: Vec<[f64; 2]> =
        (0..400).map(|i| [f64::from(i % 19) / 40.0 - 0.2, f64::from(i % 23) / 50.0 - 0.2]).collect();
    let lines: Vec<String> = rows.iter().map(|[a, b]| format!("{a},{b},{}", u8::from(a * b > 0.0))).collect();
    workplace.write("t.csv", &format!("a,b,y\n{}\n", lines.join("\n")));
    let column = |name: &str| format!("[[column]]\nname = '{name}'\nrange = [-1, 1]\n");
    let label = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n";
    workplace.write("t.schema.toml", &format!("{label}{}{}", column("a"), column("b")));
    let how = "--scores network --hidden 5 --representation ranges";
    let run = workplace.run(&format!("train t.csv --epsilon 8 --delta 1e-6 {how} --out model.json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let layers: Value = serde_json::from_str(&workplace.run("export model.json --to json").out).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let hidden = &layers["hidden"];
    let (weights, outer, offsets) =
        (numbers(&layers["weights"]), numbers(&hidden["outer"]), numbers(&hidden["offsets"]));
    let constant = layers["constant"].as_f64().unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let score = |[a, b]: [f64; 2]| {
        let units = (0..5).map(|unit| {
            let inner = numbers(&hidden["inner"][unit]);
            outer[unit] * (dot(&inner, &[a, b, constant]) + offsets[unit]).tanh()
        });
        dot(&weights, &[a, b]) + layers["intercept"].as_f64().unwrap() + units.sum::<f64>()
    };
    let printed = workplace.run("predict model.json t.csv").out;
    for (line, row) in printed.lines().skip(1).zip(rows) {
        let found: f64 = line.parse().unwrap();
        assert!((found - score(row)).abs() < 1e-9, "{found} for {}", score(row));
    }
    assert_eq!(printed.lines().count(), 401);
}

/// A ledger books the releases of a network as it books those of linear scores, and refuses what goes beyond the grant.
#[test]
fn a_ledger_pays_for_networks() {
    let workplace = Workplace::with_cohort(1500);
    let create =
        "budget create stays --ledger l --epsilon 1 --delta 1e-5 --records 1500 --schema cohort.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    let train = |out: &str| {
        let how = "--scores network --hidden 6 --ledger l --dataset stays";
        workplace.run(&format!("train cohort.csv --epsilon 0.9 --delta 1e-6 {how} --out {out}"))
    };
    let run = train("model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    let again = train("other.json");
    assert!(again.code == 1 && !workplace.files().contains(&"other.json".into()), "{}", again.err);
}

#[test]
fn a_network_says_plainly_that_it_has_no_coefficients() {
    let workplace = trained("");
    for command in ["show model.json", "predict model.json cohort.csv --reasons"] {
        let run = workplace.run(command);
        assert_eq!(run.code, 1);
        assert!(
            run.err.contains("a network has no coefficients") && run.err.contains("hint:"),
            "{}",
            run.err
        );
    }
    let run = workplace.run("baseline cohort.csv --scores network --out baseline.json");
    assert!(run.code == 1 && run.err.contains("a network has no baseline"), "{}", run.err);
    let run = workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --hidden 6 --out other.json");
    assert!(run.code == 1 && run.err.contains("these scores are linear"), "{}", run.err);
    let run = workplace.run(
        "train cohort.csv --epsilon 1 --delta 1e-6 --scores network --algorithm moments --out other.json",
    );
    assert!(run.code == 1 && run.err.contains("a network under this algorithm"), "{}", run.err);
}

#[test]
fn plans_name_networks_where_tables_are_large() {
    let workplace = Workplace::new();
    let explained = |records: usize| {
        workplace
            .run(&format!("plan --records {records} --features 10 --epsilon 1 --delta 1e-10 --explain"))
            .out
    };
    assert!(explained(300_000).contains("try --scores network"));
    assert!(!explained(10_000).contains("--scores network"));
}
