//! Random splits of a table, and how good a model is on the part that it has not seen.

use anyhow::{Context as _, Result};
use pairdp_data::{Encoding, Table};
use pairdp_model::{Predictor, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::measure;

/// A random order of n rows.
pub fn shuffled(n: usize, random: &mut Replay) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        let other = usize::try_from(random.next_word() % (last as u64 + 1)).unwrap_or(0);
        order.swap(last, other);
    }
    order
}

/// A model of given parameters that leaves rows as they are.
///
/// # Errors
/// For a table without columns.
pub fn plain(task: Task, columns: usize, constant: f64, parameters: Vec<f64>) -> Result<Predictor> {
    let encoding = Encoding::unscaled(columns);
    Ok(Predictor {
        task,
        encoding,
        label: None,
        feature_bound: 1e6,
        constant,
        parameters,
        representation: None,
        probabilities: None,
        random_features: None,
        score: pairdp_pairwise::Score::Linear,
    })
}

/// The matrix of the Euclidean distance.
pub fn identity(d: usize) -> Vec<f64> {
    (0..d * d).map(|i| f64::from(u8::from(i % (d + 1) == 0))).collect()
}

/// AUC, accuracy, 3-NN accuracy, R² or Harrell's C, by the task.
///
/// # Errors
/// For a split with one class.
pub fn quality(predictor: &Predictor, train: &Table, test: &Table) -> Result<f64> {
    let scores = || predictor.scores(test);
    let positive: Vec<bool> = test.targets.iter().map(|t| *t > 0.0).collect();
    match predictor.task {
        Task::Ranking => measure::auc(&scores(), &positive).context("a split with one class"),
        Task::Classification => {
            // It is read from released counts, which takes longer than a row.
            let cut = predictor.cut();
            let right = scores()
                .iter()
                .zip(&positive)
                .filter(|(score, positive)| (**score > cut) == **positive)
                .count();
            Ok(right as f64 / test.rows as f64)
        }
        Task::Metric => {
            let (known, asked) = (predictor.embed(train), predictor.embed(test));
            let d = predictor.features();
            Ok(measure::neighbour_accuracy(
                (&known, &train.targets),
                (&asked, &test.targets),
                d,
                &identity(d),
                3,
            ))
        }
        Task::Survival => measure::concordance_index(&scores(), &test.targets, None)
            .context("a split without a comparable pair"),
        Task::Regression => {
            let average = test.targets.iter().sum::<f64>() / test.rows as f64;
            let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>();
            let missed = square(&mut scores().iter().zip(&test.targets).map(|(s, t)| s - t));
            Ok(1.0 - missed / square(&mut test.targets.iter().map(|t| t - average)))
        }
    }
}

/// The mean of some values and its standard error.
pub fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
