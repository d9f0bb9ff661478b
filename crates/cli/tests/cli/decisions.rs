//! From scores to decisions: probabilities, flags, public tables that calibrate, and curves of private ones.

use crate::common::Workplace;
use serde_json::Value;

fn trained(options: &str) -> Workplace {
    let workplace = Workplace::with_cohort(1500);
    let run = workplace.run(&format!("train cohort.csv --epsilon 3 --delta 1e-6 --force {options}"));
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

#[test]
fn predictions_have_probabilities_and_flags() {
    let workplace = trained("--probabilities");
    let run = workplace
        .run("predict model.json cohort.csv --keep stay_id --flag-share 0.1 --reasons=1 --out a.csv");
    assert_eq!(run.code, 0, "{}", run.err);
    let text = workplace.read("a.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("stay_id,score,probability,flag,reasons"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let flagged: Vec<&Vec<&str>> = rows.iter().filter(|row| row[3] == "yes").collect();
    // A tenth of 1,500, give or take the noise of counts and a part of a cell.
    assert!((60..=260).contains(&flagged.len()), "{}", flagged.len());
    let probability = |row: &Vec<&str>| row[2].parse::<f64>().unwrap();
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&probability(row))));
    let least =
        flagged.iter().map(|row| probability(row)).fold(1.0, |least, p| if p < least { p } else { least });
    assert!(rows.iter().filter(|row| row[3] == "no").all(|row| probability(row) <= least));
    // Without kept columns it is known for what it is, and replaced where that is asked for.
    assert_eq!(workplace.run("predict model.json cohort.csv --sensitivity 0.8 --out b.csv").code, 0);
    assert_eq!(workplace.read("b.csv").lines().next(), Some("score,probability,flag"));
    assert_eq!(workplace.run("predict model.json cohort.csv --cost-ratio 5 --out b.csv --force").code, 0);
    let both = workplace.run("predict model.json cohort.csv --cost-ratio 5 --flag-share 0.1");
    assert!(both.code == 1 && both.err.contains("cannot be used with"), "{}", both.err);
    let odd = workplace.run("predict model.json cohort.csv --flag-share 1.5");
    assert!(
        odd.code == 1 && odd.err.contains("the share to flag must be between 0 and 1, not 1.5"),
        "{}",
        odd.err
    );
    let exported: Value = serde_json::from_str(&workplace.run("export model.json --to json").out).unwrap();
    assert!(exported["log_odds"]["slope"].as_f64().unwrap() >= 0.0);
    assert_eq!(workplace.run("verify model.json").code, 0);
    let page = workplace.run("report model.json");
    assert_eq!(page.code, 0, "{}", page.err);
    let page = workplace.read("model.html");
    for words in [
        "Probabilities and thresholds",
        "Model card",
        "Unit of privacy",
        "Side channels",
        "SHA-256 of the weights",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_model_without_probabilities_says_how_to_get_them() {
    let workplace = trained("");
    let run = workplace.run("predict model.json cohort.csv --flag-share 0.1");
    assert!(run.code == 1 && run.err.contains("no probabilities"), "{}", run.err);
    assert!(run.err.contains("`--probabilities`") && run.err.contains("`pairdp calibrate`"), "{}", run.err);
    assert!(!workplace.run("predict model.json cohort.csv").out.contains("probability"));
    // By a public table, into a file of its own; a private one is refused.
    let run = workplace.run("calibrate model.json cohort.csv --out calibrated.json");
    assert!(run.code == 0 && run.out.contains("cost no budget"), "{}{}", run.out, run.err);
    assert_eq!(workplace.run("verify calibrated.json").code, 0);
    assert!(workplace.run("predict calibrated.json cohort.csv").out.starts_with("score,probability\n"));
    let again = workplace.run("calibrate model.json cohort.csv --out calibrated.json");
    assert!(again.code == 1 && again.err.contains("calibrated.json"), "{}", again.err);
    let schema = workplace.read("cohort.schema.toml").replace("private = false", "private = true");
    workplace.write("cohort.schema.toml", &schema);
    let run = workplace.run("calibrate model.json cohort.csv --out other.json");
    assert!(run.code == 1 && run.err.contains("the records are private"), "{}", run.err);
    assert!(!workplace.path("other.json").exists());
}

#[test]
fn curves_are_released_and_kept_by_the_ledger() {
    let workplace = trained("--probabilities");
    let schema = workplace.read("cohort.schema.toml").replace("private = false", "private = true");
    workplace.write("cohort.schema.toml", &schema);
    let created = workplace.run(
        "budget create stays --ledger clinic.ledger --epsilon 3 --delta 1e-5 --records 1500 --schema cohort.schema.toml",
    );
    assert_eq!(created.code, 0, "{}", created.err);
    let evaluate = "evaluate model.json cohort.csv --private --epsilon 1 --delta 1e-6 --curves --json";
    let run = workplace.run(&format!("{evaluate} --ledger clinic.ledger --dataset stays"));
    assert_eq!(run.code, 0, "{}", run.err);
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(told["curves"]["thresholds"].as_array().unwrap().len(), 15);
    assert_eq!(told["curves"]["calibration"].as_array().unwrap().len(), 16);
    let one = &told["curves"]["thresholds"][7];
    for name in ["flagged", "sensitivity", "false_positives", "precision"] {
        let number = |end: &str| one[name][end].as_f64().unwrap();
        assert!(number("low") <= number("value") && number("value") <= number("high"), "{name}: {one}");
    }
    let run = told["run"].as_str().unwrap();
    let again = workplace.run(&format!("budget result {run} --ledger clinic.ledger --json"));
    assert_eq!(again.code, 0, "{}", again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["curves"], told["curves"]);
    assert_eq!(again["auc"], told["auc"]);
    let text = workplace.run("evaluate model.json cohort.csv --private --epsilon 1 --curves");
    assert!(text.out.contains("false positives") && text.out.contains("95 times in 100"), "{}", text.out);
}

#[test]
fn expected_auc_is_simulated_and_said_to_be() {
    let workplace = Workplace::new();
    let plan = "plan --records 400 --features 4 --epsilon 1 --delta 1e-6 --curve";
    let run = workplace.run(&format!("{plan} --effect 0.8 --plot auc.svg"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("simulated:") && run.out.contains("your table will differ"), "{}", run.out);
    assert!(workplace.read("auc.svg").contains("best possible"));
    let told: Value =
        serde_json::from_str(&workplace.run(&format!("{plan} --effect 0.8 --json")).out).unwrap();
    assert_eq!((told["curve"].as_array().unwrap().len(), &told["simulated"]), (25, &Value::Bool(true)));
    // A picture of somebody else's stays.
    workplace.write("other.svg", "<svg></svg>");
    assert_eq!(workplace.run(&format!("{plan} --effect 0.8 --plot other.svg")).code, 1);
    for (arguments, why) in [
        (format!("{plan} --effect 0.5"), "best AUC of 0.5"),
        (format!("{plan} --effect 0.8 --positive-share 1"), "share of 1 positive"),
        (format!("{plan} --effect 0.8 --task regression"), "about AUC"),
        (plan.replace("400", "400000") + " --effect 0.8", "400000 records are not simulated"),
        (plan.to_owned(), "--effect"),
    ] {
        let run = workplace.run(&arguments);
        assert!(run.code == 1 && run.err.contains(why), "{arguments}: {}", run.err);
    }
}
