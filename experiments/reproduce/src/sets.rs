//! Tables to measure on: CSV files with public ranges, and simulated populations.

use anyhow::Result;
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_model::Task;
use pairdp_noise::{Replay, Source};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A table to split.
pub struct Entry {
    /// The file's name without its ending, or a simulation's.
    pub name: Cow<'static, str>,
    /// Records to train on; 0 for four fifths.
    pub train: usize,
    /// δ = n^−power.
    pub power: i32,
    /// What is learned from it.
    pub tasks: &'static [Task],
    /// The share of positive records, as public descriptions have it.
    pub positive_rate: Option<f64>,
    source: From,
}

enum From {
    /// A schema of ours.
    Schema(&'static str),
    /// Ranges by the name of a column, the last for all others.
    Ranges(&'static [(&'static str, f64, f64)]),
    /// The simulation of rare positives, with so many rows and this offset.
    Ranked(usize, f64),
    /// Linear targets with noise.
    Linear(usize),
    /// Two classes that differ in one direction of so many.
    OneDirection(usize),
    /// Nothing is known but that numbers are below a million: tighter ranges are found in private.
    Unknown,
}

const RANKED: &[Task] = &[Task::Ranking];
const ALL: &[Task] = &[Task::Ranking, Task::Classification, Task::Metric];

/// The sets of the benchmark of utility.
pub const SETS: [Entry; 13] = [
    Entry {
        name: Cow::Borrowed("pima"),
        positive_rate: Some(0.35),
        train: 256,
        power: 1,
        tasks: ALL,
        source: From::Schema(include_str!("../schemas/pima.schema.toml")),
    },
    Entry {
        name: Cow::Borrowed("debrecen"),
        positive_rate: Some(0.53),
        train: 256,
        power: 1,
        tasks: ALL,
        source: From::Schema(include_str!("../schemas/debrecen.schema.toml")),
    },
    Entry {
        name: Cow::Borrowed("breast_cancer_wdbc"),
        positive_rate: Some(0.37),
        train: 398,
        power: 2,
        tasks: ALL,
        source: From::Schema(include_str!("../schemas/breast_cancer_wdbc.schema.toml")),
    },
    Entry {
        name: Cow::Borrowed("rare-positives"),
        positive_rate: Some(0.028),
        train: 5000,
        power: 2,
        tasks: RANKED,
        source: From::Ranked(25_000, 5.2),
    },
    Entry {
        name: Cow::Borrowed("hundred-thousand"),
        positive_rate: Some(0.15),
        train: 100_000,
        power: 2,
        tasks: RANKED,
        source: From::Ranked(120_000, 2.7),
    },
    Entry {
        name: Cow::Borrowed("linear-targets"),
        positive_rate: None,
        train: 2000,
        power: 2,
        tasks: &[Task::Regression],
        source: From::Linear(12_000),
    },
    Entry {
        name: Cow::Borrowed("one-direction-1000"),
        positive_rate: None,
        train: 1000,
        power: 2,
        tasks: &[Task::Metric],
        source: From::OneDirection(10),
    },
    Entry {
        name: Cow::Borrowed("one-direction-4000"),
        positive_rate: None,
        train: 4000,
        power: 2,
        tasks: &[Task::Metric],
        source: From::OneDirection(10),
    },
    // Shares of words and characters in percent, and lengths of runs of capitals.
    Entry {
        name: Cow::Borrowed("spambase"),
        positive_rate: Some(0.39),
        train: 0,
        power: 2,
        tasks: &[Task::Ranking, Task::Classification],
        source: From::Ranges(&[
            ("x49", 0.0, 1.0),
            ("x50", 0.0, 1.0),
            ("x51", 0.0, 1.0),
            ("x52", 0.0, 1.0),
            ("x53", 0.0, 1.0),
            ("x54", 0.0, 1.0),
            ("x55", 0.0, 10.0),
            ("x56", 0.0, 100.0),
            ("x57", 0.0, 1000.0),
            ("*", 0.0, 2.0),
        ]),
    },
    // Standardised by those who published it.
    Entry {
        name: Cow::Borrowed("mammography"),
        positive_rate: Some(0.023),
        train: 0,
        power: 2,
        tasks: RANKED,
        source: From::Ranges(&[("*", -3.0, 3.0)]),
    },
    // Indicators are 0 or 1: this range keeps them so.
    Entry {
        name: Cow::Borrowed("a9a"),
        positive_rate: Some(0.24),
        train: 0,
        power: 2,
        tasks: RANKED,
        source: From::Ranges(&[("*", -1.0, 1.0)]),
    },
    Entry {
        name: Cow::Borrowed("adult"),
        positive_rate: Some(0.24),
        train: 0,
        power: 2,
        tasks: &[Task::Ranking, Task::Classification],
        source: From::Ranges(&[
            ("age", 17.0, 90.0),
            ("fnlwgt", 0.0, 500_000.0),
            ("educational-num", 1.0, 16.0),
            ("capital-gain", 0.0, 20_000.0),
            ("capital-loss", 0.0, 2500.0),
            ("hours-per-week", 1.0, 99.0),
            ("*", -1.0, 1.0),
        ]),
    },
    // Two days in seconds, an amount, and principal components.
    Entry {
        name: Cow::Borrowed("credit_fraud"),
        positive_rate: Some(0.0017),
        train: 0,
        power: 2,
        tasks: RANKED,
        source: From::Ranges(&[("Time", 0.0, 172_800.0), ("Amount", 0.0, 1000.0), ("*", -5.0, 5.0)]),
    },
];

