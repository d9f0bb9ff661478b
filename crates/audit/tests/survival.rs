//! Faults put into mechanisms that learn who fails first, which audits must find, beside the same mechanisms without them.
//!
//! Seeds are fixed, so that a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::gaussian;
use pairdp_audit::{Audit, AuditError, Pair, Runs, Table, TablePair, TwoReleases, Verdict, View};
use pairdp_certificate::{Algorithm, Average};
use pairdp_learn::{RepresentationKind, Settings};
use pairdp_model::Task;
use pairdp_noise::Replay;
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
use pairdp_release::{Curator, Exchange, Mechanism, Plan};
use pairdp_units::{Budget, signed_time};

const N: usize = 20;

fn problem(loss: MarginLoss, form: RankingForm) -> Problem {
    Problem::new(Objective::Ranking { form, loss }, Domain::Ball { radius: 0.01 }, 1.0).unwrap()
}

fn plan(steps: u32) -> Plan {
    Plan::new(Algorithm::NoisyGd, steps, 1e-3, Average::Last).unwrap()
}

fn claim() -> Budget {
    Budget::new(1.0, 1e-3).unwrap()
}

fn audit(problem: Problem, steps: u32) -> Audit {
    Audit::of_plan(problem, plan(steps), (N, 1), claim(), Pair::Worst, View::Releases).unwrap()
}

fn verdict(
    audit: &Audit,
    runs: usize,
    run: impl Fn(bool, u64) -> Result<Vec<f64>, AuditError> + Sync,
) -> Verdict {
    let mut all = Runs::new(String::new());
    all.collect(runs, &mut Replay::from_seed(99), run, |_| Ok(())).unwrap();
    audit.report(all.all(), 0.999).unwrap().verdict
}

fn fresh(run: u64) -> Replay {
    Replay::from_seed(1_000 + run)
}

/// A record that goes from the first place, with an event, to the last uses up the whole claim: no less noise would do.
#[test]
fn the_worst_neighbours_attain_the_sensitivity() {
    for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::CappedLogistic] {
        let audit = audit(problem(loss, RankingForm::Comparable), 4);
        let share = audit.separation() / gaussian::largest_ratio(claim()).unwrap();
        assert!(share > 0.95 && share <= 1.000_001, "{loss:?}: {share}");
    }
}

/// The sensitivity of a ranker by AUC, whose pairs appear and disappear and do not turn round: half the noise.
#[test]
fn the_noise_of_an_auc_ranker_is_caught_in_2000_runs() {
    let in_time = problem(MarginLoss::Logistic, RankingForm::Comparable);
    let audit = audit(in_time, 4);
    assert_eq!(verdict(&audit, 2000, |first, k| audit.run(first, fresh(k))), Verdict::NotRefuted);
    let ratio = gaussian::largest_ratio(claim()).unwrap() * 2.0;
    let halved = Budget::new(gaussian::epsilon(claim().delta, ratio).unwrap().get(), 1e-3).unwrap();
    let quiet = Mechanism::calibrate(in_time, plan(4), N, 1, halved).unwrap();
    let faulty =
        Audit::new(in_time, plan(4), quiet, claim(), audit.neighbours().clone(), View::Releases, None)
            .unwrap();
    assert_eq!(verdict(&faulty, 2000, |first, k| faulty.run(first, fresh(k))), Verdict::Violated);
}

/// A mean over comparable pairs instead of all: how many there are is private, and few of them are heard loudly.
#[test]
fn dividing_by_the_number_of_comparable_pairs_is_caught_in_1000_runs() {
    let in_time = problem(MarginLoss::Logistic, RankingForm::Comparable);
    let audit = audit(in_time, 1);
    let mechanism = Mechanism::calibrate(in_time, plan(1), N, 1, claim()).unwrap();
    let loud = |first: bool, run: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        let times = &table.targets;
        let known = (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
        let known = known.filter(|(i, j)| signed_time::is_before(times[*i], times[*j])).count();
        let mut curator = Curator::open(table.records(1.0)?, mechanism.clone(), fresh(run))?;
        let noisy = curator.noisy_gradient(&[0.0])?;
        let exact = pairdp_pairwise::kernel::gradient(
            in_time,
            &table.records(1.0)?,
            &[0.0],
            pairdp_pairwise::kernel::Par::Sequential,
        );
        // The same noise on the mean over those that are comparable.
        let louder = exact[0] * (N * (N - 1)) as f64 / known.max(1) as f64;
        let answer = vec![louder + (noisy[0] - exact[0])];
        audit.look_at(&[Exchange { at: vec![0.0], answer }])
    };
    assert_eq!(verdict(&audit, 1000, loud), Verdict::Violated);
    assert_eq!(verdict(&audit, 1000, |first, k| audit.run(first, fresh(k))), Verdict::NotRefuted);
}

