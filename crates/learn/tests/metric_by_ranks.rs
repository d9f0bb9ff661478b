//! A metric by ranks alone: the Euclidean distance of where cells lie in their columns, for which no label is looked at.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::LossKind;
use pairdp_pairwise::measure::leave_one_out_accuracy;
use pairdp_release::{LearnError, can_ask_parts};
use pairdp_units::Budget;

const COLUMNS: usize = 4;

fn ranks() -> Settings {
    Settings { task: Task::Metric, representation: Some(RepresentationKind::Ranks), ..Settings::default() }
}

/// Two columns that tell three classes apart fill a hundredth of their ranges; two that say nothing fill all of it.
fn table(rows: usize, seed: u64) -> Table {
    let mut random = Replay::from_seed(seed);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let class = (i % 3) as f64;
        let narrow = |value: f64| 0.3 + 0.01 * value;
        features.extend([narrow(class + 0.8 * uniform()), narrow((2.0 * class) % 3.0 + 0.8 * uniform())]);
        features.extend([2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0]);
        targets.push(class);
    }
    Table::new(features, COLUMNS, targets)
}

fn trained(settings: Settings, budget: (f64, f64)) -> PrivateModel {
    let budget = Budget::new(budget.0, budget.1).unwrap();
    Training { settings, encoding: Encoding::unscaled(COLUMNS), label: None, budget }
        .fit(table(3000, 1))
        .unwrap()
}

fn accuracy(model: &PrivateModel) -> f64 {
    let test = table(600, 2);
    let rows = model.predictor.embed(&test);
    leave_one_out_accuracy(&rows, &test.targets, model.predictor.features(), 3)
}

fn failures(model: &PrivateModel) -> Vec<String> {
    let verdict = pairdp_verify::verify(&model.to_json().unwrap()).unwrap();
    verdict.failures().map(|failure| format!("{failure:?}")).collect()
}

/// Ranges that are loose by different factors hide what two columns say; ranks bring it back. (Chance is a third.)
#[test]
fn ranks_undo_ranges_that_are_loose_by_different_factors() {
    let model = trained(ranks(), (1.0, 1e-6));
    let test = table(600, 2);
    let by_ranges = leave_one_out_accuracy(&test.features, &test.targets, COLUMNS, 3);
    assert!(by_ranges < 0.6, "{by_ranges}");
    assert!(accuracy(&model) > by_ranges + 0.15, "{} of {by_ranges}", accuracy(&model));
    assert_eq!((model.training.steps, model.predictor.features()), (0, 5 * COLUMNS));
    assert!(model.because.as_ref().unwrap().contains("labels are not used"));
}

/// No row is cut: distances are those of ranks, wherever rows lie.
#[test]
fn no_row_of_ranks_is_cut() {
    let mut model = trained(ranks(), (1.0, 1e-6));
    let corners: Vec<f64> =
        (0..16_u32).flat_map(|k| (0..4).map(move |j| if k >> j & 1 == 1 { 1.0 } else { -1.0 })).collect();
    let corners = Table::new(corners, COLUMNS, vec![0.0; 16]);
    for absurd in [None, Some(0.0), Some(-1e9), Some(1e12)] {
        if let Some(weight) = absurd {
            model.predictor.representation.as_mut().unwrap().weights.fill(weight);
        }
        model.predictor.each_row(&corners, |row| {
            let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(norm < model.predictor.feature_bound, "{absurd:?}: {norm}");
        });
    }
}

#[test]
fn its_certificate_holds_and_no_other_one_does() {
    for (settings, delta) in [
        (ranks(), 1e-6),
        (ranks(), 0.0),
        (Settings { max_records: Some(3500), ..ranks() }, 1e-6),
        (Settings { public_labels: true, ..ranks() }, 1e-6),
    ] {
        let model = trained(settings.clone(), (1.0, delta));
        assert!(failures(&model).is_empty(), "{settings:?}: {:?}", failures(&model));
        let text = model.to_json().unwrap();
        assert_eq!(PrivateModel::from_json(&text).unwrap(), model);
        for (from, to) in [
            ("distances/1", "ranks/2"),
            ("\"steps\": 0", "\"steps\": 1"),
            ("\"share\": 1.0", "\"share\": 0.5"),
            ("\"ratio\": 0.0", "\"ratio\": 0.1"),
        ] {
            let lied = text.replace(from, to);
            assert_ne!(lied, text, "{from}");
            assert!(!pairdp_verify::verify(&lied).is_ok_and(|verdict| verdict.holds()), "{from} as {to}");
        }
        // Nothing but a distance is there without a step.
        let lied = text.replace("\"task\": \"metric\"", "\"task\": \"ranking\"");
        assert!(!pairdp_verify::verify(&lied).is_ok_and(|verdict| verdict.holds()));
    }
}

/// Labels could be anything: with the same noise the same is released.
#[test]
fn labels_are_not_looked_at() {
    let released = |change: f64| {
        let mut table = table(300, 1);
        table.targets.iter_mut().for_each(|target| *target *= change);
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let training =
            Training { settings: ranks(), encoding: Encoding::unscaled(COLUMNS), label: None, budget };
        let checkpointer = &mut pairdp_release::Checkpointer::none();
        let rows = || Ok::<_, LearnError>(table.into());
        let run = training.open(&mut pairdp_accountant::Unbooked, checkpointer, rows).unwrap();
        run.releases(Replay::from_seed(4)).unwrap()
    };
    let (one, other) = (released(1.0), released(0.0));
    assert!(one.1.is_empty(), "nothing else is released");
    assert_eq!(one, other);
}

/// Whoever names a loss, or steps, learns from ranks; no steps are for metrics by ranks alone.
#[test]
fn a_metric_of_ranks_is_learned_where_that_is_asked_for() {
    let learned = trained(Settings { loss: Some(LossKind::Logistic), ..ranks() }, (1.0, 1e-6));
    assert!(learned.training.steps > 0 && failures(&learned).is_empty(), "{:?}", failures(&learned));
    assert_eq!(learned.predictor.features(), 5 * COLUMNS);
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let refused = |settings: Settings| settings.prepare(300, &Encoding::unscaled(3), budget).is_err();
    assert!(refused(Settings { steps: Some(0), ..Settings::default() }));
    assert!(refused(Settings { steps: Some(0), algorithm: Some(Algorithm::NoisyGd), ..Settings::default() }));
    assert!(refused(Settings { task: Task::Ranking, steps: Some(0), ..ranks() }));
    assert!(refused(Settings { representation_share: Some(0.5), ..ranks() }));
    assert!(!refused(Settings { representation_share: Some(1.0), ..ranks() }));
}

/// By its name, before any part is asked, and not by what a worker makes of the question.
#[test]
fn a_metric_by_ranks_in_parts_is_refused_by_name() {
    let ranks = Some(RepresentationKind::Ranks);
    let settings = Settings { task: Task::Metric, representation: ranks, ..Settings::default() };
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let spec = settings.prepare(300, &Encoding::unscaled(3), budget).unwrap();
    let refused = can_ask_parts(spec.mechanism()).unwrap_err();
    assert!(matches!(refused, LearnError::OnePlace("a metric by ranks")), "{refused}");
}
