//! Wang, Lei, Ying and Zhou (2024), Section 5: noisy stochastic descent on simulated records.
//!
//! n = 5000, d = 10, T = 1000, η = 0.01, δ = 1/n², β by search. The set of parameters is not printed, and with it G of the
//! squared loss; here it is a ball of radius 1 for the squared loss, which holds w*, and of radius 20 for the logistic loss.
//! Which records errors are measured on is not printed either; here they are fresh ones.

use crate::splits::{plain, quality};
use crate::{Experiment, Job, Jobs, Row, Scope, Value, ceiling};
use anyhow::Result;
use pairdp_certificate::{Algorithm, Average, Order, Paper, Shuffle};
use pairdp_data::{Encoding, Table};
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{Calibration, Settings, Training};
use pairdp_model::{Predictor, Task};
use pairdp_noise::{Replay, Source};
use pairdp_units::Budget;
use rayon::prelude::*;
use std::f64::consts::TAU;

const COLUMNS: &[&str] = &["literal", "certified", "auto", "sgd without noise", "ceiling", "untrained"];
const RECORDS: usize = 5000;
const COLUMNS_OF_X: usize = 10;

/// Figure 1.
pub(crate) const SQUARES: Experiment = Experiment {
    name: "wang-squares",
    title: "Mean squared error of noisy stochastic descent, least squares",
    source: "Wang et al. (2024), Figure 1: curves without printed numbers. The text says that errors fall with ε and are \
             least without label noise, κ = 0. ceiling: least squares without privacy; untrained: w = 0.",
    columns: COLUMNS,
    logarithmic: true,
    quick: "30 repetitions instead of 500, and every third ε",
    jobs: |scope| Ok(jobs(scope, &FIGURE_1)),
};

/// Figure 2.
pub(crate) const LOGISTIC: Experiment = Experiment {
    name: "wang-logistic",
    title: "Misclassification of noisy stochastic descent, logistic loss",
    source: "Wang et al. (2024), Figure 2: curves without printed numbers. The text says that errors fall with ε and are \
             least without label noise, κ = 0. ceiling: logistic regression without privacy; untrained: w = 0.",
    columns: COLUMNS,
    logarithmic: true,
    quick: "30 repetitions instead of 500, and every third ε",
    jobs: |scope| Ok(jobs(scope, &FIGURE_2)),
};

/// What is printed about a figure.
struct Figure {
    task: Task,
    truth: [f64; COLUMNS_OF_X],
    kappa: [f64; 3],
    epsilon: &'static [f64],
    radius: f64,
}

const FIGURE_1: Figure = Figure {
    task: Task::Regression,
    truth: [0.5, 0.3, 0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1],
    kappa: [0.0, 0.1, 0.15],
    epsilon: &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5],
    // Targets within ±½ are learned as twice themselves, for which this is a radius of 1.
    radius: 2.0,
};

const FIGURE_2: Figure = Figure {
    task: Task::Classification,
    truth: [5.0, 3.0, 0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.1],
    kappa: [0.0, 0.4, 0.6],
    epsilon: &[1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0],
    radius: 20.0,
};

fn jobs(scope: &Scope<'_>, figure: &'static Figure) -> Jobs {
    let repetitions = scope.repetitions(500, 30);
    // Every third ε is enough to see a curve.
    let step = if scope.quick { 3 } else { 1 };
    let mut jobs = Jobs::default();
    for kappa in figure.kappa {
        for &epsilon in figure.epsilon.iter().step_by(step) {
            jobs.jobs.push(Job {
                key: format!("κ = {kappa}, ε = {epsilon}"),
                repetitions,
                work: Box::new(move || Ok(vec![cell(figure, kappa, epsilon, repetitions)?])),
            });
        }
    }
    jobs
}

