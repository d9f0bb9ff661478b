use super::*;
use pairdp_data::Encoding;
use pairdp_noise::Replay;
use pairdp_pairwise::score_cells::CELLS;
use pairdp_units::signed_time::signed_time;

const RECORDS: usize = 400;

/// A predictor whose score is the one feature, and records of which most are in order.
fn setting(task: Task) -> (Predictor, Vec<f64>, Vec<f64>) {
    let encoding = Encoding::of_ranges([[-1.0, 1.0]]).unwrap();
    let predictor = Predictor {
        task,
        encoding,
        label: None,
        feature_bound: 1.0,
        constant: 0.0,
        parameters: vec![1.0],
        representation: None,
        probabilities: None,
        random_features: None,
        score: pairdp_pairwise::Score::Linear,
    };
    let features: Vec<f64> = (0..RECORDS).map(|i| (i as f64 / 200.0) - 1.0).collect();
    let targets = (0..RECORDS).map(|i| if i % 5 == 0 || i > 300 { 1.0 } else { -1.0 }).collect();
    (predictor, features, targets)
}

fn table(features: &[f64], targets: &[f64]) -> Table {
    Table::new(features.to_vec(), 1, targets.to_vec())
}

fn evaluation(task: Task, epsilon: f64) -> Evaluation {
    Evaluation::calibrate(task, Unit::Record, RECORDS, Budget::new(epsilon, 0.0).unwrap()).unwrap()
}

