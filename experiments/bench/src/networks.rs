//! A step of a network against the two products of matrices that it is made of, and the memory that it takes; and how well networks
//! predict, beside `auto`: `cargo xtask bench networks --data DIR [--only SET,…] [--epsilons 1] [--splits K] [--settings JSON] [--risk pairs]
//! [--random-features]`.

use crate::report::{Report, best_seconds, memory};
use anyhow::{Context as _, Result};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef};
use pairdp_learn::{Risk, ScoreKind, Settings, Training};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Activation, Domain, MarginLoss, Network, Objective, PointLoss, Problem, RankingForm, Records, Score,
};
use pairdp_reproduce::regimes::{Regime, Set, large_sets, sets};
use pairdp_reproduce::sets::part;
use pairdp_reproduce::splits::{mean, quality};
use pairdp_units::Budget;
use rayon::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Networks and `auto` on the same splits of large sets, and of those that the benchmark of utility has if they are named.
pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        Report::failed(&error);
    }
}

fn measure(report: &mut Report) -> Result<()> {
    let folder = PathBuf::from(Report::option("--data").context("--data DIR")?);
    let number = |name: &str, usual: &str| Report::option(name).unwrap_or(usual.into());
    let splits: u64 = number("--splits", "5").parse().context("--splits")?;
    let epsilons = number("--epsilons", "1");
    let epsilons =
        epsilons.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>().context("--epsilons")?;
    // Any settings of a network, as JSON.
    let said: Settings = serde_json::from_str(&number("--settings", "{}")).context("--settings")?;
    let network = Settings { scores: Some(ScoreKind::Network), ..said };
    let pairs = Settings { risk: Some(Risk::Pairs), ..network.clone() };
    let mut contenders = vec![("auto", Settings::default()), ("network", network)];
    if Report::option("--risk").as_deref() == Some("pairs") {
        contenders.push(("network of pairs", pairs));
    }
    if std::env::args().any(|said| said == "--random-features") {
        let scores = Some(ScoreKind::RandomFeatures);
        contenders.push(("random features", Settings { scores, ..Settings::default() }));
    }
    let large = large_sets()?;
    let only = Report::option("--only");
    let named = |set: &Set| only.as_ref().is_some_and(|only| only.split(',').any(|name| name == set.name));
    let others = sets()?.into_iter().filter(|set| named(set) && large.iter().all(|one| one.name != set.name));
    let large = large.iter().filter(|set| only.is_none() || named(set)).cloned();
    for set in large.chain(others) {
        let Some(loaded) = set.load(&folder, Regime::Documented)? else {
            report.object(&json!({ "skipped": set.name, "why": "its file is not in --data" }));
            continue;
        };
        for epsilon in &epsilons {
            let mut found = vec![Vec::new(); contenders.len()];
            for k in 0..splits {
                let (chosen, rest) = loaded.split(k);
                for (values, (_, settings)) in found.iter_mut().zip(&contenders) {
                    let (settings, encoding) = (settings.clone(), loaded.encoding.clone());
                    let budget = Budget::new(*epsilon, loaded.delta)?;
                    let table = part(&chosen, &(0..chosen.rows).collect::<Vec<_>>());
                    let model = Training { settings, encoding, label: None, budget }.fit(table)?;
                    values.push(quality(&model.predictor, &chosen, &rest)?);
                }
            }
            let mut row = |name: &str, values: &[f64]| {
                let (mean, error) = mean(values);
                report.object(&json!({
                    "set": set.name, "ranges": "documented", "n": loaded.train, "epsilon": epsilon, "delta": loaded.delta,
                    "contender": name, "mean": mean, "se": error, "splits": splits,
                }));
            };
            contenders.iter().zip(&found).for_each(|((name, _), values)| row(name, values));
            let gains: Vec<f64> =
                found[1].iter().zip(&found[0]).map(|(network, auto)| network - auto).collect();
            row("network less auto", &gains);
        }
    }
    Ok(())
}

