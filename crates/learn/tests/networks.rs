//! Whole runs of networks: every task is certified and verified, what has no proof is refused by name, parts of whole blocks find the
//! same bits, interrupted runs go on, and a changed certificate is noticed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::Unbooked;
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::{Calibration, RepresentationKind, Risk, Rows, ScoreKind, Settings, Training};
use pairdp_model::{Effects, PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{LossKind, PerPerson, Unit};
use pairdp_release::parts::{Ask, CountedParts, Part, describe, merge};
use pairdp_release::{Checkpointer, LearnError, Store};
use pairdp_units::Budget;
use pairdp_units::signed_time::signed_time;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn network() -> Settings {
    Settings { scores: Some(ScoreKind::Network), hidden: Some(5), ..Settings::default() }
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

/// Positive where two columns have one sign: no weighted sum tells.
fn table(task: Task, n: usize) -> Table {
    let mut random = Replay::from_seed(3);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
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

fn fit(settings: Settings, n: usize) -> Result<PrivateModel, LearnError> {
    let table = table(settings.task, n);
    training(settings, budget()).fit(table)
}

fn failures(text: &str) -> Vec<String> {
    let verdict = pairdp_verify::verify(text).unwrap();
    let failed = verdict.checks.iter().filter(|check| check.failure.is_some());
    failed.map(|check| format!("{}: {:?}", check.name, check.failure)).collect()
}

#[test]
fn every_task_and_loss_of_a_network_is_certified() {
    let ranges = Some(RepresentationKind::Ranges);
    let mut all = vec![network()];
    for task in [Task::Ranking, Task::Classification, Task::Regression, Task::Survival] {
        all.push(Settings { task, ..network() });
        all.push(Settings { task, representation: ranges, ..network() });
        all.push(Settings { task, algorithm: Some(Algorithm::NoisyGd), steps: Some(4), ..network() });
    }
    for loss in
        [LossKind::Logistic, LossKind::CappedLogistic, LossKind::Hinge, LossKind::Squared, LossKind::QHinge]
    {
        for risk in [Risk::Pairs, Risk::Records] {
            all.push(Settings { risk: Some(risk), loss: Some(loss), steps: Some(5), ..network() });
        }
        all.push(Settings { task: Task::Survival, loss: Some(loss), steps: Some(5), ..network() });
    }
    let form = pairdp_pairwise::RankingForm::Symmetric;
    all.push(Settings { risk: Some(Risk::Pairs), form, steps: Some(3), ..network() });
    all.push(Settings { max_records: Some(500), steps: Some(3), ..network() });
    all.push(Settings { max_records: Some(500), risk: Some(Risk::Pairs), steps: Some(3), ..network() });
    all.push(Settings { max_records: Some(900), promised: true, steps: Some(3), ..network() });
    for settings in all {
        let model = fit(settings.clone(), 600).unwrap();
        let text = model.to_json().unwrap();
        assert_eq!(failures(&text), Vec::<String>::new(), "{settings:?}");
        let again = PrivateModel::from_json(&text).unwrap();
        let rows = table(settings.task, 9);
        assert_eq!(again.predictor.scores(&rows), model.predictor.scores(&rows));
        assert!(model.predictor.scores(&rows).iter().all(|score| score.is_finite()));
    }
}

#[test]
fn a_network_finds_what_no_weighted_sum_does() {
    let wide = Budget::new(8.0, 1e-6).unwrap();
    let (records, fresh) = (table(Task::Ranking, 20_000), table(Task::Ranking, 4000));
    let auc = |settings: Settings| {
        let copy = Table::new(records.features.clone(), 2, records.targets.clone());
        let model = training(settings, wide).fit(copy).unwrap();
        let positive: Vec<bool> = fresh.targets.iter().map(|target| *target > 0.0).collect();
        pairdp_pairwise::measure::auc(&model.predictor.scores(&fresh), &positive).unwrap()
    };
    let (linear, network) = (auc(Settings::default()), auc(Settings { hidden: Some(32), ..network() }));
    assert!(linear < 0.6 && network > 0.9, "{linear} and {network}");
}

#[test]
fn what_has_no_proof_or_meaning_is_refused_by_name() {
    let refused = |settings: Settings| fit(settings, 300).unwrap_err();
    for algorithm in Algorithm::ALL.into_iter().filter(|one| *one != Algorithm::NoisyGd) {
        let error = refused(Settings { algorithm: Some(algorithm), ..network() });
        // Phases and passes may be refused for their steps first.
        assert!(
            matches!(
                error,
                LearnError::NoProof("a network under this algorithm") | LearnError::NeedsPairs(_)
            ),
            "{algorithm}: {error}"
        );
    }
    let metric = refused(Settings { task: Task::Metric, ..network() });
    assert!(matches!(metric, LearnError::NotForTask { what: "a network", .. }), "{metric}");
    let printed = refused(Settings { calibration: Calibration::Literal, ..network() });
    assert!(matches!(printed, LearnError::NoProof("a network with a paper's noise")), "{printed}");
    let counted = refused(Settings { probabilities: Some(true), ..network() });
    assert!(matches!(counted, LearnError::NotOfNetworks("probabilities")), "{counted}");
    // And a classifier of so many records that linear scores would be counted has none.
    let many = Settings { task: Task::Classification, ..network() };
    assert!(many.prepare(50_000, &Encoding::unscaled(2), budget()).is_ok());
    let units = refused(Settings { scores: None, ..network() });
    assert!(matches!(units, LearnError::OfNetworks("hidden units")), "{units}");
    let none = refused(Settings { hidden: Some(0), ..network() });
    assert!(none.to_string().contains("hidden units"), "{none}");
    let large = refused(Settings { hidden: Some(5_000_000), ..network() });
    assert!(matches!(large, LearnError::LargeNetwork { .. }), "{large}");
    let schema = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n[[column]]\nname = 'a'\nrange = [0, 1]\nmonotone = 'increasing'\n";
    let encoding = Encoding::of(&Schema::parse(schema).unwrap());
    let monotone = network().prepare(300, &encoding, budget()).unwrap_err();
    assert!(matches!(monotone, LearnError::NotOfNetworks("monotone columns")), "{monotone}");
}

/// Of persons a network learns from one record each; all of them are refused by name.
#[test]
fn persons_are_protected_by_one_record_each() {
    let schema = "[person]\ncolumn = 'id'\n[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n\
                  [[column]]\nname = 'a'\nrange = [0, 1]\n";
    let schema = Schema::parse(schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.csv");
    let mut text = String::from("id,a,y\n");
    (0..900).for_each(|i| writeln!(text, "{},{},{}", i % 400, f64::from(i % 97) / 97.0, i % 2).unwrap());
    std::fs::write(&path, text).unwrap();
    let encoding = Encoding::of(&schema);
    let fit = |per_person, max_records| {
        let table = Table::read(&path, &encoding, schema.label_use()).unwrap();
        let settings = Settings { unit: Unit::Person, per_person, max_records, steps: Some(4), ..network() };
        Training { settings, encoding: encoding.clone(), label: None, budget: budget() }.fit(table)
    };
    for cap in [None, Some(500)] {
        let model = fit(None, cap).unwrap();
        assert_eq!(model.certificate.problem.per_person, Some(PerPerson::One));
        assert_eq!(failures(&model.to_json().unwrap()), Vec::<String>::new());
    }
    let error = fit(Some(PerPerson::Weights), None).unwrap_err();
    assert!(matches!(error, LearnError::NoWeights("a network")), "{error}");
}

#[test]
fn a_changed_certificate_is_noticed() {
    let good = fit(Settings { steps: Some(3), ..network() }, 600).unwrap().to_json().unwrap();
    assert_eq!(failures(&good), Vec::<String>::new());
    let model: serde_json::Value = serde_json::from_str(&good).unwrap();
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut model = model.clone();
        change(&mut model);
        pairdp_verify::verify(&model.to_string()).is_ok_and(|verdict| verdict.holds())
    };
    assert!(changed(&|_| {}));
    assert!(!changed(&|m| m["certificate"]["problem"]["score"]["network"]["hidden"] = 4.into()));
    assert!(!changed(&|m| m["predictor"]["score"]["network"]["linear"] = 0.7.into()));
    assert!(!changed(&|m| m["certificate"]["problem"]["score"]["network"]["seed"] = 9.into()));
    assert!(!changed(&|m| {
        m["predictor"]["score"] = "linear".into();
        m["certificate"]["problem"]["score"] = "linear".into();
    }));
    assert!(!changed(&|m| m["certificate"]["released"]["kernel"] = "rows/2".into()));
    assert!(!changed(
        &|m| m["certificate"]["problem"]["objective"]["pointwise"]["loss"]["margin"] = "logistic".into()
    ));
    for number in ["sensitivity", "kernel_error", "sigma"] {
        assert!(!changed(&|m| {
            let value = m["certificate"]["released"]["releases"][1][number].as_f64().unwrap();
            m["certificate"]["released"]["releases"][1][number] = (0.9 * value).into();
        }));
    }
    // Weights of the output beyond the domain.
    assert!(!changed(&|m| m["predictor"]["parameters"][0] = 1e3.into()));
    // Noise of linear scores for a network: D of a free score is more.
    let logistic =
        Settings { loss: Some(LossKind::Logistic), steps: Some(3), step_size: Some(2000.0), ..network() };
    let model = fit(logistic, 600).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&model.to_json().unwrap()).unwrap();
    let release = &mut value["certificate"]["released"]["releases"][2];
    assert!(release["iterate_norm"].as_f64().unwrap() > 1.0);
    for (number, share) in [("sensitivity", 0.85), ("sigma", 0.85)] {
        let old = release[number].as_f64().unwrap();
        release[number] = (share * old).into();
    }
    assert!(!pairdp_verify::verify(&value.to_string()).unwrap().holds());
}

#[test]
fn a_network_has_no_coefficients_and_no_baseline() {
    let model = fit(Settings { steps: Some(2), ..network() }, 300).unwrap();
    assert!(Effects::of_private(&model).is_none() && model.shapes().is_none());
    assert!(model.predictor.explain(&table(Task::Ranking, 3)).is_none());
    let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
    let method = pairdp_learn::baseline::Baseline::Gd;
    let refused = pairdp_learn::baseline::fit(method, &network(), table(Task::Ranking, 30), encoding, None)
        .unwrap_err();
    assert!(matches!(refused, LearnError::NotOfNetworks("baseline")), "{refused}");
}

#[test]
fn the_start_is_public_and_follows_from_its_seed() {
    let rehearsed = |seed: Option<u64>| {
        let settings = Settings { start_seed: seed, steps: Some(1), step_size: Some(1e-9), ..network() };
        let checkpointer = &mut Checkpointer::none();
        let rows = || Ok::<_, LearnError>(Rows::from(table(Task::Ranking, 300)));
        let run = training(settings, budget()).open(&mut Unbooked, checkpointer, rows).unwrap();
        run.rehearse(Replay::from_seed(5), checkpointer).unwrap()
    };
    let (usual, one, two) = (rehearsed(None), rehearsed(Some(1)), rehearsed(Some(2)));
    assert_eq!(usual, one);
    assert_ne!(one, two);
    let model = fit(Settings { start_seed: Some(77), steps: Some(1), ..network() }, 300).unwrap();
    assert!(model.to_json().unwrap().contains("\"seed\": 77"));
}

const SCHEMA: &str = "[label]\ncolumn = 'y'\npositive = 1\nnegative = 0\n[[column]]\nname = 'a'\nrange = [-1, 1]\n\
                      [[column]]\nname = 'b'\ncategories = ['u', 'v']\n";

/// The same rows in files that end after so many.
fn files(ends: &[usize]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let mut random = Replay::from_seed(77);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let rows: Vec<String> = (0..*ends.last().unwrap())
        .map(|_| {
            let a = uniform();
            format!("{a},{},{}", if uniform() > 0.2 { 'u' } else { 'v' }, u8::from(a.abs() > 0.5))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut start = 0;
    let paths = ends.iter().enumerate().map(|(part, end)| {
        let path = folder.path().join(format!("part-{part}.csv"));
        std::fs::write(&path, format!("a,b,y\n{}\n", rows[start..*end].join("\n"))).unwrap();
        start = *end;
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn in_parts(schema: &Schema, paths: &[PathBuf]) -> CountedParts {
    let texts = describe(Task::Ranking, paths, &Encoding::of(schema), schema.label(), None, 3).unwrap();
    let parts: Vec<Part> = texts.iter().map(|text| Part::load(text).unwrap()).collect();
    let ask: Ask = Box::new(move |request| {
        let mut merged: Option<Vec<u8>> = None;
        for part in parts.iter().rev() {
            let reply = part.answer(request).map_err(|error| error.to_string())?;
            merged = Some(match merged {
                None => reply,
                Some(before) => merge(&reply, &before).map_err(|error| error.to_string())?,
            });
        }
        merged.ok_or_else(|| "no part".into())
    });
    CountedParts::count(ask).unwrap()
}

#[test]
fn parts_of_whole_blocks_find_the_same_bits() {
    let n = 7 * 256 + 31;
    let schema = Schema::parse(SCHEMA).unwrap();
    let encoding = Encoding::of(&schema);
    for settings in [
        network(),
        Settings { representation: Some(RepresentationKind::Ranges), ..network() },
        Settings { risk: Some(Risk::Pairs), loss: Some(LossKind::Logistic), ..network() },
        Settings { task: Task::Classification, ..network() },
    ] {
        let settings = Settings { steps: Some(6), ..settings };
        let run = |rows: Rows| {
            let training = Training {
                settings: settings.clone(),
                encoding: encoding.clone(),
                label: None,
                budget: budget(),
            };
            let checkpointer = &mut Checkpointer::none();
            let run = training.open(&mut Unbooked, checkpointer, || Ok::<_, LearnError>(rows))?;
            run.rehearse(Replay::from_seed(5), checkpointer)
        };
        let (_folder, whole) = files(&[n]);
        let table = Table::read(&whole[0], &encoding, LabelUse::Read(schema.label())).unwrap();
        let expected = run(table.into()).unwrap();
        let seven: Vec<usize> = (1..7).map(|k| k * 256).chain([n]).collect();
        for ends in [vec![n], vec![3 * 256, n], seven] {
            let (_folder, paths) = files(&ends);
            assert_eq!(run(in_parts(&schema, &paths).into()).unwrap(), expected, "{ends:?}");
        }
        for ends in [vec![255, n], vec![256, 511, n]] {
            let (_folder, paths) = files(&ends);
            let refused = run(in_parts(&schema, &paths).into()).unwrap_err();
            assert!(matches!(refused, LearnError::BrokenBlocks(256)), "{refused}");
        }
    }
}

/// Keeps what was saved, and fails after some saves, as a machine that goes down.
struct Memory {
    text: Arc<Mutex<Option<String>>>,
    saves: usize,
}

impl Store for Memory {
    fn load(&mut self) -> std::io::Result<Option<String>> {
        Ok(self.text.lock().unwrap().clone())
    }

    fn save(&mut self, text: &str) -> std::io::Result<()> {
        if self.saves == 0 {
            return Err(std::io::Error::other("the machine went down"));
        }
        self.saves -= 1;
        *self.text.lock().unwrap() = Some(text.into());
        Ok(())
    }

    fn remove(&mut self) -> std::io::Result<()> {
        *self.text.lock().unwrap() = None;
        Ok(())
    }
}

#[test]
fn an_interrupted_run_goes_on_and_is_certified() {
    let text = Arc::new(Mutex::new(None));
    let training = training(Settings { steps: Some(20), ..network() }, budget());
    let attempt = |saves: usize| {
        let mut store = Memory { text: Arc::clone(&text), saves };
        let mut checkpointer = Checkpointer::to(&mut store, std::time::Duration::ZERO);
        let rows = || Ok::<_, LearnError>(Rows::from(table(Task::Ranking, 600)));
        let run = training.open(&mut Unbooked, &mut checkpointer, rows)?;
        run.train(&mut checkpointer)
    };
    assert!(attempt(7).is_err());
    let model = attempt(1000).unwrap();
    assert_eq!(failures(&model.to_json().unwrap()), Vec::<String>::new());
}
