//! A ChaCha20 key stream with fast key erasure.
//!
//! The stream is produced 4 KB at a time. The first 32 bytes of each batch become the key of the next one and the
//! key that made the batch is overwritten at once; words are overwritten as they are read. Whoever reads the
//! memory later learns what will be drawn, never what was drawn: noise already released stays hidden.
//!
//! # Reference
//! Bernstein, "Fast-key-erasure random-number generators" (2017); RFC 8439 for ChaCha20.

use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use zeroize::{Zeroize, Zeroizing};

/// 64-bit words in a batch.
const WORDS: usize = 512;
/// Words of each batch that become the next key.
const KEY_WORDS: usize = 4;

/// The generator behind every source. Not `Clone`: two copies would draw the same noise.
pub(crate) struct KeyStream {
    key: [u8; 32],
    words: Box<[u64; WORDS]>,
    /// The next word to hand out; `WORDS` when a new batch is due.
    next: usize,
}

impl KeyStream {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self { key: *key, words: Box::new([0; WORDS]), next: WORDS }
    }

    /// Forgets what is left of the stream and starts the one of `key`.
    pub(crate) fn restart(&mut self, key: &[u8; 32]) {
        self.words.zeroize();
        self.key = *key;
        self.next = WORDS;
    }

    /// The next word, which no one will see again.
    #[inline]
    pub(crate) fn word(&mut self) -> u64 {
        if self.next >= WORDS {
            self.refill();
        }
        // `refill` leaves `next` inside the batch; the mask only tells the compiler.
        let word = std::mem::take(&mut self.words[self.next % WORDS]);
        self.next += 1;
        word
    }

    /// Words that come next: at least one, to be marked as used by [`KeyStream::skip`].
    #[inline]
    pub(crate) fn peek(&mut self) -> &[u64] {
        if self.next >= WORDS {
            self.refill();
        }
        &self.words[self.next..]
    }

    /// Erases the next `used` words, which [`KeyStream::peek`] has shown.
    #[inline]
    pub(crate) fn skip(&mut self, used: usize) {
        let end = self.next + used;
        self.words[self.next..end].fill(0);
        self.next = end;
    }

    /// A key for a stream of its own, drawn from this one.
    pub(crate) fn fresh_key(&mut self) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 8 * KEY_WORDS]);
        for bytes in key.chunks_exact_mut(8) {
            bytes.copy_from_slice(&self.word().to_le_bytes());
        }
        key
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        // All blocks in one call, as many side by side as registers hold, into the words themselves: no copy is left to erase.
        let bytes = bytemuck::cast_slice_mut(&mut self.words[..]);
        ChaCha20Legacy::new(&self.key.into(), &[0; 8].into()).write_keystream(bytes);
        self.words.iter_mut().for_each(|word| *word = u64::from_le(*word));
        self.next = 0;
        self.key = *self.fresh_key();
    }
}

impl Drop for KeyStream {
    fn drop(&mut self) {
        self.key.zeroize();
        self.words.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439 §2.3 with key zero, counter zero, nonce zero (its appendix A.1, test vector 1).
    #[test]
    fn the_first_block_is_chacha20() {
        let mut stream = KeyStream::new(&[0; 32]);
        let skipped: [u8; 32] = [
            0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28,
            0xbd, 0xd2, 0x19, 0xb8, 0xa0, 0x8d, 0xed, 0x1a, 0xa8, 0x36, 0xef, 0xcc, 0x8b, 0x77, 0x0d, 0xc7,
        ];
        let handed_out: [u8; 32] = [
            0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8, 0x4a, 0x37,
            0x6a, 0x43, 0xb8, 0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86,
        ];
        for bytes in handed_out.chunks_exact(8) {
            assert_eq!(stream.word().to_le_bytes(), bytes);
        }
        assert_eq!(stream.key, skipped, "the next key is the part that is never handed out");
    }

    /// RFC 8439 §2.3, word by word: a block of ChaCha20 with nonce zero.
    fn block_by_hand(key: &[u8; 32], counter: u32) -> [u32; 16] {
        let word = |at: usize| u32::from_le_bytes(key[4 * at..4 * at + 4].try_into().unwrap());
        let mut start =
            [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        (0..8).for_each(|at| start[4 + at] = word(at));
        start[12] = counter;
        let mut state = start;
        for _ in 0..10 {
            for round in 0..8 {
                let turn = round / 4;
                let [a, b, c, d] = [0, 1, 2, 3].map(|row| 4 * row + (round + row * turn) % 4);
                for (into, from, target, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    state[into] = state[into].wrapping_add(state[from]);
                    state[target] = (state[target] ^ state[into]).rotate_left(bits);
                }
            }
        }
        std::array::from_fn(|at| state[at].wrapping_add(start[at]))
    }

    /// Blocks are made side by side, in as many registers as the processor has; each must be the one of its own number.
    #[test]
    fn every_block_of_a_batch_is_chacha20() {
        let mut key = *b"0123456789abcdefghijklmnopqrstuv";
        let mut stream = KeyStream::new(&key);
        for _ in 0..3 {
            let blocks = (0..).take(8 * WORDS / 64).flat_map(|counter| block_by_hand(&key, counter));
            let bytes: Vec<u8> = blocks.flat_map(u32::to_le_bytes).collect();
            let expected: Vec<u64> =
                bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
            let found: Vec<u64> = (KEY_WORDS..WORDS).map(|_| stream.word()).collect();
            assert_eq!(found, expected[KEY_WORDS..]);
            key = bytes[..32].try_into().unwrap();
        }
    }

    #[test]
    fn words_and_keys_are_erased_once_used() {
        let mut stream = KeyStream::new(&[7; 32]);
        let first = stream.word();
        assert_ne!(stream.key, [7; 32]);
        assert!(stream.words[..=KEY_WORDS].iter().all(|w| *w == 0));
        assert!(!stream.words.contains(&first));
        let shown = stream.peek().to_vec();
        stream.skip(100);
        assert!(stream.words[..=KEY_WORDS + 100].iter().all(|w| *w == 0));
        assert_eq!(stream.word(), shown[100]);
        for _ in 102..=WORDS {
            stream.word();
        }
        assert_eq!(stream.next, 2 * KEY_WORDS + 1, "a second batch has begun");
    }
}
