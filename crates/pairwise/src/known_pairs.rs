//! How scores order the pairs of which it is known who failed first, counted in whole numbers.

use pairdp_units::signed_time;

/// Sums over all such pairs of the product of what their records count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownPairs {
    /// Pairs in which the first to fail scores higher, less those in which it scores lower.
    pub(crate) balance: i128,
    /// All of them.
    pub(crate) pairs: i128,
}

impl KnownPairs {
    /// O(n log n). Whether two scores tie depends on the two alone: −0 is 0, and what is not a number has a place in the order, too.
    pub(crate) fn of(scores: &[f64], times: &[f64], weight: impl Fn(usize) -> u64) -> Self {
        let scores: Vec<f64> = scores.iter().map(|score| score + 0.0).collect();
        let mut ascending = scores.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        ascending.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let rank = |score: f64| ascending.partition_point(|other| other.total_cmp(&score).is_lt());
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_unstable_by(|a, b| signed_time::order(times[*a], times[*b]));
        // From the last to the first: what was seen before is what each is compared with, those of its own time excepted.
        let mut later = PrefixSums::new(ascending.len());
        let mut known = Self { balance: 0, pairs: 0 };
        let same_time = |a: &usize, b: &usize| signed_time::order(times[*a], times[*b]).is_eq();
        for group in order.chunk_by(same_time).rev() {
            for &i in group.iter().filter(|i| signed_time::is_event(times[**i])) {
                let own = i128::from(weight(i));
                let at = rank(scores[i]);
                let (below, up_to) = (later.before(at), later.before(at + 1));
                known.balance += own * (below - (later.total - up_to));
                known.pairs += own * later.total;
            }
            group.iter().for_each(|&i| later.add(rank(scores[i]), i128::from(weight(i))));
        }
        known
    }
}

/// Sums of the first so many of changing numbers, in O(log n) (Fenwick 1994).
struct PrefixSums {
    sums: Vec<i128>,
    total: i128,
}

impl PrefixSums {
    fn new(length: usize) -> Self {
        Self { sums: vec![0; length + 1], total: 0 }
    }

    fn add(&mut self, place: usize, value: i128) {
        self.total += value;
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at] += value;
            at += at & at.wrapping_neg();
        }
    }

    /// Of the numbers at places before this one.
    fn before(&self, place: usize) -> i128 {
        let (mut at, mut sum) = (place, 0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tables of up to three records with three times, both states and three scores, and odd scores, pair by pair.
    #[test]
    fn they_are_those_that_are_counted_pair_by_pair() {
        let records: Vec<(f64, f64)> = [1.0, 1.5, 2.0, -1.0, -1.5, -2.0]
            .into_iter()
            .flat_map(|time| [-1.0, 0.0, f64::NAN, -0.0].map(|score| (score, time)))
            .collect();
        let weights = [1, 2, 5];
        for code in 0..records.len().pow(3) {
            let of = |k: u32| records[code / records.len().pow(k) % records.len()];
            let table = [of(0), of(1), of(2)];
            let mut expected = KnownPairs { balance: 0, pairs: 0 };
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                if signed_time::is_before(table[i].1, table[j].1) {
                    let product = i128::from(weights[i] * weights[j]);
                    let order = (table[i].0 + 0.0).total_cmp(&(table[j].0 + 0.0)) as i128;
                    expected.balance += order * product;
                    expected.pairs += product;
                }
            }
            let (scores, times): (Vec<f64>, Vec<f64>) = table.into_iter().unzip();
            assert_eq!(KnownPairs::of(&scores, &times, |i| weights[i]), expected, "{table:?}");
        }
    }
}
