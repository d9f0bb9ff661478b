//! A file as a stream of bytes, unpacked if need be.

use crate::DataError;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What was unpacked may be this many times what was read for it, and so many bytes in any case. Tables of text shrink
/// by 3 to 30 times; what shrinks by more is made to fill memory, and is noticed before it has.
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
        Self::counted(path, packed, Growth::WithinReason, Arc::default())
    }

    /// The same; the counter has how many of the file's bytes were read.
    pub(crate) fn counted(
        path: &Path,
        packed: bool,
        growth: Growth,
        counter: Arc<AtomicU64>,
    ) -> Result<Self, DataError> {
        let file = open_file(path)?;
        let length = file.metadata().map_err(|source| DataError::io(path, source))?.len();
        let file = Counted { file, counter, read: 0 };
        let path = path.to_owned();
        if packed {
            let reader = Box::new(Unpacked { decoder: MultiGzDecoder::new(file), growth, bytes: 0 });
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
    read: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.counter.fetch_add(read as u64, Ordering::Relaxed);
        self.read += read as u64;
        Ok(read)
    }
}

/// How far text may grow when it is unpacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// So far that no table worth learning from is refused.
    WithinReason,
    /// As far as memory goes. Where persons are protected, how much a table grows tells how many equal records one of them has.
    Unbounded,
}

/// What gzip packed.
struct Unpacked {
    decoder: MultiGzDecoder<Counted>,
    growth: Growth,
    bytes: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.bytes += read as u64;
        let most = self.decoder.get_ref().read.saturating_mul(UNPACKED_TIMES).saturating_add(UNPACKED_ANYWAY);
        let too_large = self.growth == Growth::WithinReason && self.bytes > most;
        if too_large { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(read) }
    }
}

/// How long to wait for somebody to write to a pipe.
const PATIENCE: Duration = Duration::from_secs(10);

/// The bytes of a file that is no table: `most` of them and one more, if there are as many. One whose first byte is not
/// wanted is not read on, as a device would never end; and a pipe that nobody writes to is not waited for.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::TimedOut`] for a silent pipe.
pub fn read_whole(path: &Path, most: u64, wanted: fn(u8) -> bool) -> io::Result<Vec<u8>> {
    if !is_pipe(path) {
        return read_bytes(path, most, wanted);
    }
    // Opening waits for a writer, and cannot be called off: whoever waits does so elsewhere, and ends with the process.
    let (send, receive) = std::sync::mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || send.send(read_bytes(&path, most, wanted)));
    receive.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let why = format!("nothing came out of this pipe for {} seconds", PATIENCE.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    })
}

fn read_bytes(path: &Path, most: u64, wanted: fn(u8) -> bool) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(1).read_to_end(&mut bytes)?;
    if bytes.first().is_some_and(|first| wanted(*first)) {
        file.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    /// A packed table of valid rows that would unpack to four thousand times its size is put aside after a few megabytes.
    #[test]
    fn issue_22_9_what_unpacks_beyond_reason_is_noticed_early() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv.gz");
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        let rows = "1,2,3,0\n".repeat(1 << 17);
        (0..1 << 7).for_each(|_| packed.write_all(rows.as_bytes()).unwrap());
        std::fs::write(&path, packed.finish().unwrap()).unwrap();
        let mut source = Source::open(&path, true).unwrap();
        let (mut buffer, mut unpacked) = (vec![0; 1 << 16], 0);
        let error = loop {
            match source.reader.read(&mut buffer) {
                Ok(0) => panic!("it was read to its end"),
                Ok(read) => unpacked += read as u64,
                Err(error) => break error,
            }
        };
        assert!(matches!(source.failed(error), DataError::TooLarge { .. }));
        assert!(unpacked < 2 * UNPACKED_ANYWAY, "{unpacked}");
    }
}
