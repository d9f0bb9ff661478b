//! How well models predict under ranges that people can honestly give: `cargo xtask bench utility --data DIR [--only SET]
//! [--ranges tight|documented|loose] [--task ranking|classification|metric] [--epsilons 0.5,1,2] [--splits K] [--leave-one-out] [--json]`.
//!
//! Every split trains on a random part of a public set and tests on the rest; all contenders see the same splits, and noise is fresh
//! for every model. Beside `auto` stand columns as ranges put them, which is what version 0.1 did, and without privacy our own
//! baseline and logistic regression on standardised columns. `bench/honest.py` runs other libraries on the same splits.
//!
//! With `--leave-one-out` the edge between one release and a descent is chosen for each set on all others, and the mean of what it gives
//! there is printed beside that of the edge in use.

use crate::report::Report;
use anyhow::{Context as _, Result};
use pairdp_accountant::gaussian;
use pairdp_certificate::Algorithm;
use pairdp_data::Table;
use pairdp_learn::baseline::{self, Baseline};
use pairdp_learn::{RepresentationKind, Risk, Settings, Training};
use pairdp_model::Task;
use pairdp_pairwise::LossKind;
use pairdp_reproduce::ceiling;
use pairdp_reproduce::regimes::{Loaded, Regime, Set, sets};
use pairdp_reproduce::sets::{part, standardised};
use pairdp_reproduce::splits::{mean, plain, quality};
use pairdp_units::Budget;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Sets above this many rows get fewer splits.
const LARGE: usize = 10_000;
/// Edges of clarity that leaving one set out chooses from.
const EDGES: [f64; 8] = [0.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, f64::INFINITY];

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        Report::failed(&error);
    }
}

fn measure(report: &mut Report) -> Result<()> {
    let folder = PathBuf::from(Report::option("--data").context("--data DIR")?);
    let splits: u64 = Report::option("--splits").map_or(Ok(20), |text| text.parse()).context("--splits")?;
    let only = Report::option("--only");
    let task = match Report::option("--task").as_deref() {
        None | Some("ranking") => Task::Ranking,
        Some("classification") => Task::Classification,
        Some("metric") => Task::Metric,
        Some(other) => anyhow::bail!("--task {other}"),
    };
    let epsilons = Report::option("--epsilons").unwrap_or("0.5,1,2".into());
    let epsilons =
        epsilons.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>().context("--epsilons")?;
    if Report::option("--task").as_deref() == Some("metric") {
        return crate::metrics::measure(report, &folder, only.as_deref(), &epsilons, splits);
    }
    if only.as_deref() == Some("survival") {
        return crate::survival::measure(report, &folder, &epsilons);
    }
    let chosen = Report::option("--ranges");
    let regimes = match &chosen {
        Some(name) => vec![Regime::named(name).context("--ranges tight, documented or loose")?],
        None => Regime::ALL.map(|(_, regime)| regime).to_vec(),
    };
    let mut edges = Edges::default();
    for set in
        sets()?.iter().filter(|set| only.as_ref().is_none_or(|only| only.split(',').any(|o| o == set.name)))
    {
        for regime in &regimes {
            let Some(loaded) = set.load(&folder, *regime)? else {
                report.object(&json!({ "skipped": set.name, "why": "its file is not in --data" }));
                break;
            };
            let splits = if loaded.train > LARGE { splits.div_ceil(5) } else { splits };
            Cell { set, regime: *regime, loaded: &loaded, task, splits }
                .measure(report, &epsilons, &mut edges)?;
        }
    }
    if std::env::args().any(|argument| argument == "--leave-one-out") {
        edges.leave_one_out(report);
    }
    Ok(())
}

/// A way to learn from a split; the budget's ε is none without privacy.
struct Contender {
    name: &'static str,
    settings: Settings,
}

fn contenders(task: Task) -> Vec<Contender> {
    let auto = Settings { task, ..Settings::default() };
    let by_ranks = Settings { representation: Some(RepresentationKind::Ranks), ..auto.clone() };
    let ranges = Settings { representation: Some(RepresentationKind::Ranges), ..auto.clone() };
    let moments = Settings { algorithm: Some(Algorithm::Moments), ..by_ranks.clone() };
    let risk = (task == Task::Ranking).then_some(Risk::Records);
    let loss = Some(LossKind::CappedLogistic);
    let descent = Settings { algorithm: Some(Algorithm::NoisyGd), risk, loss, ..by_ranks };
    let one_release = Settings { algorithm: Some(Algorithm::Moments), ..ranges };
    [
        ("auto", auto),
        ("moments of ranks", moments),
        ("descent on ranks", descent),
        ("moments of ranges", one_release),
    ]
    .map(|(name, settings)| Contender { name, settings })
    .into()
}

