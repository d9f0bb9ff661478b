//! Columns with which a score may only rise or fall: the schema says so, and the model's curves do.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Label, Schema, Table};
use pairdp_learn::{RepresentationKind, Settings, Training, baseline};
use pairdp_model::{PrivateModel, ShapeParts, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{LossKind, measure};
use pairdp_units::Budget;

/// Positive records have more of `a`, less of `b`, and a `c` that is neither small nor large.
fn schema(words: [&str; 3]) -> Schema {
    let columns = ["a", "b", "c"].iter().zip(words).map(|(name, word)| {
        let monotone = if word.is_empty() { String::new() } else { format!("monotone = \"{word}\"\n") };
        format!("[[column]]\nname = \"{name}\"\nrange = [0, 50]\nmissing = \"own\"\n{monotone}")
    });
    let label = "[label]\ncolumn = \"y\"\npositive = 1\nnegative = 0\n";
    Schema::parse(&(label.to_owned() + &columns.collect::<String>())).unwrap()
}

fn table(rows: usize, seed: u64) -> Table {
    let mut random = Replay::from_seed(seed);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let cells = [uniform(), uniform(), uniform()];
        for cell in cells {
            let missing = uniform() < 0.05;
            features.extend(if missing { [0.0, 1.0] } else { [0.4 * cell - 0.5, 0.0] });
        }
        let odds = 3.0 * (cells[0] - cells[1]) - 8.0 * (cells[2] - 0.5).powi(2) + 0.7;
        targets.push(if uniform() < 1.0 / (1.0 + (-odds).exp()) { 1.0 } else { -1.0 });
    }
    Table::new(features, 6, targets)
}

fn trained(words: [&str; 3], settings: Settings, records: usize) -> PrivateModel {
    let schema = schema(words);
    let (encoding, label): (Encoding, Label) = (Encoding::of(&schema), schema.label().clone());
    let budget = Budget::new(1.0, 1e-6).unwrap();
    Training { settings, encoding, label: Some(label), budget }.fit(table(records, 1)).unwrap()
}

/// What a column adds, from one end of its range to the other.
fn curve(parts: &ShapeParts) -> Vec<f64> {
    parts.values()
}

fn rises(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9)
}

fn falls(values: &[f64]) -> bool {
    rises(&values.iter().map(|value| -value).collect::<Vec<_>>())
}

/// One release or a descent, ranks or ranges, scores or classes; few records, whose curves noise bends, and many.
#[test]
fn curves_go_the_way_that_the_schema_says_and_the_certificate_holds() {
    let by = |algorithm: Algorithm, representation: RepresentationKind| Settings {
        algorithm: Some(algorithm),
        representation: Some(representation),
        ..Settings::default()
    };
    for (settings, records) in [
        (Settings::default(), 4000),
        (Settings::default(), 150),
        (Settings { task: Task::Classification, ..Settings::default() }, 300),
        (by(Algorithm::Moments, RepresentationKind::Ranks), 300),
        (by(Algorithm::Moments, RepresentationKind::Ranges), 300),
        (by(Algorithm::NoisyGd, RepresentationKind::Ranges), 300),
        (
            Settings {
                loss: Some(LossKind::Logistic),
                ..by(Algorithm::OutputGd, RepresentationKind::Ranges)
            },
            300,
        ),
    ] {
        for words in [["increasing", "decreasing", ""], ["decreasing", "increasing", "increasing"]] {
            let model = trained(words, settings.clone(), records);
            let shapes = model.shapes().unwrap();
            for (shape, word) in shapes.iter().zip(words) {
                let values = curve(&shape.parts);
                let told = match word {
                    "increasing" => rises(&values),
                    "decreasing" => falls(&values),
                    _ => true,
                };
                assert!(told, "{word} {settings:?} {values:?}");
            }
            let text = model.to_json().unwrap();
            let verdict = pairdp_verify::verify(&text).unwrap();
            assert!(verdict.holds(), "{:?}", verdict.failures().collect::<Vec<_>>());
            assert_eq!(PrivateModel::from_json(&text).unwrap(), model);
        }
    }
}

/// With the right word a model of few records is no worse, in the mean of 20: it loses noise, not signal. What it gains is printed.
#[test]
fn the_right_word_does_not_hurt_and_a_wrong_one_does() {
    let test = table(4000, 2);
    let auc = |words: [&str; 3]| {
        let each = (0..20).map(|_| {
            let model = trained(words, Settings::default(), 400);
            measure::auc(&model.predictor.scores(&test), &test.positive()).unwrap()
        });
        each.sum::<f64>() / 20.0
    };
    let (plain, right) = (auc(["", "", ""]), auc(["increasing", "decreasing", ""]));
    let wrong = auc(["decreasing", "increasing", ""]);
    println!("AUC without a word {plain:.3}, with the right one {right:.3}, with the wrong one {wrong:.3}");
    // Standard errors are about 0.01: four of them.
    assert!(right > plain - 0.04 && wrong < plain - 0.1, "{plain} {right} {wrong}");
}

/// A curve that has no way to go stays where it was; the other columns, and what empty cells add, are left alone.
#[test]
fn baselines_follow_the_schema_too() {
    let fit = |words: [&str; 3]| {
        let schema = schema(words);
        let settings = Settings::default();
        let label = Some(schema.label().clone());
        baseline::fit(baseline::Baseline::Gd, &settings, table(2000, 1), Encoding::of(&schema), label)
            .unwrap()
    };
    let (plain, told) = (fit(["", "", ""]), fit(["", "", "increasing"]));
    let (before, after) = (plain.predictor.shapes(None).unwrap(), told.predictor.shapes(None).unwrap());
    assert!(!rises(&curve(&before[2].parts)) && rises(&curve(&after[2].parts)));
    assert_eq!(before[..2], after[..2]);
    assert_eq!(before[2].missing, after[2].missing);
}
