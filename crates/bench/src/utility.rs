//! How well private rankers rank, next to the same without privacy: `cargo xtask bench utility --data DIR [--only SET]
//! [--splits K]`.
//!
//! Sets are CSV files with a schema of public ranges beside them, or with one of ours (`crates/bench/schemas`), and two simulated
//! populations. Each split trains on a random part and tests on the rest; noise and splits are fresh for every algorithm.

use crate::report::Report;
use anyhow::{Context, Result};
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::baseline::{Baseline, descend};
use pairdp_learn::{Average, Plan, PlanKind, Predictor, Settings, Task, train};
use pairdp_noise::{Replay, Secure, Source};
use pairdp_pairwise::{Records, measure};
use pairdp_units::Budget;
use std::path::PathBuf;

/// A set's name, the records to train on (0 for four fifths), and whether δ is 1/n or 1/n².
const SETS: [(&str, usize, i32); 5] = [
    ("pima", 256, 1),
    ("debrecen", 256, 1),
    ("breast_cancer_wdbc", 398, 2),
    ("rare-positives", 5000, 2),
    ("hundred-thousand", 100_000, 2),
];

/// Our schemas, for sets whose folder has none.
const SCHEMAS: [(&str, &str); 3] = [
    ("pima", include_str!("../schemas/pima.schema.toml")),
    ("debrecen", include_str!("../schemas/debrecen.schema.toml")),
    ("breast_cancer_wdbc", include_str!("../schemas/breast_cancer_wdbc.schema.toml")),
];

/// A table in the encoding of the learner.
struct Set {
    features: Vec<f64>,
    columns: usize,
    targets: Vec<f64>,
}

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        Report::failed(&error);
    }
}

fn measure(report: &mut Report) -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let folder = value("--data").map(PathBuf::from);
    let splits: usize = value("--splits").map_or(Ok(100), |text| text.parse()).context("--splits")?;
    let mut random = Replay::from_seed(1);
    for (name, size, power) in SETS {
        if value("--only").is_some_and(|only| only != name) {
            continue;
        }
        let Some(set) = load(name, folder.as_deref())? else { continue };
        let n = if size == 0 { set.targets.len() * 4 / 5 } else { size };
        let splits = if n > 10_000 { splits.div_ceil(20) } else { splits };
        for epsilon in [0.5, 0.8, 1.0, 2.0] {
            let delta = (n as f64).powi(-power);
            cell(report, name, &set, n, (epsilon, delta), splits, &mut random)?;
        }
    }
    Ok(())
}

/// All algorithms on the same splits.
fn cell(
    report: &mut Report,
    name: &str,
    set: &Set,
    n: usize,
    (epsilon, delta): (f64, f64),
    splits: usize,
    random: &mut Replay,
) -> Result<()> {
    let private: [(&str, Option<PlanKind>, f64); 5] = [
        ("auto", None, delta),
        ("moments", Some(PlanKind::Moments), delta),
        ("noisy-gd", Some(PlanKind::NoisyGd), delta),
        ("output-gd", Some(PlanKind::OutputGd), delta),
        ("auto, pure", None, 0.0),
    ];
    let mut areas = vec![Vec::with_capacity(splits); private.len() + 1];
    for _ in 0..splits {
        let order = shuffled(set.targets.len(), random);
        let (chosen, rest) = order.split_at(n);
        let rest = &rest[..rest.len().min(20_000)];
        let settings = |algorithm| Settings { algorithm, ..Settings::default() };
        for (k, (_, algorithm, delta)) in private.iter().enumerate() {
            let prepared = settings(*algorithm).prepare(n, set.columns, Budget::new(epsilon, *delta)?)?;
            let records = part(set, chosen, prepared.problem.feature_bound())?;
            let trained =
                train(prepared.problem, prepared.plan, prepared.budget, records, Secure::from_os()?)?;
            let kappa = prepared.problem.feature_bound();
            areas[k].push(area(set, rest, kappa, trained.parameters().to_vec())?);
        }
        let problem = Settings { feature_bound: Some(10.0), ..settings(None) }.problem(set.columns)?;
        let plan = Plan::new(PlanKind::NoisyGd, 300, Plan::longest_step(problem, n), Average::Last)?;
        let records = part(set, chosen, 10.0)?;
        let ceiling = descend(Baseline::Gd, problem, plan, &records)?;
        areas[private.len()].push(area(set, rest, 10.0, ceiling)?);
    }
    let ceiling = mean(&areas[private.len()]).0;
    for ((algorithm, _, delta), areas) in private.iter().zip(&areas) {
        let (mean, error) = mean(areas);
        let details = [("epsilon", epsilon), ("delta", *delta), ("se", error), ("ceiling", ceiling)];
        report.row(&format!("{name}: {algorithm}"), &details, mean, "AUC");
    }
    Ok(())
}

fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn part(set: &Set, chosen: &[usize], kappa: f64) -> Result<Records> {
    let row = |i: &usize| set.features[i * set.columns..(i + 1) * set.columns].iter().copied();
    let features = chosen.iter().flat_map(row).collect();
    let targets = chosen.iter().map(|&i| set.targets[i]).collect();
    Ok(Records::with_targets(features, set.columns, targets, kappa)?)
}

fn area(set: &Set, chosen: &[usize], kappa: f64, parameters: Vec<f64>) -> Result<f64> {
    let records = part(set, chosen, kappa)?;
    let (features, positive): (Vec<f64>, Vec<bool>) =
        (records.features().to_vec(), records.targets().iter().map(|t| *t > 0.0).collect());
    let encoding = Encoding::of_ranges(vec![[-1.0, 1.0]; set.columns]).map_err(anyhow::Error::msg)?;
    let predictor =
        Predictor { task: Task::Ranking, encoding, label: None, feature_bound: kappa, parameters };
    let table =
        Table { features, columns: set.columns, targets: records.targets().to_vec(), rows: chosen.len() };
    measure::auc(&predictor.scores(&table), &positive).context("a split with one class")
}

fn shuffled(n: usize, random: &mut Replay) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        let other = usize::try_from(random.next_word() % (last as u64 + 1)).unwrap_or(0);
        order.swap(last, other);
    }
    order
}

fn load(name: &str, folder: Option<&std::path::Path>) -> Result<Option<Set>> {
    match name {
        "rare-positives" => return Ok(Some(simulated(25_000, 5.2))),
        "hundred-thousand" => return Ok(Some(simulated(120_000, 2.7))),
        _ => {}
    }
    let Some(folder) = folder else { return Ok(None) };
    let data = folder.join(format!("{name}.csv"));
    if !data.is_file() {
        return Ok(None);
    }
    let beside = data.with_extension("schema.toml");
    let schema = if beside.is_file() {
        Schema::read(&beside)?
    } else {
        let ours = SCHEMAS.iter().find(|(known, _)| *known == name).context("no schema")?;
        Schema::parse(ours.1).map_err(anyhow::Error::msg)?
    };
    let table = Table::read(&data, &Encoding::of(&schema), LabelUse::Read(schema.label()))?;
    Ok(Some(Set { features: table.features, columns: table.columns, targets: table.targets }))
}

/// Normal features scaled by 1/(1.2√d), d = 50, and P(positive) = 1/(1 + exp(offset − 2w·x)) for a w of norm 1.
fn simulated(rows: usize, offset: f64) -> Set {
    const D: usize = 50;
    let mut random = Replay::from_seed(11);
    let mut uniform = || ((random.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    // Box and Muller; this is data, not noise.
    let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    let w: Vec<f64> = (0..D).map(|_| normal()).collect();
    let length = w.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (mut features, mut targets) = (Vec::with_capacity(rows * D), Vec::with_capacity(rows));
    for _ in 0..rows {
        let x: Vec<f64> = (0..D).map(|_| normal()).collect();
        let score: f64 = x.iter().zip(&w).map(|(x, w)| x * w / length).sum();
        // A logistic variable is the logarithm of odds of a uniform one, here from the ratio of two exponentials.
        let (a, b) = (normal().powi(2) + normal().powi(2), normal().powi(2) + normal().powi(2));
        targets.push(if 2.0 * score - offset + (a / b).ln() > 0.0 { 1.0 } else { -1.0 });
        features.extend(x.iter().map(|v| v / (1.2 * (D as f64).sqrt())));
    }
    Set { features, columns: D, targets }
}
