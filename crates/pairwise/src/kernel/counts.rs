//! Hinge: charges by counting, exactly.
//!
//! A pair of a positive p and a negative t counts when p − t < 1. The smaller class is sorted; each member of the larger one
//! finds by look-up how many of the smaller it forms pairs with, which is its charge, and marks that place. Adding up the
//! marks from the end gives the charges of the smaller class: every pair is decided once, by one comparison. Sorted lists and
//! marks of parts of a table merge.

use super::blocks::Par;
use super::charges::Charges;
use super::lanes::Registers;
use crate::strata;
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Buckets that lead to a place in the sorted class, at most.
const MOST_BUCKETS: usize = 1 << 20;
/// Sorted scores that are compared at once from a bucket's start on: a bucket holds one on the average.
const WINDOW: usize = 6;

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

    /// The scores to be sorted, in order; with the whole weights of records, if they have any.
    pub(super) fn scores(self, scores: &[f64], targets: &[f64], weights: &[u64], par: Par) -> InOrder {
        if !weights.is_empty() {
            let taken =
                scores.iter().zip(targets).zip(weights).filter(|((_, target), _)| self.takes(**target));
            let mut pairs: Vec<(f64, u64)> =
                taken.map(|((score, _), weight)| (self.sign() * score, *weight)).collect();
            let by_score = |(a, _): &(f64, u64), (b, _): &(f64, u64)| a.total_cmp(b);
            match par {
                Par::Sequential => pairs.sort_unstable_by(by_score),
                Par::Parallel => pairs.par_sort_unstable_by(by_score),
            }
            let (values, weights) = pairs.into_iter().unzip();
            return InOrder { values, weights };
        }
        let taken = scores.iter().zip(targets).filter(|(_, target)| self.takes(**target));
        let mut values: Vec<f64> = taken.map(|(score, _)| self.sign() * score).collect();
        match par {
            Par::Sequential => values.sort_unstable_by(f64::total_cmp),
            Par::Parallel => values.par_sort_unstable_by(f64::total_cmp),
        }
        InOrder { values, weights: Vec::new() }
    }

    /// How many of the other class pair with so many of the sorted one, or what they weigh.
    pub(super) fn marks(
        self,
        sorted: &Sorted,
        scores: &[f64],
        targets: &[f64],
        weights: &[u64],
        par: Par,
    ) -> Vec<u64> {
        let places = sorted.len() + 1;
        let look_up = |(scores, targets): (&[f64], &[f64])| {
            let mut marks = vec![0_u64; places];
            for (score, _) in scores.iter().zip(targets).filter(|(_, target)| !self.takes(**target)) {
                marks[sorted.pairs_with(self.sign() * score)] += 1;
            }
            marks
        };
        let length = scores.len().div_ceil(rayon::current_num_threads()).max(1);
        if !weights.is_empty() {
            let weigh = |((scores, targets), weights): ((&[f64], &[f64]), &[u64])| {
                let mut marks = vec![0_u64; places];
                for ((score, target), weight) in scores.iter().zip(targets).zip(weights) {
                    if !self.takes(*target) {
                        marks[sorted.pairs_with(self.sign() * score)] += weight;
                    }
                }
                marks
            };
            return match par {
                Par::Sequential => weigh(((scores, targets), weights)),
                Par::Parallel => {
                    let chunks = scores.par_chunks(length).zip(targets.par_chunks(length));
                    chunks.zip(weights.par_chunks(length)).map(weigh).reduce(|| vec![0; places], added)
                }
            };
        }
        match par {
            Par::Sequential => look_up((scores, targets)),
            Par::Parallel => {
                let chunks = scores.par_chunks(length).zip(targets.par_chunks(length));
                // Whole numbers, in any order and any number of parts.
                chunks.map(look_up).reduce(|| vec![0; places], added)
            }
        }
    }
}

/// Scores of one class in ascending order.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct InOrder {
    values: Vec<f64>,
    /// Whole weights of the same records, or nothing if each counts as one.
    weights: Vec<u64>,
}

/// Sums of marks.
pub(super) fn added(mut marks: Vec<u64>, more: Vec<u64>) -> Vec<u64> {
    marks.iter_mut().zip(more).for_each(|(mark, more)| *mark += more);
    marks
}

impl InOrder {
    /// Two ascending lists as one. A part without records has no weights, whatever the others have.
    pub(super) fn merged(self, other: Self) -> Self {
        let mut both = Self::default();
        let mut rest = other.entries().peekable();
        for (value, weight) in self.entries() {
            while let Some(before) = rest.next_if(|(other, _)| other.total_cmp(&value).is_lt()) {
                both.push(before);
            }
            both.push((value, weight));
        }
        rest.for_each(|entry| both.push(entry));
        both
    }

    fn entries(self) -> impl Iterator<Item = (f64, Option<u64>)> {
        let mut weights = self.weights.into_iter();
        self.values.into_iter().map(move |value| (value, weights.next()))
    }