/// A table of so many records whose scores are those of two normal classes, a share of them positive.
fn two_classes(records: usize, share: f64, source: &mut Replay) -> (Vec<f64>, Vec<f64>) {
    let mut unit = || ((source.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (0..records)
        .map(|_| {
            let normal = (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
            let target = if unit() < share { 1.0 } else { -1.0 };
            (smaller(larger(0.25 * normal + 0.12 * target, -1.0), 1.0), target)
        })
        .unzip()
}

/// How often each kind of interval holds the table's own value, at the worst of its points, and its mean length.
fn covered(records: usize, budget: Budget, runs: usize) -> Vec<(&'static str, f64, f64)> {
    let (predictor, ..) = setting(Task::Ranking);
    let evaluation = Evaluation::with_curves(Task::Ranking, Unit::Record, records, budget).unwrap();
    let mut source = Replay::from_seed(23);
    let names =
        ["AUC", "flagged", "sensitivity", "false positives", "precision", "calibration", "cell's share"];
    // Of each kind by point: how often there was a value, how often it was held, lengths.
    let mut found = vec![vec![[0.0; 3]; CELLS]; names.len()];
    for _ in 0..runs {
        let (features, targets) = two_classes(records, 0.3, &mut source);
        let (measured, histogram) =
            evaluation.answer(&predictor, table(&features, &targets), &mut source).unwrap();
        let histogram = histogram.unwrap();
        let scores = predictor.scores(&table(&features, &targets));
        let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
        let mut note = |kind: usize, point: usize, estimate: Estimate, exact: Option<f64>| {
            let Some(exact) = exact else { return };
            let cell = &mut found[kind][point];
            cell[0] += 1.0;
            cell[1] += f64::from(u8::from(estimate.low <= exact && exact <= estimate.high));
            cell[2] += estimate.high - estimate.low;
        };
        note(0, 0, measured.auc.unwrap(), pairdp_pairwise::measure::auc(&scores, &positive));
        let share = |chosen: &dyn Fn(usize) -> bool, of: &dyn Fn(usize) -> bool| {
            let all = (0..records).filter(|i| of(*i)).count();
            (all > 0).then(|| (0..records).filter(|i| of(*i) && chosen(*i)).count() as f64 / all as f64)
        };
        for (k, at) in histogram.thresholds().into_iter().enumerate() {
            let flagged = |i: usize| scores[i] >= at.score;
            note(1, k, at.flagged, share(&flagged, &|_| true));
            note(2, k, at.sensitivity, share(&flagged, &|i| positive[i]));
            note(3, k, at.false_positives, share(&flagged, &|i| !positive[i]));
            note(4, k, at.precision, share(&|i| positive[i], &flagged));
        }
        let stretch = predictor.stretch().unwrap();
        for (k, cell) in histogram.calibration().into_iter().enumerate() {
            let here = |i: usize| stretch.cell(scores[i]) == k;
            note(5, k, cell.positives, share(&|i| positive[i], &here));
            note(6, k, cell.records, share(&here, &|_| true));
        }
    }
    let summary = |(name, points): (&'static str, &Vec<[f64; 3]>)| {
        let seen = || points.iter().filter(|[all, ..]| *all >= 0.9 * runs as f64);
        let worst = seen().map(|[all, held, _]| held / all).fold(1.0, smaller);
        let length = seen().map(|[all, _, length]| length / all).sum::<f64>() / seen().count() as f64;
        (name, worst, length)
    };
    names.into_iter().zip(&found).map(summary).collect()
}

/// What the issue asks for: 94 of 100 intervals hold the table's own value in 1,000 runs, at every threshold and in every cell, for both
/// laws of noise. `cargo test -p pairdp-learn --lib intervals_of_curves -- --nocapture` prints the table of `docs/evidence.md`.
#[test]
fn intervals_of_curves_hold_the_exact_values_as_often_as_they_say() {
    for delta in [0.0, 1e-6] {
        for (records, epsilon) in [(500, 0.5), (500, 2.0), (5000, 0.5), (5000, 2.0)] {
            let found = covered(records, Budget::new(epsilon, delta).unwrap(), 1000);
            for (name, worst, length) in found {
                println!(
                    "n = {records}, ε = {epsilon}, δ = {delta:e}: {name} held {worst:.3}, length {length:.3}"
                );
                assert!(worst >= 0.94, "n = {records}, ε = {epsilon}, δ = {delta:e}: {name} {worst}");
            }
        }
    }
}

/// What the issue asks for: a root mean square error of at most 0.01 at n = 5,000, 30 % positive, with ε = 0.5 for AUC.
#[test]
fn the_released_auc_is_close() {
    let (predictor, ..) = setting(Task::Ranking);
    let budget = Budget::new(0.5, 0.0).unwrap();
    let evaluation = Evaluation::calibrate(Task::Ranking, Unit::Record, 5000, budget).unwrap();
    let mut source = Replay::from_seed(29);
    let (features, targets) = two_classes(5000, 0.3, &mut source);
    let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let exact = pairdp_pairwise::measure::auc(&features, &positive).unwrap();
    let squares: f64 = (0..1000)
        .map(|_| {
            let answer = evaluation.answer(&predictor, table(&features, &targets), &mut source).unwrap();
            (answer.0.auc.unwrap().value - exact).powi(2)
        })
        .sum();
    let error = (squares / 1000.0).sqrt();
    println!("root mean square error of AUC: {error:.4}");
    assert!(error <= 0.01, "{error}");
}

/// Curves and measures together cost what was claimed for them.
#[test]
fn curves_cost_what_was_claimed() {
    for (epsilon, delta) in [(1.0, 0.0), (0.5, 1e-6)] {
        let budget = Budget::new(epsilon, delta).unwrap();
        let evaluation = Evaluation::with_curves(Task::Ranking, Unit::Record, 1000, budget).unwrap();
        let Price { event, sampler_delta, .. } = evaluation.price(budget).unwrap();
        let left = Delta::new(larger(0.0, delta - sampler_delta.get())).unwrap();
        let spent = pairdp_accountant::epsilon_for(&event, left).unwrap().0.get();
        assert!(spent <= epsilon * (1.0 + 1e-9) && spent > 0.9 * epsilon, "{spent} of {epsilon}");
    }
    let budget = Budget::new(1.0, 0.0).unwrap();
    assert!(Evaluation::with_curves(Task::Survival, Unit::Record, 100, budget).is_err());
}

/// Of 20000 intervals 5 % may miss: 1000 ± 31. A right program is outside 865 … 1135 with probability below 1e−4 in all; the
/// intervals of AUC, which wait for two shares at once, are longer than they need be.
#[test]
fn intervals_hold_the_exact_values_as_often_as_they_say() {
    let (predictor, features, targets) = setting(Task::Classification);
    let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let scores = predictor.scores(&table(&features, &targets));
    let exact = pairdp_pairwise::measure::auc(&scores, &positive).unwrap();
    let scored =
        Scored { scores: &scores, targets: &targets, strata: &Strata::plain(scores.len()), cut: 0.0 };
    let shares = Shares::Classification.of(Norm::Sum, scored);
    for delta in [0.0, 1e-6] {
        let budget = Budget::new(1.0, delta).unwrap();
        let evaluation = Evaluation::calibrate(Task::Classification, Unit::Record, RECORDS, budget).unwrap();
        let mut source = Replay::from_seed(11);
        let mut missed = [0; 3];
        for _ in 0..20_000 {
            let measured = evaluation.answer(&predictor, table(&features, &targets), &mut source).unwrap().0;
            let misses = |estimate: Estimate, exact: f64| {
                i32::from(!(estimate.low <= exact && exact <= estimate.high))
            };
            missed[0] += misses(measured.auc.unwrap(), exact);
            missed[1] += misses(measured.accuracy.unwrap(), shares[2]);
            missed[2] += misses(measured.positives.unwrap(), 2.0 * shares[1]);
        }
        assert!(missed.iter().all(|missed| *missed <= 1135), "δ = {delta}: {missed:?}");
        assert!(missed[1] >= 865 && missed[2] >= 865, "δ = {delta}: {missed:?}");
    }
}

/// What the accountant makes of the release is the budget, and the ledger is told of the sampler.
#[test]
fn the_event_costs_the_budget() {
    for (epsilon, delta) in [(0.1, 1e-6), (2.0, 1e-9), (0.3, 0.0)] {
        let budget = Budget::new(epsilon, delta).unwrap();
        let evaluation = Evaluation::calibrate(Task::Ranking, Unit::Record, RECORDS, budget).unwrap();
        let Price { event, sampler_delta, .. } = evaluation.price(budget).unwrap();
        let left = Delta::new(larger(0.0, delta - sampler_delta.get())).unwrap();
        let cost = pairdp_accountant::epsilon_for(&event, left).unwrap().0.get();
        assert!(cost <= epsilon * (1.0 + 1e-9) && cost > epsilon * 0.999, "{cost} for {budget}");
        assert_eq!(sampler_delta.get() > 0.0, delta > 0.0);
        // Gaussian noise for an ℓ2 sensitivity of 1/n has ratio μ, and no more.
        if delta > 0.0 {
            let ratio = 1.0 / RECORDS as f64 / evaluation.scale();
            let largest = pairdp_accountant::gaussian::largest_ratio(budget).unwrap();
            assert!(ratio <= largest && ratio > largest * (1.0 - 1e-6), "{ratio} of {largest}");
        }
    }
    let budget = Budget::new(1.0, 1e-31).unwrap();
    assert!(Evaluation::calibrate(Task::Ranking, Unit::Record, RECORDS, budget).is_err());
}

/// The noise is what the claim needs: scale times ε is the ℓ1 sensitivity, and no less.
#[test]
fn noise_follows_sensitivity_and_budget() {
    for (task, shares) in [(Task::Ranking, 1.0), (Task::Classification, 2.0), (Task::Survival, 2.0)] {
        for epsilon in [0.01, 0.1, 1.0, 10.0] {
            let product = evaluation(task, epsilon).scale() * epsilon * RECORDS as f64 / shares;
            assert!((1.0..1.0 + 1e-6).contains(&product), "{product}");
        }
    }
}

#[test]
fn with_little_noise_the_exact_values_come_out() {
    let (predictor, features, targets) = setting(Task::Ranking);
    let positive: Vec<bool> = targets.iter().map(|target| *target > 0.0).collect();
    let exact = pairdp_pairwise::measure::auc(&features, &positive).unwrap();
    let measured = evaluation(Task::Ranking, 1e5)
        .answer(&predictor, table(&features, &targets), &mut Replay::from_seed(3))
        .unwrap()
        .0;
    assert!(
        (measured.auc.unwrap().value - exact).abs() < 1e-4 && measured.accuracy.is_none(),
        "{measured:?}"
    );
}

/// One class, and noise that drowns everything: answers stay within [0, 1] and in order.
#[test]
fn every_table_has_an_answer() {
    let (predictor, features, _) = setting(Task::Classification);
    for (targets, epsilon) in [(1.0, 1e-3), (-1.0, 1e-3), (1.0, 1.0), (-1.0, 100.0)] {
        for seed in 0..50 {
            let measured = evaluation(Task::Classification, epsilon)
                .answer(&predictor, table(&features, &vec![targets; RECORDS]), &mut Replay::from_seed(seed))
                .unwrap()
                .0;
            let found = [measured.auc, measured.positives, measured.accuracy];
            assert!(found.iter().all(Option::is_some));
            for estimate in found.into_iter().flatten() {
                let Estimate { value, low, high } = estimate;
                assert!(0.0 <= low && low <= value && value <= high && high <= 1.0, "{estimate:?}");
            }
        }
    }
}

/// A score that tells the time, with noise and censoring, and the intervals of Harrell's C: of 4000 at most 5 % may miss, 200 ± 14, and
/// as two shares are waited for at once fewer do. A right program has more than 260 with probability below 1e−4.
#[test]
fn intervals_of_concordance_hold_it_as_often_as_they_say() {
    let (predictor, features, _) = setting(Task::Survival);
    let time =
        |i: usize| signed_time((1.0 - features[i]) + 0.4 * ((i * 37 % 11) as f64), !i.is_multiple_of(3), 5.0);
    let targets: Vec<f64> = (0..RECORDS).map(time).collect();
    let exact = pairdp_pairwise::measure::concordance_index(&features, &targets, None).unwrap();
    assert!(exact > 0.55 && exact < 0.9, "{exact}");
    for delta in [0.0, 1e-6] {
        for epsilon in [0.3, 3.0] {
            let budget = Budget::new(epsilon, delta).unwrap();
            let evaluation = Evaluation::calibrate(Task::Survival, Unit::Record, RECORDS, budget).unwrap();
            let mut source = Replay::from_seed(17);
            let (mut missed, mut off) = (0, 0.0);
            for _ in 0..4000 {
                let measured =
                    evaluation.answer(&predictor, table(&features, &targets), &mut source).unwrap().0;
                let Estimate { value, low, high } = measured.concordance.unwrap();
                assert!(0.0 <= low && low <= value && value <= high && high <= 1.0 && measured.auc.is_none());
                missed += i32::from(!(low <= exact && exact <= high));
                off += (value - exact) * (value - exact);
            }
            assert!(missed <= 260, "δ = {delta}, ε = {epsilon}: {missed}");
            let error = (off / 4000.0_f64).sqrt();
            assert!(epsilon < 1.0 || error < 0.02, "δ = {delta}: an error of {error}");
        }
    }
    // Nobody had an event: it is all noise, and no error.
    let censored = vec![-1.5; RECORDS];
    let measured = evaluation(Task::Survival, 1.0)
        .answer(&predictor, table(&features, &censored), &mut Replay::from_seed(5))
        .unwrap()
        .0;
    let Estimate { low, high, .. } = measured.concordance.unwrap();
    assert!(low <= 0.0 && high >= 1.0, "{measured:?}");
}

#[test]
fn what_has_no_proof_is_refused() {
    let budget = Budget::new(1.0, 0.0).unwrap();
    for task in [Task::Metric, Task::Regression] {
        assert!(matches!(
            Evaluation::calibrate(task, Unit::Record, 100, budget),
            Err(LearnError::NoPrivateMeasure { .. })
        ));
    }
    assert!(Evaluation::calibrate(Task::Ranking, Unit::Record, 1, budget).is_err());
    let (predictor, features, targets) = setting(Task::Ranking);
    let fewer = table(&features[1..], &targets[1..]);
    assert!(evaluation(Task::Ranking, 1.0).answer(&predictor, fewer, &mut Replay::from_seed(1)).is_err());
}
