//! Hinge: charges by counting, exactly.
//!
//! A pair of a positive p and a negative t counts when p − t < 1. The smaller class is sorted; each member of the larger one
//! finds by look-up how many of the smaller it forms pairs with, which is its charge, and marks that place. Adding up the
//! marks from the end gives the charges of the smaller class: every pair is decided once, by one comparison. Sorted lists and
//! marks of parts of a table merge.

use super::blocks::{self, Par};
use super::lanes::{self, Eight, LANES, Registers, Work};
use super::rows::Weigh;
use crate::strata;
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Buckets that lead to a place in the sorted class, at most.
const MOST_BUCKETS: usize = 1 << 20;
/// Sorted scores that are compared at once from a bucket's start on: two registers. A bucket holds two on the average.
const WINDOW: usize = 2 * LANES;
/// 2⁵²: numbers from here to its double are one apart.
const TWO_52: f64 = (1_u64 << 52) as f64;
/// Records whose places are found before their marks are made.
const TOGETHER: usize = 1024;

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

    #[inline(always)]
    fn takes(self, target: f64) -> bool {
        (target > 0.0) == self.positive
    }

    #[inline(always)]
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
        let keys = blocks::map(scores.len(), par, |range| {
            let taken = scores[range.clone()].iter().zip(&targets[range]);
            let taken = taken.filter(|(_, target)| self.takes(**target));
            taken.map(|(score, _)| in_order(self.sign() * score)).collect::<Vec<_>>()
        });
        let mut keys = keys.concat();
        match par {
            Par::Sequential => keys.sort_unstable(),
            Par::Parallel => keys.par_sort_unstable(),
        }
        InOrder { values: keys.into_iter().map(number_of).collect(), weights: Vec::new() }
    }

    /// How many of the other class pair with so many of the sorted one, or what they weigh; and the places of all records.
    pub(super) fn marks(
        self,
        sorted: &Sorted,
        scores: &[f64],
        targets: &[f64],
        weights: &[u64],
        room: Vec<u32>,
        par: Par,
    ) -> (Vec<u64>, Places) {
        let mut places = if room.len() == scores.len() { room } else { vec![0; scores.len()] };
        let length = match par {
            Par::Sequential => scores.len(),
            Par::Parallel => scores.len().div_ceil(rayon::current_num_threads()),
        };
        let length = length.max(1);
        let mark = |(chunk, places): (usize, &mut [u32])| {
            let range = chunk * length..chunk * length + places.len();
            let (scores, targets) = (&scores[range.clone()], &targets[range.clone()]);
            if weights.is_empty() {
                // Half as long, so that more of it is near. There are fewer than 2³² records.
                let mut marks = vec![0_u32; sorted.len() + 1];
                sorted.find(self, scores, targets, places, |_, place| marks[place] += 1);
                marks.into_iter().map(u64::from).collect()
            } else {
                let mut marks = vec![0; sorted.len() + 1];
                let weights = &weights[range];
                sorted.find(self, scores, targets, places, |at, place| marks[place] += weights[at]);
                marks
            }
        };
        let marks = match par {
            Par::Sequential => mark((0, &mut places)),
            // Whole numbers, in any order and any number of parts.
            Par::Parallel => places
                .par_chunks_mut(length)
                .enumerate()
                .map(mark)
                .reduce_with(added)
                .unwrap_or_else(|| vec![0; sorted.len() + 1]),
        };
        (marks, Places(places))
    }
}

/// The bits of a number as a whole number, in the order of [`f64::total_cmp`].
fn in_order(value: f64) -> i64 {
    flipped(value.to_bits().cast_signed())
}

fn number_of(key: i64) -> f64 {
    f64::from_bits(flipped(key).cast_unsigned())
}

/// Negative numbers have their other bits the other way round. Twice is nothing.
fn flipped(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Where each record belongs in the sorted class: its rank if it is in it, else how many of it the record pairs with.
#[derive(Default)]
pub(super) struct Places(Vec<u32>);

impl Places {
    /// The memory, for others.
    pub(super) fn into_room(self) -> Vec<u32> {
        self.0
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

    /// Whether places in a sorted class are what these charges are looked up with.
    pub(super) fn are_of(&self, sorting: Sorting, sorted: &Sorted) -> bool {
        self.sorting == sorting && self.sorted == *sorted
    }

    /// The places of records.
    pub(super) fn places(&self, scores: &[f64], targets: &[f64], par: Par) -> Places {
        self.sorting.marks(&self.sorted, scores, targets, &[], Vec::new(), par).1
    }

    /// The charges of records of these places.
    #[inline(always)]
    fn fill(&self, places: &[u32], targets: &[f64], out: &mut [f64]) {
        let sign = self.sorting.sign();
        if self.sorted.before.is_empty() {
            out.iter_mut().zip(places).for_each(|(charge, place)| *charge = -sign * f64::from(*place));
        } else {
            for (charge, place) in out.iter_mut().zip(places) {
                *charge = -sign * (self.sorted.before[*place as usize] as f64 * strata::unit());
            }
        }
        for ((charge, place), target) in out.iter_mut().zip(places).zip(targets) {
            if self.sorting.takes(*target) {
                *charge = sign * self.pairs[*place as usize];
            }
        }
    }

    /// The charges of all records.
    pub(super) fn charges(&self, places: &Places, targets: &[f64]) -> Vec<f64> {
        let mut charges = vec![0.0; targets.len()];
        self.fill(&places.0, targets, &mut charges);
        charges
    }

    /// Σ (1 − s + t)₊ over pairs: a pair counted in both charges adds 1 − s through one and t through the other.
    pub(super) fn risk(&self, places: &Places, scores: &[f64], targets: &[f64]) -> f64 {
        let charges = self.charges(places, targets);
        let one = |((c, s), target): ((&f64, &f64), &f64)| if *target > 0.0 { c * (1.0 - s) } else { -c * s };
        charges.iter().zip(scores).zip(targets).map(one).sum()
    }
}

/// Rows are weighted with their charges.
pub(super) struct Counted<'a> {
    pub(super) counts: &'a Counts,
    pub(super) places: &'a Places,
    pub(super) targets: &'a [f64],
}

impl Weigh for Counted<'_> {
    #[inline(always)]
    fn weigh<R: Registers>(&self, _: R, range: Range<usize>, out: &mut [f64]) {
        self.counts.fill(&self.places.0[range.clone()], &self.targets[range], out);
    }
}

