//! What a Parquet file says of itself, checked before it is believed.

use super::column::{Column, Moments, Use, meaning};
use crate::cell_encoder::CellEncoder;
use crate::pages::{Window, check_pages, read_range};
use crate::source::open_file;
use crate::{DataError, thrift};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bounds on what a small file may claim to be: a record takes two bits at least, in any table worth learning from.
const RECORDS_A_BYTE: u64 = 4;
const RECORDS_ANYWAY: u64 = 1_000_000;
/// Groups of columns within groups: more would exhaust the stack of who reads them.
const MOST_GROUPS: usize = 500;

/// What a Parquet file says of itself.
pub(super) struct Footer {
    pub(super) path: PathBuf,
    length: u64,
    pub(super) metadata: ParquetMetaData,
}

impl Footer {
    pub(super) fn read(path: &Path) -> Result<Self, DataError> {
        let mut file = open_file(path)?;
        let io = |source| DataError::io(path, source);
        let damaged = || DataError::Damaged { path: path.to_owned() };
        let length = file.metadata().map_err(io)?.len();
        if length == 0 {
            return Err(DataError::Empty { path: path.to_owned() });
        }
        let tail = read_range(&mut file, length.checked_sub(8).ok_or_else(damaged)?, 8).map_err(io)?;
        let &[a, b, c, d, b'P', b'A', b'R', b'1'] = tail.as_slice() else { return Err(damaged()) };
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = (length - 8).checked_sub(size).ok_or_else(damaged)?;
        let text = read_range(&mut file, start, size).map_err(io)?;

        check_footer(&text).ok_or_else(damaged)?;
        let metadata = ParquetMetaDataReader::decode_metadata(&text).map_err(|_| damaged())?;
        Ok(Self { path: path.to_owned(), length, metadata })
    }

    pub(super) fn damaged(&self) -> DataError {
        DataError::Damaged { path: self.path.clone() }
    }

    pub(super) fn record_counts(&self) -> Option<Vec<usize>> {
        let groups = self.metadata.row_groups();
        let counts: Option<Vec<usize>> =
            groups.iter().map(|group| usize::try_from(group.num_rows()).ok()).collect();
        let counts = counts?;
        counts.iter().try_fold(0_usize, |sum, count| sum.checked_add(*count))?;
        Some(counts)
    }

    /// Where persons are protected, how many equal records one of them has must not decide about the whole table.
    pub(super) fn check_size(&self, counts: &[usize], rules: &CellEncoder<'_>) -> Result<(), DataError> {
        let records: usize = counts.iter().sum();
        let reasonable = self.length.saturating_mul(RECORDS_A_BYTE).saturating_add(RECORDS_ANYWAY);
        if rules.ids.is_none() && records as u64 > reasonable {
            return Err(DataError::TooLarge { path: self.path.clone() });
        }
        Ok(())
    }

    pub(super) fn names(&self) -> Vec<String> {
        let root = self.metadata.file_metadata().schema();
        root.get_fields().iter().map(|field| field.name().to_owned()).collect()
    }

