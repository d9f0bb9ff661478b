//! `pairdp account`.

use crate::common::Workplace;
use serde_json::Value;

fn answer(arguments: &str) -> Value {
    let run = Workplace::new().run(&format!("account {arguments} --json"));
    assert_eq!(run.code, 0, "{}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn noise_and_budget_answer_each_other() {
    let sampled = "--records 5000 --batch 2 --steps 5000 --delta 4e-8";
    let multiplier = answer(&format!("{sampled} --epsilon 1"))["noise_multiplier"].as_f64().unwrap();
    assert!((0.7090..=0.7112).contains(&multiplier), "{multiplier}");
    let back = answer(&format!("{sampled} --noise-multiplier {multiplier}"));
    let (upper, lower) = (back["epsilon"].as_f64().unwrap(), back["lower_bound"].as_f64().unwrap());
    assert!(upper <= 1.0 && upper > 0.99 && lower <= upper && lower > 0.9, "{back}");
}

/// Without sampling the exact Gaussian curve answers: μ = √T/multiplier.
#[test]
fn no_batch_means_no_sampling() {
    let found =
        answer("--records 10 --steps 100 --epsilon 1 --delta 1e-6")["noise_multiplier"].as_f64().unwrap();
    assert!((found - 10.0 / 0.236_70).abs() < 0.01, "{found}");
    assert_eq!(answer("--records 10 --noise-multiplier 2 --delta 1e-6")["method"], "gaussian");
    assert!(answer("--records 10 --noise-multiplier 2 --delta 0")["epsilon"].is_null());
    assert_eq!(
        answer("--records 10 --steps 0 --noise-multiplier 2 --delta 1e-6")["epsilon"].as_f64(),
        Some(0.0)
    );
}

#[test]
fn bad_questions_are_refused() {
    for arguments in [
        "--records 10 --delta 1e-6",
        "--records 10 --delta 2 --noise-multiplier 1",
        "--records 10 --delta 1e-6 --noise-multiplier NaN",
        "--records 10 --delta 1e-6 --noise-multiplier -1",
        "--records 10 --batch 11 --delta 1e-6 --noise-multiplier 1",
        "--records 10 --delta 1e-6 --epsilon 0",
        "--records 10 --delta 0 --epsilon 1",
        "--records 10 --delta 1e-6 --epsilon 1 --noise-multiplier 1",
    ] {
        let run = Workplace::new().run(&format!("account {arguments}"));
        assert_eq!(run.code, 1, "{arguments}: {}", run.out);
        assert!(run.err.starts_with("error: "), "{}", run.err);
    }
}

#[test]
fn issue_18_18_small_budgets_are_shown_as_they_are() {
    let workplace = Workplace::with_cohort(100);
    for (epsilon, shown) in
        [("1e-12", "1e-12"), ("0.30000000001", "0.30001"), ("1e-5", "1e-5"), ("2.5", "2.5")]
    {
        let run =
            workplace.run(&format!("train cohort.csv --epsilon {epsilon} --delta 1e-6 --out {epsilon}.json"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.out.contains(&format!("private at ε = {shown}, δ = 1e-6 for")), "{}", run.out);
        let run = workplace.run(&format!("account --records 100 --steps 1 --epsilon {epsilon} --delta 1e-6"));
        assert!(run.out.contains(&format!("gives ε = {shown} at δ = 1e-6")), "{}", run.out);
    }
    let create = "budget create stays --ledger c.ledger --epsilon 1 --delta 1e-6 --records 100 --schema cohort.schema.toml";
    assert_eq!(workplace.run(create).code, 0);
    let pay = "--delta 1e-6 --ledger c.ledger --dataset stays --out paid.json";
    assert_eq!(workplace.run(&format!("train cohort.csv --epsilon 1e-7 {pay}")).code, 0);
    let show = workplace.run("budget show --ledger c.ledger");
    let spent = show.out.lines().find_map(|line| line.trim().strip_prefix("spent    ε = ")).unwrap();
    let spent: f64 = spent.parse().unwrap();
    assert!((1e-7..1.1e-7).contains(&spent), "{}", show.out);
}
