//! Ranks by a first release: what it costs, that certificates say so, and that nothing else of the records decides the map.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Label, Schema, Table};
use pairdp_learn::{RepresentationKind, Risk, Settings, Training};
use pairdp_model::{PrivateModel, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::knots::{Block, KnotSums, Layout, Spacing};
use pairdp_pairwise::{Strata, measure};
use pairdp_release::{Checkpointer, LearnError, Store};
use pairdp_units::Budget;
use pairdp_verify::Verdict;
use std::time::Duration;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

fn ranks(algorithm: Option<Algorithm>) -> Settings {
    Settings { algorithm, representation: Some(RepresentationKind::Ranks), ..Settings::default() }
}

const SCHEMA: &str = r#"
    [label]
    column = "y"
    positive = 1
    negative = 0

    [[column]]
    name = "amount"
    range = [0, 1e6]

    [[column]]
    name = "share"
    range = [-100, 100]

    [[column]]
    name = "kind"
    categories = ["u", "v", "w"]
"#;

fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Amounts of a few thousand in a range of a million, shares around 3 in ±100: nearly one point of the ball.
fn table(rows: usize, seed: u64) -> (Encoding, Label, Table) {
    let schema = Schema::parse(SCHEMA).unwrap();
    let encoding = Encoding::of(&schema);
    let mut random = Replay::from_seed(seed);
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let (a, b, kind) = (uniform(&mut random), uniform(&mut random), random.next_word() % 3);
        features.extend([a * 5e3 / 5e5 - 1.0, (3.0 + b) / 100.0]);
        features.extend((0..3).map(|k| f64::from(u8::from(kind == k))));
        let odds = 6.0 * (a - 0.5) - 3.0 * (b - 0.5) + kind as f64 - 1.0;
        targets.push(if uniform(&mut random) < 1.0 / (1.0 + (-odds).exp()) { 1.0 } else { -1.0 });
    }
    (encoding, schema.label().clone(), Table::new(features, 5, targets))
}

fn trained(settings: Settings, budget: (f64, f64), rows: usize) -> PrivateModel {
    let (encoding, label, table) = table(rows, 1);
    let budget = Budget::new(budget.0, budget.1).unwrap();
    Training { settings, encoding, label: Some(label), budget }.fit(table).unwrap()
}

fn auc(model: &PrivateModel) -> f64 {
    let (_, _, test) = table(4000, 2);
    measure::auc(&model.predictor.scores(&test), &test.positive()).unwrap()
}

/// With ranges a hundred times too wide a model by ranges is lost, and one by ranks is not. (Seeds of the tables are fixed; the noise
/// would have to be twenty standard deviations off.)
#[test]
fn wide_ranges_do_not_ruin_a_model() {
    let wide = Settings { representation: Some(RepresentationKind::Ranges), ..Settings::default() };
    let (by_ranges, by_ranks) = (trained(wide, (1.0, 1e-6), 4000), trained(ranks(None), (1.0, 1e-6), 4000));
    assert!(by_ranks.predictor.representation.is_some());
    assert!(auc(&by_ranks) > 0.80, "{}", auc(&by_ranks));
    assert!(auc(&by_ranges) < 0.75, "{}", auc(&by_ranges));
}

