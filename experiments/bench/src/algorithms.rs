//! All algorithms side by side on columns as ranges put them, for every task: `cargo xtask bench algorithms [--data DIR]
//! [--only SET] [--splits K] [--json]`. (`utility` has what `auto` makes of honest ranges.)
//!
//! Sets are CSV files in a folder, each with a schema of public ranges beside it (`NAME.schema.toml`) or with one of ours, and
//! simulated populations; `--only` names any other CSV file with a column `label` of ±1, whose ranges are then found in private. Each split trains on a random part and tests on the rest; all algorithms see the same splits, and
//! noise is fresh for every model.

use crate::report::Report;
use anyhow::{Context, Result};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Table};
use pairdp_learn::{DomainKind, RepresentationKind, Risk, Settings, Training};
use pairdp_model::Task;
use pairdp_noise::Replay;
use pairdp_reproduce::ceiling;
use pairdp_reproduce::sets::{Entry, SETS, part, scaled};
use pairdp_reproduce::splits::{identity, mean, plain, quality, shuffled};
use pairdp_units::Budget;
use serde_json::json;
use std::path::PathBuf;

/// The largest part that is tested on.
const MOST_TESTED: usize = 20_000;

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure_sets(report) {
        Report::failed(&error);
    }
}

fn measure_sets(report: &mut Report) -> Result<()> {
    let folder = Report::option("--data").map(PathBuf::from);
    let splits: usize =
        Report::option("--splits").map_or(Ok(100), |text| text.parse()).context("--splits")?;
    let only = Report::option("--only");
    let only = only.as_deref();
    let other = only.filter(|only| SETS.iter().all(|entry| entry.name != *only)).map(Entry::unknown);
    for entry in SETS.iter().chain(&other) {
        if only.is_some_and(|only| only != entry.name) {
            continue;
        }
        let Some(table) = entry.load(folder.as_deref())? else { continue };
        let n = if entry.train == 0 { table.rows * 4 / 5 } else { entry.train };
        let splits = if n > 10_000 { splits.div_ceil(20) } else { splits };
        for task in entry.tasks {
            let budgets: &[f64] = if n > 10_000 { &[1.0] } else { &[0.5, 0.8, 1.0, 2.0] };
            for epsilon in budgets {
                let wide = entry.is_wide(folder.as_deref());
                cell(report, entry, wide, *task, &table, n, *epsilon, splits)?;
            }
        }
    }
    Ok(())
}

/// A way to train: its name, the settings, and whether δ is 0.
type Contender = (&'static str, Settings, bool);

fn contenders(task: Task, n: usize, positive_rate: Option<f64>, wide: bool) -> Vec<Contender> {
    if wide {
        let with = |algorithm| Settings {
            task,
            algorithm,
            representation: Some(RepresentationKind::Ranks),
            ..Settings::default()
        };
        return vec![
            ("auto", with(None), false),
            ("auto", Settings { max_records: Some(n), ..with(None) }, false),
            ("moments", with(Some(Algorithm::Moments)), false),
            ("noisy-gd", with(Some(Algorithm::NoisyGd)), false),
        ];
    }
    let with = |algorithm| Settings { task, algorithm, positive_rate, ..Settings::default() };
    let mut all = vec![
        ("auto", with(None), false),
        ("auto", with(None), true),
        ("auto", Settings { max_records: Some(n), ..with(None) }, false),
        ("noisy-gd", with(Some(Algorithm::NoisyGd)), false),
        ("output-gd", with(Some(Algorithm::OutputGd)), false),
    ];
    if task == Task::Ranking {
        let records = Settings { risk: Some(Risk::Records), ..with(Some(Algorithm::NoisyGd)) };
        all.push(("noisy-gd on records", records, false));
    }
    if task == Task::Metric {
        let diagonal = Settings { domain: Some(DomainKind::PsdDiagonal), ..with(Some(Algorithm::NoisyGd)) };
        all.push(("noisy-gd, diagonal", diagonal, false));
    } else {
        all.push(("moments", with(Some(Algorithm::Moments)), false));
    }
    all
}

/// All contenders on the same splits.
#[expect(clippy::too_many_arguments, reason = "one call")]
fn cell(
    report: &mut Report,
    entry: &Entry,
    wide: bool,
    task: Task,
    table: &Table,
    n: usize,
    epsilon: f64,
    splits: usize,
) -> Result<()> {
    let mut random = Replay::from_seed(1);
    let contenders = contenders(task, n, entry.positive_rate, wide);
    let scaled_table = wide.then(|| scaled(table));
    let mut found = vec![Vec::with_capacity(splits); contenders.len()];
    let (mut ceilings, mut untrained) = (Vec::new(), Vec::new());
    let delta = (n as f64).powi(-entry.power);
    for split in 0..splits {
        // Simulated populations are drawn anew.
        let drawn = entry.drawn(split as u64);
        let table = drawn.as_ref().unwrap_or(table);
        let order = shuffled(table.rows, &mut random);
        let (train, test) = order.split_at(n);
        let test = &test[..test.len().min(MOST_TESTED)];
        let (chosen, rest) = (part(table, train), part(table, test));
        for ((_, settings, pure), found) in contenders.iter().zip(&mut found) {
            let budget = Budget::new(epsilon, if *pure { 0.0 } else { delta })?;
            let rows = part(&chosen, &(0..n).collect::<Vec<_>>());
            let encoding = Encoding::unscaled(table.columns);
            let training = Training { settings: settings.clone(), encoding, label: None, budget };
            let model = training.fit(rows)?;
            found.push(quality(&model.predictor, &chosen, &rest)?);
        }
        if task == Task::Metric {
            let d = table.columns;
            untrained.push(quality(&plain(task, d, 0.0, identity(d))?, &chosen, &rest)?);
        } else {
            let whole = scaled_table.as_ref().unwrap_or(table);
            let (chosen, rest) = (part(whole, train), part(whole, test));
            let w = if task == Task::Regression {
                ceiling::least_squares(&chosen)
            } else {
                ceiling::logistic(&chosen)
            };
            ceilings.push(quality(&plain(task, table.columns, 1.0, w)?, &chosen, &rest)?);
        }
    }
    let measured = match task {
        Task::Ranking => "auc",
        Task::Classification => "accuracy",
        Task::Metric => "3-nn accuracy",
        Task::Regression => "r2",
        Task::Survival => "c",
    };
    let ceiling = if task == Task::Metric { mean(&untrained).0 } else { mean(&ceilings).0 };
    for ((algorithm, settings, pure), found) in contenders.iter().zip(&found) {
        let (mean, error) = mean(found);
        let adjacency = if settings.max_records.is_some() { "add-remove-one" } else { "replace-one" };
        report.object(&json!({
            "set": entry.name, "task": task, "n": n, "epsilon": epsilon, "delta": if *pure { 0.0 } else { delta },
            "adjacency": adjacency, "algorithm": algorithm, "metric": measured, "mean": mean, "se": error,
            // For metrics: the Euclidean distance, which no training has to beat.
            "ceiling": ceiling, "splits": splits,
        }));
    }
    Ok(())
}
