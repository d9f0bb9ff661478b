//! Models whose scores were computed by a function that is not ours, as users of the command meet them: trained elsewhere, verified on a
//! condition, and not scored here.

use crate::common::Workplace;
use pairdp_certificate::Condition;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{Settings, Training};
use pairdp_release::{Checkpointer, ForeignScore, LearnError};
use pairdp_units::Budget;
use pairdp_units::directed::{larger, smaller};
use serde_json::{Value, json};
use std::sync::Arc;

/// The first number of a row, times a weight.
struct First;

impl ForeignScore for First {
    fn condition(&self) -> Condition {
        let source = |name| json!({ "name": name, "sha256": "ab".repeat(32) });
        let packages = json!({ "numpy": "2.0.0" });
        let condition = json!({ "class": "conditional", "rests_on": Condition::RESTS_ON, "adapter": source("adapter"),
            "function": source("clinic.first"), "packages": packages });
        serde_json::from_value(condition).unwrap()
    }

    fn initial(&self, _: u64) -> Result<Vec<f64>, String> {
        Ok(vec![0.0])
    }

    fn scores(&self, w: &[f64], rows: &[f64], columns: usize) -> Result<Vec<f64>, String> {
        Ok(rows.chunks_exact(columns).map(|row| w[0] * row[0]).collect())
    }

    fn weighted_clipped_gradient(
        &self,
        _: &[f64],
        rows: &[f64],
        columns: usize,
        charges: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, String> {
        let cut = |value: f64| larger(-bound, smaller(value, bound));
        Ok(vec![rows.chunks_exact(columns).zip(charges).map(|(row, charge)| charge * cut(row[0])).sum()])
    }
}

fn trained() -> Workplace {
    let workplace = Workplace::new();
    let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
    let cells: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 101) / 50.0 - 1.0).collect();
    let targets = cells.chunks_exact(2).map(|row| row[0].signum()).collect();
    let table = Table { targets, ..encoding.encode_matrix(&cells, 2).unwrap() };
    let settings = Settings { foreign_parameters: Some(1), steps: Some(5), ..Settings::default() };
    let training = Training { settings, encoding, label: None, budget: Budget::new(1.0, 1e-6).unwrap() };
    let checkpointer = &mut Checkpointer::none();
    let score: Arc<dyn ForeignScore> = Arc::new(First);
    let payer = &mut pairdp_accountant::Unbooked;
    let run =
        training.open_scored(Some(score), payer, checkpointer, || Ok::<_, LearnError>(table.into())).unwrap();
    workplace.write("model.json", &run.train(checkpointer).unwrap().to_json().unwrap());
    workplace
}

#[test]
fn the_answer_is_yes_if_and_counts_as_yes_only_where_that_is_accepted() {
    let workplace = trained();
    let run = workplace.run("verify model.json");
    assert_eq!(run.code, 1);
    for words in [
        "yes, if the clip was as stated",
        Condition::RESTS_ON,
        "clinic.first",
        "numpy 2.0.0",
        "--accept-foreign",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let accepted = workplace.run("verify model.json --accept-foreign");
    assert_eq!(accepted.code, 0);
    assert!(accepted.out.contains("yes, if the clip was as stated"));
    let object: Value = serde_json::from_str(&workplace.run("verify model.json --json").out).unwrap();
    assert_eq!((&object["holds"], &object["relations_hold"]), (&false.into(), &true.into()));
    assert_eq!(object["condition"]["class"], "conditional");
    // What does not hold is a no, whatever is accepted.
    let mut model: Value = serde_json::from_str(&workplace.read("model.json")).unwrap();
    model["certificate"]["claim"]["epsilon"] = 0.5.into();
    workplace.write("less.json", &model.to_string());
    let refused = workplace.run("verify less.json --accept-foreign");
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("no: the certificate"), "{}", refused.out);
}

#[test]
fn reports_say_what_the_promise_rests_on() {
    let workplace = trained();
    let run = workplace.run("report model.json --out model.html");
    assert_eq!(run.code, 0, "{}", run.err);
    let page = workplace.read("model.html");
    for words in [
        "if the clip was as stated",
        Condition::RESTS_ON,
        "clinic.first",
        "a function in Python with 1 parameters",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("certificate verified<"));
}

#[test]
fn rows_are_not_scored_here() {
    let workplace = trained();
    workplace.write("t.csv", "x0,x1\n0.5,0.1\n");
    for command in [
        "predict model.json t.csv",
        "export model.json --to json",
        "show model.json",
        "evaluate model.json t.csv",
    ] {
        let run = workplace.run(command);
        assert_ne!(run.code, 0, "{command}");
        assert!(
            run.err.contains("function in Python") && run.err.contains("scores=..."),
            "{command}: {}",
            run.err
        );
    }
}
