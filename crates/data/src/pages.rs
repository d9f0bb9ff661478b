//! The pages of a Parquet column, checked before they are decoded.

use crate::thrift;
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Bounds on what a small page may claim to be.
const UNPACKED_TIMES: i64 = 20;
const UNPACKED_ANYWAY: i64 = 1 << 24;

/// Whether the pages of a column are in encodings that are read; `None` if one claims what cannot be.
pub(crate) fn check_pages(mut bytes: &[u8]) -> Option<bool> {
    let mut known = true;
    while !bytes.is_empty() {
        let (mut unpacked, mut packed, mut entries) = (0, 0, 0);
        let mut note = |path: &[i16], value: i64| {
            match path {
                [2] => unpacked = value,
                [3] => packed = value,
                // Of a dictionary: its entries.
                [7, 1] => entries = value,
                // Of data pages of either version: the encoding. The two of texts by length make room for as many
                // lengths as they claim; bytes split by stream are taken to be as long as they claim.
                [5 | 8, 2 | 4] if path != [5, 4] && path != [8, 2] => known &= !matches!(value, 6 | 7 | 9),
                _ => {}
            }
            true
        };
        let header = thrift::walk(bytes, &mut note)?;
        let length = usize::try_from(packed).ok()?;
        let limit = packed.saturating_mul(UNPACKED_TIMES).saturating_add(UNPACKED_ANYWAY);
        // An entry takes four bytes at least, and more in memory.
        if unpacked > limit || entries > unpacked / 4 {
            return None;
        }
        bytes = bytes.get(header..)?.get(length..)?;
    }
    Some(known)
}

pub(crate) fn read_range(file: &mut File, start: u64, length: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

/// A part of the file, addressed as if the whole were there.
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) bytes: Bytes,
}

impl Window {
    fn from(&self, start: u64) -> ParquetResult<Bytes> {
        let outside = || ParquetError::EOF(String::new());
        let offset = start.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.filter(|offset| *offset <= self.bytes.len()).ok_or_else(outside)?;
        Ok(self.bytes.slice(offset..))
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Window {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(bytes::Buf::reader(self.from(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF(String::new()));
        }
        Ok(bytes.slice(..length))
    }
}

/// Pages in the order of the file, of which those that refer to a dictionary come after one. The decoder takes that for granted.
pub(crate) struct InOrder<R> {
    pages: R,
    dictionary: bool,
}

impl<R: PageReader> InOrder<R> {
    pub(crate) fn new(pages: R) -> Self {
        Self { pages, dictionary: false }
    }
}

impl<R: PageReader> Iterator for InOrder<R> {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: PageReader> PageReader for InOrder<R> {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        match &page {
            Some(Page::DictionaryPage { .. }) => self.dictionary = true,
            Some(Page::DataPage { encoding, .. } | Page::DataPageV2 { encoding, .. }) => {
                let refers = matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
                if refers && !self.dictionary {
                    return Err(ParquetError::General(
                        "a page refers to a dictionary that is not there".into(),
                    ));
                }
            }
            None => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pages(std::vec::IntoIter<Page>);

    impl Iterator for Pages {
        type Item = ParquetResult<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.0.next().map(Ok)
        }
    }

    impl PageReader for Pages {
        fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> ParquetResult<()> {
            Ok(())
        }
    }

    /// The decoder would panic.
    #[test]
    fn a_page_without_its_dictionary_is_refused() {
        let data = |encoding| Page::DataPage {
            buf: Bytes::from_static(b"\x01\x02\x01"),
            num_values: 1,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let dictionary = || Page::DictionaryPage {
            buf: Bytes::from_static(b"\0\0\0\0"),
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let read = |pages: Vec<Page>| {
            InOrder::new(Pages(pages.into_iter())).map(|page| page.is_ok()).collect::<Vec<_>>()
        };
        assert_eq!(read(vec![data(Encoding::RLE_DICTIONARY)]), [false]);
        assert_eq!(read(vec![data(Encoding::PLAIN), data(Encoding::PLAIN_DICTIONARY)]), [true, false]);
        assert_eq!(read(vec![dictionary(), data(Encoding::RLE_DICTIONARY)]), [true, true]);
    }
}
