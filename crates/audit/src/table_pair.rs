//! Tables that differ in one record, as far as possible.
//!
//! The sensitivities of `proofs/` are attained by tables of one shape: all records but one are the same extreme record, and the
//! last one is exchanged for another extreme record. [`extremes`] lists every such pair of tables that two directions and two
//! labels allow; the equality cases of rankers, metrics and pointwise losses are all among them, and [`crate::Audit`] takes the
//! pair that its mechanism separates best, computed without noise and so without looking at a run.

use crate::AuditError;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{Labels, Objective, PointLoss, Problem, RankingForm, Records, Strata};
use pairdp_units::signed_time::signed_time;
use serde::Serialize;

/// Rows are longer than allowed by this factor: clipping leaves an extreme record, and forgetting to clip is noticed.
const LOUD: f64 = 8.0;
/// An event at half the time, as a signed time: one record can come before all who had theirs then, or after.
const BETWEEN: f64 = 1.5;
/// Records of a person who has many.
const CROWD: usize = 50;

/// A table that an auditor made up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Row-major, before clipping.
    pub features: Vec<f64>,
    /// Features a row.
    pub columns: usize,
    /// One for each row.
    pub targets: Vec<f64>,
    /// How many records the person of each row has, in ascending order; nothing where records are protected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records_of_owner: Vec<u32>,
}

impl Table {
    /// The table as a mechanism takes it, clipped to its bound.
    ///
    /// # Errors
    /// [`AuditError::Records`] when there is no feature.
    pub fn records(&self, feature_bound: f64) -> Result<Records, AuditError> {
        let (features, targets) = (self.features.clone(), self.targets.clone());
        let records = Records::with_targets(features, self.columns, targets, feature_bound)?;
        if self.records_of_owner.is_empty() {
            return Ok(records);
        }
        let persons =
            self.records_of_owner.chunk_by(|a, b| a == b).map(|same| same.len() / same[0] as usize).sum();
        Ok(records.weighed(Strata::of_persons(&self.records_of_owner, persons)))
    }

    /// The same rows, of persons of whom all have one record and the one at `crowd` has so many copies of it; every other copy
    /// with the label `other`, if there is one.
    fn of_persons(&self, crowd: usize, copies: usize, other: Option<f64>) -> Self {
        let rows: Vec<usize> = (0..self.targets.len()).filter(|row| *row != crowd).collect();
        let all = rows.iter().copied().chain(std::iter::repeat_n(crowd, copies));
        let row = |row: usize| self.features[row * self.columns..(row + 1) * self.columns].to_vec();
        let mut targets: Vec<f64> = all.clone().map(|row| self.targets[row]).collect();
        if let Some(other) = other {
            targets[rows.len()..].iter_mut().step_by(2).for_each(|target| *target = other);
        }
        let counts = std::iter::repeat_n(1, rows.len());
        let crowd = std::iter::repeat_n(u32::try_from(copies).unwrap_or(u32::MAX), copies);
        Self {
            features: all.flat_map(row).collect(),
            columns: self.columns,
            targets,
            records_of_owner: counts.chain(crowd).collect(),
        }
    }

    /// As text, the target in the last column.
    pub fn to_csv(&self) -> String {
        let mut names: Vec<String> = (1..=self.columns).map(|k| format!("x{k}")).collect();
        names.push("y".into());
        let mut text = names.join(",") + "\n";
        for (row, target) in self.features.chunks_exact(self.columns).zip(&self.targets) {
            row.iter().for_each(|value| text.push_str(&(value.to_string() + ",")));
            text.push_str(&(target.to_string() + "\n"));
        }
        text
    }
}

/// Two tables that differ in one record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TablePair {
    /// The one.
    pub first: Table,
    /// The other.
    pub second: Table,
    /// Where they differ.
    pub replaced: usize,
    /// Whether all other records are the same.
    pub uniform: bool,
}

/// A record at one end or the other of the first axis.
#[derive(Clone, Copy, PartialEq)]
struct Extreme {
    side: f64,
    target: f64,
}

