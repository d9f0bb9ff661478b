//! The public order of records, from its seed.
//!
//! Words come from ChaCha20 (RFC 8439, counter and nonce starting at 0) with fast key erasure. The key is the seed, little-endian,
//! and 24 zero bytes. A batch is 64 blocks, that is 512 words of 64 bits; its first 4 are the key of the next batch, and the other
//! 508 are handed out in order.

use pairdp_certificate::{Order, Shuffle};

const BLOCKS: u32 = 64;
/// "expand 32-byte k".
const CONSTANT: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The words of a seed.
struct Words {
    key: [u32; 8],
    batch: Vec<u64>,
    next: usize,
}

impl Words {
    fn of(seed: u64) -> Self {
        let mut key = [0; 8];
        [key[0], key[1]] = halves(seed);
        Self { key, batch: Vec::new(), next: 0 }
    }

    fn word(&mut self) -> u64 {
        if self.next >= self.batch.len() {
            self.batch.clear();
            for counter in 0..BLOCKS {
                self.batch
                    .extend(block(&self.key, counter).chunks_exact(2).map(|pair| join(pair[0], pair[1])));
            }
            for (place, word) in self.key.chunks_exact_mut(2).zip(&self.batch) {
                place.copy_from_slice(&halves(*word));
            }
            self.next = 4;
        }
        self.next += 1;
        self.batch[self.next - 1]
    }

    /// A uniform index below n: the high half of word·n, drawn again if the low half is below 2⁶⁴ mod n.
    fn below(&mut self, n: u64) -> u64 {
        loop {
            let product = u128::from(self.word()) * u128::from(n);
            #[expect(clippy::cast_possible_truncation, reason = "the two halves of the product")]
            let (high, low) = ((product >> 64) as u64, product as u64);
            if low >= n || low >= n.wrapping_neg() % n {
                return high;
            }
        }
    }

    fn index(&mut self, n: usize) -> u32 {
        u32::try_from(self.below(n as u64)).unwrap_or(u32::MAX)
    }

    /// Shuffles from the last place to the first (Fisher and Yates).
    fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).map(|index| u32::try_from(index).unwrap_or(u32::MAX)).collect();
        for last in (1..n).rev() {
            let other = self.index(last + 1) as usize;
            order.swap(last, other);
        }
        order
    }
}

fn halves(word: u64) -> [u32; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the word")]
    [word as u32, (word >> 32) as u32]
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// One block of ChaCha20 with nonce 0.
fn block(key: &[u32; 8], counter: u32) -> [u32; 16] {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&CONSTANT);
    start[4..12].copy_from_slice(key);
    start[12] = counter;
    let mut state = start;
    for _ in 0..10 {
        for column in 0..4 {
            quarter_round(&mut state, [column, column + 4, column + 8, column + 12]);
        }
        for column in 0..4 {
            let turned = |row: usize| 4 * row + (column + row) % 4;
            quarter_round(&mut state, [turned(0), turned(1), turned(2), turned(3)]);
        }
    }
    for (word, first) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(first);
    }
    state
}

fn quarter_round(state: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (x, y, z, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[x] = state[x].wrapping_add(state[y]);
        state[z] = (state[z] ^ state[x]).rotate_left(turn);
    }
}

/// `count` indices below n ≥ 1.
pub(crate) fn indices(order: Order, n: usize, count: usize) -> Vec<u32> {
    let mut words = Words::of(order.seed);
    if order.shuffle == Shuffle::WithReplacement {
        return (0..count).map(|_| words.index(n)).collect();
    }
    let mut found = Vec::new();
    let mut pass = words.permutation(n);
    while found.len() < count {
        found.extend_from_slice(&pass[..pass.len().min(count - found.len())]);
        if order.shuffle == Shuffle::Reshuffled && found.len() < count {
            pass = words.permutation(n);
        }
    }
    found
}

/// `count` pairs of different indices below n ≥ 2. Passes over permutations are matchings, in which one of an odd number sits out.
pub(crate) fn pairs(order: Order, n: usize, count: usize) -> Vec<[u32; 2]> {
    let mut words = Words::of(order.seed);
    if order.shuffle == Shuffle::WithReplacement {
        let pair = |words: &mut Words| {
            let (first, other) = (words.index(n), words.index(n - 1));
            [first, other + u32::from(other >= first)]
        };
        return (0..count).map(|_| pair(&mut words)).collect();
    }
    let mut found = Vec::new();
    let mut pass = words.permutation(n);
    while found.len() < count {
        found.extend(pass.chunks_exact(2).map(|pair| [pair[0], pair[1]]).take(count - found.len()));
        if order.shuffle == Shuffle::Reshuffled && found.len() < count {
            pass = words.permutation(n);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_noise::{Replay, Source};
    use pairdp_release::PublicIndices as _;

    /// RFC 8439, appendix A.1, test vector 1: the second half of the first block (the first is the next key).
    #[test]
    fn words_are_those_of_the_standard() {
        let mut words = Words::of(0);
        let found: Vec<u8> = (0..4).flat_map(|_| words.word().to_le_bytes()).collect();
        let standard = [
            0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8, 0x4a, 0x37,
            0x6a, 0x43, 0xb8, 0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86,
        ];
        assert_eq!(found, standard);
    }

    #[test]
    fn orders_are_those_that_training_follows() {
        let seed = (1 << 60) + 7;
        let (mut words, mut replay) = (Words::of(seed), Replay::from_seed(seed));
        assert!((0..2000).all(|_| words.word() == replay.next_word()));
        for shuffle in [Shuffle::WithReplacement, Shuffle::FixedPermutation, Shuffle::Reshuffled] {
            let order = Order { shuffle, seed };
            for (n, count) in [(2, 1), (2, 9), (7, 20), (40, 41), (501, 2000)] {
                assert_eq!(indices(order, n, count), order.indices(n, count), "{shuffle:?} {n} {count}");
                let expected: Vec<[u32; 2]> = order.pairs(n, count).into_iter().map(Into::into).collect();
                assert_eq!(pairs(order, n, count), expected, "{shuffle:?} {n} {count}");
            }
        }
    }
}
