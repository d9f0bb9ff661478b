//! A straight line of log-odds through noisy counts.

use super::Probabilities;
use pairdp_pairwise::score_cells::{CELLS, Stretch};
use pairdp_units::directed::{larger, smaller};
use std::ops::Range;

/// Cells are read between the first and the last one whose records are this many deviations of their noise,
const CLEAR: f64 = 2.5;
/// and beyond them as long as they are this many.
const LIKELY: f64 = 1.2;
/// Half the width of the stretch, in the units in which a slope is held against its noise.
const HALF: f64 = 3.0;

/// A cell that is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    /// Where it begins and ends.
    pub(crate) edges: [f64; 2],
    /// In the units of the fit.
    place: f64,
    /// Counts of negative and of positive records, as released.
    counts: [f64; 2],
    total: f64,
    /// Its share of all records, noise taken off.
    pub(crate) share: f64,
    /// The probability that a record of it is positive, by the line.
    pub(crate) positive: f64,
}

/// The log-odds of being positive, as a function of the score: a line that never falls, level beyond the cells that were read.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOdds {
    slope: f64,
    intercept: f64,
    /// The first and last score that it rises between.
    ends: [f64; 2],
    cells: Vec<Cell>,
}

impl LogOdds {
    /// Reads counts; `positives` is another release of how many records are positive, and its noise.
    pub(crate) fn read(counted: &Probabilities, positives: Option<(f64, f64)>) -> Self {
        let Probabilities { low, high, noise, counted: records, counts, .. } = counted;
        let stretch = Stretch { low: *low, high: *high };
        let (negative, positive) = counts.split_at(CELLS);
        let middle = low / 2.0 + high / 2.0;
        let unit = (high - low) / 2.0 / HALF;
        let totals: Vec<f64> = negative.iter().zip(positive).map(|(a, b)| a + b).collect();
        let above_noise = above_noise(&totals, std::f64::consts::SQRT_2 * noise);
        let mut cells: Vec<Cell> = above_noise
            .clone()
            .filter(|k| totals[*k] > 0.0)
            .map(|k| {
                let total = totals[k];
                Cell {
                    edges: [stretch.edge(k), stretch.edge(k + 1)],
                    place: (stretch.middle(k) - middle + off_middle(&stretch, &totals, &above_noise, k))
                        / unit,
                    counts: [negative[k], positive[k]],
                    total,
                    share: total,
                    positive: 0.0,
                }
            })
            .collect();
        let total: f64 = cells.iter().map(|cell| cell.share).sum();
        cells.iter_mut().for_each(|cell| cell.share /= total);
        let share = share_of_positives(counts, *noise, *records, positives);
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
            // Nothing rises above the noise: every record has the same probability.
            return Self { slope: 0.0, intercept: logit(share), ends: [middle, middle], cells };
        };
        let ends = [first.edges[0], last.edges[1]];
        let mut slope = slope(&cells, *noise, share);
        let mut intercept = level(&cells, slope, share);
        // By the line, whoever is given the smaller class is more likely in it than not, so that no more are wrong than if all
        // were given the larger one. Counts that speak against it beyond their noise flatten the line.
        while slope > 0.0 {
            let of_score = slope / unit;
            let line = Self {
                slope: of_score,
                intercept: intercept - of_score * middle,
                ends,
                cells: cells.clone(),
            };
            if line.gained(share > 0.5, *noise) >= 0.0 {
                break;
            }
            slope = if slope > 1e-3 { 0.8 * slope } else { 0.0 };
            intercept = level(&cells, slope, share);
        }
        let slope_of_score = slope / unit;
        for cell in &mut cells {
            cell.positive = logistic(slope * cell.place + intercept);
        }
        Self { slope: slope_of_score, intercept: intercept - slope_of_score * middle, ends, cells }
    }

    /// At a score. What is no number is where the line begins.
    pub fn at(&self, score: f64) -> f64 {
        self.intercept + self.slope * smaller(larger(score, self.ends[0]), self.ends[1])
    }

    /// The probability of being positive at a score.
    pub fn probability(&self, score: f64) -> f64 {
        logistic(self.at(score))
    }

    /// What is added, and what a score is multiplied by, between [`LogOdds::ends`].
    pub fn line(&self) -> (f64, f64) {
        (self.intercept, self.slope)
    }

    /// The scores that it rises between; it is level beyond them.
    pub fn ends(&self) -> [f64; 2] {
        self.ends
    }

    /// The class that every score has, if all have the same: whether it is the positive one.
    pub fn majority(&self) -> Option<bool> {
        let (lowest, highest) = (self.at(self.ends[0]), self.at(self.ends[1]));
        if highest <= 0.0 { Some(false) } else { (lowest > 0.0).then_some(true) }
    }

    /// Where it changes its sign, if it does.
    pub(crate) fn cut(&self) -> Option<f64> {
        self.score_of(0.0).ok().filter(|_| self.majority().is_none())
    }

    /// Where it has a value; otherwise whether it is always above it.
    pub(crate) fn score_of(&self, log_odds: f64) -> Result<f64, bool> {
        let [low, high] = self.ends;
        if self.at(low) > log_odds {
            return Err(true);
        }
        if self.at(high) <= log_odds {
            return Err(false);
        }
        Ok(smaller(larger((log_odds - self.intercept) / self.slope, low), high))
    }

    /// The score above which a share of the records lies, each counted as `weight` says.
    pub(crate) fn score_with_share_above(&self, share: f64, weight: impl Fn(&Cell) -> f64) -> f64 {
        let of = |cell: &Cell| cell.share * weight(cell);
        let mut left = share * self.cells.iter().map(of).sum::<f64>();
        for cell in self.cells.iter().rev() {
            let own = of(cell);
            if own >= left && own > 0.0 {
                return cell.edges[1] - (cell.edges[1] - cell.edges[0]) * (left / own);
            }
            left -= own;
        }
        self.ends[0]
    }

    /// How many more records of the cells are classified rightly than if all had the class of the larger one, in counts and at the
    /// most that their noise lets one believe.
    fn gained(&self, positive: bool, noise: f64) -> f64 {
        /// Deviations of the noise.
        const BELIEVED: f64 = 2.0;
        let cut = match self.score_of(0.0) {
            Ok(score) => score,
            // All are of one class: no more, or, if it is the smaller one, fewer.
            Err(always) => self.ends[usize::from(!always)],
        };
        let gained = |cell: &Cell| {
            let [low, high] = cell.edges;
            let above = smaller(larger((high - cut) / (high - low), 0.0), 1.0);
            let more = cell.counts[1] - cell.counts[0];
            let part = if positive { above - 1.0 } else { above };
            (part * more, 2.0 * part * part)
        };
        let (sum, variance) =
            self.cells.iter().map(gained).fold((0.0, 0.0), |(a, b), (sum, variance)| (a + sum, b + variance));
        sum + BELIEVED * noise * variance.sqrt()
    }
}

