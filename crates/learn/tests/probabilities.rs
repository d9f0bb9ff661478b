//! Probabilities, and what follows from them: how well they are calibrated, and that nothing but released counts decides them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::Unbooked;
use pairdp_certificate::{Algorithm, Stage, StageNoise};
use pairdp_data::simulate::{self, cohort};
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::{FlagBy, ModelError, PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::score_cells::{CELLS, CellCounts, Stretch};
use pairdp_pairwise::{Records, Unit};
use pairdp_release::{Checkpointer, Curator, LearnError, Store, certified_event};
use pairdp_units::{Budget, Delta, FrontEnd, Hint};

/// A cohort as a table.
fn stays(records: usize, seed: u64) -> (Schema, Table) {
    let folder =
        std::env::temp_dir().join(format!("pairdp-probabilities-{}-{records}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("cohort.csv");
    std::fs::write(&path, cohort(records, seed).csv).unwrap();
    let schema = Schema::parse(simulate::SCHEMA).unwrap();
    let label = LabelUse::Read(schema.label());
    let table = Table::read(&path, &Encoding::of(&schema), label).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    (schema, table)
}

fn copy(table: &Table) -> Table {
    Table::new(table.features.clone(), table.columns, table.targets.clone())
}

/// Expected calibration error in ten equal bins, and the Brier score.
fn calibration(probabilities: &[f64], targets: &[f64]) -> (f64, f64) {
    let mut bins = [[0.0; 2]; 10];
    let mut squares = 0.0;
    for (p, target) in probabilities.iter().zip(targets) {
        let y = f64::from(u8::from(*target > 0.0));
        let bin = &mut bins[(1..10).filter(|k| *p >= f64::from(*k) / 10.0).count()];
        bin[0] += p - y;
        squares += (p - y) * (p - y);
    }
    let n = targets.len() as f64;
    (bins.iter().map(|bin| bin[0].abs()).sum::<f64>() / n, squares / n)
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// What the issue asks for: at n = 6,000 and ε = 1 an expected calibration error of at most 0.03, and a Brier score within 0.005 of that
/// of the model without privacy, for classifiers and for rankers.
#[test]
fn probabilities_of_the_cohort_are_calibrated() {
    let (schema, train) = stays(6000, 5);
    let (_, test) = stays(30_000, 77);
    let encoding = Encoding::of(&schema);
    let label = Some(schema.label().clone());
    let settings = Settings { task: Task::Classification, ..Settings::default() };
    let ceiling =
        baseline::fit(Baseline::Gd, &settings, copy(&train), encoding.clone(), label.clone()).unwrap();
    let exact: Vec<f64> = ceiling.predictor.scores(&test).into_iter().map(logistic).collect();
    let (_, best) = calibration(&exact, &test.targets);
    for task in [Task::Classification, Task::Ranking] {
        let settings = Settings { task, probabilities: Some(true), ..Settings::default() };
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let training = Training { settings, encoding: encoding.clone(), label: label.clone(), budget };
        let runs: Vec<(f64, f64)> = (0..24)
            .map(|_| {
                let model = training.fit(copy(&train)).unwrap();
                let probabilities = model.predictor.probabilities_of(&test).unwrap();
                calibration(&probabilities, &test.targets)
            })
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let (error, brier) = (mean(|run| run.0), mean(|run| run.1));
        println!("{}: ECE {error:.4}, Brier {brier:.5}, without privacy {best:.5}: {runs:.5?}", task.name());
        assert!(error <= 0.03 && brier <= best + 0.005, "{task:?}: {runs:?}, best {best}");
    }
}

fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Three columns within ±1, of which the first moves the log-odds by `signal`.
fn table(rows: usize, positive: f64, signal: f64, seed: u64) -> Table {
    let mut random = Replay::from_seed(seed);
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<f64> = (0..3).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
        let p = logistic((positive / (1.0 - positive)).ln() + signal * row[0]);
        targets.push(if uniform(&mut random) < p { 1.0 } else { -1.0 });
        features.extend(row);
    }
    Table::new(features, 3, targets)
}

fn trained(
    settings: Settings,
    (epsilon, delta): (f64, f64),
    table: Table,
) -> Result<PrivateModel, LearnError> {
    let (encoding, budget) = (Encoding::unscaled(table.columns), Budget::new(epsilon, delta)?);
    Training { settings, encoding, label: None, budget }.fit(table)
}

fn counting(task: Task) -> Settings {
    Settings { task, probabilities: Some(true), ..Settings::default() }
}

fn holds(model: &PrivateModel) -> bool {
    let verdict = pairdp_verify::verify(&model.to_json().unwrap()).unwrap();
    verdict.holds()
}

/// Every law, algorithm, representation and relation of neighbours that is proved; and no number of the release may be another one.
#[test]
fn the_counts_are_certified_and_no_verifier_takes_others() {
    let plain = counting(Task::Ranking);
    let cases = [
        (plain.clone(), 1e-6),
        (counting(Task::Classification), 1e-6),
        (Settings { algorithm: Some(Algorithm::Moments), ..plain.clone() }, 1e-6),
        (Settings { algorithm: Some(Algorithm::NoisyGd), ..plain.clone() }, 1e-6),
        (plain.clone(), 0.0),
        (Settings { max_records: Some(900), promised: true, ..plain.clone() }, 1e-6),
        (Settings { max_records: Some(900), promised: true, ..plain }, 0.0),
    ];
    for (settings, delta) in cases {
        let model = trained(settings.clone(), (1.0, delta), table(800, 0.3, 2.0, 3)).unwrap();
        assert!(holds(&model), "{settings:?} {delta}");
        assert_eq!(PrivateModel::from_json(&model.to_json().unwrap()).unwrap(), model);
        let Some(Stage::Probabilities { noise, .. }) = model.certificate.stages.last() else {
            panic!("no stage")
        };
        let promised: f64 = if settings.promised { 1.0 } else { 2.0 };
        let expected = if delta > 0.0 { promised.sqrt() } else { promised };
        assert!((noise.sensitivity - expected).abs() < 1e-12, "{} for {expected}", noise.sensitivity);
        let tampered = |change: &dyn Fn(&mut PrivateModel)| {
            let mut other = model.clone();
            change(&mut other);
            assert!(!pairdp_verify::verify(&other.to_json().unwrap()).unwrap().holds());
        };
        let stage = |change: &dyn Fn(&mut StageNoise)| {
            tampered(&|model| {
                if let Some(Stage::Probabilities { noise, .. }) = model.certificate.stages.last_mut() {
                    change(noise);
                }
            });
        };
        stage(&|noise| noise.sigma *= 0.99);
        stage(&|noise| noise.sigma *= 1.01);
        stage(&|noise| noise.ratio *= 0.9);
        stage(&|noise| noise.sensitivity *= 0.99);
        stage(&|noise| noise.error *= 0.5);
        stage(&|noise| noise.lattice_bits -= 1);
        tampered(&|model| model.certificate.stages.truncate(model.certificate.stages.len() - 1));
        tampered(&|model| model.predictor.probabilities = None);
        tampered(&|model| model.predictor.probabilities.as_mut().unwrap().noise *= 0.5);
        tampered(&|model| model.predictor.probabilities.as_mut().unwrap().counted += 1e3);
        if model.certificate.stages.len() > 1 {
            tampered(&|model| model.certificate.stages.reverse());
        }
        // Under fewer budgets the same counts would be certified twice.
        tampered(&|model| {
            let last = *model.certificate.stages.last().unwrap();
            model.certificate.stages.push(last);
        });
    }
}

/// A run that goes on after its training was interrupted, or after the last of its steps, counts once: what it had counted before was seen
/// by nobody.
#[test]
fn an_interrupted_run_goes_on_and_counts() {
    struct Memory(Option<String>, usize);
    impl Store for Memory {
        fn load(&mut self) -> std::io::Result<Option<String>> {
            Ok(self.0.clone())
        }
        fn save(&mut self, text: &str) -> std::io::Result<()> {
            if self.1 == 0 {
                return Err(std::io::Error::other("lost"));
            }
            (self.0, self.1) = (Some(text.to_owned()), self.1 - 1);
            Ok(())
        }
        fn remove(&mut self) -> std::io::Result<()> {
            self.0 = None;
            Ok(())
        }
    }
    let steps = Some(5);
    let settings = Settings { algorithm: Some(Algorithm::NoisyGd), steps, ..counting(Task::Classification) };
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let training = Training { settings, encoding: Encoding::unscaled(3), label: None, budget };
    let train = |store: &mut Memory| {
        let mut checkpointer = Checkpointer::to(store, std::time::Duration::ZERO);
        let rows = || Ok::<_, LearnError>(table(600, 0.3, 2.0, 21).into());
        let run = training.open(&mut Unbooked, &mut checkpointer, rows)?;
        let model = run.train(&mut checkpointer)?;
        Ok::<_, LearnError>((model, checkpointer.resumed()))
    };
    for saves in [2, 5] {
        let mut store = Memory(None, saves);
        let outcome = train(&mut store);
        // After five saves training is done, and its model is lost with the process.
        assert_eq!(outcome.is_ok(), saves == 5);
        let state: serde_json::Value = serde_json::from_str(store.0.as_ref().unwrap()).unwrap();
        assert_eq!(state["made"], saves);
        assert!(!store.0.as_ref().unwrap().contains("counts\":["));
        store.1 = usize::MAX;
        let (model, resumed) = train(&mut store).unwrap();
        assert_eq!(usize::try_from(resumed).unwrap(), saves);
        assert!(holds(&model) && model.predictor.probabilities.is_some());
    }
}

/// A ledger is told before of all that a certificate states after.
#[test]
fn the_event_is_what_was_certified() {
    for (settings, delta) in [(counting(Task::Classification), 1e-6), (counting(Task::Ranking), 0.0)] {
        let (encoding, budget) = (Encoding::unscaled(3), Budget::new(1.0, delta).unwrap());
        let spec = settings.prepare(700, &encoding, budget).unwrap();
        let (event, sampler_delta) = spec.mechanism().event().unwrap();
        let model = trained(settings, (1.0, delta), table(700, 0.3, 2.0, 22)).unwrap();
        assert_eq!(certified_event(&model.certificate).unwrap(), event);
        let left = Delta::new((delta - sampler_delta.get()).abs()).unwrap();
        let epsilon = pairdp_accountant::epsilon_for(&event, left).unwrap().0.get();
        assert!((0.9..=1.0 + 1e-9).contains(&epsilon), "{epsilon}");
    }
}

#[test]
fn what_has_no_proof_or_no_classes_is_refused_with_a_way_out() {
    let refused = |settings: Settings| {
        let error = trained(settings, (1.0, 1e-6), table(300, 0.4, 1.0, 4)).map(|_| ()).unwrap_err();
        assert!(
            error.hint(FrontEnd::Command).is_some() || matches!(error, LearnError::Plan { .. }),
            "{error}"
        );
        error.to_string()
    };
    assert!(
        refused(counting(Task::Metric)).contains("the task metric cannot be combined with probabilities")
    );
    assert!(refused(counting(Task::Regression)).contains("regression"));
    let asked = || counting(Task::Ranking);
    let secret = refused(Settings { max_records: Some(400), ..asked() });
    assert!(secret.contains("probabilities without a promised cap"), "{secret}");
    for algorithm in [Algorithm::NoisySgd, Algorithm::OutputGd, Algorithm::OnlinePair] {
        assert!(refused(Settings { algorithm: Some(algorithm), ..asked() }).contains("probabilities"));
    }
    assert!(refused(Settings { representation_share: Some(0.95), ..asked() }).contains("probabilities"));
}

/// The share is a tenth of μ², whoever asks; left open, classifiers count from n·μ = 800 on, by public numbers alone.
#[test]
fn who_counts_follows_from_public_numbers() {
    let encoding = Encoding::unscaled(4);
    let counts = |settings: Settings, records: usize, epsilon: f64| {
        let budget = Budget::new(epsilon, 1e-6).unwrap();
        let spec = settings.prepare(records, &encoding, budget).unwrap();
        spec.plan().probabilities().map(|cells| (cells.share, cells.cells))
    };
    let classes = || Settings { task: Task::Classification, ..Settings::default() };
    // μ is 0.236 at ε = 1, δ = 1e−6.
    assert_eq!(counts(classes(), 3300, 1.0), None);
    assert_eq!(counts(classes(), 3450, 1.0), Some((0.1, CELLS)));
    assert_eq!(counts(Settings::default(), 100_000, 1.0), None);
    assert_eq!(counts(counting(Task::Ranking), 50, 1.0), Some((0.1, CELLS)));
    assert_eq!(counts(Settings { probabilities: Some(false), ..classes() }, 100_000, 1.0), None);
    let secret = Settings { max_records: Some(100_000), ..classes() };
    assert_eq!(counts(secret.clone(), 0, 1.0), None);
    assert!(counts(Settings { promised: true, ..secret }, 0, 1.0).is_some());
}

/// A mechanism counts once, after its training, and one without such a release not at all.
#[test]
fn a_curator_counts_once_and_after_training() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let ranges = Settings { representation: Some(RepresentationKind::Ranges), ..counting(Task::Ranking) };
    let settings = Settings { algorithm: Some(Algorithm::Moments), ..ranges };
    let spec = settings.prepare(40, &Encoding::unscaled(3), budget).unwrap();
    let own = table(40, 0.5, 1.0, 9);
    let records = || Records::with_targets(own.features.clone(), 3, own.targets.clone(), 1.0).unwrap();
    let mechanism = spec.mechanism().clone();
    let mut curator = Curator::open(records(), mechanism, Replay::from_seed(1)).unwrap();
    let (stretch, weights) = (Stretch { low: -1.0, high: 1.0 }, [0.5, 0.2, 0.1]);
    assert!(curator.noisy_cells(stretch, &weights, 0.0).is_err());
    pairdp_release::run(&mut curator, &mut Checkpointer::none()).unwrap();
    let released = curator.noisy_cells(stretch, &weights, 0.0).unwrap();
    assert!(curator.noisy_cells(stretch, &weights, 0.0).is_err());
    // The noise is as large as was certified: 32 squares of standard normals are within 5 … 90 but once in 10⁷ runs.
    let exact =
        CellCounts::of_records(stretch, &weights, 0.0, &records(), pairdp_pairwise::kernel::Par::Sequential);
    let sigma = spec.mechanism().probability_noise().unwrap().sigma;
    let squares: f64 =
        released.iter().zip(exact.query().unwrap()).map(|(a, b)| ((a - b) / sigma).powi(2)).sum();
    assert!((5.0..90.0).contains(&squares), "{squares}");
    let without =
        Settings { probabilities: None, ..settings }.prepare(40, &Encoding::unscaled(3), budget).unwrap();
    let mut curator = Curator::open(records(), without.mechanism().clone(), Replay::from_seed(1)).unwrap();
    pairdp_release::run(&mut curator, &mut Checkpointer::none()).unwrap();
    assert!(curator.noisy_cells(stretch, &weights, 0.0).is_err());
}

/// Cells follow from the model alone: no row of a table decides them.
#[test]
fn the_stretch_is_a_function_of_the_model() {
    for representation in [RepresentationKind::Ranges, RepresentationKind::Ranks] {
        let settings = Settings { representation: Some(representation), ..counting(Task::Ranking) };
        let model = trained(settings, (2.0, 1e-6), table(900, 0.3, 3.0, 5)).unwrap();
        let counted = model.predictor.probabilities.clone().unwrap();
        let stretch = model.predictor.stretch().unwrap();
        assert_eq!(
            (counted.low.to_bits(), counted.high.to_bits()),
            (stretch.low.to_bits(), stretch.high.to_bits())
        );
        // Nearly all scores lie within it.
        let scores = model.predictor.scores(&table(2000, 0.3, 3.0, 6));
        let inside = scores.iter().filter(|score| **score > stretch.low && **score < stretch.high).count();
        assert!(inside > 1900, "{representation:?}: {inside}");
    }
}

/// Flags keep their targets on fresh records, up to the noise of counts and a cell's width: at n = 8,000 and ε = 2.
#[test]
fn flags_keep_their_targets() {
    let model = trained(counting(Task::Classification), (2.0, 1e-6), table(8000, 0.2, 3.0, 7)).unwrap();
    let test = table(20_000, 0.2, 3.0, 8);
    let scores = model.predictor.scores(&test);
    let flagged = |by: FlagBy| {
        let (from, probability) = model.predictor.flagged_from(by).unwrap();
        let share = |chosen: &dyn Fn(usize) -> bool| {
            let all: Vec<usize> = (0..scores.len()).filter(|i| chosen(*i)).collect();
            all.iter().filter(|i| scores[**i] >= from).count() as f64 / all.len() as f64
        };
        (share(&|_| true), share(&|i| test.targets[i] > 0.0), probability)
    };
    for share in [0.05, 0.1, 0.3, 0.6] {
        let (found, ..) = flagged(FlagBy::FlagShare(share));
        assert!((found - share).abs() < 0.04, "{found} for {share}");
    }
    for sensitivity in [0.5, 0.8, 0.95] {
        let (_, found, _) = flagged(FlagBy::Sensitivity(sensitivity));
        assert!((found - sensitivity).abs() < 0.06, "{found} for {sensitivity}");
    }
    for ratio in [1.0, 4.0] {
        let (.., probability) = flagged(FlagBy::CostRatio(ratio));
        assert!((probability - 1.0 / (1.0 + ratio)).abs() < 1e-9, "{probability} for {ratio}");
    }
    // At even costs what is flagged is what is predicted.
    let (from, _) = model.predictor.flagged_from(FlagBy::CostRatio(1.0)).unwrap();
    assert!((from - model.predictor.cut()).abs() < 1e-12);
    for by in [FlagBy::FlagShare(0.0), FlagBy::Sensitivity(1.5), FlagBy::CostRatio(f64::NAN)] {
        assert!(matches!(model.predictor.flagged_from(by), Err(ModelError::Number { .. })));
    }
    let plain = trained(Settings::default(), (1.0, 1e-6), table(300, 0.3, 1.0, 9)).unwrap();
    assert!(matches!(plain.predictor.flagged_from(FlagBy::CostRatio(1.0)), Err(ModelError::NoProbabilities)));
}

/// Without signal all records have the larger class, and the model says so. The share of the rarer class is far from a half, so that noise
/// would have to be off by eight deviations.
#[test]
fn without_signal_the_larger_class_is_predicted_and_the_model_says_so() {
    for (positive, expected) in [(0.1, false), (0.9, true)] {
        let model =
            trained(counting(Task::Classification), (1.0, 1e-6), table(6000, positive, 0.0, 11)).unwrap();
        let line = model.predictor.log_odds().unwrap();
        assert_eq!(line.majority(), Some(expected), "{line:?}");
        let test = table(500, positive, 0.0, 12);
        let cut = model.predictor.cut();
        assert!(model.predictor.scores(&test).iter().all(|score| (*score > cut) == expected));
        let probabilities = model.predictor.probabilities_of(&test).unwrap();
        assert!(probabilities.iter().all(|p| (p - positive).abs() < 0.1), "{probabilities:?}");
    }
}

/// Absurd counts are read, too: probabilities are within (0, 1), never fall with the score, and thresholds are numbers.
#[test]
fn whatever_was_released_is_read() {
    let model = trained(counting(Task::Classification), (1.0, 1e-6), table(400, 0.3, 1.0, 13)).unwrap();
    let mut random = Replay::from_seed(14);
    for case in 0..300 {
        let mut predictor = model.predictor.clone();
        let counted = predictor.probabilities.as_mut().unwrap();
        let size = [0.0, 1.0, 1e3, 1e9, 1e300][case % 5];
        for count in &mut counted.counts {
            *count = size * (2.0 * uniform(&mut random) - 1.0);
        }
        if case % 7 == 0 {
            counted.counts = vec![if case % 2 == 0 { 0.0 } else { -5.0 }; 2 * CELLS];
        }
        let line = predictor.log_odds().unwrap();
        let scores: Vec<f64> = (-200..=200).map(|k| f64::from(k) / 10.0).collect();
        let probabilities: Vec<f64> = scores.iter().map(|score| line.probability(*score)).collect();
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{case}: {line:?}");
        assert!(probabilities.is_sorted(), "{case}: {line:?}");
        for by in [FlagBy::FlagShare(0.2), FlagBy::Sensitivity(0.8), FlagBy::CostRatio(3.0)] {
            let (from, probability) = predictor.flagged_from(by).unwrap();
            assert!(from.is_finite() && probability.is_finite(), "{case}: {line:?}");
        }
        assert!(predictor.cut().is_finite());
    }
}

/// Labels of a public table give probabilities for nothing, and leave the certificate as it is.
#[test]
fn a_public_table_calibrates_for_nothing() {
    let model = trained(Settings::default(), (2.0, 1e-6), table(4000, 0.3, 3.0, 15)).unwrap();
    let public = table(4000, 0.3, 3.0, 16);
    let mut calibrated = model.clone();
    calibrated.predictor = model.predictor.calibrated_on(&public).unwrap();
    assert!(holds(&calibrated) && calibrated.certificate == model.certificate);
    let test = table(20_000, 0.3, 3.0, 17);
    let (error, _) = calibration(&calibrated.predictor.probabilities_of(&test).unwrap(), &test.targets);
    assert!(error < 0.03, "{error}");
    // Counts that say they are of a private table need a release.
    let mut claimed = calibrated.clone();
    claimed.predictor.probabilities.as_mut().unwrap().of = pairdp_certificate::Counted::Private;
    assert!(!pairdp_verify::verify(&claimed.to_json().unwrap()).unwrap().holds());
    let one_class = Table::new(vec![0.0; 30], 3, vec![1.0; 10]);
    assert!(matches!(model.predictor.calibrated_on(&one_class), Err(ModelError::OneClass)));
}

/// Persons: however many records they have, they count as one, so that counts add up to about the number of persons.
#[test]
fn persons_count_as_one_each() {
    let (persons, each) = (400, 5);
    let own = table(persons * each, 0.3, 2.0, 18);
    let owners =
        pairdp_data::Owners::new((0..persons * each).map(|i| u32::try_from(i / each).unwrap()).collect());
    let grouped = Table { owners: Some(owners), ..own };
    let settings = Settings { unit: Unit::Person, ..counting(Task::Ranking) };
    let model = trained(settings, (4.0, 1e-6), grouped).unwrap();
    assert!(holds(&model));
    let counted = model.predictor.probabilities.clone().unwrap();
    let sum: f64 = counted.counts.iter().sum();
    // Six deviations of the sum's noise.
    let reach = 6.0 * counted.noise * (2.0 * CELLS as f64).sqrt();
    assert!((sum - persons as f64).abs() < reach && reach < persons as f64, "{sum} ± {reach}");
}
