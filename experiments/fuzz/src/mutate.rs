//! Damage.

use pairdp_noise::{Replay, Source as _};

/// The longest input.
const LONGEST: usize = 1 << 20;

/// Pieces of text and bytes that parsers trip over.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\"\"",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b":",
    b"#",
    b"0",
    b"-",
    b".",
    b"e",
    b"nan",
    b"inf",
    b"1e999",
    b"99999999999999999999",
    b"-0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\0",
    b"[",
    b"]",
    b"{",
    b"}",
    b"[[column]]\n",
    b"=",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x08",
    b"PAR1",
    b"null",
    b"true",
    b"\\u0000",
];

pub(crate) struct Mutator {
    random: Replay,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Replay::from_seed(seed) }
    }

    /// A number below `limit`, or 0.
    fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u64;
        usize::try_from(self.random.next_word() % limit).unwrap_or(0)
    }

    /// One of the inputs with one to eight faults.
    pub(crate) fn damaged(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut input = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(8) {
            self.damage(&mut input, inputs);
        }
        input.truncate(LONGEST);
        input
    }

    fn damage(&mut self, input: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(input.len());
        let end = at + self.below((input.len() - at).min(64));
        match self.below(10) {
            0 if !input.is_empty() => input[at] ^= 1 << self.below(8),
            1 if !input.is_empty() => input[at] = self.random.next_word().to_le_bytes()[0],
            2 => drop(input.drain(at..end)),
            3 => input.truncate(at),
            4 => {
                let piece = PIECES[self.below(PIECES.len())];
                input.splice(at..at, piece.iter().copied());
            }
            5 => {
                let piece = PIECES[self.below(PIECES.len())];
                input.splice(at..end, piece.iter().copied());
            }
            6 => {
                // The same again, a few times or until the input is as long as can be.
                let piece = input[at..end].to_vec();
                let times = [2, 10, 1000, LONGEST][self.below(4)].min(LONGEST / (piece.len() + 1));
                input.splice(at..at, piece.repeat(times));
            }
            7 => {
                let other = &inputs[self.below(inputs.len())];
                let from = self.below(other.len());
                let to = from + self.below(other.len() - from);
                input.splice(at..end, other[from..to].iter().copied());
            }
            8 if end - at >= 2 => {
                // Numbers in files of bytes.
                let number = [0_u16, 1, 0x7fff, 0x8000, 0xffff][self.below(5)];
                input[at..at + 2].copy_from_slice(&number.to_le_bytes());
            }
            _ if !input.is_empty() => {
                let other = self.below(input.len());
                input.swap(at, other);
            }
            _ => {}
        }
    }
}
