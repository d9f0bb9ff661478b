//! The whole path: simulate, train, predict, evaluate, verify, demo.

use crate::common::Workplace;
use serde_json::Value;

#[test]
fn a_table_becomes_a_verified_model_that_ranks() {
    let workplace = Workplace::with_cohort(2000);
    let train = workplace.run("train cohort.csv --epsilon 3 --delta 1e-6 --out model.json");
    assert_eq!(train.code, 0, "{}", train.err);
    assert!(train.out.contains("ε = 3"), "{}", train.out);

    let verify = workplace.run("verify model.json");
    assert_eq!(verify.code, 0, "{}", verify.out);
    assert!(verify.out.contains("yes: "), "{}", verify.out);

    let evaluate = workplace.run("evaluate model.json cohort.csv --json");
    let answer: Value = serde_json::from_str(&evaluate.out).unwrap();
    assert!(answer["auc"].as_f64().unwrap() > 0.75, "{answer}");

    let predict = workplace.run("predict model.json cohort.csv --out scores.csv");
    assert_eq!(predict.code, 0, "{}", predict.err);
    assert_eq!(workplace.read("scores.csv").lines().count(), 2001);
    assert_eq!(workplace.run("predict model.json cohort.csv").out, workplace.read("scores.csv"));
}

#[test]
fn the_demonstration_explains_itself_and_verifies() {
    let workplace = Workplace::new();
    let demo = workplace.run("demo --out shown");
    assert_eq!(demo.code, 0, "{}", demo.err);
    for word in ["Protected", "ε = 1, δ = 1e-6", "verified: yes", "chance", "without privacy", "Try next"] {
        assert!(demo.out.contains(word), "no `{word}` in\n{}", demo.out);
    }
    for file in
        ["model.json", "cohort.csv", "cohort.schema.toml", "holdout.csv", "holdout.schema.toml", "scores.csv"]
    {
        assert!(workplace.path("shown").join(file).is_file(), "{file}");
    }
    assert_eq!(workplace.run("verify shown/model.json").code, 0);
}