/// What could be a number.
const WIDE: &[(&str, f64, f64)] = &[("*", -1e6, 1e6)];

impl Entry {
    /// A file that is not in the list.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: Cow::Owned(name.to_owned()),
            train: 0,
            power: 2,
            tasks: RANKED,
            positive_rate: None,
            source: From::Unknown,
        }
    }

    /// Whether ranges have to be found.
    pub fn is_wide(&self, folder: Option<&Path>) -> bool {
        let beside = folder.map(|folder| folder.join(format!("{}.schema.toml", self.name)));
        matches!(self.source, From::Unknown) && !beside.is_some_and(|path| path.is_file())
    }

    /// The encoded table, if its file is there.
    ///
    /// # Errors
    /// When the file or its schema cannot be read.
    pub fn load(&self, folder: Option<&Path>) -> Result<Option<Table>> {
        if let Some(table) = self.drawn(0) {
            return Ok(Some(table));
        }
        let Some(data) = folder.and_then(|folder| self.file(folder)) else { return Ok(None) };
        let beside = folder.map(|folder| folder.join(format!("{}.schema.toml", self.name)));
        let schema = match (beside, &self.source) {
            (Some(path), _) if path.is_file() => Schema::read(&path)?,
            (_, From::Schema(text)) => Schema::parse(text).map_err(anyhow::Error::msg)?,
            (_, From::Unknown) => {
                Schema::parse(&schema(&Table::header(&data)?, WIDE)).map_err(anyhow::Error::msg)?
            }
            (_, From::Ranges(ranges)) => {
                Schema::parse(&schema(&Table::header(&data)?, ranges)).map_err(anyhow::Error::msg)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Table::read(&data, &Encoding::of(&schema), LabelUse::Read(schema.label()))?))
    }

    /// A fresh draw from a simulated population; none for a file.
    pub fn drawn(&self, split: u64) -> Option<Table> {
        let chance = || Chance(Replay::from_seed(1000 + split));
        match self.source {
            From::Ranked(rows, offset) => {
                Some(simulated(rows, chance(), |score, chance| 2.0 * score - offset + chance > 0.0))
            }
            From::Linear(rows) => Some(linear(rows, chance())),
            From::OneDirection(d) => Some(one_direction(self.train + 2000, d, chance())),
            _ => None,
        }
    }

    fn file(&self, folder: &Path) -> Option<PathBuf> {
        ["csv", "csv.gz"]
            .map(|end| folder.join(format!("{}.{end}", self.name)))
            .into_iter()
            .find(|path| path.is_file())
    }
}

/// A schema for columns of known ranges; labels are ±1.
fn schema(header: &[String], ranges: &[(&str, f64, f64)]) -> String {
    let mut text = "[label]\ncolumn = \"label\"\npositive = 1\nnegative = -1\n".to_owned();
    for name in header.iter().filter(|name| *name != "label") {
        let known = ranges.iter().find(|(column, ..)| column == name).or(ranges.last());
        if let Some((_, low, high)) = known {
            let _ = write!(text, "\n[[column]]\nname = \"{name}\"\nrange = [{low:.1}, {high:.1}]\n");
        }
    }
    text
}

/// Chance for data, not for noise.
struct Chance(Replay);

