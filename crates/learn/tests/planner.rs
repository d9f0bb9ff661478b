//! Plans are made from public facts: the planner never sees a record.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{Risk, Settings, Training, TrainingSpec};
use pairdp_model::{PrivateModel, Task};
use pairdp_pairwise::{Domain, LossKind};
use pairdp_units::Budget;

const D: usize = 12;

fn prepared(settings: &Settings, records: usize, delta: f64) -> TrainingSpec {
    settings.prepare(records, &Encoding::unscaled(D), Budget::new(1.0, delta).unwrap()).unwrap()
}

/// A table of public size whose cells all come from `cell`.
fn model(settings: &Settings, records: usize, cell: impl Fn(usize) -> f64) -> PrivateModel {
    let features = (0..records * D).map(&cell).collect();
    let targets = (0..records).map(|i| if cell(i * 7 + 3) > 0.0 { 1.0 } else { -1.0 }).collect();
    let table = Table::new(features, D, targets);
    let (settings, encoding) = (settings.clone(), Encoding::unscaled(D));
    Training { settings, encoding, label: None, budget: Budget::new(1.0, 1e-6).unwrap() }.fit(table).unwrap()
}

#[test]
fn tables_of_one_size_get_one_plan_whatever_they_hold() {
    for task in [Task::Ranking, Task::Classification, Task::Regression, Task::Metric] {
        for positive_rate in [None, Some(0.4)] {
            let settings = Settings { task, positive_rate, ..Settings::default() };
            let zeros = model(&settings, 600, |_| 0.0);
            let wild = model(&settings, 600, |i| if i % 3 == 0 { 1.0 } else { -(i as f64).sin() });
            assert_eq!(zeros.training, wild.training, "{task:?}");
            assert_eq!(zeros.because, wild.because);
            assert_eq!(zeros.certificate.problem, wild.certificate.problem);
            assert_eq!(zeros.predictor.encoding, wild.predictor.encoding);
            assert_eq!(zeros.certificate.sampler_delta.to_bits(), wild.certificate.sampler_delta.to_bits());
        }
    }
}

#[test]
fn the_choice_follows_public_facts_and_says_why() {
    let auto = |positive_rate| Settings { positive_rate, ..Settings::default() };
    let small = prepared(&auto(None), 300, 1e-6);
    assert_eq!(small.plan().algorithm(), Algorithm::Moments);
    assert!(small.because().unwrap().contains("one release serves best"));
    let large = prepared(&auto(None), 100_000, 1e-6);
    assert_eq!(large.plan().algorithm(), Algorithm::NoisyGd);
    let (risk, loss) = (Some(Risk::Records), Some(LossKind::CappedLogistic));
    let records = Settings { risk, loss, ..Settings::default() };
    assert_eq!(large.problem().objective(), records.problem(D).unwrap().objective());
    assert!(large.because().unwrap().contains("training in many steps finds more"));
    // Both learn from ranks, and a guess of the positive rate changes nothing.
    assert!(small.plan().representation().is_some() && large.plan().representation().is_some());
    assert_eq!(prepared(&auto(Some(0.001)), 100_000, 1e-6).plan(), large.plan());
    // Classes are found by a descent, however few records there are.
    let classes = prepared(&Settings { task: Task::Classification, ..Settings::default() }, 300, 1e-6);
    assert_eq!(classes.plan().algorithm(), Algorithm::NoisyGd);
    assert!(classes.plan().representation().is_some());
    // Where ratios add up, one release is the best; and a first one has to be worth its part.
    let pure = |records| prepared(&auto(None), records, 0.0).plan();
    assert_eq!(pure(100_000).algorithm(), Algorithm::Moments);
    assert!(pure(100_000).representation().is_some() && pure(300).representation().is_none());
    // Whoever names a loss or steps means columns as ranges put them.
    let named = Settings { loss: Some(LossKind::Hinge), ..Settings::default() };
    assert!(prepared(&named, 5000, 1e-6).plan().representation().is_none());
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(auto(Some(rate)).prepare(500, &Encoding::unscaled(D), budget).is_err(), "{rate}");
    }
}

#[test]
fn a_metric_without_hope_is_said_to_be_so() {
    let metric = Settings { task: Task::Metric, ..Settings::default() };
    let hopeless = prepared(&metric, 300, 1e-6);
    assert!(matches!(hopeless.problem().domain(), Domain::PsdDiagonal { .. }));
    assert!(hopeless.because().unwrap().contains("do not expect it to beat"));
    let clear = prepared(&metric, 1_000_000, 1e-6);
    assert!(matches!(clear.problem().domain(), Domain::Ball { .. }));
    assert!(!clear.because().unwrap().contains("Euclidean"));
}