/// "Holds" alone does not say what, and a plan without its neighbours is half a promise.
#[test]
fn issue_18_03_verify_and_plan_say_for_whom() {
    let workplace = Workplace::with_cohort(100);
    for (options, adjacency, words) in [
        ("", "replace-one", "replacing any one of 100 records by any other"),
        (
            "--max-records 500",
            "add-remove-one",
            "adding or removing any one record; how many there are, at most 500, shows only through the noise",
        ),
        (
            "--task metric --public-labels --algorithm noisy-gd --steps 2",
            "replace-features",
            "replacing the features of any one of 100 records; the labels count as public and are not protected",
        ),
    ] {
        let run = workplace
            .run(&format!("train cohort.csv --epsilon 0.5 --delta 1e-6 {options} --out m.json --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        let plan = format!("plan --records 100 --features 9 --epsilon 0.5 --delta 1e-6 {options}");
        for command in ["verify m.json", &plan] {
            let text = workplace.run(command).out;
            assert!(text.contains(&format!("for {words}")), "{command}: {text}");
            let object: Value =
                serde_json::from_str(&workplace.run(&format!("{command} --json")).out).unwrap();
            assert_eq!(
                (&object["epsilon"], &object["delta"], &object["adjacency"], &object["protects"]),
                (&0.5.into(), &1e-6.into(), &adjacency.into(), &words.into()),
                "{command}: {object}"
            );
        }
    }
}

#[test]
fn issue_18_18_a_tiny_budget_is_shown_in_its_own_order_of_magnitude() {
    let workplace = Workplace::with_cohort(100);
    for command in [
        "train cohort.csv --epsilon 1e-12 --delta 1e-6 --out m.json",
        "verify m.json",
        "plan --records 100 --features 9 --epsilon 1e-12 --delta 1e-6",
    ] {
        let run = workplace.run(command);
        assert!(
            run.code == 0 && run.out.contains("ε = 1e-12, δ = 1e-6"),
            "{command}: {}{}",
            run.out,
            run.err
        );
    }
    assert_eq!(workplace.run("report m.json -o page.html").code, 0);
    let page = workplace.read("page.html");
    assert!(page.contains("ε = 1e-12, δ = 1e-6") && !page.contains("0.00000000000"), "{page}");
    for command in [
        "budget create stays --ledger c.ledger --epsilon 1e-12 --delta 1e-6 --records 100 --schema cohort.schema.toml",
        "budget history --ledger c.ledger",
    ] {
        let run = workplace.run(command);
        assert!(
            run.code == 0 && run.out.contains("ε = 1e-12, δ = 1e-6"),
            "{command}: {}{}",
            run.out,
            run.err
        );
    }
}

/// Paths to every number of a JSON document.
fn numbers(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| numbers(item, format!("{path}/{i}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| numbers(field, format!("{path}/{name}"), found));
        }
        _ => {}
    }
}

#[test]
fn every_number_of_a_certificate_is_tied_down() {
    let workplace = Workplace::with_cohort(300);
    for (options, least) in [
        ("--algorithm noisy-gd --steps 5 --ridge 0.1", 25),
        ("--algorithm output-gd --ridge 0.1 --radius 3 --mechanism gaussian", 12),
        ("--algorithm output-gd --loss hinge --radius 3 --step-size 0.01 --mechanism gaussian", 12),
        ("--algorithm output-gd --mechanism laplace", 12),
        ("--algorithm noisy-sgd --steps 300", 12),
        ("--algorithm noisy-sgd --steps 300 --sampling poisson-pairs --expected-pairs 4", 12),
        ("--algorithm online-pair", 12),
        ("--algorithm output-sgd --loss hinge", 12),
        ("--algorithm phased-gd", 30),
        ("--algorithm localized-sgd --mechanism gaussian", 30),
        ("--algorithm offline-pair", 12),
        ("--algorithm matching-sgd", 12),
        ("--algorithm moments", 12),
        ("--algorithm moments --mechanism laplace", 12),
    ] {
        let train = workplace
            .run(&format!("train cohort.csv --epsilon 1 --delta 1e-6 {options} --out model.json --force"));
        assert_eq!(train.code, 0, "{}", train.err);
        let model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
        let mut paths = Vec::new();
        numbers(&model["certificate"], "/certificate".into(), &mut paths);
        assert!(paths.len() >= least, "{paths:?}");
        let gaussian = model["certificate"]["noise"] == "rounded-gaussian/1";
        for path in &paths {
            // Noise whose ratios add up gives ε whatever δ is, as long as δ covers the sampler.
            if !gaussian && (path == "/certificate/claim/delta" || path == "/certificate/sampler_delta") {
                continue;
            }
            // Parts of half the records, rounded down, are the same for 300 and 301.
            if path == "/certificate/records" && options.contains("localized") {
                continue;
            }
            // δ of sampled gradients is recomputed to 2 %.
            let fine = if options.contains("noisy-sgd") { 0.03 } else { 0.001 };
            for factor in [0.5, 1.0 - fine, 1.0 + fine, 2.0] {
                workplace.write("changed.json", &changed(&model, path, factor).to_string());
                let verify = workplace.run("verify changed.json");
                assert_eq!(verify.code, 1, "{options}: {path} × {factor} went unnoticed:\n{}", verify.out);
                assert!(
                    verify.out.contains("FAILS") || verify.err.contains("error"),
                    "{path}: {}",
                    verify.err
                );
            }
        }
    }
}

/// The document with one number multiplied; whole numbers stay whole and change by at least one.
fn changed(model: &Value, path: &str, factor: f64) -> Value {
    let mut changed = model.clone();
    let number = changed.pointer_mut(path).unwrap();
    *number = match number.as_u64() {
        Some(whole) if factor < 0.6 => Value::from(whole / 2),
        Some(whole) if factor < 1.0 => Value::from(whole - 1),
        Some(whole) if factor < 1.5 => Value::from(whole + 1),
        Some(whole) => Value::from(whole.wrapping_mul(2)),
        None if number.as_f64() == Some(0.0) => Value::from(0.001),
        None => Value::from(number.as_f64().unwrap() * factor),
    };
    changed
}

#[test]
fn two_runs_differ_and_nothing_can_make_them_repeat() {
    let workplace = Workplace::with_cohort(200);
    let parameters = |environment: &[(&str, &str)]| {
        let run = workplace.run_with(
            "train cohort.csv --epsilon 1 --delta 1e-6 --steps 2 --out model.json --force",
            environment,
        );
        assert_eq!(run.code, 0, "{}", run.err);
        let model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
        model["predictor"]["parameters"].as_array().unwrap().clone()
    };
    let seeds = [
        ("SEED", "1"),
        ("RANDOM_SEED", "1"),
        ("RUST_SEED", "1"),
        ("PAIRDP_SEED", "1"),
        ("PYTHONHASHSEED", "1"),
        ("GETRANDOM_BACKEND", "custom"),
        ("SOURCE_DATE_EPOCH", "1"),
    ];
    let runs = [parameters(&[]), parameters(&[]), parameters(&seeds), parameters(&seeds)];
    for (i, a) in runs.iter().enumerate() {
        for b in &runs[..i] {
            assert!(a.iter().zip(b).all(|(x, y)| x != y), "a coordinate repeated");
        }
    }
    // No flag either: the only seed there is belongs to the simulator.
    for flag in ["--seed 1", "--random-state 1", "--deterministic", "--noise-seed 1"] {
        let run = workplace.run(&format!("train cohort.csv --epsilon 1 --delta 1e-6 --force {flag}"));
        assert_eq!(run.code, 1);
        assert!(run.err.contains("unexpected argument"), "{}", run.err);
    }
}
