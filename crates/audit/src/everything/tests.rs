//! What the search is for: claims that hold survive it, and those of version 0.1 that did not would not have.

use super::*;
use pairdp_certificate::{Algorithm, Average, Shuffle};
use pairdp_learn::{DomainKind, RepresentationKind, Risk, ScoreKind, Settings};
use pairdp_model::Task;
use pairdp_pairwise::{Labels, LossKind, MetricLoss, Problem};
use pairdp_release::Plan;
use rayon::prelude::*;

fn case(change: impl Fn(&mut Settings)) -> Case {
    let mut settings = Settings {
        task: Task::Metric,
        loss: Some(LossKind::Hinge),
        algorithm: Some(Algorithm::NoisyGd),
        feature_bound: Some(1.0),
        radius: Some(0.7),
        steps: Some(1),
        step_size: Some(0.5),
        mechanism: Some(NoiseKind::Gaussian),
        order_seed: Some(1),
        intercept: Some(false),
        ..Settings::default()
    };
    change(&mut settings);
    Case { settings, budget: Budget::new(1.0, 1e-4).unwrap(), features: 1 }
}

/// Every accepted combination, a few tries each; `cargo xtask audit-everything` takes many. A claim that holds is never accused:
/// nothing here is random but the search.
#[test]
fn no_combination_breaks_its_claim() {
    let all = cases().unwrap();
    let outcomes: Vec<(&Case, Found)> = all
        .par_iter()
        .filter_map(|case| Some((case, attack(case, if case.samples() { 12 } else { 24 }, 1).unwrap()?)))
        .collect();
    for (case, found) in &outcomes {
        assert!(found.holds(), "{case}: {} of the claim", found.reached);
    }
    let accepted = |wanted: &dyn Fn(&Case) -> bool| outcomes.iter().filter(|(case, _)| wanted(case)).count();
    // None of what there is to choose is left out.
    for (name, wanted) in [
        ("secret samples", &Case::samples as &dyn Fn(&Case) -> bool),
        ("two features", &|case| case.features == 2),
        ("ranks", &|case| case.settings.representation.is_some()),
        ("ranks below a cap", &|case| {
            case.settings.representation.is_some() && case.settings.max_records.is_some()
        }),
        ("intercepts", &|case| case.settings.intercept == Some(true)),
        ("networks", &|case| case.settings.scores.is_some() && case.features == 2),
        ("networks below a cap", &|case| {
            case.settings.scores.is_some() && case.settings.max_records.is_some()
        }),
        ("the risk of records", &|case| case.settings.risk == Some(Risk::Records)),
        ("averages", &|case| case.settings.average == Some(Average::All)),
        ("shuffles", &|case| case.settings.shuffle == Shuffle::WithReplacement),
        ("cones", &|case| case.settings.domain == Some(DomainKind::PsdNuclear) && case.features == 2),
    ] {
        assert!(accepted(wanted) > 0, "{name}");
    }
    // The search is no formality: many claims are nearly reached even by so few tries.
    let close = outcomes.iter().filter(|(_, found)| found.reached > 0.5).count();
    assert!(outcomes.len() > 1000 && 3 * close > outcomes.len(), "{close} of {}", outcomes.len());
}

/// Version 0.1 took the noise of public labels where a cap can push out a record of another one, R·max(pull, push) for
/// R·(pull + push), and announced noise for features as noise for records.
#[test]
fn issue_18_01_to_03_the_search_finds_what_the_mends_are_for() {
    for features in FEATURES {
        for (what, case, _) in cases::former(features).unwrap() {
            let tries = if case.samples() { 400 } else { 2000 };
            let found = attack(&case, tries, 1).unwrap().unwrap();
            assert!(found.holds(), "{what}: {found:?}");
        }
    }
    let broken = reverted(4000, 1).unwrap();
    assert_eq!(broken.len(), 6);
    for (what, found) in broken {
        assert!(!found.holds() && found.delta > 1.5 * found.claim.delta.get(), "{what}: {found:?}");
    }
}

/// A network's noise is for what its clipped gradients can do: the search comes near to it, and finds out where there is less.
#[test]
fn networks_reach_what_their_noise_is_for_and_no_more() {
    for (task, loss) in [
        (Task::Ranking, LossKind::CappedLogistic),
        (Task::Ranking, LossKind::Logistic),
        (Task::Classification, LossKind::CappedLogistic),
    ] {
        let network = case(|s| {
            (s.task, s.loss) = (task, Some(loss));
            (s.scores, s.hidden, s.linear_share) = (Some(ScoreKind::Network), Some(1), Some(0.5));
        });
        let found = attack(&network, 4000, 1).unwrap().unwrap();
        assert!(found.holds() && found.reached > 0.8, "{task:?} {loss:?}: {found:?}");
        let broken = attack_with(&network, 0.7, 4000, 1).unwrap().unwrap();
        assert!(!broken.holds(), "{task:?} {loss:?}: {broken:?}");
    }
}

/// In every column an exchanged record leaves one knot and enters another: the noise is for that much and for no more.
#[test]
fn weights_of_knots_of_both_tables_are_what_the_noise_is_for() {
    for (most, features) in [(None, 1), (None, 2), (Some(RECORDS), 1), (Some(RECORDS), 2)] {
        let mut counted = case(|s| {
            (s.task, s.loss, s.max_records) = (Task::Ranking, Some(LossKind::Logistic), most);
            // Nearly all of the budget goes into the first release.
            (s.representation, s.representation_share) = (Some(RepresentationKind::Ranks), Some(0.999));
        });
        counted.features = features;
        let found = attack(&counted, 2000, 1).unwrap().unwrap();
        assert!(found.holds() && found.reached > 0.9, "{most:?}, {features}: {found:?}");
        let broken = attack_with(&counted, 0.7, 2000, 1).unwrap().unwrap();
        assert!(!broken.holds(), "{most:?}, {features}: {broken:?}");
    }
}