fn cell(figure: &Figure, kappa: f64, epsilon: f64, repetitions: usize) -> Result<Row> {
    let task = figure.task;
    let mut random = Replay::from_seed(1);
    let (train, test) = (drawn(figure, kappa, &mut random), drawn(figure, kappa, &mut random));
    let error = |predictor: &Predictor| -> Result<f64> {
        if task == Task::Classification {
            return Ok(1.0 - quality(predictor, &train, &test)?);
        }
        let missed =
            predictor.scores(&test).iter().zip(&test.targets).map(|(s, t)| (s - t) * (s - t)).sum::<f64>();
        // Targets are twice what the paper's are.
        Ok(missed / test.rows as f64 / 4.0)
    };
    let copy = || Table {
        features: train.features.clone(),
        columns: train.columns,
        targets: train.targets.clone(),
        rows: train.rows,
        owners: None,
    };
    let encoding = Encoding::unscaled(COLUMNS_OF_X);
    let budget = Budget::new(epsilon, (RECORDS as f64).powi(-2))?;
    let certified = Settings {
        task,
        algorithm: Some(Algorithm::NoisySgd),
        intercept: Some(false),
        radius: Some(figure.radius),
        feature_bound: Some(1.0),
        steps: Some(1000),
        step_size: Some(0.01),
        average: Some(Average::All),
        shuffle: Shuffle::WithReplacement,
        ..Settings::default()
    };
    let literal =
        Settings { calibration: Calibration::Literal, paper: Some(Paper::Wang), ..certified.clone() };
    let auto = Settings { task, positive_rate: Some(0.5), ..Settings::default() };
    let private = |settings: &Settings| -> Result<Value> {
        let spec = match settings.prepare(RECORDS, &encoding, budget) {
            Ok(spec) => spec,
            Err(why) => return Ok(Value::none(why.to_string())),
        };
        let training =
            Training { settings: settings.clone(), encoding: encoding.clone(), label: None, budget };
        let found: Vec<f64> = (0..repetitions)
            .into_par_iter()
            .map(|_| error(&training.fit(copy())?.predictor))
            .collect::<Result<_>>()?;
        let spent = spec.as_printed().is_some().then_some(spec.budget());
        Ok(Value::of(found.into_iter().map(Ok).collect()).with_spent(spent))
    };
    let open = (0..repetitions as u64).map(|seed| {
        let order = Order { shuffle: Shuffle::WithReplacement, seed };
        let model = baseline::fit(Baseline::Sgd(order), &certified, copy(), encoding.clone(), None)?;
        error(&model.predictor)
    });
    let open: Vec<f64> = open.collect::<Result<_>>()?;
    let best =
        if task == Task::Regression { ceiling::least_squares(&train) } else { ceiling::logistic(&train) };
    let best = error(&plain(task, COLUMNS_OF_X, 1.0, best)?)?;
    let untrained = error(&plain(task, COLUMNS_OF_X, 0.0, vec![0.0; COLUMNS_OF_X])?)?;
    Ok(Row {
        name: "noisy-sgd".into(),
        values: vec![
            private(&literal)?,
            private(&certified)?,
            private(&auto)?,
            Value::of(open.into_iter().map(Ok).collect()),
            Value::known(best),
            Value::known(untrained),
        ],
    })
}

/// Directions that are uniform on the sphere, and targets or labels by their score and normal noise of deviation κ. Targets
/// beyond ±½ are drawn again.
fn drawn(figure: &Figure, kappa: f64, random: &mut Replay) -> Table {
    let mut table = Table {
        features: Vec::new(),
        columns: COLUMNS_OF_X,
        targets: Vec::new(),
        rows: RECORDS,
        owners: None,
    };
    while table.targets.len() < RECORDS {
        let mut x: Vec<f64> = (0..COLUMNS_OF_X).map(|_| normal(random)).collect();
        let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v /= length);
        let score = x.iter().zip(&figure.truth).map(|(x, w)| x * w).sum::<f64>() + kappa * normal(random);
        if figure.task == Task::Classification {
            table.targets.push(if score > 0.0 { 1.0 } else { -1.0 });
        } else if score.abs() <= 0.5 {
            table.targets.push(2.0 * score);
        } else {
            continue;
        }
        table.features.extend(x);
    }
    table
}

/// Box and Muller.
fn normal(random: &mut Replay) -> f64 {
    let mut uniform = || ((random.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_records_are_as_described() {
        let table = drawn(&FIGURE_1, 0.15, &mut Replay::from_seed(3));
        assert_eq!((table.targets.len(), table.features.len()), (RECORDS, RECORDS * COLUMNS_OF_X));
        assert!(table.targets.iter().all(|y| y.abs() <= 1.0));
        assert!(
            table
                .features
                .chunks_exact(COLUMNS_OF_X)
                .all(|x| { (x.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12 })
        );
        // Without label noise the truth has no error.
        let table = drawn(&FIGURE_2, 0.0, &mut Replay::from_seed(3));
        let truth = plain(Task::Classification, COLUMNS_OF_X, 0.0, FIGURE_2.truth.to_vec()).ok();
        let right = truth.and_then(|truth| quality(&truth, &table, &table).ok());
        assert_eq!(right, Some(1.0));
    }
}
