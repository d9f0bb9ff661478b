//! What public facts alone say against a run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::Encoding;
use pairdp_learn::Settings;
use pairdp_model::Task;
use pairdp_units::{Budget, Unit};

fn cautions(task: Task, records: usize, columns: usize, epsilon: f64, delta: f64) -> Vec<String> {
    let settings = Settings { task, ..Settings::default() };
    let budget = Budget::new(epsilon, delta).unwrap();
    settings.prepare(records, &Encoding::unscaled(columns), budget).unwrap().cautions().unwrap()
}

#[test]
fn a_good_plan_has_nothing_against_it() {
    for task in [Task::Ranking, Task::Classification, Task::Regression] {
        assert_eq!(cautions(task, 5000, 9, 1.0, 1e-6), [""; 0], "{task:?}");
    }
}

/// What is said to be enough is enough, and a tenth less is not.
#[test]
fn the_records_and_the_epsilon_that_are_named_would_do() {
    for (task, delta) in
        [(Task::Ranking, 1e-6), (Task::Ranking, 0.0), (Task::Classification, 1e-6), (Task::Regression, 1e-6)]
    {
        let said = cautions(task, 500, 20, 0.05, delta);
        assert_eq!(said.len(), 1, "{said:?}");
        let number = |after: &str| -> f64 {
            let rest = said[0].split(after).nth(1).unwrap_or_else(|| panic!("{said:?}"));
            rest.split_whitespace().next().unwrap().trim_end_matches(',').parse().unwrap()
        };
        let (records, epsilon) = (number("takes about "), number("or ε = "));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of records")]
        let enough =
            |records: f64, epsilon: f64| cautions(task, records as usize, 20, epsilon, delta).is_empty();
        assert!(enough(records, 0.05) && !enough(0.9 * records - 100.0, 0.05), "{said:?}");
        assert!(enough(500.0, epsilon) && !enough(500.0, 0.9 * epsilon), "{said:?}");
    }
}

#[test]
fn no_epsilon_is_named_that_would_protect_hardly_anybody() {
    let said = cautions(Task::Regression, 20, 20, 0.1, 1e-6);
    assert!(said[0].contains("takes about") && !said[0].contains("or ε ="), "{said:?}");
}

#[test]
fn a_delta_above_one_in_n_and_an_epsilon_above_10_are_told() {
    let said = cautions(Task::Ranking, 5000, 9, 1.0, 3e-4);
    assert!(said.len() == 1 && said[0].starts_with("δ = 3e-4 is more than one in 5000 records"), "{said:?}");
    let said = cautions(Task::Ranking, 5000, 9, 12.0, 1e-6);
    assert!(said.len() == 1 && said[0].starts_with("ε = 12 protects hardly anybody"), "{said:?}");
    let settings = Settings { unit: Unit::Person, ..Settings::default() };
    let budget = Budget::new(1.0, 3e-4).unwrap();
    let spec = settings.prepare(5000, &Encoding::unscaled(9), budget).unwrap();
    assert!(spec.cautions().unwrap()[0].contains("all records of some person"));
}
