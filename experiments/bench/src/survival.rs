//! Who fails first: `cargo xtask bench utility --only survival --data DIR [--splits K] [--json]`, part of `utility`.
//!
//! DIR has tables and schemas as `bench/survival.py write DIR` makes them of the sets that scikit-survival comes with. Cox's ceiling and
//! what another library can do stand beside them once `bench/survival.py ceilings DIR` was run. Two thirds of a set are trained on, and
//! C is of the rest.

use crate::report::{Report, best_seconds};
use anyhow::{Context as _, Result};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::Task;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_reproduce::sets::part;
use pairdp_reproduce::splits::{mean, quality, shuffled};
use pairdp_units::{Budget, signed_time};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn measure(report: &mut Report, folder: &Path, epsilons: &[f64]) -> Result<()> {
    let mut schemas: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("{}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".schema.toml"))
        .collect();
    schemas.sort();
    anyhow::ensure!(
        !schemas.is_empty(),
        "no sets there; make them with `python bench/survival.py write DIR`"
    );
    for path in schemas {
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".schema.toml", "");
        let schema = Schema::read(&path)?;
        if schema.label().times().is_none() {
            continue;
        }
        let encoding = Encoding::of(&schema);
        let table =
            Table::read(&folder.join(format!("{name}.csv")), &encoding, LabelUse::Read(schema.label()))?;
        one_set(report, &name, &table, &encoding, epsilons)?;
    }
    if let Ok(text) = std::fs::read_to_string(folder.join("ceilings.json")) {
        let rows: Vec<serde_json::Value> = serde_json::from_str(&text).context("ceilings.json")?;
        rows.iter().for_each(|row| report.object(row));
    }
    Ok(())
}

/// Gradients over pairs of which it is known who failed first, against those of an AUC ranker on as many records: ⌈log₂(n/64)⌉ times as
/// long, as time is halved so often, would be the plain cost. Part of `kernels`.
pub(crate) fn speed(report: &mut Report) {
    for (n, columns) in [(10_000, 8), (100_000, 8), (1_000_000, 8), (1_000_000, 50)] {
        let mut random = Replay::from_seed(11);
        let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64;
        let features: Vec<f64> = (0..n * columns).map(|_| 2.0 * uniform() - 1.0).collect();
        let times: Vec<f64> =
            (0..n).map(|_| signed_time::signed_time(uniform(), uniform() < 0.4, 1.0)).collect();
        let Ok(records) = Records::with_targets(features, columns, times, 1.0) else { return };
        let w: Vec<f64> = (0..columns).map(|k| (k as f64 * 0.7).sin()).collect();
        let sizes = [("n", n as f64), ("d", columns as f64)];
        let rounds = ((n as f64 / 64.0).log2()).ceil();
        for (loss, name) in [(MarginLoss::Logistic, "logistic"), (MarginLoss::Hinge, "hinge")] {
            let seconds = |form| {
                let objective = Objective::Ranking { form, loss };
                let domain = Domain::Ball { radius: 10.0 };
                let problem =
                    Problem::new(objective, domain, 1.0).unwrap_or_else(|error| unreachable!("{error}"));
                best_seconds(3, || kernel::gradient(problem, &records, &w, Par::Parallel))
            };
            let ratio = seconds(RankingForm::Comparable) / seconds(RankingForm::Indicator);
            report.row(&format!("comparable-{name}/ranker"), &sizes, ratio, "ratio");
            report.row(&format!("comparable-{name}/rounds"), &sizes, ratio / rounds, "of ⌈log₂(n/64)⌉");
        }
    }
}

fn contenders() -> Vec<(&'static str, Settings)> {
    let auto = Settings { task: Task::Survival, ..Settings::default() };
    let with = |algorithm, representation| Settings {
        algorithm: Some(algorithm),
        representation: Some(representation),
        ..auto.clone()
    };
    vec![
        ("auto", auto.clone()),
        ("moments of ranges", with(Algorithm::Moments, RepresentationKind::Ranges)),
        ("moments of ranks", with(Algorithm::Moments, RepresentationKind::Ranks)),
        ("descent on pairs", with(Algorithm::NoisyGd, RepresentationKind::Ranges)),
    ]
}

fn one_set(
    report: &mut Report,
    name: &str,
    table: &Table,
    encoding: &Encoding,
    epsilons: &[f64],
) -> Result<()> {
    let usual = match table.rows {
        0..200 => 100,
        200..2000 => 50,
        _ => 20,
    };
    let splits: u64 =
        Report::option("--splits").map_or(Ok(usual), |text| text.parse()).context("--splits")?;
    let contenders = contenders();
    let train = table.rows * 2 / 3;
    let delta = 1.0 / (train as f64 * train as f64);
    let mut found: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let mut own = Vec::new();
    for k in 0..splits {
        let order = shuffled(table.rows, &mut Replay::from_seed(5000 + k));
        let (chosen, rest) = (part(table, &order[..train]), part(table, &order[train..]));
        for (e, epsilon) in epsilons.iter().enumerate() {
            for (c, (_, settings)) in contenders.iter().enumerate() {
                let (settings, encoding) = (settings.clone(), encoding.clone());
                let training =
                    Training { settings, encoding, label: None, budget: Budget::new(*epsilon, delta)? };
                let model = training.fit(part(table, &order[..train]))?;
                found.entry((e, c)).or_default().push(quality(&model.predictor, &chosen, &rest)?);
            }
        }
        let settings = Settings { task: Task::Survival, ..Settings::default() };
        let model =
            baseline::fit(Baseline::Gd, &settings, part(table, &order[..train]), encoding.clone(), None)?;
        own.push(quality(&model.predictor, &chosen, &rest)?);
    }
    let mut row = |epsilon: Option<f64>, contender: &str, values: &[f64]| {
        let (mean, error) = mean(values);
        report.object(&json!({
            "set": name, "n": train, "d": encoding.dimension(), "epsilon": epsilon, "delta": delta,
            "contender": contender, "c": mean, "se": error, "splits": splits,
        }));
    };
    for ((e, c), values) in &found {
        row(Some(epsilons[*e]), contenders[*c].0, values);
    }
    row(None, "baseline", &own);
    Ok(())
}
