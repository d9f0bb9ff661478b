//! Hinge: charges by counting, exactly.
//!
//! A pair of a positive p and a negative t counts when p − t < 1. The smaller class is sorted; each member of the larger one
//! finds by look-up how many of the smaller it forms pairs with, which is its charge, and marks that place. Adding up the
//! marks from the end gives the charges of the smaller class: every pair is decided once, by one comparison.

use super::blocks::{self, Par};
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;
use std::ops::Range;

/// Buckets that lead to a place in the sorted class, at most.
const MOST_BUCKETS: usize = 1 << 20;

/// Charges of all records.
pub(super) struct Counts {
    charges: Vec<f64>,
}

impl Counts {
    pub(super) fn new(scores: &[f64], targets: &[f64], bound: f64, par: Par) -> Self {
        let positives = targets.iter().filter(|t| **t > 0.0).count();
        // In terms of x (smaller class, sorted) and y (larger class): x pairs with y while x is below y + 1 when x are the
        // positives, and while −x is below −y + 1 when x are the negatives. Mirrored, both are the same.
        let sorted_is_positive = positives * 2 <= targets.len();
        let sign = if sorted_is_positive { 1.0 } else { -1.0 };
        let is_sorted = |i: usize| (targets[i] > 0.0) == sorted_is_positive;
        let sorted =
            Sorted::new((0..scores.len()).filter(|i| is_sorted(*i)).map(|i| sign * scores[i]), bound, par);
        let mut charges = vec![0.0; scores.len()];
        let look_up = |(first, out): (usize, &mut [f64])| {
            let mut marks = vec![0_u32; sorted.values.len() + 1];
            for (charge, i) in out.iter_mut().zip(first..).filter(|(_, i)| !is_sorted(*i)) {
                let count = sorted.pairs_with(sign * scores[i]);
                marks[count] += 1;
                *charge = -sign * count as f64;
            }
            marks
        };
        // Marks are whole numbers, so they may be added in any order and any number of parts.
        let parts: Vec<Vec<u32>> = match par {
            Par::Sequential => vec![look_up((0, &mut charges))],
            Par::Parallel => {
                let length = scores.len().div_ceil(rayon::current_num_threads()).max(1);
                let chunks = charges.par_chunks_mut(length).enumerate();
                chunks.map(|(chunk, out)| look_up((chunk * length, out))).collect()
            }
        };
        // A member of rank r pairs with every y whose count exceeds r.
        let mut above = 0;
        let mut pairs = vec![0.0; sorted.values.len()];
        for rank in (0..pairs.len()).rev() {
            above += parts.iter().map(|marks| u64::from(marks[rank + 1])).sum::<u64>();
            pairs[rank] = above as f64;
        }
        blocks::fill(&mut charges, par, |range, out| {
            for (charge, i) in out.iter_mut().zip(range).filter(|(_, i)| is_sorted(*i)) {
                *charge = sign * pairs[sorted.rank(sign * scores[i])];
            }
        });
        Self { charges }
    }

    pub(super) fn charges(&self, range: Range<usize>, out: &mut [f64]) {
        out.copy_from_slice(&self.charges[range]);
    }

    /// Σ (1 − s + t)₊ over pairs: a pair counted in both charges adds 1 − s through one and t through the other.
    pub(super) fn risk(&self, scores: &[f64], targets: &[f64]) -> f64 {
        let one = |((c, s), target): ((&f64, &f64), &f64)| if *target > 0.0 { c * (1.0 - s) } else { -c * s };
        self.charges.iter().zip(scores).zip(targets).map(one).sum()
    }
}

/// Scores of one class in ascending order, with a table that leads close to any place.
struct Sorted {
    values: Vec<f64>,
    starts: Vec<u32>,
    low: f64,
    per_unit: f64,
}

impl Sorted {
    fn new(scores: impl Iterator<Item = f64>, bound: f64, par: Par) -> Self {
        let mut values: Vec<f64> = scores.collect();
        match par {
            Par::Sequential => values.sort_unstable_by(f64::total_cmp),
            Par::Parallel => values.par_sort_unstable_by(f64::total_cmp),
        }
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
