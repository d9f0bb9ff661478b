//! Whole runs with random features: certified for every task and algorithm, the same in parts, refused by name where columns must add up.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::Unbooked;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::{RepresentationKind, Risk, Rows, ScoreKind, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_release::parts::{Ask, CountedParts, Part, describe, merge};
use pairdp_release::{Checkpointer, LearnError, Store};
use pairdp_units::Budget;
use pairdp_units::signed_time::signed_time;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn random(task: Task) -> Settings {
    Settings { task, scores: Some(ScoreKind::RandomFeatures), hidden: Some(20), ..Settings::default() }
}

/// Positive where two columns have one sign: no weighted sum tells.
fn table(task: Task, n: usize, seed: u64) -> Table {
    let mut source = Replay::from_seed(seed);
    let mut uniform = || (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let row = [uniform(), uniform()];
        let same = row[0] * row[1];
        features.extend(row);
        targets.push(match task {
            Task::Regression => same,
            Task::Survival => signed_time(0.5 - 0.4 * same, uniform() > -0.5, 1.0),
            _ => same.signum(),
        });
    }
    Table::new(features, 2, targets)
}

fn training(settings: Settings, budget: Budget) -> Training {
    let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
    Training { settings, encoding, label: None, budget }
}

fn fit(settings: Settings) -> Result<PrivateModel, LearnError> {
    let table = table(settings.task, 600, 3);
    training(settings, Budget::new(1.0, 1e-6).unwrap()).fit(table)
}

fn failures(text: &str) -> Vec<String> {
    let verdict = pairdp_verify::verify(text).unwrap();
    let failed = verdict.checks.iter().filter(|check| check.failure.is_some());
    failed.map(|check| format!("{}: {:?}", check.name, check.failure)).collect()
}

#[test]
fn every_task_and_algorithm_is_certified() {
    let ranges = Some(RepresentationKind::Ranges);
    let mut all = Vec::new();
    for task in [Task::Ranking, Task::Classification, Task::Regression, Task::Survival] {
        all.push(random(task));
        all.push(Settings { representation: ranges, ..random(task) });
        all.push(Settings { algorithm: Some(Algorithm::Moments), ..random(task) });
    }
    for algorithm in Algorithm::ALL {
        all.push(Settings { algorithm: Some(algorithm), ..random(Task::Ranking) });
    }
    all.push(Settings {
        risk: Some(Risk::Pairs),
        linear_share: Some(0.9),
        start_seed: Some(7),
        ..random(Task::Ranking)
    });
    all.push(Settings { max_records: Some(500), ..random(Task::Ranking) });
    all.push(Settings { max_records: Some(900), promised: true, ..random(Task::Ranking) });
    for settings in all {
        let model = fit(settings.clone()).unwrap();
        let text = model.to_json().unwrap();
        assert_eq!(failures(&text), Vec::<String>::new(), "{settings:?}");
        assert_eq!(model.predictor.features(), model.predictor.feature_names().len());
        let again = PrivateModel::from_json(&text).unwrap();
        let rows = table(settings.task, 9, 4);
        assert_eq!(again.predictor.scores(&rows), model.predictor.scores(&rows));
        assert!(model.predictor.scores(&rows).iter().all(|score| score.is_finite()));
        // More directions than there were are another model.
        let changed = text.replace("\"directions\": 10", "\"directions\": 11");
        assert_ne!(changed, text);
        assert!(PrivateModel::from_json(&changed).is_err());
        assert!(!pairdp_verify::verify(&changed).is_ok_and(|verdict| verdict.holds()), "{settings:?}");
    }
}

#[test]
fn waves_find_what_no_weighted_sum_does() {
    let wide = Budget::new(8.0, 1e-6).unwrap();
    let fresh = table(Task::Ranking, 4000, 5);
    let auc = |settings: Settings| {
        let model = training(settings, wide).fit(table(Task::Ranking, 20_000, 3)).unwrap();
        let positive: Vec<bool> = fresh.targets.iter().map(|target| *target > 0.0).collect();
        pairdp_pairwise::measure::auc(&model.predictor.scores(&fresh), &positive).unwrap()
    };
    let (linear, waves) =
        (auc(Settings::default()), auc(Settings { hidden: Some(100), ..random(Task::Ranking) }));
    assert!(linear < 0.6 && waves > 0.9, "{linear} and {waves}");
}

