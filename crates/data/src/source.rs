//! A file as a stream of bytes, unpacked if need be.

use crate::DataError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A packed file may be this many times its size when unpacked, and so many bytes in any case. Tables of text shrink
/// by 3 to 30 times; what shrinks by more is made to fill memory.
const UNPACKED_TIMES: u64 = 50;
const UNPACKED_ANYWAY: u64 = 1 << 24;

/// An open file.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) reader: Box<dyn Read + Send>,
    /// Bytes to come, where that is known.
    pub(crate) length: Option<u64>,
}

impl Source {
    /// Opens a plain file, or one that gzip packed.
    pub(crate) fn open(path: &Path, packed: bool) -> Result<Self, DataError> {
        Self::counted(path, packed, Arc::default())
    }

    /// The same; the counter has how many of the file's bytes were read.
    pub(crate) fn counted(path: &Path, packed: bool, counter: Arc<AtomicU64>) -> Result<Self, DataError> {
        let file = open_file(path)?;
        let length = file.metadata().map_err(|source| DataError::io(path, source))?.len();
        let file = Counted { file, counter };
        let path = path.to_owned();
        if packed {
            let limit = length.saturating_mul(UNPACKED_TIMES).saturating_add(UNPACKED_ANYWAY);
            let reader = Box::new(Limited { reader: MultiGzDecoder::new(file), left: limit });
            Ok(Self { path, reader, length: None })
        } else {
            Ok(Self { path, reader: Box::new(file), length: Some(length) })
        }
    }

    /// Why reading failed.
    pub(crate) fn failed(&self, error: io::Error) -> DataError {
        let path = self.path.clone();
        match error.kind() {
            io::ErrorKind::FileTooLarge => DataError::TooLarge { path },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                DataError::Damaged { path }
            }
            _ => DataError::io(&path, error),
        }
    }
}

/// Opens a file that is not a folder.
pub(crate) fn open_file(path: &Path) -> Result<File, DataError> {
    let file = File::open(path).map_err(|source| DataError::io(path, source))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(DataError::io(path, io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// A file whose bytes are counted as they are read.
struct Counted {
    file: File,
    counter: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.counter.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream that must not be longer than promised.
struct Limited<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(read)
    }
}