#[test]
fn certificates_account_for_the_first_release() {
    for (algorithm, max_records, delta) in [
        (Some(Algorithm::Moments), None, 1e-6),
        (Some(Algorithm::NoisyGd), None, 1e-6),
        (Some(Algorithm::NoisyGd), Some(900), 1e-6),
        (Some(Algorithm::Moments), Some(700), 1e-6),
        (Some(Algorithm::Moments), None, 0.0),
        (Some(Algorithm::Moments), Some(700), 0.0),
        (None, None, 1e-6),
    ] {
        let model = trained(Settings { max_records, ..ranks(algorithm) }, (1.0, delta), 800);
        let verdict = verify(&model);
        assert!(
            verdict.holds(),
            "{algorithm:?} {max_records:?} {delta}: {:?}",
            verdict.failures().collect::<Vec<_>>()
        );
        assert_eq!(PrivateModel::from_json(&model.to_json().unwrap()).unwrap(), model);
        let tampered = |change: &dyn Fn(&mut PrivateModel)| {
            let mut model = model.clone();
            change(&mut model);
            assert!(!verify(&model).holds());
        };
        let knots = |change: &dyn Fn(&mut pairdp_certificate::StageNoise)| {
            tampered(&|model| {
                if let pairdp_certificate::Stage::Knots { noise, .. } = &mut model.certificate.stages[0] {
                    change(noise);
                }
            });
        };
        knots(&|noise| noise.sigma *= 0.99);
        knots(&|noise| noise.ratio *= 1.1);
        knots(&|noise| noise.sensitivity *= 0.99);
        knots(&|noise| noise.error *= 0.5);
        knots(&|noise| noise.lattice_bits -= 1);
        tampered(&|model| model.certificate.stages.clear());
        tampered(&|model| model.predictor.representation.as_mut().unwrap().noise *= 0.5);
        tampered(&|model| model.predictor.representation.as_mut().unwrap().counted += 1e3);
        if delta > 0.0 {
            tampered(&|model| model.certificate.sampler_delta *= 0.5);
        }
        tampered(&|model| {
            if let pairdp_certificate::Stage::Knots { numbers, categories, .. } =
                &mut model.certificate.stages[0]
            {
                (*numbers, *categories) = (1, 2);
            }
        });
    }
}

/// Shares outside (0, 1), or other ones than were spent; a number of knots that is not the version's; ranges tightened beside
/// it; and a map of its own, for which a model file has no place: rows follow from released weights or not at all.
#[test]
fn no_verifier_takes_other_shares_knots_or_maps_than_were_released() {
    let model = trained(ranks(Some(Algorithm::Moments)), (1.0, 1e-6), 800);
    let file: serde_json::Value = serde_json::from_str(&model.to_json().unwrap()).unwrap();
    let holds = |file: &serde_json::Value| {
        pairdp_verify::verify(&file.to_string()).is_ok_and(|verdict| verdict.holds())
    };
    assert!(holds(&file));
    let changed = |place: &str, value: serde_json::Value| {
        let mut file = file.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = file.pointer_mut(parent).unwrap();
        match parent {
            serde_json::Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
            other => drop(other.as_object_mut().unwrap().insert(name.into(), value)),
        }
        file
    };
    for share in [0.0, 1.0, -0.3, 1.3, 0.31, 0.299] {
        let lied = changed("/training/representation/share", share.into());
        assert!(!holds(&lied), "a share of {share}");
    }
    let ranges = serde_json::json!({ "columns": 2, "bins": 64, "sensitivity": 2.0, "ratio": 0.01, "lattice_bits": 20, "sigma": 200.0 });
    for (place, value) in [
        ("/certificate/ranges", ranges),
        ("/certificate/stages/0/coordinates", 117.into()),
        ("/predictor/map", serde_json::json!([[0.0, 1.0]])),
        ("/predictor/representation/map", serde_json::json!([[0.0, 1.0]])),
        ("/predictor/representation/cumulative", serde_json::json!([1.0, 0.0])),
        ("/predictor/representation/weights/3", serde_json::Value::Null),
        ("/predictor/representation/weights", serde_json::json!([1.0])),
        ("/predictor/representation/reading", "ranks/1".into()),
        ("/predictor/representation/reading", "distances/1".into()),
        ("/predictor/encoding/columns/0", serde_json::json!({ "name": "amount", "categories": ["a"] })),
    ] {
        assert!(!holds(&changed(place, value)), "{place}");
    }
}

/// From a public measure of signal on, knots are close together; it costs no more noise, and weights of one spacing are not taken
/// for those of the other.
#[test]
fn knots_are_close_together_where_there_is_signal_for_them() {
    let weights = |rows: usize, delta: f64| {
        let model = trained(ranks(None), (1.0, delta), rows);
        assert!(verify(&model).holds());
        let released = model.predictor.representation.clone().unwrap();
        let other = if released.reading == "ranks/2" { "fine-ranks/1" } else { "ranks/2" };
        let swapped = model.to_json().unwrap().replace(&released.reading, other);
        assert!(!pairdp_verify::verify(&swapped).is_ok_and(|verdict| verdict.holds()));
        assert!(PrivateModel::from_json(&swapped).is_err());
        (released.reading, released.weights.len(), model.certificate.stages[0].noise().sensitivity)
    };
    let (reading, few, coarse) = weights(1000, 1e-6);
    assert_eq!((reading.as_str(), few), ("ranks/2", 2 * Spacing::Coarse.knots() + 3 + 1));
    let (reading, many, fine) = weights(8000, 1e-6);
    assert_eq!((reading.as_str(), many), ("fine-ranks/1", 2 * Spacing::Fine.knots() + 3 + 1));
    assert_eq!(coarse.to_bits(), fine.to_bits());
    // Ratios of pure ε add up, and the measure is another one.
    assert_eq!(weights(8000, 0.0).0, "ranks/2");
}

