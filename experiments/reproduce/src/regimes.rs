//! Public tables under ranges that somebody could honestly give: `regimes.toml`.
//!
//! Ranges close to the data's own flatter a library, as nobody knows those before looking. So every set comes three times.

use crate::sets::part;
use crate::splits::shuffled;
use anyhow::{Context as _, Result, anyhow};
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_noise::Replay;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// How wide public ranges are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// Close to the data's own.
    Tight,
    /// What a data dictionary says.
    Documented,
    /// Twenty times as wide as tight ones, which lie at 15 to 20 % of them.
    Loose,
}

impl Regime {
    /// All, with the names that people type.
    pub const ALL: [(&str, Self); 3] =
        [("tight", Self::Tight), ("documented", Self::Documented), ("loose", Self::Loose)];

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, regime)| *regime)
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, regime)| *regime == self).map_or("", |(name, _)| name)
    }
}

/// A table, and what is publicly known of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The file's name without its ending.
    pub name: String,
    /// Classes that should rank high.
    positive: Vec<i64>,
    /// Records to train on; 0 for four fifths.
    train: usize,
    /// δ = n^−this.
    delta_power: i32,
    /// Columns that are 0 or 1 and known to be.
    indicators: Vec<String>,
    tight: BTreeMap<String, [f64; 2]>,
    documented: BTreeMap<String, [f64; 2]>,
}

/// A set that was read.
pub struct Loaded {
    /// Its rows, encoded.
    pub table: Table,
    /// By these rules.
    pub encoding: Encoding,
    /// Records to train on.
    pub train: usize,
    /// δ.
    pub delta: f64,
}

/// The largest part that is tested on.
const MOST_TESTED: usize = 20_000;
/// Labels are whole numbers within these.
const LABELS: [f64; 2] = [-128.0, 128.0];

#[derive(Deserialize)]
struct File {
    set: Vec<Set>,
}

/// All sets.
///
/// # Errors
/// When the file of sets is not what it should be.
pub fn sets() -> Result<Vec<Set>> {
    Ok(toml::from_str::<File>(include_str!("../regimes.toml"))?.set)
}

/// Sets of 100,000 records and more, as many of which are trained on as it takes to tell scores apart.
///
/// # Errors
/// When a file of sets is not what it should be.
pub fn large_sets() -> Result<Vec<Set>> {
    const TRAINED_ON: [(&str, usize); 3] =
        [("covtype", 200_000), ("credit_fraud", 0), ("flights3m", 500_000)];
    let known: Vec<Set> = toml::from_str::<File>(include_str!("../large.toml"))?.set;
    let all: Vec<Set> = sets()?.into_iter().chain(known).collect();
    let named = |(name, train): (&str, usize)| {
        let set = all.iter().find(|set| set.name == name).with_context(|| format!("no set {name}"))?;
        Ok(Set { train, ..set.clone() })
    };
    TRAINED_ON.into_iter().map(named).collect()
}

impl Set {
    /// The table under a regime, if its file is there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn load(&self, folder: &Path, regime: Regime) -> Result<Option<Loaded>> {
        let mut loaded = self.load_classes(folder, regime)?;
        for target in loaded.iter_mut().flat_map(|loaded| &mut loaded.table.targets) {
            let positive = self.positive.iter().any(|own| (*own as f64 - *target).abs() < 0.5);
            *target = if positive { 1.0 } else { -1.0 };
        }
        Ok(loaded)
    }

    /// The same with the classes as they are.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn load_classes(&self, folder: &Path, regime: Regime) -> Result<Option<Loaded>> {
        let names = ["csv", "csv.gz"].map(|end| folder.join(format!("{}.{end}", self.name)));
        let Some(path) = names.into_iter().find(|path| path.is_file()) else { return Ok(None) };
        let schema =
            Schema::parse(&self.schema(&Table::header(&path)?, regime)?).map_err(|what| anyhow!(what))?;
        let encoding = Encoding::of(&schema);
        let mut table = Table::read(&path, &encoding, LabelUse::Read(schema.label()))?;
        table.targets.iter_mut().for_each(|target| *target = (*target * LABELS[1]).round());
        let train = if self.train == 0 { table.rows * 4 / 5 } else { self.train };
        Ok(Some(Loaded { table, encoding, train, delta: (train as f64).powi(-self.delta_power) }))
    }

    fn schema(&self, header: &[String], regime: Regime) -> Result<String> {
        let mut text = format!("[label]\ncolumn = \"label\"\nrange = {LABELS:?}\n");
        let listed = |name: &str| self.indicators.iter().any(|own| own == name);
        let ranges = if regime == Regime::Documented { &self.documented } else { &self.tight };
        for name in header.iter().filter(|name| *name != "label") {
            let indicator = listed(name) || (listed("*") && !ranges.contains_key(name));
            let _ = write!(text, "\n[[column]]\nname = \"{name}\"\n");
            if indicator {
                text.push_str("categories = [1]\n");
                continue;
            }
            let range = ranges.get(name).or(ranges.get("*"));
            let [low, high] = *range.with_context(|| format!("no range for {name} of {}", self.name))?;
            let width = high - low;
            let range =
                if regime == Regime::Loose { [low - 3.0 * width, high + 16.0 * width] } else { [low, high] };
            let _ = writeln!(text, "range = {range:?}");
        }
        Ok(text)
    }
}

impl Loaded {
    /// The k-th split: rows to train on, and to test on.
    pub fn split(&self, k: u64) -> (Table, Table) {
        let order = shuffled(self.table.rows, &mut Replay::from_seed(1000 + k));
        let (train, test) = order.split_at(self.train);
        (part(&self.table, train), part(&self.table, &test[..test.len().min(MOST_TESTED)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_ranges_are_twenty_times_as_wide_and_hold_the_tight_ones() {
        for set in sets().unwrap() {
            let names: Vec<String> =
                set.tight.keys().filter(|name| *name != "*").cloned().chain(["unnamed".into()]).collect();
            if !set.tight.contains_key("*") && set.indicators.iter().all(|name| name != "*") {
                continue;
            }
            let [tight, documented, loose] =
                Regime::ALL.map(|(_, regime)| Schema::parse(&set.schema(&names, regime).unwrap()).unwrap());
            let ranges = |schema: &Schema| Encoding::of(schema).ranges();
            assert_eq!(ranges(&tight).len(), ranges(&documented).len());
            for ([low, high], [lowest, highest]) in ranges(&tight).into_iter().zip(ranges(&loose)) {
                assert!(lowest < low && high < highest);
                assert!(((highest - lowest) / (high - low) - 20.0).abs() < 1e-9);
            }
        }
    }
}