/// The cells to read: all between two that are clear, and those next to them that are likely.
fn above_noise(totals: &[f64], noise: f64) -> Range<usize> {
    let clear = |k: &usize| totals[*k] > CLEAR * noise;
    let (Some(first), Some(last)) = ((0..CELLS).find(clear), (0..CELLS).rev().find(clear)) else {
        return 0..0;
    };
    let likely = |k: &usize| totals[*k] > LIKELY * noise;
    let before = (0..first).rev().take_while(likely).count();
    let after = (last + 1..CELLS).take_while(likely).count();
    first - before..last + 1 + after
}

/// How far from the middle of a cell the mean of its scores is, by how the counts rise or fall around it: where there are fewer and
/// fewer records, most of a cell's lie where it begins.
fn off_middle(stretch: &Stretch, totals: &[f64], read: &Range<usize>, k: usize) -> f64 {
    let beside = |k: usize| read.contains(&k).then(|| totals[k]).filter(|total| *total > 0.0);
    let before = k.checked_sub(1).and_then(beside).map(|before| (before, 1.0));
    let after = beside(k + 1).map(|after| (after, 1.0));
    let ((low, left), (high, right)) =
        (before.unwrap_or((totals[k], 0.0)), after.unwrap_or((totals[k], 0.0)));
    if left + right <= 0.0 {
        return 0.0;
    }
    // Of a density that grows like e^x the mean is a twelfth of its growth across the cell away from the middle.
    let growth = libm::log(high / low) / (left + right);
    (stretch.edge(k + 1) - stretch.edge(k)) * smaller(larger(growth / 12.0, -0.25), 0.25)
}