/// Tables of one size get one plan and one noise; only what is released decides the map.
#[test]
fn the_plan_is_blind() {
    let one = trained(ranks(None), (1.0, 1e-6), 3000);
    let (encoding, label, mut table) = table(3000, 9);
    table.features.fill(0.0);
    table.targets.fill(1.0);
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let other = Training { settings: ranks(None), encoding, label: Some(label), budget }.fit(table).unwrap();
    assert_eq!((one.training, &one.because), (other.training, &other.because));
    assert_eq!(one.certificate.stages, other.certificate.stages);
    assert_eq!(one.certificate.problem, other.certificate.problem);
    assert!(verify(&other).holds(), "one class, constant columns");
}

#[test]
fn rows_stay_in_the_unit_ball_whatever_was_released() {
    let model = trained(ranks(None), (1.0, 1e-6), 500);
    let (_, _, rows) = table(200, 3);
    for weight in [0.0, -1e9, 1e12, 1e-300] {
        let mut absurd = model.predictor.clone();
        absurd.representation.as_mut().unwrap().weights.iter_mut().for_each(|value| *value = weight);
        absurd.each_row(&rows, |row| {
            let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(norm <= model.certificate.problem.feature_bound && norm.is_finite(), "{weight}: {norm}");
        });
    }
}

/// Keeps a checkpoint in memory, and fails after so many saves.
struct Memory {
    text: Option<String>,
    saves: usize,
}

impl Store for Memory {
    fn load(&mut self) -> std::io::Result<Option<String>> {
        Ok(self.text.clone())
    }

    fn save(&mut self, text: &str) -> std::io::Result<()> {
        if self.saves == 0 {
            return Err(std::io::Error::other("killed"));
        }
        self.saves -= 1;
        self.text = Some(text.to_owned());
        Ok(())
    }

    fn remove(&mut self) -> std::io::Result<()> {
        self.text = None;
        Ok(())
    }
}

/// A run that is killed and goes on learns from the weights that it had released, and makes no second release of them; a checkpoint
/// that has lost them, or has others, is refused.
#[test]
fn an_interrupted_run_releases_where_columns_lie_once() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let run = |store: &mut Memory| {
        let (encoding, label, table) = table(3000, 5);
        let training = Training { settings: ranks(None), encoding, label: Some(label), budget };
        let mut checkpointer = Checkpointer::to(store, Duration::ZERO);
        let rows = || Ok::<_, LearnError>(table.into());
        let run = training.open(&mut pairdp_accountant::Unbooked, &mut checkpointer, rows)?;
        run.train(&mut checkpointer)
    };
    let mut store = Memory { text: None, saves: 4 };
    assert!(matches!(run(&mut store), Err(LearnError::Store(_))));
    let kept: serde_json::Value = serde_json::from_str(store.text.as_deref().unwrap()).unwrap();
    let mut changed = Vec::new();
    for change in ["without", "shorter"] {
        let mut other = kept.clone();
        match change {
            "without" => drop(other.as_object_mut().unwrap().remove("representation")),
            _ => drop(other["representation"]["weights"].as_array_mut().unwrap().pop()),
        }
        changed.push(other.to_string());
    }
    for text in changed {
        assert!(matches!(run(&mut Memory { text: Some(text), saves: 999 }), Err(LearnError::Checkpoint)));
    }
    store.saves = 999;
    let model = run(&mut store).unwrap();
    assert!(verify(&model).holds());
    assert_eq!(serde_json::to_value(&model.predictor.representation).unwrap(), kept["representation"]);
}

