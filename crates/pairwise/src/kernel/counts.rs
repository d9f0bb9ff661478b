//! Hinge: charges by counting, exactly.
//!
//! A pair of a positive p and a negative t counts when p − t < 1. The smaller class is sorted; each member of the larger one
//! finds by look-up how many of the smaller it forms pairs with, which is its charge, and marks that place. Adding up the
//! marks from the end gives the charges of the smaller class: every pair is decided once, by one comparison. Sorted lists and
//! marks of parts of a table merge.

use super::blocks::Par;
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Buckets that lead to a place in the sorted class, at most.
const MOST_BUCKETS: usize = 1 << 20;

/// Which class is sorted. In terms of x (sorted) and y (the other class): x pairs with y while x is below y + 1 when x are the
/// positives, and while −x is below −y + 1 when x are the negatives. Mirrored, both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Sorting {
    positive: bool,
}

impl Sorting {
    /// The smaller class.
    pub(super) fn of([negatives, positives]: [u64; 2]) -> Self {
        Self { positive: positives <= negatives }
    }

    fn takes(self, target: f64) -> bool {
        (target > 0.0) == self.positive
    }

    fn sign(self) -> f64 {
        if self.positive { 1.0 } else { -1.0 }
    }

    /// The scores to be sorted, in order.
    pub(super) fn scores(self, scores: &[f64], targets: &[f64], par: Par) -> Vec<f64> {
        let taken = scores.iter().zip(targets).filter(|(_, target)| self.takes(**target));
        let mut values: Vec<f64> = taken.map(|(score, _)| self.sign() * score).collect();
        match par {
            Par::Sequential => values.sort_unstable_by(f64::total_cmp),
            Par::Parallel => values.par_sort_unstable_by(f64::total_cmp),
        }
        values
    }

    /// How many of the other class pair with so many of the sorted one.
    pub(super) fn marks(self, sorted: &Sorted, scores: &[f64], targets: &[f64], par: Par) -> Vec<u64> {
        let look_up = |(scores, targets): (&[f64], &[f64])| {
            let mut marks = vec![0_u64; sorted.values.len() + 1];
            for (score, _) in scores.iter().zip(targets).filter(|(_, target)| !self.takes(**target)) {
                marks[sorted.pairs_with(self.sign() * score)] += 1;
            }
            marks
        };
        match par {
            Par::Sequential => look_up((scores, targets)),
            Par::Parallel => {
                let length = scores.len().div_ceil(rayon::current_num_threads()).max(1);
                let chunks = scores.par_chunks(length).zip(targets.par_chunks(length));
                // Whole numbers, in any order and any number of parts.
                chunks.map(look_up).reduce(|| vec![0; sorted.values.len() + 1], added)
            }
        }
    }
}

/// Sums of marks.
pub(super) fn added(mut marks: Vec<u64>, more: Vec<u64>) -> Vec<u64> {
    marks.iter_mut().zip(more).for_each(|(mark, more)| *mark += more);
    marks
}

/// Two ascending lists as one.
pub(super) fn merged(a: Vec<f64>, b: Vec<f64>) -> Vec<f64> {
    let mut both = Vec::with_capacity(a.len() + b.len());
    let mut second = b.into_iter().peekable();
    for value in a {
        while let Some(before) = second.next_if(|other| other.total_cmp(&value).is_lt()) {
            both.push(before);
        }
        both.push(value);
    }
    both.extend(second);
    both
}

/// What charges need: the sorted class, and how many pairs each rank of it is in.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Counts {
    sorting: Sorting,
    sorted: Sorted,
    pairs: Vec<f64>,
}

impl Counts {
    pub(super) fn new(sorting: Sorting, sorted: Sorted, marks: &[u64]) -> Self {
        // A member of rank r pairs with every y whose count exceeds r.
        let mut above = 0;
        let mut pairs = vec![0.0; sorted.values.len()];
        for rank in (0..pairs.len()).rev() {
            above += marks.get(rank + 1).unwrap_or(&0);
            pairs[rank] = above as f64;
        }
        Self { sorting, sorted, pairs }
    }

    pub(super) fn charges(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        let sign = self.sorting.sign();
        for ((charge, score), target) in out.iter_mut().zip(scores).zip(targets) {
            *charge = if self.sorting.takes(*target) {
                sign * self.pairs[self.sorted.rank(sign * score)]
            } else {
                -sign * self.sorted.pairs_with(sign * score) as f64
            };
        }
    }

    /// Σ (1 − s + t)₊ over pairs: a pair counted in both charges adds 1 − s through one and t through the other.
    pub(super) fn risk(&self, scores: &[f64], targets: &[f64]) -> f64 {
        let mut charges = vec![0.0; scores.len()];
        self.charges(scores, targets, &mut charges);
        let one = |((c, s), target): ((&f64, &f64), &f64)| if *target > 0.0 { c * (1.0 - s) } else { -c * s };
        charges.iter().zip(scores).zip(targets).map(one).sum()
    }
}

/// Scores of one class in ascending order, with a table that leads close to any place.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sorted {
    values: Vec<f64>,
    starts: Vec<u32>,
    low: f64,
    per_unit: f64,
}

impl Sorted {
    /// Ascending scores within a bound.
    pub(super) fn new(values: Vec<f64>, bound: f64) -> Self {
        let buckets = values.len().clamp(1, MOST_BUCKETS);
        let per_unit = if bound > 0.0 { buckets as f64 / (2.0 * bound) } else { 0.0 };
        let mut sorted = Self { values, starts: Vec::new(), low: -bound, per_unit };
        let mut starts = vec![0; buckets + 1];
        for value in &sorted.values {
            starts[sorted.bucket(*value, buckets) + 1] += 1;
        }
        for b in 0..buckets {
            starts[b + 1] += starts[b];
        }
        sorted.starts = starts;
        sorted
    }

    #[inline(always)]
    fn bucket(&self, value: f64, buckets: usize) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the last bucket"
        )]
        let bucket = smaller(larger((value - self.low) * self.per_unit, 0.0), (buckets - 1) as f64) as usize;
        bucket
    }

    /// How many x have x − y < 1: the same rounded difference that the definition compares.
    #[inline(always)]
    fn pairs_with(&self, y: f64) -> usize {
        self.place(y + 1.0, |x| x - y < 1.0)
    }

    /// The first place of a value that is there.
    #[inline(always)]
    fn rank(&self, value: f64) -> usize {
        self.place(value, |x| x < value)
    }

    /// How many values satisfy `below`, which holds up to some value near `threshold` and not after it.
    #[inline(always)]
    fn place(&self, threshold: f64, below: impl Fn(f64) -> bool) -> usize {
        let bucket = self.bucket(threshold, self.starts.len() - 1);
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let mut place = start + self.values[start..end].partition_point(|v| below(*v));
        // Rounding of the threshold can put the edge into another bucket.
        if place == end && self.values.get(end).is_some_and(|v| below(*v)) {
            place += self.values[end..].partition_point(|v| below(*v));
        }
        if place == start && start > 0 && !below(self.values[start - 1]) {
            place = self.values[..start].partition_point(|v| below(*v));
        }
        place
    }
}
