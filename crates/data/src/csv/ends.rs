//! Where cells end in a text without quotes.

/// Bytes that are looked at together.
const CHUNK: usize = 64;

/// The places of delimiters and line ends, in order.
///
/// Why not look for the end of a cell while its number is read: the next cell could not be begun before this one is done. Here the
/// only thing that one cell waits for is a bit of the last; numbers are read side by side.
pub(super) struct Ends<'t> {
    text: &'t [u8],
    of: [u8; 2],
    /// Where the chunk starts that we are in, and a bit for each end of it that is still to come.
    start: usize,
    marks: u64,
}

impl<'t> Ends<'t> {
    #[inline]
    pub(super) fn new(text: &'t [u8], delimiter: u8) -> Self {
        let mut ends = Self { text, of: [delimiter, b'\n'], start: 0, marks: 0 };
        ends.marks = ends.marks_of_chunk();
        ends
    }

    /// Bit i is set if byte i of the chunk is an end. Beyond the text there is none.
    #[inline]
    fn marks_of_chunk(&self) -> u64 {
        let rest = &self.text[self.start..];
        if let Some(chunk) = rest.first_chunk::<CHUNK>() {
            return marks(chunk, self.of);
        }
        // Ends of cells are never 0.
        let mut last = [0; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        marks(&last, self.of)
    }
}

impl Iterator for Ends<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.marks == 0 {
            if self.text.len() - self.start <= CHUNK {
                return None;
            }
            self.start += CHUNK;
            self.marks = self.marks_of_chunk();
        }
        let end = self.start + self.marks.trailing_zeros() as usize;
        self.marks &= self.marks - 1;
        Some(end)
    }
}

/// A bit for each byte that is one of two.
#[inline]
fn marks(chunk: &[u8; CHUNK], of: [u8; 2]) -> u64 {
    let [one, other] = of.map(|byte| u64::from_le_bytes([byte; 8]));
    let (words, _) = chunk.as_chunks::<8>();
    words.iter().rev().fold(0, |marks, word| {
        let word = u64::from_le_bytes(*word);
        let ends = zero_bytes(word ^ one) | zero_bytes(word ^ other);
        // The highest bits of eight bytes, side by side.
        marks << 8 | (ends >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The highest bit of each byte that is 0.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_end_is_found(text in proptest::collection::vec(prop_oneof![Just(b','), Just(b'\n'), Just(b'-'), any::<u8>()], 0..300)) {
            let expected: Vec<usize> = (0..text.len()).filter(|at| matches!(text[*at], b',' | b'\n')).collect();
            prop_assert_eq!(Ends::new(&text, b',').collect::<Vec<_>>(), expected);
        }
    }
}
