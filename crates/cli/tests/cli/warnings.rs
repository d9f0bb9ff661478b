//! What public facts alone say against a run, wherever a budget is typed.

use crate::common::Workplace;
use serde_json::Value;

#[test]
fn training_warns_before_it_begins_and_goes_on() {
    let workplace = Workplace::with_cohort(100);
    let run = workplace.run("train cohort.csv --epsilon 0.1 --delta 0.02 --out model.json");
    assert_eq!(run.code, 0, "{}", run.err);
    for words in [
        "warning: δ = 0.02 is more than one in 100 records",
        "warning: the noise will drown most of the signal: do not expect the order to be much better than chance",
    ] {
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    let run = workplace.run("train cohort.csv --epsilon 0.1 --delta 1e-6 --out other.json --json");
    let told: Value = serde_json::from_str(&run.out).unwrap();
    assert!(run.err.is_empty() && told["warnings"].as_array().unwrap().len() == 1, "{told}");

    assert_eq!(workplace.run("report model.json").code, 0);
    let page = workplace.read("model.html");
    assert_eq!(page.matches("<strong>Warning:</strong>").count(), 2);
}

#[test]
fn plans_say_how_many_records_or_which_epsilon_would_do() {
    let workplace = Workplace::new();
    for task in ["ranking", "classification", "regression"] {
        let plan = format!("plan --records 100 --features 20 --epsilon 0.5 --delta 1e-6 --task {task}");
        let run = workplace.run(&plan);
        assert!(
            run.out.contains("warning: the noise will drown") && run.out.contains("takes about"),
            "{}",
            run.out
        );
    }
    let run = workplace.run("plan --records 100000 --features 20 --epsilon 11 --delta 1e-9");
    assert!(run.out.contains("warning: ε = 11 protects hardly anybody"), "{}", run.out);
    let run = workplace.run("plan --records 100000 --features 20 --epsilon 1 --delta 1e-9");
    assert!(!run.out.contains("warning"), "{}", run.out);
}
