//! Tables in which the best ranking there is has a stated AUC.

use super::{normal, uniform};
use crate::Table;
use pairdp_noise::Replay;
use pairdp_units::directed::{larger, smaller};

/// Columns are cut off so many standard deviations from their mean, as public ranges cut them off.
const REACH: f64 = 3.0;
/// Where the law of a score is added up.
const CELLS: usize = 4_000;
const END: f64 = 8.0;

/// A population of independent normal columns, all of which carry the same part of what can be learned; how likely a record is positive is
/// logistic in their sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    columns: usize,
    best_auc: f64,
    slope: f64,
    intercept: f64,
}

impl Effect {
    /// A population of so many columns whose best ranking has this AUC, and of which this share is positive; none for an AUC that is not
    /// between 0.5 and 1, or that only sure labels would have, and for a share that is not between 0 and 1.
    pub fn new(columns: usize, best_auc: f64, positive_share: f64) -> Option<Self> {
        let known = columns > 0
            && best_auc > 0.5
            && best_auc <= 0.995
            && positive_share > 0.0
            && positive_share < 1.0;
        if !known {
            return None;
        }
        let of = |slope: f64| {
            let intercept = bisect(-1e4, 1e4, |intercept| law(slope, intercept).0 < positive_share);
            (slope, intercept, law(slope, intercept).1)
        };
        let slope = bisect(0.0, 1e3, |slope| of(slope).2 < best_auc);
        let (slope, intercept, _) = of(slope);
        Some(Self { columns, best_auc, slope, intercept })
    }

    /// The AUC of the best ranking.
    pub fn best_auc(&self) -> f64 {
        self.best_auc
    }

    /// So many records, encoded, with targets ±1. The same seed gives the same table.
    pub fn table(&self, records: usize, seed: u64) -> Table {
        let mut random = Replay::from_seed(seed);
        let (mut features, mut targets) = (Vec::with_capacity(records * self.columns), Vec::new());
        let length = (self.columns as f64).sqrt();
        for _ in 0..records {
            let row: Vec<f64> = (0..self.columns).map(|_| normal(&mut random)).collect();
            let score = row.iter().sum::<f64>() / length;
            features.extend(row.iter().map(|cell| larger(-1.0, smaller(cell / REACH, 1.0))));
            let positive = uniform(&mut random) < risk(self.slope, self.intercept, score);
            targets.push(if positive { 1.0 } else { -1.0 });
        }
        Table::new(features, self.columns, targets)
    }
}

fn risk(slope: f64, intercept: f64, score: f64) -> f64 {
    1.0 / (1.0 + (-(slope * score + intercept)).exp())
}

/// The share of positive records, and the AUC of the score, which no other score exceeds.
fn law(slope: f64, intercept: f64) -> (f64, f64) {
    let step = 2.0 * END / CELLS as f64;
    let (mut positives, mut negatives, mut correct, mut all) = (0.0, 0.0, 0.0, 0.0);
    for cell in 0..CELLS {
        let score = (cell as f64 + 0.5) * step - END;
        let weight = (-score * score / 2.0).exp();
        let positive = weight * risk(slope, intercept, score);
        let negative = weight - positive;
        correct += positive * (negatives + negative / 2.0);
        positives += positive;
        negatives += negative;
        all += weight;
    }
    (positives / all, correct / (positives * negatives))
}

/// Where something that is true below stops being true.
fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted over pairs of a large table: within five standard errors, a false alarm in 10⁶.
    #[test]
    fn the_best_ranking_has_the_stated_auc() {
        for (columns, auc, share) in [(1, 0.6, 0.5), (5, 0.8, 0.3), (20, 0.95, 0.1)] {
            let (records, effect) = (100_000, Effect::new(columns, auc, share).unwrap());
            let table = effect.table(records, 7);
            let mut scored: Vec<(f64, bool)> = table
                .features
                .chunks_exact(columns)
                .zip(&table.targets)
                .map(|(row, target)| (row.iter().sum(), *target > 0.0))
                .collect();
            scored.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut negatives, mut correct) = (0_u64, 0_u64);
            for (_, positive) in &scored {
                if *positive { correct += negatives } else { negatives += 1 }
            }
            let positives = records as u64 - negatives;
            let found = correct as f64 / (positives * negatives) as f64;
            let error = 0.5 / (smaller(positives as f64, negatives as f64)).sqrt();
            // Cut off at three deviations, a column loses a little.
            assert!((found - auc).abs() < 5.0 * error + 0.002, "{found} {auc}");
            assert!((positives as f64 / records as f64 - share).abs() < 0.01);
        }
    }

    #[test]
    fn what_no_population_has_is_refused() {
        for (columns, auc, share) in [
            (0, 0.8, 0.3),
            (3, 0.5, 0.3),
            (3, 1.0, 0.3),
            (3, f64::NAN, 0.3),
            (3, 0.8, 0.0),
            (3, 0.8, 1.0),
            (3, 0.8, f64::NAN),
        ] {
            assert_eq!(Effect::new(columns, auc, share), None);
        }
    }
}