/// A start that follows from rare positives stays within a small domain: nothing that was paid for ends in an error.
#[test]
fn rare_positives_start_within_every_domain() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for radius in [None, Some(0.5), Some(1e-3)] {
        let (encoding, label, mut table) = table(3000, 4);
        table.targets.iter_mut().enumerate().for_each(|(i, y)| *y = if i == 0 { 1.0 } else { -1.0 });
        let settings = Settings { risk: Some(Risk::Records), radius, ..ranks(Some(Algorithm::NoisyGd)) };
        let model = Training { settings, encoding, label: Some(label), budget }.fit(table).unwrap();
        assert!(verify(&model).holds(), "{radius:?}");
    }
}

#[test]
fn what_has_no_proof_is_refused() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for algorithm in Algorithm::ALL {
        let prepared = ranks(Some(algorithm)).prepare(500, &Encoding::unscaled(3), budget);
        let proved = matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments);
        assert_eq!(prepared.is_ok(), proved, "{algorithm:?}");
    }
    for share in [-0.1, 0.0, 1.0, f64::NAN] {
        let settings = Settings { representation_share: Some(share), ..ranks(Some(Algorithm::Moments)) };
        assert!(settings.prepare(500, &Encoding::unscaled(2), budget).is_err(), "{share}");
    }
    for momentum in [-0.1, 1.0, f64::NAN] {
        let settings = Settings { momentum: Some(momentum), ..ranks(Some(Algorithm::NoisyGd)) };
        assert!(settings.prepare(500, &Encoding::unscaled(2), budget).is_err(), "{momentum}");
    }
}

/// Doubling a column together with its range changes nothing, to the last bit.
#[test]
fn units_do_not_matter() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let run = |unit: f64| {
        let encoding = Encoding::of_ranges([[0.0, 64.0 * unit], [-8.0 * unit, 8.0 * unit]]).unwrap();
        let cells: Vec<f64> =
            (0..400).flat_map(|i| [f64::from(i % 50) * unit, f64::from(i % 7) * unit]).collect();
        let table = encoding.encode_matrix(&cells, 2).unwrap();
        let targets = (0..400).map(|i| if i % 50 > 20 { 1.0 } else { -1.0 }).collect();
        let training = Training { settings: ranks(None), encoding, label: None, budget };
        let checkpointer = &mut Checkpointer::none();
        let rows = || Ok::<_, LearnError>(Table { targets, ..table }.into());
        let run = training.open(&mut pairdp_accountant::Unbooked, checkpointer, rows).unwrap();
        run.rehearse(Replay::from_seed(5), checkpointer).unwrap()
    };
    assert_eq!(run(1.0), run(2.0));
}

/// A mirrored column gives the mirrored model. With noise that is next to nothing, so that what is left is how columns are read.
#[test]
fn mirrored_columns_rank_alike() {
    let (_, _, table) = table(4000, 1);
    let score = |sign: f64| {
        let cells: Vec<f64> =
            table.features.chunks(5).flat_map(|row| [sign * row[0], sign * row[1]]).collect();
        let encoding = Encoding::of_ranges([[-1.0, 1.0], [-1.0, 1.0]]).unwrap();
        let rows = || Table::new(cells.clone(), 2, table.targets.clone());
        let budget = Budget::new(40.0, 1e-6).unwrap();
        let settings = ranks(Some(Algorithm::Moments));
        let model = Training { settings, encoding, label: None, budget }.fit(rows()).unwrap();
        measure::auc(&model.predictor.scores(&rows()), &rows().positive()).unwrap()
    };
    let (one, mirrored) = (score(1.0), score(-1.0));
    assert!((one - mirrored).abs() < 0.001, "{one} and {mirrored}");
}

#[test]
fn regression_and_classification_learn_by_ranks() {
    let classifier = trained(Settings { task: Task::Classification, ..ranks(None) }, (1.0, 1e-6), 4000);
    assert!(classifier.predictor.representation.is_some() && auc(&classifier) > 0.8, "{}", auc(&classifier));
    let (_, _, test) = table(4000, 2);
    let right =
        classifier.predictor.scores(&test).iter().zip(&test.targets).filter(|(s, y)| **s * **y > 0.0).count();
    assert!(right > 2700, "{right} of 4000");
}