    /// What is read, in the order of the rules.
    pub(super) fn columns<'a>(&self, rules: &'a CellEncoder<'a>) -> Result<Vec<Column<'a>>, DataError> {
        // Once for all: there may be a hundred thousand.
        let mut leaves: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, leaf) in self.metadata.file_metadata().schema_descr().columns().iter().enumerate() {
            if let Some(name) = leaf.path().parts().first() {
                leaves.entry(name).or_default().push(at);
            }
        }
        let of = |name: &str| leaves.get(name).map_or(&[][..], Vec::as_slice);
        let features = rules.encoding.columns().iter().zip(&rules.features);
        let features =
            features.map(|(column, rule)| self.column(&column.name, of(&column.name), Use::Feature(rule)));
        let label = rules.label.iter().map(|rule| {
            let name = &rule.label.column;
            self.column(name, of(name), Use::Label(rule))
        });
        let event = rules.times().into_iter().map(|times| {
            let name = &times.event;
            self.column(name, of(name), Use::Event(times))
        });
        let person = rules.ids.iter().map(|ids| {
            let name = &ids.person.column;
            self.column(name, of(name), Use::Person(ids))
        });
        features.chain(label).chain(event).chain(person).collect()
    }

    fn column<'a>(&self, name: &'a str, leaves: &[usize], usage: Use<'a>) -> Result<Column<'a>, DataError> {
        let (path, column) = (self.path.clone(), name.to_owned());
        let schema = self.metadata.file_metadata().schema_descr();
        let mut leaves = leaves.iter().map(|at| (*at, schema.column(*at)));
        let Some((leaf, descriptor)) = leaves.next() else {
            return Err(DataError::MissingColumn { path, column });
        };
        if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
            return Err(DataError::ColumnType { path, column });
        }
        if leaves.next().is_some() {
            return Err(DataError::DuplicateColumn { path, column });
        }
        let moments = Moments::of(&descriptor).filter(|moments| match usage {
            Use::Feature(rule) => rule.is_date(),
            // A cell to be kept is copied with its time, or not at all.
            Use::Person(ids) => ids.verbatim && *moments == Moments::Days,
            Use::Label(_) | Use::Event(_) => false,
        });
        let (unsigned, decimals) = match (moments, meaning(&descriptor)) {
            (Some(_), _) => (false, None),
            (None, Some(meaning)) => meaning,
            (None, None) => return Err(DataError::ColumnType { path, column }),
        };
        let nullable = descriptor.max_def_level() > 0;
        Ok(Column { name, usage, leaf, nullable, unsigned, decimals, moments })
    }

    /// The bytes of a column in a group, after a look at what its pages claim.
    pub(super) fn window(
        &self,
        file: &mut File,
        chunk: &ColumnChunkMetaData,
        column: &Column<'_>,
    ) -> Result<Window, DataError> {
        let offset = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let (Ok(start), Ok(length)) = (u64::try_from(offset), u64::try_from(chunk.compressed_size())) else {
            return Err(self.damaged());
        };
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.damaged());
        }
        let known = matches!(
            chunk.compression(),
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_)
        );
        let bytes = read_range(file, start, length).map_err(|source| DataError::io(&self.path, source))?;
        match check_pages(&bytes) {
            Some(true) if known => Ok(Window { start, bytes: bytes.into() }),
            Some(_) => {
                Err(DataError::ColumnEncoding { path: self.path.clone(), column: column.name.to_owned() })
            }
            None => Err(self.damaged()),
        }
    }
}

/// Refuses a footer that makes its reader allocate or recurse without end: groups of columns say how many children
/// they have, and may hold each other.
fn check_footer(footer: &[u8]) -> Option<()> {
    let mut groups = 0;
    let mut believable = |path: &[i16], value: i64| {
        if path != [2, 5] {
            return true;
        }
        groups += usize::from(value > 0);
        usize::try_from(value).is_ok_and(|children| children <= footer.len()) && groups <= MOST_GROUPS
    };
    thrift::walk(footer, &mut believable).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven bits a byte, the lowest first.
    fn length(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        bytes.push(value.to_le_bytes()[0]);
        bytes
    }

    /// The same with the sign in the lowest bit.
    fn integer(value: u64) -> Vec<u8> {
        length(2 * value)
    }

    /// A footer with groups that have so many children.
    fn footer(children: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc];
        bytes.extend(length(children.len() as u64));
        for count in children {
            bytes.extend([0x55].iter().chain(&integer(*count)).chain(&[0x00]));
        }
        bytes.push(0x00);
        bytes
    }

    #[test]
    fn groups_have_children_and_depth_within_reason() {
        assert!(check_footer(&footer(&[2, 1])).is_some());
        assert!(check_footer(&footer(&[2, 1 << 30])).is_none());
        assert!(check_footer(&footer(&[1; 400])).is_some());
        assert!(check_footer(&footer(&[1; 600])).is_none());
    }

    /// A dictionary page with these claims, and its bytes.
    fn page(unpacked: u64, packed: u64, entries: u64) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x04];
        for (header, value) in [(0x15, unpacked), (0x15, packed)] {
            bytes.push(header);
            bytes.extend(integer(value));
        }
        bytes.extend([0x4c, 0x15]);
        bytes.extend(integer(entries));
        bytes.extend([0x00, 0x00]);
        bytes.extend(vec![0; 100]);
        bytes
    }

    #[test]
    fn pages_unpack_within_reason() {
        assert_eq!(check_pages(&page(400, 100, 100)), Some(true));
        assert_eq!(check_pages(&[page(400, 100, 100), page(1 << 24, 100, 0)].concat()), Some(true));
        assert_eq!(check_pages(&page(400, 100, 101)), None);
        assert_eq!(check_pages(&page(1 << 25, 100, 0)), None);
        assert_eq!(check_pages(&page(400, 101, 0)), None);
    }
}
