//! What each record of a table counts.
//!
//! Where records are protected each counts as one. Where *persons* are, a person with m records counts as one in all: each record has
//! the weight ⌊2³²/m⌋/2³², so that a person's weights add up to at most 1, exactly. Rows of persons with equally many records
//! lie together, in a *stratum*: kernels add up whole numbers as they do for plain records, and multiply them by the whole weight once a
//! stratum. So a weight costs no rounding, and no bound on rounding depends on how many records there are, which is secret:
//! it is that of as many plain records as there are persons. `proofs/persons.md`.

use std::ops::Range;

/// Weights are whole multiples of 2^−this. Sums of the weights of 2³¹ persons fit into 64 bits.
pub(crate) const BITS: i32 = 32;
/// One, in such multiples.
pub(crate) const ONE: u64 = 1 << BITS;

/// 2^−[`BITS`].
pub(crate) fn unit() -> f64 {
    2.0_f64.powi(-BITS)
}

/// Rows of a table by what each counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strata {
    /// Where each ends, and the whole weight of its rows.
    ends: Vec<(usize, u64)>,
    /// How many records or persons sums are divided by.
    size: usize,
    weighed: bool,
}

impl Strata {
    /// So many rows that count as one each.
    pub fn plain(rows: usize) -> Self {
        Self { ends: vec![(rows, ONE)], size: rows, weighed: false }
    }

    /// Rows of persons, in the order of how many records their person has, which `records_of_owner` says of each row. Sums are
    /// divided by the public number of persons, or the public cap on it.
    ///
    /// # Panics
    /// Unless those numbers ascend from 1 on: a mistake of the caller, which could cost privacy.
    pub fn of_persons(records_of_owner: &[u32], size: usize) -> Self {
        assert!(records_of_owner.is_sorted() && records_of_owner.first() != Some(&0), "rows by stratum");
        let mut ends: Vec<(usize, u64)> = Vec::new();
        let mut end = 0;
        for same in records_of_owner.chunk_by(|a, b| a == b) {
            end += same.len();
            ends.push((end, weight(same[0])));
        }
        Self { ends, size, weighed: true }
    }

    /// How many records or persons sums are divided by.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether persons are what counts.
    pub fn is_weighed(&self) -> bool {
        self.weighed
    }

    /// Rows in all.
    pub(crate) fn rows(&self) -> usize {
        self.ends.last().map_or(0, |(end, _)| *end)
    }

    /// A range of rows in pieces of equal weight, none longer than `longest`.
    pub(crate) fn pieces(
        &self,
        range: Range<usize>,
        longest: usize,
    ) -> impl Iterator<Item = (Range<usize>, u64)> + '_ {
        let mut start = range.start;
        let mut stratum = self.ends.partition_point(|(end, _)| *end <= start);
        std::iter::from_fn(move || {
            let (stratum_end, weight) = *self.ends.get(stratum).filter(|_| start < range.end)?;
            let end = range.end.min(stratum_end).min(start.saturating_add(longest));
            stratum += usize::from(end == stratum_end);
            let piece = (start..end, weight);
            start = end;
            Some(piece)
        })
    }

    /// The whole weight of each row; none where every one counts as one.
    pub(crate) fn weights(&self) -> Vec<u64> {
        if !self.weighed {
            return Vec::new();
        }
        self.pieces(0..self.rows(), usize::MAX)
            .flat_map(|(rows, weight)| std::iter::repeat_n(weight, rows.len()))
            .collect()
    }

    /// These rows alone, of which sums are still divided by the same size.
    pub(crate) fn select(&self, positions: &[u32]) -> Self {
        if !self.weighed {
            return Self::plain(positions.len());
        }
        let at = |position: u32| self.ends.partition_point(|(end, _)| *end <= position as usize);
        let weights = positions.iter().map(|position| self.ends[at(*position)].1);
        let ends = (1..).zip(weights).collect();
        Self { ends, ..self.clone() }
    }
}

/// What a record of a person with so many counts.
fn weight(records: u32) -> u64 {
    ONE / u64::from(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_a_person_never_add_up_to_more_than_one() {
        for records in (1..1 << 20).chain([u32::MAX - 1, u32::MAX]) {
            let sum = weight(records) * u64::from(records);
            assert!(sum <= ONE && sum > ONE - u64::from(records), "{records}");
        }
    }

    #[test]
    fn pieces_are_of_one_weight_and_miss_nothing() {
        let strata = Strata::of_persons(&[1, 1, 1, 2, 2, 5, 5, 5, 5, 5], 5);
        let third = ONE / 5;
        let pieces: Vec<_> = strata.pieces(1..9, 2).collect();
        let expected = [(1..3, ONE), (3..5, ONE / 2), (5..7, third), (7..9, third)];
        assert_eq!(pieces, expected);
        assert_eq!(strata.pieces(4..4, 9).count() + strata.pieces(10..10, 9).count(), 0);
        assert_eq!(strata.weights().iter().sum::<u64>(), 4 * ONE + 5 * third);
        assert_eq!(strata.select(&[9, 0]).weights(), [third, ONE]);
        assert_eq!(Strata::plain(3).pieces(0..3, 2).collect::<Vec<_>>(), [(0..2, ONE), (2..3, ONE)]);
    }
}