/// What is released before training has the noise that the certificate states: its spread, over 17,700 draws, is within 3 % of it,
/// and its mean within five standard errors (false alarms: fewer than one in 10⁴ runs, the spread's standard error being 0.5 %).
#[test]
fn released_weights_are_the_exact_ones_with_the_noise_of_the_certificate() {
    let (encoding, label, _) = table(40, 3);
    let rows = || table(40, 3).2;
    let budget = Budget::new(1.0, 1e-3).unwrap();
    let settings = ranks(Some(Algorithm::Moments));
    let blocks = [Block::Number { at: 0 }, Block::Number { at: 1 }, Block::Category { at: 2, width: 3 }];
    let layout = Layout::new(Spacing::Coarse, blocks.to_vec());
    let Table { features, targets, .. } = rows();
    let sums = KnotSums::new(&layout, &features, 5, &targets, &Strata::plain(40), Par::Sequential);
    let exact = sums.query(&layout, false).unwrap();
    let (mut sum, mut squares, mut draws, mut sigma) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..150 {
        let training = Training {
            settings: settings.clone(),
            encoding: encoding.clone(),
            label: Some(label.clone()),
            budget,
        };
        let model = training.fit(rows()).unwrap();
        let released = model.predictor.representation.unwrap();
        assert_eq!(released.weights.len(), exact.len());
        sigma = model.certificate.stages[0].noise().sigma;
        for (noisy, exact) in released.weights.iter().zip(&exact) {
            let off = (noisy - exact) / sigma;
            sum += off;
            squares += off * off;
            draws += 1.0;
        }
    }
    assert!(draws > 17_000.0 && sigma > 0.0, "{draws}");
    let spread: f64 = f64::sqrt(squares / draws);
    assert!((spread - 1.0).abs() < 0.03, "{spread}");
    assert!((sum / draws).abs() < 5.0 / f64::sqrt(draws), "{}", sum / draws);
}

/// Near the middle of every column, where rows are not scaled down, a score is the sum of what its columns add.
#[test]
fn what_columns_add_sums_up_to_the_score() {
    use pairdp_model::ShapeParts;
    let (encoding, label, rows) = table(4000, 8);
    let budget = Budget::new(2.0, 1e-6).unwrap();
    let training =
        Training { settings: Settings::default(), encoding: encoding.clone(), label: Some(label), budget };
    let model = training.fit(rows).unwrap();
    let shapes = model.shapes().unwrap();
    assert_eq!(
        shapes.iter().map(|shape| shape.column.as_str()).collect::<Vec<_>>(),
        ["amount", "share", "kind"]
    );
    let mut cells = Vec::new();
    let mut expected = model.predictor.intercept();
    for shape in &shapes {
        let noise = shape.noise.as_ref().unwrap();
        assert!(noise.len() == shape.parts.values().len() && noise.iter().all(|noise| *noise >= 0.0));
        match &shape.parts {
            ShapeParts::Curve(points) => {
                let [low, .., middle, _, high] = shape.quantiles.unwrap();
                assert!(low < middle && middle < high, "{:?}", shape.quantiles);
                // The point of the curve that is nearest to the middle.
                let near =
                    |a: &&(f64, f64), b: &&(f64, f64)| (a.0 - middle).abs().total_cmp(&(b.0 - middle).abs());
                let (x, adds) = *points.iter().min_by(near).unwrap();
                let (first, last) = (points[0].0, points[points.len() - 1].0);
                cells.push(2.0 * (x - first) / (last - first) - 1.0);
                expected += adds;
            }
            ShapeParts::Bars(bars) => {
                assert_eq!(bars[0].0, "kind=u");
                cells.extend([1.0, 0.0, 0.0]);
                expected += bars[0].1;
            }
        }
    }
    let row = Table::new(cells, 5, vec![1.0]);
    let score = model.predictor.scores(&row)[0];
    let mut length = 0.0;
    model
        .predictor
        .each_row(&row, |row| length = row[..row.len() - 1].iter().map(|v| v * v).sum::<f64>().sqrt());
    let scaled_down = length > 0.999 * model.predictor.feature_bound;
    assert!(scaled_down || (score - expected).abs() < 1e-9, "{score} {expected}");
    // A row that is scaled down has less of the same.
    assert!((score - model.predictor.intercept()) * (expected - model.predictor.intercept()) >= 0.0);
}
