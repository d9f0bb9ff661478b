//! What a model says of its columns, and of a row.

use crate::common::Workplace;
use serde_json::Value;

fn trained() -> Workplace {
    let workplace = Workplace::with_cohort(2000);
    let run = workplace.run("train cohort.csv --epsilon 1 --delta 1e-6 --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    workplace
}

#[test]
fn every_column_is_told_once_with_its_places_and_noise() {
    let workplace = trained();
    let text = workplace.run("show model.json").out;
    for words in
        ["column", "lowest, at", "highest, at", "`emergency`", "±", "scaled down", "every row starts at"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(text.matches("creatinine").count(), 1, "{text}");
    let told: Value = serde_json::from_str(&workplace.run("show model.json --json").out).unwrap();
    let creatinine: Vec<&Value> = told["effects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|effect| effect["column"] == "creatinine")
        .collect();
    assert_eq!((&creatinine[0]["of"], &creatinine[1]["of"]), (&"lowest".into(), &"highest".into()));
    assert!(creatinine.iter().all(|effect| effect["noise"].as_f64().unwrap() > 0.0));
}

/// With as many reasons as columns they add up, to three digits each.
#[test]
fn reasons_are_the_largest_first_and_add_up_to_the_score() {
    let workplace = trained();
    let told: Value = serde_json::from_str(&workplace.run("show model.json --json").out).unwrap();
    let start = told["start"].as_f64().unwrap();
    let rows = workplace.run("predict model.json cohort.csv --reasons=9").out;
    for row in rows.lines().skip(1).take(50) {
        let (score, reasons) = row.split_once(',').unwrap();
        let adds: Vec<f64> =
            reasons.split("; ").map(|reason| reason.rsplit_once(' ').unwrap().1.parse().unwrap()).collect();
        assert!(adds.is_sorted_by(|a, b| a.abs() >= b.abs()), "{row}");
        let sum = start + adds.iter().sum::<f64>();
        assert!((sum - score.parse::<f64>().unwrap()).abs() < 0.02, "{row}: {sum}");
    }
    let three = workplace.run("predict model.json cohort.csv --reasons").out;
    assert!(three.lines().skip(1).all(|row| row.matches("; ").count() == 2));
}

#[test]
fn a_metric_has_no_scores_to_explain_and_a_baseline_no_noise() {
    let workplace = trained();
    assert_eq!(
        workplace.run("train cohort.csv --task metric --epsilon 1 --delta 1e-6 --out metric.json").code,
        0
    );
    for command in ["show metric.json", "predict metric.json cohort.csv --reasons"] {
        let run = workplace.run(command);
        assert!(run.code == 1 && run.err.contains("no scores"), "{}", run.err);
    }
    assert_eq!(workplace.run("baseline cohort.csv --out ceiling.json").code, 0);
    let run = workplace.run("show ceiling.json");
    assert!(run.out.contains("trained without privacy") && run.out.contains("no noise in it"), "{}", run.out);
}
