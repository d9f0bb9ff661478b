//! Audits come close to the claims, and measurements to the bounds. Seeds are fixed, so that a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_audit::stability::{Descent, Loss, Method, measure, table_one};
use pairdp_audit::suite::suite;
use pairdp_audit::{Audit, AuditError, Pair, Report, Runs, Verdict, View, gap};
use pairdp_certificate::Algorithm;
use pairdp_data::Encoding;
use pairdp_learn::Settings;
use pairdp_model::Task;
use pairdp_noise::Replay;
use pairdp_units::Budget;

const N: usize = 20;

fn audit(settings: &Settings, pair: Pair, view: View) -> Audit {
    let budget = Budget::new(1.0, 1e-3).unwrap();
    let spec = settings.prepare(N, &Encoding::unscaled(1), budget).unwrap();
    Audit::of_plan(spec.problem(), spec.plan(), (N, 1), spec.budget(), pair, view).unwrap()
}

fn runs(audit: &Audit, count: usize) -> Report {
    let mut runs = Runs::new(audit.about());
    let run = |first: bool, k: u64| audit.run(first, Replay::from_seed(k));
    runs.collect(count, &mut Replay::from_seed(1 << 40), run, |_| Ok::<(), AuditError>(())).unwrap();
    audit.report(runs.all(), 0.999).unwrap()
}

fn case(task: Task, algorithm: Algorithm) -> Settings {
    let fits = |settings: &Settings| settings.task == task && settings.algorithm == Some(algorithm);
    suite().into_iter().map(|case| case.settings).find(fits).unwrap()
}

/// With fresh seeds one of the three would miss 70 % by chance in about one test of forty.
#[test]
fn whole_trajectories_show_70_percent_of_the_claim_in_20000_runs() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::OnlinePair, Algorithm::Moments] {
        let mut settings = case(Task::Ranking, algorithm);
        if algorithm == Algorithm::NoisyGd {
            settings.steps = Some(4);
        }
        let report = runs(&audit(&settings, Pair::Worst, View::Releases), 20_000);
        assert!(report.audited_lower_bound >= 0.7, "{}: {report:?}", algorithm.name());
        assert!(report.audited_lower_bound <= 1.0, "{}: {report:?}", algorithm.name());
    }
}

/// A model says less than all that was released, and a table of no special shape less than the worst one.
#[test]
fn models_and_typical_tables_show_less() {
    let settings = case(Task::Ranking, Algorithm::OutputGd);
    let worst = runs(&audit(&settings, Pair::Worst, View::Releases), 6000);
    let model = runs(&audit(&settings, Pair::Worst, View::Model), 6000);
    let typical = runs(&audit(&settings, Pair::Typical, View::Releases), 6000);
    assert!(typical.audited_lower_bound < 0.5 * worst.audited_lower_bound, "{typical:?} {worst:?}");
    // The only release is the model: the learned test finds most of what the likelihood does.
    assert!(model.audited_lower_bound > 0.4 * worst.audited_lower_bound, "{model:?} {worst:?}");
    for report in [worst, model, typical] {
        assert_eq!(report.verdict, Verdict::NotRefuted);
        assert!(report.audited_lower_bound < 1.0);
    }
}

#[test]
fn every_algorithm_of_the_suite_can_be_audited() {
    let mut seen = Vec::new();
    for case in suite() {
        let report = runs(&audit(&case.settings, Pair::Worst, View::Releases), 400);
        assert_eq!(report.verdict, Verdict::NotRefuted, "{:?} {report:?}", case.settings);
        assert!(report.attainable.is_some());
        seen.extend(case.settings.algorithm);
    }
    assert!(Algorithm::ALL.iter().all(|algorithm| seen.contains(algorithm)));
}

#[test]
fn saved_runs_go_on_and_others_are_refused() {
    let audit = audit(&case(Task::Ranking, Algorithm::Moments), Pair::Worst, View::Releases);
    let run = |first: bool, k: u64| audit.run(first, Replay::from_seed(k));
    let mut whole = Runs::new(audit.about());
    let nothing = |_: &Runs| Ok::<(), AuditError>(());
    whole.collect(512, &mut Replay::from_seed(3), run, nothing).unwrap();
    let mut coins = Replay::from_seed(3);
    let mut first = Runs::new(audit.about());
    first.collect(256, &mut coins, run, nothing).unwrap();
    let mut second = Runs::from_json(&first.to_json().unwrap(), &audit.about()).unwrap();
    second.collect(512, &mut coins, run, nothing).unwrap();
    assert_eq!(whole, second);
    assert!(Runs::from_json(&first.to_json().unwrap(), "another").is_err());
    assert!(Runs::from_json("{}", &audit.about()).is_err());
}

#[test]
fn no_measurement_exceeds_its_bound() {
    for method in Method::ALL {
        for loss in Loss::ALL {
            for (records, steps, step_size) in [(10, 40, 0.1), (40, 20, 0.02)] {
                let cell = measure(Descent { method, loss, records, steps, step_size }).unwrap();
                assert!(cell.within, "{cell:?}");
                assert!(cell.measured > 0.0 || loss == Loss::Hinge, "{cell:?}");
            }
        }
    }
}

#[test]
fn the_construction_reaches_half_of_the_scale_with_both_slopes() {
    let at = |records: usize, steps: u32| {
        let descent =
            Descent { method: Method::Gd, loss: Loss::Construction, records, steps, step_size: 0.01 };
        let cell = measure(descent).unwrap();
        assert!(cell.within && cell.measured >= 0.5 * cell.scale, "{cell:?}");
        cell.measured
    };
    for records in [20, 80, 1000] {
        for steps in [20, 80, 320, 1280] {
            at(records, steps);
        }
    }
    let slope = |records, from, to| {
        (at(records, to) / at(records, from)).ln() / (f64::from(to) / f64::from(from)).ln()
    };
    assert!((slope(100_000, 100, 1600) - 0.5).abs() < 0.05);
    assert!((slope(4, 400, 1600) - 1.0).abs() < 0.1);
}

#[test]
fn table_one_lies_between_its_bounds() {
    for row in table_one(40, 160, 0.05).unwrap() {
        assert!(row.measured <= row.ours && row.measured <= row.upper, "{row:?}");
        assert!(row.measured >= 0.25 * row.lower, "{row:?}");
    }
}

#[test]
fn gaps_are_within_their_bounds() {
    let rows = gap::gaps(30, 30).unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row.stability > 0.0 && row.stability <= row.stability_bound, "{row:?}");
        assert!(row.gap.abs() <= row.gap_bound, "{row:?}");
    }
}
