//! Which records a step takes, where that is public.
//!
//! Noise that is calibrated to the very path drawn needs no secret indices: they are a function of a public seed, which the
//! certificate names, and of nothing else. They must not depend on records, labels included. (Where privacy rests on
//! *secret* samples, as in `noisy-sgd`, indices come from the secure source instead and are never written anywhere.)

use pairdp_certificate::{Order, Shuffle};

use pairdp_noise::{Replay, Source};

/// The indices that a public order is.
pub trait PublicIndices {
    /// A permutation of 0 … n − 1: what one pass, or a division into parts, follows.
    fn permutation(self, n: usize) -> Vec<u32>;

    /// `count` indices below n.
    fn indices(self, n: usize, count: usize) -> Vec<u32>;

    /// `count` pairs of different records. Passes over permutations give matchings: no record is in two pairs of a pass, and
    /// one of an odd number sits out.
    fn pairs(self, n: usize, count: usize) -> Vec<(u32, u32)>;
}

impl PublicIndices for Order {
    fn permutation(self, n: usize) -> Vec<u32> {
        shuffled(&mut Replay::from_seed(self.seed), n)
    }

    fn indices(self, n: usize, count: usize) -> Vec<u32> {
        let mut source = Replay::from_seed(self.seed);
        if self.shuffle == Shuffle::WithReplacement {
            return (0..count).map(|_| index_below(&mut source, n)).collect();
        }
        let mut indices = Vec::with_capacity(count + n);
        let mut pass = shuffled(&mut source, n);
        while indices.len() < count {
            indices.extend_from_slice(&pass);
            if self.shuffle == Shuffle::Reshuffled {
                pass = shuffled(&mut source, n);
            }
        }
        indices.truncate(count);
        indices
    }

    fn pairs(self, n: usize, count: usize) -> Vec<(u32, u32)> {
        if self.shuffle == Shuffle::WithReplacement {
            let mut source = Replay::from_seed(self.seed);
            return (0..count)
                .map(|_| {
                    let (i, j) = distinct_pair(&mut source, n as u64);
                    (narrow(i), narrow(j))
                })
                .collect();
        }
        let half = n / 2;
        let passes = count.div_ceil(half);
        let indices = self.indices(n, passes * n);
        let pairs = indices.chunks_exact(n).flat_map(|pass| pass[..2 * half].chunks_exact(2));
        pairs.take(count).map(|pair| (pair[0], pair[1])).collect()
    }
}

/// A uniform permutation (Fisher and Yates).
fn shuffled(source: &mut Replay, n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).map(narrow).collect();
    for last in (1..n).rev() {
        order.swap(last, below(source, last as u64 + 1));
    }
    order
}

fn index_below(source: &mut Replay, n: usize) -> u32 {
    narrow(below(source, n as u64))
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A uniform ordered pair of distinct indices below `n`.
pub(crate) fn distinct_pair<S: Source>(source: &mut S, n: u64) -> (usize, usize) {
    let first = below(source, n);
    let other = below(source, n - 1);
    // Uniform over the indices that are not `first`.
    (first, if other < first { other } else { other + 1 })
}

/// A uniform index below `n`, exactly: products that fall into the incomplete last round are drawn again (Lemire 2019).
pub(crate) fn below<S: Source>(source: &mut S, n: u64) -> usize {
    let word = source.next_word();
    below_from(word, source, n)
}

/// The same from a word that was drawn before, with others.
fn below_from<S: Source>(mut word: u64, source: &mut S, n: u64) -> usize {
    loop {
        let product = u128::from(word) * u128::from(n);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
        let (high, low) = ((product >> 64) as u64, product as u64);
        // The threshold 2⁶⁴ mod n is below n: the division is rarely needed.
        if low >= n || low >= n.wrapping_neg() % n {
            return usize::try_from(high).unwrap_or(usize::MAX);
        }
        word = source.next_word();
    }
}

/// So many indices below `n`, or pairs of distinct ones, one after the other. Words are drawn all at once: each request asks the
/// operating system whether the process was forked.
pub(crate) fn samples<S: Source>(source: &mut S, pairs: bool, count: usize, n: u64) -> Vec<u32> {
    let mut words = vec![0; if pairs { 2 * count } else { count }];
    source.fill_words(&mut words);
    let position = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let mut positions = Vec::with_capacity(words.len());
    if pairs {
        for two in words.as_chunks::<2>().0 {
            let (first, other) = (below_from(two[0], source, n), below_from(two[1], source, n - 1));
            positions.extend([position(first), position(if other < first { other } else { other + 1 })]);
        }
    } else {
        positions.extend(words.iter().map(|word| position(below_from(*word, source, n))));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// χ² over the 12 ordered pairs of 4 indices: above 60 on 11 degrees of freedom once in 10⁸ runs.
    #[test]
    fn pairs_are_distinct_and_uniform() {
        let mut source = Replay::from_seed(5);
        let mut counts = [[0.0_f64; 4]; 4];
        let draws = 120_000;
        for _ in 0..draws {
            let (i, j) = distinct_pair(&mut source, 4);
            counts[i][j] += 1.0;
        }
        let expected = f64::from(draws) / 12.0;
        let mut statistic = 0.0;
        for (i, row) in counts.iter().enumerate() {
            for (j, count) in row.iter().enumerate() {
                if i == j {
                    assert!(*count < 0.5, "a record was paired with itself");
                } else {
                    statistic += (count - expected) * (count - expected) / expected;
                }
            }
        }
        assert!(statistic < 60.0, "{statistic}");
    }

    #[test]
    fn passes_are_permutations_and_matchings() {
        for shuffle in [Shuffle::FixedPermutation, Shuffle::Reshuffled] {
            let order = Order { shuffle, seed: 9 };
            for pass in order.indices(7, 21).chunks(7) {
                let mut sorted = pass.to_vec();
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6]);
            }
            for pass in order.pairs(7, 9).chunks(3) {
                let mut seen: Vec<u32> = pass.iter().flat_map(|&(i, j)| [i, j]).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), 6, "a record is in two pairs of one pass");
            }
        }
        let fixed = Order { shuffle: Shuffle::FixedPermutation, seed: 9 }.indices(50, 100);
        assert_eq!(fixed[..50], fixed[50..]);
        let fresh = Order { shuffle: Shuffle::Reshuffled, seed: 9 }.indices(50, 100);
        assert_ne!(fresh[..50], fresh[50..]);
    }
}
