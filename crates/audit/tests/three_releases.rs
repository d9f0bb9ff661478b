//! Labels by cells of the score, released after training: audits of all releases together come close to the claim and not beyond it, and faults
//! that are put in on purpose are found. Faults are built around the real code, which has no switch for them. Seeds are fixed, so
//! that a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::{Unbooked, gaussian};
use pairdp_audit::{AuditError, Family, Numbers, Report, Runs, Verdict, report};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{RepresentationKind, Settings, Training, TrainingSpec};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::score_cells::{CELLS, CellCounts, Stretch, sensitivity};
use pairdp_pairwise::{Records, Strata, moments};
use pairdp_release::{Checkpointer, Exchange, LearnError, Mechanism};
use pairdp_units::Budget;

const RECORDS: usize = 20;

fn claim() -> Budget {
    Budget::new(1.0, 1e-3).unwrap()
}

/// One release of moments on columns as ranges put them, then counts.
fn settings() -> Settings {
    Settings {
        algorithm: Some(Algorithm::Moments),
        representation: Some(RepresentationKind::Ranges),
        probabilities: Some(true),
        feature_bound: Some(1.0),
        ..Settings::default()
    }
}

fn spec() -> TrainingSpec {
    settings().prepare(RECORDS, &Encoding::unscaled(1), claim()).unwrap()
}

/// All records at the same end but one, which is at the other end, or like the others: both releases move as far as they can.
fn features_and_targets(first: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut features, targets) = (vec![1.0; RECORDS], vec![-1.0; RECORDS]);
    if first {
        features[0] = -1.0;
    }
    (features, targets)
}

fn records(first: bool) -> Records {
    let (features, targets) = features_and_targets(first);
    Records::with_targets(features, 1, targets, 1.0).unwrap()
}

fn run(first: bool, source: Replay) -> Vec<Exchange> {
    let (features, targets) = features_and_targets(first);
    let table = Table::new(features, 1, targets);
    let training =
        Training { settings: settings(), encoding: Encoding::unscaled(1), label: None, budget: claim() };
    let open = training.open(&mut Unbooked, &mut Checkpointer::none(), || Ok::<_, LearnError>(table.into()));
    open.unwrap().releases(source).unwrap().1
}

fn moments_of(first: bool, mechanism: &Mechanism) -> (Vec<f64>, f64) {
    let Mechanism::Moments(own) = mechanism else { unreachable!() };
    let kappa = spec().problem().feature_bound();
    let exact = moments::query(own.weights(), kappa, own.target(), &records(first), RECORDS, Par::Sequential);
    (exact, own.sigma())
}

fn counts_of(first: bool, weights: &[f64]) -> Vec<f64> {
    let reach = weights[0].abs();
    let stretch = Stretch::new(-reach, reach).unwrap_or(Stretch { low: -1.0, high: 1.0 });
    CellCounts::of_records(stretch, weights, 0.0, &records(first), Par::Sequential).query().unwrap()
}

/// The logarithm of how much likelier the first of two exact answers makes a noisy one.
fn ratio(noisy: &[f64], first: &[f64], second: &[f64], sigma: f64) -> f64 {
    let square = |exact: &[f64]| noisy.iter().zip(exact).map(|(y, q)| (y - q) * (y - q)).sum::<f64>();
    (square(second) - square(first)) / (2.0 * sigma * sigma)
}

fn look(mechanism: &Mechanism, trace: &[Exchange]) -> [f64; 2] {
    let [training, counts] = trace else { panic!("two releases") };
    let ((a, sigma), (b, _)) = (moments_of(true, mechanism), moments_of(false, mechanism));
    let of_cells = mechanism.probability_noise().unwrap().sigma;
    let (c, d) = (counts_of(true, &counts.at), counts_of(false, &counts.at));
    [ratio(&training.answer, &a, &b, sigma), ratio(&counts.answer, &c, &d, of_cells)]
}

fn collect(runs: usize, run: impl Fn(bool, u64) -> f64 + Sync) -> Report {
    let mut all = Runs::new(String::new());
    let one = |first: bool, k: u64| Ok::<_, AuditError>(vec![run(first, k), 0.0]);
    all.collect(runs, &mut Replay::from_seed(99), one, |_| Ok::<_, AuditError>(())).unwrap();
    report(all.all(), Numbers::Likelihood, &Family::Gaussian, claim(), None, 0.999).unwrap()
}

fn fresh(run: u64) -> Replay {
    Replay::from_seed(9_000 + run)
}