/// Records, columns and hidden units.
const SHAPES: [(usize, usize, usize); 3] = [(200_000, 54, 64), (200_000, 110, 64), (1_000_000, 50, 32)];

pub(crate) fn speed(report: &mut Report) {
    for (n, d, hidden) in SHAPES {
        let mut random = Replay::from_seed(1);
        let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let features = (0..n * d).map(|_| uniform() / (d as f64).sqrt()).collect();
        let positive = (0..n).map(|i| i % 3 == 0).collect();
        let records = Records::new(features, d, positive, 1.0).unwrap_or_else(|e| unreachable!("{e}"));
        let form = Network { activation: Activation::Tanh, hidden, linear: 0.5, spread: 1.0, seed: 1 };
        let w: Vec<f64> = (0..form.parameters(d)).map(|_| uniform()).collect();
        let linear: Vec<f64> = w[..d].to_vec();
        let sizes = [("n", n as f64), ("d", d as f64), ("hidden", hidden as f64)];
        // By a library, stretch by stretch on as many threads: XWᵀ, and (n × H)ᵀX.
        let weights = Mat::from_fn(d, hidden, |i, j| w[j * d + i]);
        let products = |rows: &[f64]| {
            let x = MatRef::from_row_major_slice(rows, rows.len() / d, d);
            let (mut z, mut inner) = (Mat::<f64>::zeros(x.nrows(), hidden), Mat::<f64>::zeros(hidden, d));
            matmul(z.as_mut(), Accum::Replace, x, weights.as_ref(), 1.0, faer::Par::Seq);
            matmul(inner.as_mut(), Accum::Replace, z.transpose(), x, 1.0, faer::Par::Seq);
            inner
        };
        let gemms = best_seconds(3, || {
            let parts = records.features().par_chunks(8192 * d).map(products);
            parts.reduce(|| Mat::zeros(hidden, d), |a, b| a + b)
        });
        report.row("network/two-products", &sizes, gemms, "s");
        let pairs = |loss| Objective::Ranking { form: RankingForm::Indicator, loss };
        for (name, objective) in [
            ("records", Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) }),
            ("pairs", pairs(MarginLoss::Logistic)),
        ] {
            let plain = Problem::new(objective, Domain::Ball { radius: 100.0 }, 1.0);
            let plain = plain.unwrap_or_else(|e| unreachable!("{e}"));
            let problem = plain.with_score(Score::Network(form)).unwrap_or_else(|e| unreachable!("{e}"));
            step_memory(report, name, &sizes, || kernel::gradient(problem, &records, &w, Par::Parallel));
            let seconds = best_seconds(3, || kernel::gradient(problem, &records, &w, Par::Parallel));
            report.row(&format!("network-{name}/seconds"), &sizes, seconds, "s");
            report.row(&format!("network-{name}/two-products"), &sizes, seconds / gemms, "ratio");
            let of_linear = best_seconds(3, || kernel::gradient(plain, &records, &linear, Par::Parallel));
            let budget = 1.3 * of_linear + 3.0 * gemms;
            report.row(
                &format!("network-{name}/linear-step-and-products"),
                &sizes,
                seconds / budget,
                "ratio",
            );
        }
    }
}

/// What a step takes beside the table and two numbers a record (Linux alone says).
fn step_memory<T>(report: &mut Report, name: &str, sizes: &[(&'static str, f64)], step: impl FnOnce() -> T) {
    // Writing 5 resets the peak to what is held now.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return;
    }
    let held = memory("VmRSS:");
    std::hint::black_box(step());
    if let (Some(held), Some(peak)) = (held, memory("VmHWM:")) {
        let beyond = (peak - held - 16.0 * sizes[0].1) / f64::from(1 << 20);
        report.row(&format!("network-{name}/memory-beyond-2n"), sizes, beyond, "MB");
    }
}
