//! Curves and tables of a private evaluation, from one noisy histogram of labels by public cells of the score.
//!
//! All of it is post-processing. Every number is a share a/(a + b) of two sums of counts with noise of known size, and its interval
//! is the set of shares r at which (1 − r)·a − r·b is no further from 0 than its own noise explains (Fieller 1954): exact for
//! Gaussian noise, however small the sums are, and a little too long for Laplace noise.

use super::Estimate;
use pairdp_certificate::NoiseKind;
use pairdp_model::LogOdds;
use pairdp_pairwise::score_cells::{CELLS, Stretch};
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// Deviations beyond which Gaussian noise is found 35 times in 1000, a little less often than the 5 in 100 that are promised.
const GAUSSIAN_REACH: f64 = 2.1085;
/// The same for one Laplace variable: ln(1/0.035)/√2. Sums of several are nearer to Gaussian, and within it more often.
const LAPLACE_REACH: f64 = 2.3705;

/// A noisy histogram: labels by equal cells of a public stretch of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Where the first cell begins; it has what is below, too.
    pub low: f64,
    /// Where the last one ends; it has what is above, too.
    pub high: f64,
    /// Standard deviation of the noise on each count.
    pub noise: f64,
    /// Which noise.
    pub law: NoiseKind,
    /// How many records, or persons, were counted.
    pub records: f64,
    /// Of negative records by cell, then of positive ones.
    pub counts: Vec<f64>,
    /// The model's own log-odds, if it has any: what is added, what a score is multiplied by, and between which scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_odds: Option<[f64; 4]>,
}

/// What comes of flagging all records from a score on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Threshold {
    /// That score.
    pub score: f64,
    /// The model's probability there, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The share of all records that are flagged.
    pub flagged: Estimate,
    /// The share of positive records that are: the height of the ROC curve, and recall.
    pub sensitivity: Estimate,
    /// The share of negative records that are: how far right the ROC curve is.
    pub false_positives: Estimate,
    /// The share of flagged records that are positive.
    pub precision: Estimate,
}

/// What became of the records of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibrated {
    /// Where the cell begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The model's probability at its middle, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The share of its records that are positive.
    pub positives: Estimate,
    /// Its share of all records.
    pub records: Estimate,
}

/// A sum of counts, and of how many.
#[derive(Clone, Copy)]
struct Sum {
    value: f64,
    counts: usize,
}

impl Histogram {
    /// What is released, with the log-odds of the model.
    pub(super) fn new(
        stretch: Stretch,
        counts: Vec<f64>,
        (noise, law): (f64, NoiseKind),
        records: usize,
        line: Option<&LogOdds>,
    ) -> Self {
        let log_odds = line.map(|line| {
            let ((intercept, slope), [low, high]) = (line.line(), line.ends());
            [intercept, slope, low, high]
        });
        Self { low: stretch.low, high: stretch.high, noise, law, records: records as f64, counts, log_odds }
    }

    /// One for every edge between two cells, from the lowest score to the highest.
    pub fn thresholds(&self) -> Vec<Threshold> {
        let at = |k: usize| {
            let score = self.stretch().edge(k);
            let (false_alarms, hits) = (self.sum(0, k, CELLS), self.sum(1, k, CELLS));
            let (right_not, missed) = (self.sum(0, 0, k), self.sum(1, 0, k));
            Threshold {
                score,
                probability: self.probability(score),
                flagged: self.share_of_all(
                    Sum { value: false_alarms.value + hits.value, counts: 2 * (CELLS - k) },
                    Sum { value: right_not.value + missed.value, counts: 2 * k },
                ),
                sensitivity: self.share(hits, missed),
                false_positives: self.share(false_alarms, right_not),
                precision: self.share(hits, false_alarms),
            }
        };
        (1..CELLS).map(at).collect()
    }

    /// One for every cell.
    pub fn calibration(&self) -> Vec<Calibrated> {
        let of = |k: usize| {
            let stretch = self.stretch();
            let (negative, positive) = (self.sum(0, k, k + 1), self.sum(1, k, k + 1));
            let here = Sum { value: negative.value + positive.value, counts: 2 };
            let elsewhere =
                Sum { value: self.counts.iter().sum::<f64>() - here.value, counts: 2 * CELLS - 2 };
            Calibrated {
                low: stretch.edge(k),
                high: stretch.edge(k + 1),
                probability: self.probability(stretch.middle(k)),
                positives: self.share(positive, negative),
                records: self.share_of_all(here, elsewhere),
            }
        };
        (0..CELLS).map(of).collect()
    }

    fn stretch(&self) -> Stretch {
        Stretch { low: self.low, high: self.high }
    }

    fn probability(&self, score: f64) -> Option<f64> {
        self.log_odds.map(|[intercept, slope, low, high]| {
            1.0 / (1.0 + libm::exp(-intercept - slope * smaller(larger(score, low), high)))
        })
    }

    /// Of a class, over cells.
    fn sum(&self, class: usize, from: usize, to: usize) -> Sum {
        let counts = self.counts.iter().skip(class * CELLS + from).take(to - from);
        Sum { value: counts.sum(), counts: to - from }
    }

    fn reach(&self) -> f64 {
        // What the lattice rounds is below a thousandth of the noise.
        1.001 * if self.law == NoiseKind::Laplace { LAPLACE_REACH } else { GAUSSIAN_REACH }
    }

    /// A share of all records, whose number is public: by whichever of the two sums has fewer counts, and so less noise.
    fn share_of_all(&self, part: Sum, rest: Sum) -> Estimate {
        let (value, counts) = if part.counts <= rest.counts {
            (part.value / self.records, part.counts)
        } else {
            (1.0 - rest.value / self.records, rest.counts)
        };
        super::around(value, self.reach() * self.noise * (counts as f64).sqrt() / self.records)
    }

    /// a/(a + b).
    fn share(&self, a: Sum, b: Sum) -> Estimate {
        let squared = (self.reach() * self.noise).powi(2);
        let (va, vb) = (squared * a.counts as f64, squared * b.counts as f64);
        let sum = a.value + b.value;
        let value = if sum > 0.0 { super::unit(a.value / sum) } else { 0.5 };
        // ((1 − r)a − rb)² ≤ (1 − r)²va + r²vb is A·r² − 2B·r + C ≤ 0.
        let (big, middle, small) = (sum * sum - va - vb, a.value * sum - va, a.value * a.value - va);
        let root = middle * middle - big * small;
        if !(big > 0.0 && root >= 0.0 && sum > 0.0) {
            // The noise explains every share.
            return Estimate { value, low: 0.0, high: 1.0 };
        }
        let (low, high) = ((middle - root.sqrt()) / big, (middle + root.sqrt()) / big);
        Estimate { value, low: super::unit(low), high: super::unit(high) }
    }
}