fn normal(source: &mut impl Source) -> f64 {
    let mut unit = || ((source.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos()
}

fn noisy(exact: &[f64], sigma: f64, source: &mut Replay) -> Vec<f64> {
    exact.iter().map(|value| value + sigma * normal(source)).collect()
}

#[test]
fn all_releases_together_stay_below_the_claim() {
    let mechanism = spec().mechanism().clone();
    let report = collect(4000, |first, k| look(&mechanism, &run(first, fresh(k))).iter().sum());
    println!("moments and counts: {:.3} of 1", report.audited_lower_bound);
    assert_eq!(report.verdict, Verdict::NotRefuted, "{report:?}");
    assert!((0.4..1.0).contains(&report.audited_lower_bound), "{report:?}");
}

/// With noise for the whole budget on the counts alone, they show most of it: the sensitivity is not too large.
#[test]
fn counts_with_the_whole_budget_show_80_percent_of_it() {
    let sigma = sensitivity(false) / gaussian::largest_ratio(claim()).unwrap();
    let (a, b) = (counts_of(true, &[1.0]), counts_of(false, &[1.0]));
    let report = collect(20_000, |first, k| {
        ratio(&noisy(if first { &a } else { &b }, sigma, &mut fresh(k)), &a, &b, sigma)
    });
    println!("counts alone: {:.3} of 1", report.audited_lower_bound);
    assert!((0.8..=1.0).contains(&report.audited_lower_bound), "{report:?}");
}

#[test]
fn counts_without_noise_are_caught_in_300_runs() {
    let report = collect(300, |first, k| {
        let weights = run(first, fresh(k))[1].at.clone();
        ratio(&counts_of(first, &weights), &counts_of(true, &weights), &counts_of(false, &weights), 1e-3)
    });
    assert_eq!(report.verdict, Verdict::Violated);
}

/// Noise for a sensitivity of 1, as if a record could only come or go, on the whole budget.
#[test]
fn noise_for_a_promise_that_nobody_made_is_caught_in_20000_runs() {
    let sigma = sensitivity(true) / gaussian::largest_ratio(claim()).unwrap();
    let (a, b) = (counts_of(true, &[1.0]), counts_of(false, &[1.0]));
    let report = collect(20_000, |first, k| {
        ratio(&noisy(if first { &a } else { &b }, sigma, &mut fresh(k)), &a, &b, sigma)
    });
    assert_eq!(report.verdict, Verdict::Violated, "{report:?}");
}

/// A tenth of μ² for the counts, and all of it for training beside them.
#[test]
fn counts_that_nobody_paid_for_are_caught() {
    // All of the budget, twice over, so that few runs show it.
    let whole = gaussian::largest_ratio(claim()).unwrap();
    let ((a, sigma), (b, _)) = (moments_of(true, spec().mechanism()), moments_of(false, spec().mechanism()));
    let moved = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let (full, of_cells) = (moved / whole, sensitivity(false) / whole);
    assert!(full < sigma);
    let (c, d) = (counts_of(true, &[1.0]), counts_of(false, &[1.0]));
    let report = collect(20_000, |first, k| {
        let mut source = fresh(k);
        let training = noisy(if first { &a } else { &b }, full, &mut source);
        let counts = noisy(if first { &c } else { &d }, of_cells, &mut source);
        ratio(&training, &a, &b, full) + ratio(&counts, &c, &d, of_cells)
    });
    assert_eq!(report.verdict, Verdict::Violated, "{report:?}");
}

/// Cells at quantiles of the scores: one record moves every edge, and with it far more than two counts.
#[test]
fn cells_at_quantiles_move_further_than_the_noise_is_for() {
    let counts = |scores: &[f64]| {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        let edges: Vec<f64> = (1..CELLS).map(|k| sorted[k * sorted.len() / CELLS]).collect();
        let mut counts = vec![0.0; CELLS];
        scores.iter().for_each(|score| counts[edges.partition_point(|edge| edge <= score)] += 1.0);
        counts
    };
    // Many records tie at scores that lie at edges.
    let scores: Vec<f64> = (0..1600).map(|i| f64::from(i / 100)).collect();
    let mut other = scores.clone();
    other[1599] = -1.0;
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let quantiles = apart(&counts(&scores), &counts(&other));
    let stretch = Stretch { low: 0.0, high: 16.0 };
    let fixed = |scores: &[f64]| {
        CellCounts::of_scores(stretch, scores, &[1.0; 1600], &Strata::plain(1600)).query().unwrap()
    };
    assert!(apart(&fixed(&scores), &fixed(&other)) <= sensitivity(false));
    assert!(quantiles > 10.0 * sensitivity(false), "{quantiles}");
}