/// Every pair of tables of n records in which n − 1 are one extreme record and one is exchanged for another.
pub fn extremes(problem: Problem, n: usize, columns: usize, replaced: usize) -> Vec<TablePair> {
    let [low, high] = targets(problem);
    let all =
        [(-1.0, low), (-1.0, high), (1.0, low), (1.0, high)].map(|(side, target)| Extreme { side, target });
    let between = [Extreme { side: -1.0, target: BETWEEN }];
    let mut found = Vec::new();
    // Mirroring everything changes nothing, so that the others may stay on one side.
    for others in if is_in_time(problem) { &between } else { &all[..2] } {
        for (k, before) in all.iter().enumerate() {
            for after in &all[k + 1..] {
                if problem.labels() == Labels::Public && before.target.to_bits() != after.target.to_bits() {
                    continue;
                }
                let reach = LOUD * problem.feature_bound();
                let table = |record: &Extreme| table(n, columns, replaced, reach, others, record);
                found.push(TablePair { first: table(before), second: table(after), replaced, uniform: true });
            }
        }
    }
    if problem.weighs() { found.iter().flat_map(|pair| persons(pair, [low, high])).collect() } else { found }
}

/// The same neighbours as persons: one record for one, one for many copies, and many records of both labels for one.
fn persons(pair: &TablePair, [low, high]: [f64; 2]) -> [TablePair; 3] {
    let TablePair { first, second, replaced, uniform } = pair;
    let target = first.targets[*replaced];
    let mirrored = if target > low { low } else { high };
    let (one, crowd) = (first.of_persons(*replaced, 1, None), second.of_persons(*replaced, CROWD, None));
    let mixed = first.of_persons(*replaced, CROWD, Some(mirrored));
    let other = second.of_persons(*replaced, 1, None);
    let last = one.targets.len() - 1;
    [(one.clone(), other.clone()), (one, crowd), (mixed, other)].map(|(first, second)| TablePair {
        first,
        second,
        replaced: last,
        uniform: *uniform,
    })
}

fn table(n: usize, columns: usize, replaced: usize, reach: f64, others: &Extreme, one: &Extreme) -> Table {
    let record = |i: usize| if i == replaced { one } else { others };
    let row = |i: usize| (0..columns).map(move |k| if k == 0 { reach * record(i).side } else { 0.0 });
    Table {
        features: (0..n).flat_map(row).collect(),
        columns,
        targets: (0..n).map(|i| record(i).target).collect(),
        records_of_owner: Vec::new(),
    }
}

/// A table of no special shape, with one record exchanged for its mirror image of the other label.
pub fn typical(problem: Problem, n: usize, columns: usize) -> TablePair {
    // Public numbers: the auditor's own table, the same every time.
    let mut source = Replay::from_seed(20_261_116);
    let mut uniform = || (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let [low, high] = targets(problem);
    let kappa = problem.feature_bound();
    let features: Vec<f64> = (0..n * columns).map(|_| kappa * uniform()).collect();
    let targets: Vec<f64> = features
        .chunks_exact(columns)
        .map(|row| if row[0] + 0.3 * kappa * uniform() > 0.0 { high } else { low })
        .collect();
    let first = Table { features, columns, targets, records_of_owner: Vec::new() };
    let mut second = first.clone();
    second.features[..columns].iter_mut().for_each(|value| *value = -*value);
    if problem.labels() == Labels::Private {
        second.targets[0] = if first.targets[0] > low { low } else { high };
    }
    TablePair { first, second, replaced: 0, uniform: false }
}

fn is_in_time(problem: Problem) -> bool {
    matches!(problem.objective(), Objective::Ranking { form: RankingForm::Comparable, .. })
}

/// Two targets that are as different as the objective allows; of times, an event before all others and nothing seen until after them.
fn targets(problem: Problem) -> [f64; 2] {
    match problem.objective() {
        Objective::Metric { .. } => [0.0, 1.0],
        Objective::Pointwise { loss: PointLoss::Residual { target_bound, .. } } => {
            [-target_bound, target_bound]
        }
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            [signed_time(1.0, false, 1.0), signed_time(0.0, true, 1.0)]
        }
        _ => [-1.0, 1.0],
    }
}