#[test]
fn where_columns_must_add_up_they_are_refused_by_name() {
    let metric = fit(random(Task::Metric)).unwrap_err();
    assert!(matches!(metric, LearnError::NotForTask { what: "random features", .. }), "{metric}");
    let counted = fit(Settings { probabilities: Some(true), ..random(Task::Ranking) }).unwrap_err();
    assert!(matches!(counted, LearnError::NotOfRandomFeatures("probabilities")), "{counted}");
    for count in [0, 1, 7, 2_000_002] {
        let odd = fit(Settings { hidden: Some(count), ..random(Task::Ranking) }).unwrap_err();
        assert!(matches!(odd, LearnError::OddFeatures(_)), "{odd}");
    }
    for share in [0.0, 1.0, f64::NAN] {
        let refused = fit(Settings { linear_share: Some(share), ..random(Task::Ranking) }).unwrap_err();
        assert!(matches!(refused, LearnError::Plan { .. }), "{refused}");
    }
    let model = fit(random(Task::Ranking)).unwrap();
    assert!(model.shapes().is_none() && model.predictor.explain(&table(Task::Ranking, 3, 1)).is_none());
}

const SCHEMA: &str = r#"
[label]
column = "y"
positive = "1"
negative = "-1"

[[column]]
name = "a"
range = [-1, 1]

[[column]]
name = "b"
range = [-1, 1]
"#;

/// Directions come from the seed wherever a row lies, so that parts know the vectors that a table in memory has.
#[test]
fn parts_learn_what_the_whole_table_does() {
    let settings = random(Task::Ranking);
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::parse(SCHEMA).unwrap();
    let (encoding, label) = (Encoding::of(&schema), schema.label().clone());
    let training = Training {
        encoding: encoding.clone(),
        label: Some(label.clone()),
        ..training(settings, Budget::new(1.0, 1e-6).unwrap())
    };
    let Table { features, targets, .. } = table(Task::Ranking, 700, 3);
    let files: Vec<_> = [0..100, 100..130, 130..700]
        .into_iter()
        .enumerate()
        .map(|(part, rows)| {
            let mut text = "a,b,y\n".to_owned();
            for row in rows {
                writeln!(text, "{:?},{:?},{}", features[2 * row], features[2 * row + 1], targets[row])
                    .unwrap();
            }
            let path = folder.path().join(format!("{part}.csv"));
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let rehearsed = |rows: Rows| {
        let none = &mut Checkpointer::none();
        let run = training.open(&mut Unbooked, none, || Ok::<_, LearnError>(rows)).unwrap();
        run.rehearse(Replay::from_seed(8), none).unwrap()
    };
    let whole = Table::new(features.clone(), 2, targets.clone());
    let expected = rehearsed(whole.into());
    let descriptions = describe(Task::Ranking, &files, &encoding, &label, None, 2).unwrap();
    let mut parts: Vec<Part> = descriptions.iter().map(|text| Part::load(text).unwrap()).collect();
    let ask: Ask = Box::new(move |request| {
        let replies = parts.iter_mut().map(|part| part.answer(request));
        let mut replies = replies.map(|reply| reply.map_err(|error| error.to_string()));
        let first = replies.next().unwrap()?;
        replies.try_fold(first, |all, one| merge(&all, &one?).map_err(|error| error.to_string()))
    });
    let found = rehearsed(CountedParts::count(ask).unwrap().into());
    assert_eq!(found, expected);
    let read = Table::read(&files[0], &encoding, LabelUse::Read(&label)).unwrap();
    assert_eq!(read.rows, 100);
}

/// A store in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<String>>>);

impl Store for Kept {
    fn load(&mut self) -> std::io::Result<Option<String>> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn save(&mut self, text: &str) -> std::io::Result<()> {
        *self.0.lock().unwrap() = Some(text.to_owned());
        Ok(())
    }

    fn remove(&mut self) -> std::io::Result<()> {
        *self.0.lock().unwrap() = None;
        Ok(())
    }
}

/// The mechanism is the same for all directions, but a model of two sets of them is none.
#[test]
fn a_checkpoint_goes_on_along_its_own_directions_alone() {
    let kept = Kept::default();
    let by_seed = |seed| Settings { start_seed: Some(seed), steps: Some(40), ..random(Task::Ranking) };
    let open = |seed, checkpointer: &mut Checkpointer<'_>| {
        let rows = || Ok::<_, LearnError>(table(Task::Ranking, 600, 3).into());
        training(by_seed(seed), Budget::new(1.0, 1e-6).unwrap()).open(&mut Unbooked, checkpointer, rows)
    };
    let mut store = kept.clone();
    let mut checkpointer = Checkpointer::to(&mut store, Duration::ZERO);
    open(1, &mut checkpointer).unwrap().rehearse(Replay::from_seed(8), &mut checkpointer).unwrap();
    assert!(kept.0.lock().unwrap().is_some(), "nothing was saved");
    for (seed, goes_on) in [(2, false), (1, true)] {
        let mut store = kept.clone();
        let mut checkpointer = Checkpointer::to(&mut store, Duration::ZERO);
        let run = open(seed, &mut checkpointer)
            .and_then(|run| run.rehearse(Replay::from_seed(9), &mut checkpointer).map(drop));
        assert_eq!(run.is_ok(), goes_on, "seed {seed}: {run:?}");
    }
}