    fn push(&mut self, (value, weight): (f64, Option<u64>)) {
        self.values.push(value);
        self.weights.extend(weight);
    }
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
        let one = if sorted.before.is_empty() { 1.0 } else { strata::unit() };
        let mut above = 0;
        let mut pairs = vec![0.0; sorted.len()];
        for rank in (0..pairs.len()).rev() {
            above += marks.get(rank + 1).unwrap_or(&0);
            pairs[rank] = above as f64 * one;
        }
        Self { sorting, sorted, pairs }
    }

    fn charges_of(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        match self.sorted.before.as_slice() {
            [] => self.charge(scores, targets, out, |first| first as f64),
            before => self.charge(scores, targets, out, |first| before[first] as f64 * strata::unit()),
        }
    }

    /// The charges, by what the first so many of the sorted class weigh.
    #[inline(always)]
    fn charge(&self, scores: &[f64], targets: &[f64], out: &mut [f64], weigh: impl Fn(usize) -> f64) {
        let sign = self.sorting.sign();
        for ((charge, score), target) in out.iter_mut().zip(scores).zip(targets) {
            *charge = if self.sorting.takes(*target) {
                sign * self.pairs[self.sorted.rank(sign * score)]
            } else {
                -sign * weigh(self.sorted.pairs_with(sign * score))
            };
        }
    }

    /// Σ (1 − s + t)₊ over pairs: a pair counted in both charges adds 1 − s through one and t through the other.
    pub(super) fn risk(&self, scores: &[f64], targets: &[f64]) -> f64 {
        let mut charges = vec![0.0; scores.len()];
        self.charges_of(scores, targets, &mut charges);
        let one = |((c, s), target): ((&f64, &f64), &f64)| if *target > 0.0 { c * (1.0 - s) } else { -c * s };
        charges.iter().zip(scores).zip(targets).map(one).sum()
    }
}

impl Charges for Counts {
    #[inline(always)]
    fn charges<R: Registers>(&self, _: R, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        self.charges_of(scores, targets, out);
    }
}

/// Scores of one class in ascending order, with a table that leads close to any place.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Sorted {
    /// −∞, the scores, and +∞ so often that a window from any score on is within.
    padded: Vec<f64>,
    /// What all before a place weigh in all; nothing if each counts as one.
    before: Vec<u64>,
    starts: Vec<u32>,
    low: f64,
    per_unit: f64,
}

impl Sorted {
    /// Ascending scores within a bound.
    pub(super) fn new(order: InOrder, bound: f64) -> Self {
        let InOrder { values, weights } = order;
        let buckets = values.len().clamp(1, MOST_BUCKETS);
        let per_unit = if bound > 0.0 { buckets as f64 / (2.0 * bound) } else { 0.0 };
        let mut before = Vec::new();
        if !weights.is_empty() {
            let mut sum = 0;
            before.push(0);
            before.extend(weights.iter().map(|weight| {
                sum += weight;
                sum
            }));
        }
        let mut sorted = Self { padded: Vec::new(), before, starts: Vec::new(), low: -bound, per_unit };
        let mut starts = vec![0; buckets + 1];
        for value in &values {
            starts[sorted.bucket(*value, buckets) + 1] += 1;
        }
        for b in 0..buckets {
            starts[b + 1] += starts[b];
        }
        sorted.starts = starts;
        sorted.padded = Vec::with_capacity(values.len() + 1 + WINDOW);
        sorted.padded.push(f64::NEG_INFINITY);
        sorted.padded.extend(values);
        sorted.padded.extend([f64::INFINITY; WINDOW]);
        sorted
    }

    fn len(&self) -> usize {
        self.padded.len() - 1 - WINDOW
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
    ///
    /// Counted without branches in a window from just before the bucket on; a processor that guesses where a search ends is
    /// wrong half of the time. Crowded buckets, and thresholds that rounding put into another bucket, are searched.
    #[inline(always)]
    fn place(&self, threshold: f64, below: impl Fn(f64) -> bool) -> usize {
        let bucket = self.bucket(threshold, self.starts.len() - 1);
        let start = self.starts[bucket] as usize;
        let window = &self.padded[start..start + WINDOW];
        let count: usize = window.iter().map(|value| usize::from(below(*value))).sum();
        // The first of the window is the value before the bucket.
        if (1..WINDOW).contains(&count) { start + count - 1 } else { self.searched(bucket, below) }
    }

    #[inline(never)]
    fn searched(&self, bucket: usize, below: impl Fn(f64) -> bool) -> usize {
        let values = &self.padded[1..];
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let place = start + values[start..end].partition_point(|value| below(*value));
        let holds = (place == 0 || below(values[place - 1])) && !below(values[place]);
        if holds { place } else { values.partition_point(|value| below(*value)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores that crowd in one bucket, lie exactly 1 apart, repeat, or are anywhere.
    fn score() -> impl Strategy<Value = f64> {
        prop_oneof![
            -3.0..3.0_f64,
            (0..40_u32).prop_map(|ulps| f64::from_bits(0.5_f64.to_bits() + u64::from(ulps))),
            (0..7_u32).prop_map(|k| f64::from(k) - 3.0),
            (0..7_u32).prop_map(|k| (f64::from(k) - 3.0).next_down()),
            Just(0.25),
        ]
    }

    proptest! {
        /// Whatever is crowded, equal or on an edge: a place is where a search through all scores ends.
        #[test]
        fn a_place_is_what_a_search_finds(
            mut values in proptest::collection::vec(score(), 0..300),
            others in proptest::collection::vec(score(), 1..40),
        ) {
            values.sort_unstable_by(f64::total_cmp);
            let sorted = Sorted::new(InOrder { values: values.clone(), weights: Vec::new() }, 3.0);
            for y in others {
                prop_assert_eq!(sorted.pairs_with(y), values.partition_point(|x| x - y < 1.0));
                prop_assert_eq!(sorted.rank(y), values.partition_point(|x| *x < y));
            }
        }
    }
}
