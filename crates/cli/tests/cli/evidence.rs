//! `pairdp audit`, `pairdp stability` and `pairdp influence`.

use crate::common::{Run, Workplace};
use serde_json::Value;
use std::process::Command;

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err))
}

const SMALL: &str =
    "--algorithm noisy-gd --records 10 --steps 2 --radius 0.01 --step-size 0.001 --mechanism gaussian";

/// One intact audit is accused once in a million.
#[test]
fn an_audit_reports_bounds_and_goes_on_where_it_was() {
    let workplace = Workplace::new();
    let first = workplace.run(&format!("audit {SMALL} --runs 300 --state s.json --json"));
    assert_eq!(first.code, 0, "{}", first.err);
    let report = json(&first);
    for field in ["claimed_epsilon", "audited_lower_bound", "confidence", "runs", "verdict", "attainable"] {
        assert!(!report[field].is_null(), "no {field} in {report}");
    }
    assert_eq!((report["runs"].as_u64(), &report["verdict"]), (Some(300), &Value::from("not-refuted")));
    let before: Value = serde_json::from_str(&workplace.read("s.json")).unwrap();
    let second = workplace.run(&format!("audit {SMALL} --runs 500 --state s.json --json"));
    assert_eq!(json(&second)["runs"].as_u64(), Some(500));
    let after: Value = serde_json::from_str(&workplace.read("s.json")).unwrap();
    let runs = |state: &Value| state["made"].as_array().unwrap().clone();
    assert_eq!(runs(&before)[..], runs(&after)[..300]);
    let other = workplace.run(&format!("audit {SMALL} --runs 500 --state s.json --epsilon 2"));
    assert_eq!(other.code, 1);
    assert!(other.err.contains("another audit"), "{}", other.err);
    let text = workplace.run(&format!("audit {SMALL} --runs 100")).out;
    for word in ["claimed", "audited", "attainable", "if the noise is Gaussian", "not refuted"] {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
}

#[test]
fn one_run_with_canaries_is_enough_for_a_large_epsilon() {
    let arguments = "audit --algorithm moments --canaries 150 --records 600 --epsilon 12 --delta 1e-6 --json";
    let run = Workplace::new().run(arguments);
    let report = json(&run);
    // That needs 60 of 75 guesses right; about 71 are, and fewer than 60 once in 10⁷ runs.
    assert!(report["audited_lower_bound"].as_f64().unwrap() > 0.3, "{report}");
    assert_eq!((run.code, report["runs"].as_u64()), (0, Some(1)));
    let refused = Workplace::new().run("audit --task metric --canaries 5 --records 20");
    assert_eq!(refused.code, 1);
}

/// Runs `pairdp audit --command`, which words separated by spaces cannot say.
fn black_box(workplace: &Workplace, command: &str, more: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_pairdp"))
        .args(["audit", "--json", "--command", command])
        .args(more)
        .current_dir(workplace.path(""))
        .output()
        .unwrap();
    Run::from(output)
}

#[cfg(unix)]
#[test]
fn programs_that_add_no_noise_are_accused_and_private_ones_are_not() {
    let workplace = Workplace::new();
    let mean = "awk -F, 'NR > 1 { sum += $1 } END { print sum / (NR - 1) }' {data} > {model}";
    let accused = black_box(&workplace, mean, &["--runs", "120"]);
    assert_eq!((accused.code, json(&accused)["verdict"].as_str()), (1, Some("violated")));
    assert!(json(&accused)["audited_lower_bound"].as_f64().unwrap() > 1.0);

    let schema = "[label]\ncolumn = \"y\"\npositive = \"1\"\nnegative = \"-1\"\n\n[[column]]\nname = \"x1\"\nrange = [-1, 1]\n";
    workplace.write("public.toml", schema);
    let train = format!(
        "{} train {{data}} --schema public.toml --epsilon 1 --delta 1e-3 --algorithm moments --out {{model}} -q",
        env!("CARGO_BIN_EXE_pairdp")
    );
    let private = black_box(&workplace, &train, &["--runs", "120"]);
    assert_eq!(
        (private.code, json(&private)["verdict"].as_str()),
        (0, Some("not-refuted")),
        "{}",
        private.err
    );

    for (command, word) in [
        ("true", "does not say where"),
        ("false {data} {model}", "ended with"),
        ("echo none > {model}; true {data}", "no number"),
    ] {
        let refused = black_box(&workplace, command, &["--runs", "4"]);
        assert!(refused.code != 0 && refused.err.contains(word), "{command}: {}", refused.err);
    }
}

#[test]
fn stability_is_measured_beside_its_bounds_and_drawn() {
    let workplace = Workplace::new();
    let run = workplace.run("stability --records 10 --steps 10,40 --step-size 0.05 --plot growth.svg");
    assert_eq!(run.code, 0, "{}", run.err);
    for word in
        ["pair-history", "construction", "Table 1", "36 of 36 measurements", "Wang et al.", "Kang et al."]
    {
        assert!(run.out.contains(word), "no `{word}` in\n{}", run.out);
    }
    assert!(workplace.read("growth.svg").starts_with("<svg"));
}

#[test]
fn influence_warns_and_never_looks_like_a_model() {
    let workplace = Workplace::with_cohort(150);
    let run = workplace.run("influence cohort.csv --top 4 --exact 2 --out influence.csv --json");
    assert_eq!(run.code, 0, "{}", run.err);
    let answer = json(&run);
    assert_eq!(answer["private"], false);
    assert!(answer["warning"].as_str().unwrap().contains("NOT private"));
    let error = answer["records"][0]["relative_error"].as_f64().unwrap();
    assert!(error < 0.05 && answer["records"][3]["relative_error"].is_null(), "{answer}");
    let lines = workplace.read("influence.csv");
    assert!(lines.starts_with("# NOT private") && lines.lines().count() == 152);
    workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --out model.json");
    std::fs::copy(workplace.path("model.json"), workplace.path("model.txt")).unwrap();
    for name in ["model.json", "model.txt", "new.json"] {
        let refused = workplace.run(&format!("influence cohort.csv --out {name}"));
        assert_eq!(refused.code, 1, "{name}");
        assert!(refused.err.contains("a model"), "{}", refused.err);
    }
}