/// Scores of one class in ascending order, with a table that leads close to any place.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
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
        let buckets = (values.len() / 2).clamp(1, MOST_BUCKETS);
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

    /// Finds the places of records, and calls `mark` for those of the other class.
    fn find(
        &self,
        sorting: Sorting,
        scores: &[f64],
        targets: &[f64],
        places: &mut [u32],
        mut mark: impl FnMut(usize, usize),
    ) {
        for (group, places) in places.chunks_mut(TOGETHER).enumerate() {
            let first = group * TOGETHER;
            let (scores, targets) = (&scores[first..], &targets[first..first + places.len()]);
            lanes::dispatch(Find { sorted: self, sorting, scores, targets, out: places });
            for (at, (place, target)) in places.iter().zip(targets).enumerate() {
                if !sorting.takes(*target) {
                    mark(first + at, *place as usize);
                }
            }
        }
    }

    /// How many x have x − y < gap, the same rounded difference that the definition compares: those that pair with y for a gap of 1,
    /// the first place of a score that is there for 0.
    ///
    /// Counted without branches in a window from just before the bucket on; a processor that guesses where a search ends is
    /// wrong half of the time. Crowded buckets, and thresholds that rounding put into another bucket, are searched.
    #[inline(always)]
    fn place<R: Registers>(&self, r: R, bucket: usize, y: f64, gap: f64) -> usize {
        let start = self.starts[bucket] as usize;
        let window: &[Eight] = self.padded[start..start + WINDOW].as_chunks().0;
        let (of_y, of_gap) = (r.all(y), r.all(gap));
        let count = r.count(r.load(window[0]), of_y, of_gap) + r.count(r.load(window[1]), of_y, of_gap);
        // The first of the window is the value before the bucket.
        if (1..WINDOW).contains(&count) { start + count - 1 } else { self.searched(bucket, y, gap) }
    }

    #[cold]
    #[inline(never)]
    fn searched(&self, bucket: usize, y: f64, gap: f64) -> usize {
        let below = |x: &f64| x - y < gap;
        let values = &self.padded[1..];
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let place = start + values[start..end].partition_point(below);
        let holds = (place == 0 || below(&values[place - 1])) && !below(&values[place]);
        if holds { place } else { values.partition_point(below) }
    }
}

/// Finds the places of some records.
struct Find<'a> {
    sorted: &'a Sorted,
    sorting: Sorting,
    scores: &'a [f64],
    targets: &'a [f64],
    out: &'a mut [u32],
}

impl Work for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, r: R) {
        let scores = self.scores[..self.out.len()].chunks(LANES).zip(self.targets.chunks(LANES));
        for (out, (scores, targets)) in self.out.chunks_mut(LANES).zip(scores) {
            let found = self.sorted.places_of_eight(r, self.sorting, (scores, targets));
            out.copy_from_slice(&found[..out.len()]);
        }
    }
}

impl Sorted {
    #[inline(always)]
    fn places_of_eight<R: Registers>(
        &self,
        r: R,
        sorting: Sorting,
        (scores, targets): (&[f64], &[f64]),
    ) -> [u32; LANES] {
        let (scores, targets) = match (scores.as_array(), targets.as_array()) {
            (Some(scores), Some(targets)) => (r.load(*scores), r.load(*targets)),
            _ => (r.partial(scores), r.partial(targets)),
        };
        let (in_class, in_other) = (r.all(0.0), r.all(1.0));
        let gap = if sorting.positive {
            r.if_positive(targets, in_class, in_other)
        } else {
            r.if_positive(targets, in_other, in_class)
        };
        let y = r.times(r.all(sorting.sign()), scores);
        let last = (self.starts.len() - 2) as f64;
        let at = r.times(r.less(r.add(y, gap), r.all(self.low)), r.all(self.per_unit));
        let bucket = r.floor(r.smaller(r.larger(at, r.all(0.0)), r.all(last)));
        // The last bits of a whole number next to 2⁵² are that number.
        let (buckets, y, gap) = (r.store(r.add(bucket, r.all(TWO_52))), r.store(y), r.store(gap));
        let mut places = [0; LANES];
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2³² records")]
        for k in 0..LANES {
            let bucket = (buckets[k].to_bits() & u64::from(u32::MAX)) as usize;
            places[k] = self.place(r, bucket, y[k], gap[k]) as u32;
        }
        places
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
            let sorting = Sorting { positive: true };
            for (target, gap) in [(1.0, 0.0), (-1.0, 1.0)] {
                let mut places = vec![0; others.len()];
                sorted.find(sorting, &others, &vec![target; others.len()], &mut places, |_, _| {});
                for (y, place) in others.iter().zip(places) {
                    prop_assert_eq!(place as usize, values.partition_point(|x| x - y < gap));
                }
            }
        }
    }
}
