//! A look at the skeleton of Parquet's own records, before a library believes what they say.
//!
//! Parquet describes itself in Thrift's compact encoding. Readers make room for as many items as a list claims to
//! have and for as many bytes as a page claims to unpack to, so a short damaged file could ask for all memory. This
//! walks over such a record without storing anything, refuses lists and texts that are longer than the file, and
//! hands every integer to a closure with the path of field numbers that leads to it.

/// Deeper than any honest record.
const DEEPEST: usize = 16;

/// Walks the struct at the start of `bytes`; returns its length, or `None` if it is not one or `visit` says no.
pub(crate) fn walk(bytes: &[u8], visit: &mut impl FnMut(&[i16], i64) -> bool) -> Option<usize> {
    let mut walker = Walker { bytes, at: 0, depth: 0, path: Vec::new(), visit };
    walker.structure()?;
    Some(walker.at)
}

struct Walker<'a, V> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// The field numbers of the structs that we are in.
    path: Vec<i16>,
    visit: &'a mut V,
}

impl<V: FnMut(&[i16], i64) -> bool> Walker<'_, V> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, length: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(length).ok()?).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn structure(&mut self) -> Option<()> {
        self.path.push(0);
        loop {
            let header = self.byte()?;
            if header == 0 {
                self.path.pop();
                return Some(());
            }
            let last = self.path.last().copied()?;
            let field = match header >> 4 {
                0 => i16::try_from(self.integer()?).ok()?,
                step => last.checked_add(i16::from(step))?,
            };
            *self.path.last_mut()? = field;
            // Truth is told by the type itself.
            if !matches!(header & 0x0f, 1 | 2) {
                self.value(header & 0x0f)?;
            }
        }
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let value = self.integer()?;
                (self.visit)(&self.path, value).then_some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let length = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
                self.items(length, &[header & 0x0f])
            }
            11 => match self.varint()? {
                0 => Some(()),
                length => {
                    let kinds = self.byte()?;
                    self.items(length, &[kinds >> 4, kinds & 0x0f])
                }
            },
            12 => self.structure(),
            13 => self.skip(16),
            _ => None,
        }?;
        self.depth -= 1;
        Some(())
    }

    fn items(&mut self, length: u64, kinds: &[u8]) -> Option<()> {
        // Every item takes a byte at least, so a list that claims more than there is comes to the end.
        (0..length).try_for_each(|_| kinds.iter().try_for_each(|kind| self.value(*kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 2: a list of two structs with field 5 = 3 and field 5 = −1; field 3: the number 300.
    const RECORD: [u8; 13] = [0x29, 0x2c, 0x55, 0x06, 0x00, 0x55, 0x01, 0x00, 0x16, 0xd8, 0x04, 0x00, 0xff];

    #[test]
    fn every_integer_comes_with_its_path() {
        let mut seen = Vec::new();
        let length = walk(&RECORD, &mut |path, value| {
            seen.push((path.to_vec(), value));
            true
        });
        assert_eq!(length, Some(12));
        assert_eq!(seen, [(vec![2, 5], 3), (vec![2, 5], -1), (vec![3], 300)]);
        assert_eq!(walk(&RECORD, &mut |_, value| value < 300), None);
    }

    #[test]
    fn claims_beyond_the_file_are_refused() {
        let accept = &mut |_: &[i16], _| true;
        for end in 0..12 {
            assert_eq!(walk(&RECORD[..end], accept), None, "{end}");
        }
        // A list of 2³¹ structs, a text of 2³¹ bytes, structs within structs without end, lists alike.
        assert_eq!(walk(&[0x49, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08, 0x00], accept), None);
        assert_eq!(walk(&[0x48, 0x80, 0x80, 0x80, 0x80, 0x08, 0x00], accept), None);
        assert_eq!(walk(&vec![0x1c; 100_000], accept), None);
        assert_eq!(walk(&vec![0x19; 100_000], accept), None);
    }
}