/// Of 1000 records a share s at −1, class 0, the rest at +1, class 1, and one of class 0 that moves from +1 to −1: the laws of the
/// gradient of a uniform pair at W = 0. Samples with that record are pulled by as much as others are pushed.
fn neighbours(sigma: f64, share: f64) -> (Mixture, Mixture) {
    let (with, without) = (2.0 / 1000.0, 998.0 / 1000.0);
    let across = 2.0 * share * (1.0 - share);
    let law = |pulled: f64, pushed: f64| {
        let push = without * across + with * pushed;
        let pull = with * pulled;
        Mixture::new(vec![(-4.0 / sigma, push), (0.0, 1.0 - push - pull), (4.0 / sigma, pull)])
    };
    (law(share, 0.0), law(0.0, 1.0 - share))
}

/// Few samples are of length 0: at s = 0.7 δ was 2.0 times the claim.
#[test]
fn issue_18_02_uniform_pairs_with_public_labels_have_the_delta_that_is_claimed() {
    let problem =
        Problem::new(Objective::Metric { loss: MetricLoss::Hinge }, Domain::Ball { radius: 0.7 }, 1.0)
            .unwrap()
            .with_labels(Labels::Public);
    let (epsilon, delta) = (3.0, 1e-15);
    let plan = Plan::new(Algorithm::NoisySgd, 1, 1.0, Average::Last).unwrap();
    let budget = Budget::new(epsilon, delta).unwrap();
    let Mechanism::Samples(sampled) = Mechanism::calibrate(problem, plan, 1000, 1, budget).unwrap() else {
        panic!("samples")
    };
    let delta_at = |sigma: f64, share: f64| {
        let (one, other) = neighbours(sigma, share);
        one.delta(&other, epsilon, FINE)
    };
    for share in [0.5, 0.6, 0.7, 0.8] {
        let found = delta_at(sampled.sigma(), share);
        assert!(found <= delta, "{found:e} for {delta:e}");
    }
    // With the noise of version 0.1, for half the distance, it is not.
    let broken = delta_at(sampled.sigma() / 2.0, 0.7) / delta;
    assert!((1.9..2.2).contains(&broken), "{broken} times the claim");
}

/// δ of so many independent releases, from below: places are put together in cells, losses are rounded down, and what is far out is
/// left out.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place on the grid")]
fn composed(first: &Mixture, second: &Mixture, epsilon: f64, times: i32) -> f64 {
    const STEP: f64 = 2e-5;
    const LENGTH: usize = 1 << 21;
    let half = LENGTH / 2;
    let mut planner = realfft::RealFftPlanner::<f64>::new();
    let mut losses = vec![0.0; LENGTH];
    for k in -4000..4000 {
        let (a, b) = (f64::from(k) / 200.0, f64::from(k + 1) / 200.0);
        let (here, there) = (first.between(a, b), second.between(a, b));
        let loss = (here / there).ln();
        if here > 0.0 && loss.abs() < 10.0 {
            // Negative losses are at the end, as a cyclic sum has them.
            let place = (loss / STEP).floor().rem_euclid(LENGTH as f64);
            losses[place as usize] += here;
        }
    }
    let (forward, back) = (planner.plan_fft_forward(LENGTH), planner.plan_fft_inverse(LENGTH));
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut losses, &mut spectrum).unwrap();
    spectrum.iter_mut().for_each(|value| *value = value.powi(times));
    back.process(&mut spectrum, &mut losses).unwrap();
    let gain = |(k, weight): (usize, &f64)| {
        let loss = k as f64 * STEP;
        if k < half && loss > epsilon { weight * (1.0 - (epsilon - loss).exp()) } else { 0.0 }
    };
    losses.iter().enumerate().map(gain).sum::<f64>() / LENGTH as f64
}

/// The same neighbours over a hundred steps, all asked at W = 0: with the noise of version 0.1 δ was 1.19 times the claim and more.
#[test]
fn issue_18_02_a_hundred_steps_have_the_delta_that_is_claimed() {
    let problem =
        Problem::new(Objective::Metric { loss: MetricLoss::Hinge }, Domain::Ball { radius: 0.7 }, 1.0)
            .unwrap()
            .with_labels(Labels::Public);
    let (epsilon, delta) = (1.0, 1e-6);
    let plan = Plan::new(Algorithm::NoisySgd, 100, 1.0, Average::Last).unwrap();
    let budget = Budget::new(epsilon, delta).unwrap();
    let Mechanism::Samples(sampled) = Mechanism::calibrate(problem, plan, 1000, 1, budget).unwrap() else {
        panic!("samples")
    };
    let delta_at = |sigma: f64, share: f64| {
        let (one, other) = neighbours(sigma, share);
        let (a, b) = (composed(&one, &other, epsilon, 100), composed(&other, &one, epsilon, 100));
        if a > b { a } else { b }
    };
    for share in [0.5, 0.6, 0.7, 0.8, 0.9] {
        let found = delta_at(sampled.sigma(), share);
        assert!(found <= delta, "{found:e} for {delta:e}");
    }
    // The review had 1.19 times the claim; it is a little more for other shares.
    for (share, least) in [(0.7, 1.19), (0.8, 1.28)] {
        let broken = delta_at(sampled.sigma() / 2.0, share) / delta;
        assert!((least..least + 0.05).contains(&broken), "{broken} times the claim");
    }
}
