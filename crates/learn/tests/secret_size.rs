//! Tables of secret size: whatever record comes or goes, what a curator releases moves by no more than its certificate says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::{Algorithm, Average, Released};
use pairdp_data::{Encoding, Table};
use pairdp_learn::{Settings, Training};
use pairdp_model::{PrivateModel, Task, certified_problem};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{Neighbours, Problem, Records};
use pairdp_release::{Curator, LearnError, Mechanism, Plan};
use pairdp_units::Budget;
use pairdp_verify::Verdict;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

const CAP: usize = 6;
const D: usize = 2;

fn settings(task: Task, algorithm: Algorithm) -> Settings {
    Settings {
        task,
        algorithm: Some(algorithm),
        intercept: (task != Task::Ranking && task != Task::Metric).then_some(false),
        max_records: Some(CAP),
        feature_bound: Some(1.0),
        ..Settings::default()
    }
}

fn problem(task: Task, algorithm: Algorithm) -> Problem {
    settings(task, algorithm).problem(D).unwrap()
}

type Row = ([f64; D], f64);

fn records(rows: &[Row], kappa: f64) -> Records {
    let features = rows.iter().flat_map(|(x, _)| *x).collect();
    Records::with_targets(features, D, rows.iter().map(|(_, y)| *y).collect(), kappa).unwrap()
}

/// What is released at `w` for a table, with the same noise every time; and how far neighbours may move it.
fn released(problem: Problem, algorithm: Algorithm, rows: &[Row], w: &[f64]) -> (Vec<f64>, f64) {
    let plan = Plan::new(algorithm, 1, 1.0, Average::Last).unwrap();
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let mechanism = Mechanism::calibrate(problem, plan, 0, D, budget).unwrap();
    let mut curator =
        Curator::open(records(rows, problem.feature_bound()), mechanism, Replay::from_seed(3)).unwrap();
    let moments = algorithm == Algorithm::Moments;
    let values = if moments { curator.noisy_moments().unwrap() } else { curator.noisy_gradient(w).unwrap() };
    let claimed = match curator.into_released() {
        Released::Gradients { releases, .. } => releases[0].sensitivity + 2.0 * releases[0].kernel_error,
        Released::Moments { sensitivity, error, .. } => sensitivity + 2.0 * error,
        other => panic!("{other:?}"),
    };
    (values, claimed)
}

/// The largest move over claims, for tables of fewer records than the cap, as many, and more; or of no more, if that is promised.
fn search(task: Task, algorithm: Algorithm, promised: bool, rounds: usize) -> f64 {
    let mut random = Replay::from_seed(17);
    let mut uniform = move || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let problem = Settings { promised, ..settings(task, algorithm) }.problem(D).unwrap();
    let mut worst = 0.0;
    for round in 0..rounds {
        let mut row = || -> Row {
            // Long rows are extreme, and so are those along one axis.
            let x = if uniform() > 0.0 {
                [4.0 * uniform().signum(), 0.0]
            } else {
                [4.0 * uniform(), 4.0 * uniform()]
            };
            let y = if task == Task::Regression { uniform() * 2.0 } else { uniform().signum() };
            (x, y)
        };
        let size = [0, 1, 2, CAP - 1, CAP, CAP + 2][round % 6];
        let size = if promised { size.min(CAP - 1) } else { size };
        let opposite = round % 2 == 1;
        let mut rows: Vec<Row> =
            (0..size).map(|_| if opposite { ([-4.0, 0.0], -1.0) } else { row() }).collect();
        let new = if opposite { ([4.0, 0.0], 1.0) } else { row() };
        let place = (round / 6) % (size + 1);
        let length = problem.parameters(D);
        let w: Vec<f64> = (0..length).map(|_| if round % 4 < 2 { 0.0 } else { 0.3 * uniform() }).collect();
        let (before, claimed) = released(problem, algorithm, &rows, &w);
        rows.insert(place, new);
        let (after, _) = released(problem, algorithm, &rows, &w);
        let moved = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        if moved / claimed > worst {
            worst = moved / claimed;
        }
    }
    worst
}

/// Rounding to the lattice is not part of the sensitivity: a step of σ·2^−bits, far below 1e-3 of Δ.
#[test]
fn no_record_moves_a_release_further_than_claimed() {
    for (task, algorithm, reached) in [
        (Task::Ranking, Algorithm::NoisyGd, 0.99),
        (Task::Metric, Algorithm::NoisyGd, 0.4),
        (Task::Classification, Algorithm::NoisyGd, 0.8),
        (Task::Regression, Algorithm::NoisyGd, 0.6),
        (Task::Ranking, Algorithm::Moments, 0.9),
        (Task::Regression, Algorithm::Moments, 0.9),
    ] {
        let worst = search(task, algorithm, false, 1200);
        assert!(worst <= 1.001, "{task:?} {algorithm:?}: {worst}");
        assert!(worst >= reached, "the search is too weak to mean anything: {task:?} {algorithm:?} {worst}");
    }
}

