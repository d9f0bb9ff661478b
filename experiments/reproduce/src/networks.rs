//! Kang, Liu, Li and Wang name networks of one hidden layer as an example of their condition, and run none: what such a network finds that a
//! linear score cannot, as n grows.

use crate::{Experiment, Job, Jobs, Row, Value};
use anyhow::Result;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{ScoreKind, Settings, Training};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::measure;
use pairdp_units::Budget;

/// Columns of a record, of which three matter.
const COLUMNS: usize = 5;
/// Records that models are measured on.
const FRESH: usize = 4000;

/// Networks beside linear scores.
pub(crate) const TABLE: Experiment = Experiment {
    name: "kang-networks",
    title: "A network against a linear score, as n grows",
    source: "Not printed anywhere: Kang et al., Section 7, name networks with one hidden layer as an example of their Polyak–Łojasiewicz condition, \
             give no constant and run none. Simulated records of 5 columns in [−1, 1], positive where x₁x₂ + x₃/2 exceeds normal noise of 0.2; mean \
             AUC on 4,000 fresh ones. Scores of one hidden layer and linear ones, both with everything left to the planner, at the same (ε, 1/n²).",
    columns: &["linear", "network", "best"],
    logarithmic: false,
    quick: "up to 8,000 records and 2 repetitions instead of 32,000 and 5",
    jobs: |scope| {
        let repetitions = scope.repetitions(5, 2);
        let sizes: &[usize] = if scope.quick { &[2000, 8000] } else { &[2000, 8000, 32_000] };
        let job = |records: usize| Job {
            key: format!("n = {records}"),
            repetitions,
            work: Box::new(move || {
                [1.0, 4.0].map(|epsilon| row(records, epsilon, repetitions)).into_iter().collect()
            }),
        };
        Ok(Jobs { jobs: sizes.iter().copied().map(job).collect(), missing: Vec::new() })
    },
};

fn row(records: usize, epsilon: f64, repetitions: usize) -> Result<Row> {
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for seed in 1..=repetitions as u64 {
        let mut random = Replay::from_seed(seed);
        let (train, _) = drawn(records, &mut random)?;
        let (test, best) = drawn(FRESH, &mut random)?;
        let positive = test.positive();
        let area = |scores: &[f64]| measure::auc(scores, &positive).ok_or_else(|| "one class".to_owned());
        for (scores, column) in [None, Some(ScoreKind::Network)].into_iter().zip(0..) {
            let training = Training {
                settings: Settings { scores, ..Settings::default() },
                encoding: encoding()?,
                label: None,
                budget: Budget::new(epsilon, (records as f64).powi(-2))?,
            };
            let copy = Table {
                features: train.features.clone(),
                targets: train.targets.clone(),
                owners: None,
                ..train
            };
            found[column].push(area(&training.fit(copy)?.predictor.scores(&test)));
        }
        found[2].push(area(&best));
    }
    Ok(Row { name: format!("ε = {epsilon}"), values: found.map(Value::of).into() })
}

fn encoding() -> Result<Encoding> {
    Encoding::of_ranges([[-1.0, 1.0]; COLUMNS]).map_err(anyhow::Error::msg)
}

/// So many records, and what none can rank better than.
fn drawn(records: usize, random: &mut Replay) -> Result<(Table, Vec<f64>)> {
    let mut uniform = || ((random.next_word() >> 11) as f64 + 0.5) / (1_u64 << 52) as f64 - 1.0;
    let cells: Vec<f64> = (0..records * COLUMNS).map(|_| uniform()).collect();
    let best: Vec<f64> = cells.chunks_exact(COLUMNS).map(|row| row[0] * row[1] + 0.5 * row[2]).collect();
    // The sum of twelve uniform numbers is as good as normal.
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() / 2.0;
    let targets = best.iter().map(|score| if score + 0.2 * normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    let encoded = encoding()?.encode_matrix(&cells, COLUMNS).map_err(anyhow::Error::msg)?;
    Ok((Table { targets, ..encoded }, best))
}