fn two_stages(representation: RepresentationKind, share: f64) -> Settings {
    Settings {
        task: Task::Survival,
        algorithm: Some(Algorithm::Moments),
        representation: Some(representation),
        probabilities: None,
        representation_share: Some(share),
        ..Settings::default()
    }
}

fn look(
    audit: &TwoReleases,
    runs: usize,
    run: impl Fn(bool, u64) -> Result<Vec<f64>, AuditError> + Sync,
) -> (Verdict, f64) {
    let mut all = Runs::new(String::new());
    all.collect(runs, &mut Replay::from_seed(99), run, |_| Ok::<_, AuditError>(())).unwrap();
    let report = audit.report(all.all(), 0.999).unwrap();
    (report.verdict, report.audited_lower_bound)
}

/// The histogram of times and the moments of scores that follow from it, seen together, for a record that goes from the first cell with
/// an event to the last without: below the claim, and not far below.
#[test]
fn histogram_and_moments_together_stay_below_the_claim() {
    // As long as rows may be, all on one side: what differs is when a record was last seen.
    let table = |time: f64| Table {
        features: vec![1.0; N],
        columns: 1,
        targets: (0..N).map(|i| if i == 0 { time } else { 1.5 }).collect(),
        records_of_owner: Vec::new(),
    };
    let in_range = TablePair { first: table(1.0), second: table(-2.0), replaced: 0, uniform: true };
    for representation in [RepresentationKind::Ranges, RepresentationKind::Ranks] {
        let settings = two_stages(representation, 0.3);
        let audit = match representation {
            RepresentationKind::Ranges => TwoReleases::of(&settings, in_range.clone(), claim()).unwrap(),
            RepresentationKind::Ranks => TwoReleases::at_knots(&settings, (N, 1), claim()).unwrap(),
        };
        let (verdict, found) = look(&audit, 3000, |first, k| audit.look_at(&audit.run(first, fresh(k))?));
        assert_eq!(verdict, Verdict::NotRefuted, "{representation:?}: {found}");
        // Scores of 20 records are mostly noise, and so is what the second release can show.
        assert!((0.15..1.0).contains(&found), "{representation:?}: {found}");
    }
    // A flip of the cell alone, with nearly all of the budget: the histogram's noise is not too much.
    let audit =
        TwoReleases::at_knots(&two_stages(RepresentationKind::Ranges, 0.999), (N, 1), claim()).unwrap();
    let (verdict, found) =
        look(&audit, 6000, |first, k| Ok(vec![audit.look_at_first(&audit.run(first, fresh(k))?.first), 0.0]));
    assert!(verdict == Verdict::NotRefuted && found > 0.6, "{found}");
}

#[test]
fn counts_released_without_noise_are_caught_in_300_runs() {
    let audit = TwoReleases::at_knots(&two_stages(RepresentationKind::Ranges, 0.1), (N, 1), claim()).unwrap();
    let (verdict, _) = look(&audit, 300, |first, k| {
        let mut seen = audit.run(first, fresh(k))?;
        seen.first.weights = audit.weights(first).to_vec();
        Ok(vec![audit.look_at_first(&seen.first), 0.0])
    });
    assert_eq!(verdict, Verdict::Violated);
}

/// A grid that follows the data moves all others when one record moves: the horizon from the latest time, and cells by quantiles. Both
/// tables as they would be counted then.
#[test]
fn a_grid_from_the_data_is_caught_in_1000_runs() {
    let pair = |first: &dyn Fn(usize) -> f64, second: &dyn Fn(usize) -> f64| {
        let table = |times: &dyn Fn(usize) -> f64| Table {
            features: vec![0.5; N],
            columns: 1,
            targets: (0..N).map(times).collect(),
            records_of_owner: Vec::new(),
        };
        TablePair { first: table(first), second: table(second), replaced: 0, uniform: false }
    };
    // The latest was seen at 10 years instead of at 5, so that all others had their events in the first half instead of at the end.
    let horizon = pair(&|i| if i == 0 { -2.0 } else { 1.45 }, &|i| if i == 0 { -2.0 } else { 1.9 });
    // One more early event moves the edge of a cell past all who had theirs at one time.
    let quantiles = pair(&|i| if i == 0 { 1.0 } else { 1.51 }, &|i| if i == 0 { -2.0 } else { 1.49 });
    for neighbours in [horizon, quantiles] {
        let settings = two_stages(RepresentationKind::Ranges, 0.3);
        let audit = TwoReleases::of(&settings, neighbours, claim()).unwrap();
        let (verdict, _) = look(&audit, 1000, |first, k| audit.look_at(&audit.run(first, fresh(k))?));
        assert_eq!(verdict, Verdict::Violated);
    }
}