/// The share of positive records: by the counts and, where there is one, by another release, each as much as its noise allows.
fn share_of_positives(counts: &[f64], noise: f64, records: f64, other: Option<(f64, f64)>) -> f64 {
    let (negative, positive) = counts.split_at(CELLS);
    let (negative, positive) = (negative.iter().sum::<f64>(), positive.iter().sum::<f64>());
    // With a number of records that is known, both counts say it.
    let counted = f64::midpoint(positive - negative, records);
    let variance = noise * noise * CELLS as f64 / 2.0;
    let both = match other {
        Some((value, own)) if variance > 0.0 && own > 0.0 => {
            let of_other = own * own;
            (counted * of_other + value * variance) / (variance + of_other)
        }
        _ => counted,
    };
    let least = larger(smaller(1.0 / records, 0.25), 1e-6);
    smaller(larger(both / records, least), 1.0 - least)
}

/// The slope, at least 0, at which counts are as the line has them.
///
/// In a cell whose records are positive with probability p, (1 − p)·positive − p·negative is 0 in the mean, however many there are and
/// whatever the noise. Such differences are added up, each as much as its noise allows, times how far their cell is from the
/// middle: the sum falls with the slope, and noise that is in no cell in particular leaves it where it is. A penalty of `noise`·slope keeps
/// it at 0 where nothing is seen.
fn slope(cells: &[Cell], noise: f64, share: f64) -> f64 {
    /// Steeper than any that anybody means: from all negative to all positive within a cell.
    const STEEPEST: f64 = 100.0;
    let excess = |slope: f64| {
        let intercept = level(cells, slope, share);
        let (mut weighed, mut at, mut all) = (0.0, 0.0, 0.0);
        let mut parts = Vec::with_capacity(cells.len());
        for cell in cells {
            let p = logistic(slope * cell.place + intercept);
            let q = 1.0 - p;
            let spread = cell.total * p * q;
            let weight = spread / (spread + noise * noise * (p * p + q * q) + f64::MIN_POSITIVE);
            parts.push((weight * (q * cell.counts[1] - p * cell.counts[0]), cell.place));
            weighed += weight * spread;
            at += weight * spread * cell.place;
            all += weight;
        }
        let middle = at / (weighed + f64::MIN_POSITIVE);
        let penalty = if all > 0.0 { noise * slope * all / cells.len() as f64 } else { f64::INFINITY };
        parts.iter().map(|(part, place)| part * (place - middle)).sum::<f64>() - penalty
    };
    let at_rest = excess(0.0);
    if at_rest.is_nan() || at_rest <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, STEEPEST);
    for _ in 0..60 {
        let middle = low / 2.0 + high / 2.0;
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The intercept with which a share of all records is expected to be positive.
fn level(cells: &[Cell], slope: f64, share: f64) -> f64 {
    let reach = cells.iter().map(|cell| (slope * cell.place).abs()).fold(0.0, larger);
    let (mut low, mut high) = (-20.0 - reach, 20.0 + reach);
    for _ in 0..100 {
        let middle = low / 2.0 + high / 2.0;
        let expected: f64 = cells.iter().map(|cell| cell.share * logistic(slope * cell.place + middle)).sum();
        if expected < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    low / 2.0 + high / 2.0
}

fn logit(share: f64) -> f64 {
    libm::log(share / (1.0 - share))
}

/// 1/(1 + e^−z).
fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-z))
}
