//! Metrics under documented ranges: `cargo xtask bench utility --task metric --data DIR [--only SETS] [--epsilons 1,4] [--splits K]`.
//!
//! How often the class of a record that was not trained on is that of most of its three nearest ones among those that were, with all classes
//! of a set. Beside distances by ranges and by private ranks stand metrics that are learned from either, and without privacy the
//! distance of standardised columns.

use crate::report::Report;
use anyhow::Result;
use pairdp_data::Table;
use pairdp_learn::{RepresentationKind, Settings, Training};
use pairdp_model::Task;
use pairdp_pairwise::LossKind;
use pairdp_reproduce::regimes::{Loaded, Regime, sets};
use pairdp_reproduce::sets::{part, standardised};
use pairdp_reproduce::splits::{identity, mean, plain, quality};
use pairdp_units::Budget;
use serde_json::json;
use std::path::Path;

/// Sets with more records get fewer splits.
const LARGE: usize = 10_000;

pub(crate) fn measure(
    report: &mut Report,
    folder: &Path,
    only: Option<&str>,
    epsilons: &[f64],
    splits: u64,
) -> Result<()> {
    let wanted = |name: &str| only.is_none_or(|only| only.split(',').any(|own| own == name));
    for set in sets()?.iter().filter(|set| wanted(&set.name)) {
        let Some(loaded) = set.load_classes(folder, Regime::Documented)? else { continue };
        let splits = if loaded.train > LARGE { splits.div_ceil(5) } else { splits };
        let mut row = |epsilon: Option<f64>, name: &str, values: &[f64]| {
            let (mean, error) = mean(values);
            report.object(&json!({
                "set": set.name, "n": loaded.train, "epsilon": epsilon, "contender": name, "mean": mean, "se": error,
                "splits": splits,
            }));
        };
        for (name, standardise) in [("Euclid by ranges", false), ("Euclid, standardised", true)] {
            let each = (0..splits).map(|k| euclidean(&loaded, k, standardise));
            row(None, name, &each.collect::<Result<Vec<_>>>()?);
        }
        for epsilon in epsilons {
            for (name, settings) in contenders() {
                let each = (0..splits).map(|k| {
                    let (chosen, rest) = loaded.split(k);
                    let (settings, encoding) = (settings.clone(), loaded.encoding.clone());
                    let budget = Budget::new(*epsilon, loaded.delta)?;
                    let training = Training { settings, encoding, label: None, budget };
                    quality(&training.fit(copy(&chosen))?.predictor, &chosen, &rest)
                });
                row(Some(*epsilon), name, &each.collect::<Result<Vec<_>>>()?);
            }
        }
    }
    Ok(())
}

fn contenders() -> [(&'static str, Settings); 3] {
    let auto = Settings { task: Task::Metric, ..Settings::default() };
    let ranks = Settings { representation: Some(RepresentationKind::Ranks), ..auto.clone() };
    let learned = Settings { loss: Some(LossKind::Logistic), ..ranks.clone() };
    [("learned by ranges", auto), ("Euclid of ranks", ranks), ("learned of ranks", learned)]
}

fn euclidean(loaded: &Loaded, split: u64, standardise: bool) -> Result<f64> {
    let (chosen, rest) = loaded.split(split);
    let (chosen, rest) = if standardise { standardised(&chosen, &rest) } else { (chosen, rest) };
    let d = chosen.columns;
    quality(&plain(Task::Metric, d, 0.0, identity(d))?, &chosen, &rest)
}

fn copy(table: &Table) -> Table {
    part(table, &(0..table.rows).collect::<Vec<_>>())
}
