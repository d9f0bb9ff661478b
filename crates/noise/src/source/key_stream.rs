//! A ChaCha20 key stream with fast key erasure.
//!
//! The stream is produced 4 KB at a time. The first 32 bytes of each batch become the key of the next one and the
//! key that made the batch is overwritten at once; words are overwritten as they are read. Whoever reads the
//! memory later learns what will be drawn, never what was drawn: noise already released stays hidden.
//!
//! # Reference
//! Bernstein, "Fast-key-erasure random-number generators" (2017); RFC 8439 for ChaCha20.

use chacha20::rand_core::SeedableRng;
use chacha20::rand_core::block::Generator;
use chacha20::variants::Legacy;
use chacha20::{ChaChaCore, R20};
use zeroize::{Zeroize, Zeroizing};

/// 64-bit words in a batch.
const WORDS: usize = 512;
/// Words of each batch that become the next key.
const KEY_WORDS: usize = 4;
/// 64-bit words that the cipher makes in one call (four blocks).
const CALL_WORDS: usize = 32;

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
        let mut cipher = ChaChaCore::<R20, Legacy>::from_seed(self.key);
        let mut blocks = [0_u32; 2 * CALL_WORDS];
        for batch in self.words.chunks_exact_mut(CALL_WORDS) {
            cipher.generate(&mut blocks);
            for (word, halves) in batch.iter_mut().zip(blocks.chunks_exact(2)) {
                *word = u64::from(halves[0]) | u64::from(halves[1]) << 32;
            }
        }
        blocks.zeroize();
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