/// Where nothing is pushed out, less noise hides a record, and the search still reaches what is claimed.
#[test]
fn no_record_moves_a_release_further_than_claimed_below_a_promise() {
    for (task, algorithm, spared, reached) in [
        (Task::Ranking, Algorithm::NoisyGd, 1.0, 0.99),
        (Task::Metric, Algorithm::NoisyGd, 1.3, 0.5),
        (Task::Classification, Algorithm::NoisyGd, 1.5, 0.99),
        (Task::Regression, Algorithm::NoisyGd, 1.5, 0.9),
        (Task::Ranking, Algorithm::Moments, 1.6, 0.99),
        (Task::Regression, Algorithm::Moments, 1.6, 0.99),
    ] {
        let worst = search(task, algorithm, true, 1200);
        assert!(worst <= 1.001, "{task:?} {algorithm:?}: {worst}");
        assert!(worst >= reached, "the search is too weak to mean anything: {task:?} {algorithm:?} {worst}");
        let claimed = |promised| {
            let problem = Settings { promised, ..settings(task, algorithm) }.problem(D).unwrap();
            released(problem, algorithm, &[], &vec![0.0; problem.parameters(D)]).1
        };
        assert!(claimed(false) >= spared * claimed(true) * 0.999, "{task:?} {algorithm:?}");
    }
}

/// Noise for records that push none out is too little for those that do: a broken promise ends the run before any release, and
/// certificates have the promise in the name of their neighbours.
#[test]
fn a_broken_promise_is_refused_and_a_kept_one_is_certified() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for algorithm in [None, Some(Algorithm::NoisyGd), Some(Algorithm::Moments)] {
        for task in [Task::Ranking, Task::Classification] {
            let promised =
                Settings { task, algorithm, max_records: Some(40), promised: true, ..Settings::default() };
            for rows in [0, 39, 40, 41] {
                let table = Table {
                    features: (0..rows * D).map(|i| 0.01 * i as f64 - 0.3).collect(),
                    columns: D,
                    targets: (0..rows).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
                    rows,
                    owners: None,
                };
                let (settings, encoding) = (promised.clone(), Encoding::unscaled(D));
                let training = Training { settings, encoding, label: None, budget };
                match training.fit(table) {
                    Err(LearnError::BrokenPromise(40)) => assert_eq!(rows, 41),
                    Err(other) => panic!("{other}"),
                    Ok(model) => {
                        assert!(rows <= 40);
                        assert_eq!(model.certificate.claim.adjacency, "add-remove-promised");
                        let report = verify(&model);
                        assert!(report.holds(), "{:?}", report.failures().collect::<Vec<_>>());
                        // The same noise does not hold without the promise.
                        let text = model.to_json().unwrap();
                        let without = text.replace("add-remove-promised", "add-remove-one");
                        let pairs = task == Task::Ranking && algorithm == Some(Algorithm::NoisyGd);
                        assert_eq!(
                            pairdp_verify::verify(&without).unwrap().holds(),
                            pairs,
                            "{task:?} {algorithm:?}"
                        );
                    }
                }
            }
        }
    }
    let nothing = Settings { promised: true, ..Settings::default() };
    assert!(matches!(nothing.problem(D), Err(LearnError::PromiseOfNothing)));
}

#[test]
fn records_beyond_the_cap_are_not_looked_at() {
    let problem = problem(Task::Ranking, Algorithm::NoisyGd);
    let mut rows: Vec<Row> =
        (0..CAP).map(|i| ([0.1 * i as f64, 0.5], if i % 2 == 0 { 1.0 } else { -1.0 })).collect();
    let at = |rows: &[Row]| released(problem, Algorithm::NoisyGd, rows, &[0.1, 0.2]).0;
    let full = at(&rows);
    rows.push(([0.9, -0.9], 1.0));
    assert_eq!(at(&rows), full);
}

#[test]
fn models_of_tables_of_any_size_verify_and_do_not_tell_it() {
    for rows in [0, 1, 5, 400] {
        let rows: Vec<Row> =
            (0..rows).map(|i| ([0.001 * f64::from(i), 0.2], if i % 3 == 0 { 1.0 } else { -1.0 })).collect();
        for algorithm in [Algorithm::NoisyGd, Algorithm::Moments] {
            let settings = Settings { max_records: Some(300), ..settings(Task::Ranking, algorithm) };
            let budget = Budget::new(1.0, 1e-6).unwrap();
            let table = Table {
                features: rows.iter().flat_map(|(x, _)| *x).collect(),
                columns: D,
                targets: rows.iter().map(|(_, y)| *y).collect(),
                rows: rows.len(),
                owners: None,
            };
            let training = Training { settings, encoding: Encoding::unscaled(D), label: None, budget };
            let model = training.fit(table).unwrap();
            assert_eq!(
                certified_problem(&model.certificate).unwrap().neighbours(),
                Neighbours::AddRemoveOne { most: 300 }
            );
            let report = verify(&model);
            assert!(report.holds(), "{:?}", report.checks);
            let certificate = model.certificate;
            assert_eq!((certificate.records, certificate.claim.adjacency.as_str()), (300, "add-remove-one"));
        }
    }
}

#[test]
fn algorithms_without_a_proof_are_refused() {
    for algorithm in Algorithm::ALL {
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let calibrated = settings(Task::Ranking, algorithm).prepare(0, &Encoding::unscaled(D), budget);
        let proved = matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments);
        assert_eq!(calibrated.is_ok(), proved, "{algorithm:?}");
        if !proved {
            assert!(
                matches!(calibrated, Err(LearnError::SecretSize(_) | LearnError::FixedSteps { .. })),
                "{algorithm:?}"
            );
        }
    }
}