/// One set under one regime.
struct Cell<'a> {
    set: &'a Set,
    regime: Regime,
    loaded: &'a Loaded,
    task: Task,
    splits: u64,
}

impl Cell<'_> {
    fn measure(&self, report: &mut Report, epsilons: &[f64], edges: &mut Edges) -> Result<()> {
        let Loaded { encoding, train, delta, .. } = self.loaded;
        let contenders = contenders(self.task);
        let mut found: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        let (mut own, mut logistic, mut majority) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..self.splits {
            let (chosen, rest) = self.loaded.split(k);
            for (e, epsilon) in epsilons.iter().enumerate() {
                for (c, Contender { settings, .. }) in contenders.iter().enumerate() {
                    let (settings, encoding) = (settings.clone(), encoding.clone());
                    let budget = Budget::new(*epsilon, *delta)?;
                    let model = Training { settings, encoding, label: None, budget }.fit(copy(&chosen))?;
                    found.entry((e, c)).or_default().push(quality(&model.predictor, &chosen, &rest)?);
                }
            }
            let settings = Settings { task: self.task, ..Settings::default() };
            let model = baseline::fit(Baseline::Gd, &settings, copy(&chosen), encoding.clone(), None)?;
            own.push(quality(&model.predictor, &chosen, &rest)?);
            majority.push(share_of_majority(&chosen, &rest));
            let (chosen, rest) = standardised(&chosen, &rest);
            let weights = ceiling::logistic(&chosen);
            logistic.push(quality(&plain(self.task, chosen.columns, 1.0, weights)?, &chosen, &rest)?);
        }
        let mut row = |epsilon: Option<f64>, name: &str, values: &[f64]| {
            let (mean, error) = mean(values);
            report.object(&json!({
                "set": self.set.name, "ranges": self.regime.name(), "n": train, "epsilon": epsilon, "delta": delta,
                "contender": name, "mean": mean, "se": error, "splits": self.splits,
            }));
        };
        for ((e, c), values) in &found {
            row(Some(epsilons[*e]), contenders[*c].name, values);
        }
        row(None, "baseline", &own);
        if self.task == Task::Classification {
            row(None, "majority", &majority);
        }
        row(None, "logistic, standardised", &logistic);
        let columns = encoding.columns().len();
        for (e, epsilon) in epsilons.iter().enumerate() {
            let ratio = gaussian::largest_ratio(Budget::new(*epsilon, *delta)?)?;
            let clarity = *train as f64 * ratio / (columns as f64).sqrt();
            let (moments, descent) = (mean(&found[&(e, 1)]).0, mean(&found[&(e, 2)]).0);
            edges.cells.push((self.set.name.clone(), clarity, moments, descent));
        }
        Ok(())
    }
}

/// How often the class that most records of a table have is right for another.
fn share_of_majority(chosen: &Table, rest: &Table) -> f64 {
    let positive = |table: &Table| table.targets.iter().filter(|target| **target > 0.0).count() as f64;
    let share = positive(rest) / rest.rows as f64;
    if 2.0 * positive(chosen) > chosen.rows as f64 { share } else { 1.0 - share }
}

fn copy(table: &Table) -> Table {
    part(table, &(0..table.rows).collect::<Vec<_>>())
}

/// What moments and a descent reach, by clarity.
#[derive(Default)]
struct Edges {
    cells: Vec<(String, f64, f64, f64)>,
}

impl Edges {
    /// The mean over some cells if a descent is taken from this clarity on.
    fn reached(&self, edge: f64, counts: impl Fn(&str) -> bool) -> f64 {
        let taken: Vec<f64> = self
            .cells
            .iter()
            .filter(|(set, ..)| counts(set))
            .map(|(_, clarity, moments, descent)| if *clarity < edge { *moments } else { *descent })
            .collect();
        mean(&taken).0
    }

    fn leave_one_out(&self, report: &mut Report) {
        let mut names: Vec<&str> = self.cells.iter().map(|(set, ..)| set.as_str()).collect();
        names.dedup();
        let best = |counts: &dyn Fn(&str) -> bool| {
            let edge = EDGES.iter().map(|edge| (self.reached(*edge, counts), *edge));
            edge.fold((f64::NEG_INFINITY, 0.0), |best, one| if one.0 > best.0 { one } else { best }).1
        };
        for name in &names {
            let edge = best(&|set| set != *name);
            report.object(&json!({
                "left_out": name, "edge": if edge.is_finite() { json!(edge) } else { json!("never") },
                "reached": self.reached(edge, |set| set == *name),
                "by_hindsight": self.reached(best(&|set| set == *name), |set| set == *name),
            }));
        }
        for edge in EDGES {
            let shown = if edge.is_finite() { json!(edge) } else { json!("never") };
            report.object(&json!({ "edge": shown, "mean_of_all_sets": self.reached(edge, |_| true) }));
        }
    }
}