impl Chance {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Normal features scaled by 1/(1.2√d), d = 50, and labels from the score w·x of a w of norm 1 and a logistic variable: a
/// positive one has the probability 1/(1 + exp(offset − 2w·x)).
fn simulated(rows: usize, mut chance: Chance, positive: impl Fn(f64, f64) -> bool) -> Table {
    const D: usize = 50;
    let w = direction(D);
    let mut table =
        Table { features: Vec::with_capacity(rows * D), columns: D, targets: Vec::new(), rows, owners: None };
    for _ in 0..rows {
        let x: Vec<f64> = (0..D).map(|_| chance.normal()).collect();
        let score: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
        let u = chance.uniform();
        table.targets.push(if positive(score, (u / (1.0 - u)).ln()) { 1.0 } else { -1.0 });
        table.features.extend(x.iter().map(|v| v / (1.2 * (D as f64).sqrt())));
    }
    table
}

/// Uniform features in ten columns, and half of a linear score plus noise as the target, within ±1 nearly always.
fn linear(rows: usize, mut chance: Chance) -> Table {
    const D: usize = 10;
    let w = direction(D);
    let mut table =
        Table { features: Vec::with_capacity(rows * D), columns: D, targets: Vec::new(), rows, owners: None };
    for _ in 0..rows {
        let x: Vec<f64> = (0..D).map(|_| 2.0 * chance.uniform() - 1.0).collect();
        let score: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
        table.targets.push(0.2 + 0.5 * score + 0.15 * chance.normal());
        table.features.extend(x);
    }
    table
}

/// Uniform features, and classes by the sum of the first two with some noise: a metric that has learned which they are finds
/// better neighbours than the Euclidean distance.
fn one_direction(rows: usize, d: usize, mut chance: Chance) -> Table {
    let mut table =
        Table { features: Vec::with_capacity(rows * d), columns: d, targets: Vec::new(), rows, owners: None };
    for _ in 0..rows {
        let x: Vec<f64> = (0..d).map(|_| 2.0 * chance.uniform() - 1.0).collect();
        let score = x[0] + x[1] + 0.3 * chance.normal();
        table.targets.push(if score > 0.0 { 1.0 } else { -1.0 });
        table.features.extend(x);
    }
    table
}

/// The same for every draw.
fn direction(d: usize) -> Vec<f64> {
    let mut chance = Chance(Replay::from_seed(11));
    let w: Vec<f64> = (0..d).map(|_| chance.normal()).collect();
    let length = w.iter().map(|v| v * v).sum::<f64>().sqrt();
    w.into_iter().map(|v| v / length).collect()
}

/// Some rows of a table.
pub fn part(table: &Table, chosen: &[usize]) -> Table {
    let d = table.columns;
    Table {
        features: chosen.iter().flat_map(|i| table.features[i * d..(i + 1) * d].iter().copied()).collect(),
        columns: d,
        targets: chosen.iter().map(|&i| table.targets[i]).collect(),
        rows: chosen.len(),
        owners: None,
    }
}

/// Two tables with every column centred and divided by its standard deviation in the first: for models without privacy only.
pub fn standardised(train: &Table, test: &Table) -> (Table, Table) {
    let (d, n) = (train.columns, train.rows as f64);
    let (mut sums, mut squares) = (vec![0.0; d], vec![0.0; d]);
    for row in train.features.chunks_exact(d) {
        for (k, value) in row.iter().enumerate() {
            sums[k] += value;
            squares[k] += value * value;
        }
    }
    let scales: Vec<(f64, f64)> = sums
        .iter()
        .zip(squares)
        .map(|(sum, square)| (sum / n, square / n - (sum / n) * (sum / n)))
        .map(|(mean, variance)| (mean, if variance > 1e-12 { variance.sqrt().recip() } else { 0.0 }))
        .collect();
    let apply = |table: &Table| {
        let mut table = part(table, &(0..table.rows).collect::<Vec<_>>());
        for row in table.features.chunks_exact_mut(d) {
            row.iter_mut().zip(&scales).for_each(|(value, (mean, scale))| *value = (*value - mean) * scale);
        }
        table
    };
    (apply(train), apply(test))
}

/// The same with every column mapped to [−1, 1] by its own least and largest value: for models without privacy only.
pub fn scaled(table: &Table) -> Table {
    let d = table.columns;
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    for row in table.features.chunks_exact(d) {
        for (k, value) in row.iter().enumerate() {
            if *value < low[k] {
                low[k] = *value;
            }
            if *value > high[k] {
                high[k] = *value;
            }
        }
    }
    let mut scaled = part(table, &(0..table.rows).collect::<Vec<_>>());
    for row in scaled.features.chunks_exact_mut(d) {
        for (k, value) in row.iter_mut().enumerate() {
            let half = (high[k] - low[k]) / 2.0;
            *value = if half > 0.0 { (*value - f64::midpoint(low[k], high[k])) / half } else { 0.0 };
        }
    }
    scaled
}
