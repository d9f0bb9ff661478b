//! Checkpoints in a file.

use crate::failure::Failure;
use crate::output::{Kept, Kind, Taken};
use pairdp_release::Store;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// One file, replaced as a whole, and used by one run at a time: two that went on from it would make its next releases twice.
pub(crate) struct File {
    kept: Kept,
    lock: PathBuf,
    _locked: std::fs::File,
}

impl File {
    /// Takes the checkpoint for this process. The lock ends with the process, however it ends.
    pub(crate) fn lock(path: &Path, taken: &Taken) -> Result<Self, Failure> {
        let kept = Kept::new(path, Kind::Checkpoint, taken)?;
        // Whatever links lead to a checkpoint, it has one lock.
        let mut lock = kept.place().as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        taken.refuse(&lock)?;
        // Ours is an empty file; anything else was there for another reason.
        let foreign = lock.symlink_metadata().is_ok_and(|there| !there.is_file() || there.len() > 0);
        if foreign {
            return Err(Failure::coded(
                "checkpoint",
                format!(
                    "{}: there is a file already, and it is not the lock of a checkpoint",
                    lock.display()
                ),
                "name another checkpoint",
            ));
        }
        loop {
            let file = open_lock(&lock).map_err(|error| Failure::write(&lock, &error))?;
            match file.try_lock() {
                // Whoever had it before may have removed it in between; then it locks nothing.
                Ok(()) if is_at(&file, &lock) => return Ok(Self { kept, lock, _locked: file }),
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => {
                    return Err(Failure::coded(
                        "checkpoint",
                        format!("{}: another run uses this checkpoint", path.display()),
                        "wait for it, or name another checkpoint",
                    ));
                }
                Err(std::fs::TryLockError::Error(error)) => return Err(Failure::write(&lock, &error)),
            }
        }
    }

    /// Forgets the checkpoint, and says whether it is gone.
    pub(crate) fn forget(&self) -> bool {
        let _ = std::fs::remove_file(self.kept.place());
        !self.kept.place().exists()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // As long as there is something to go on from, two runs must find one and the same lock.
        if !self.kept.place().exists() {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

/// Whether this open file is the one that the path leads to.
#[cfg(unix)]
fn is_at(file: &std::fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), path.metadata()), (Ok(open), Ok(there)) if same(&open, &there))
}

#[cfg(not(unix))]
fn is_at(_: &std::fs::File, _: &Path) -> bool {
    true
}

fn open_lock(path: &Path) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

impl Store for File {
    fn load(&mut self) -> io::Result<Option<String>> {
        match std::fs::read_to_string(self.kept.place()) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&mut self, text: &str) -> io::Result<()> {
        self.kept.save(text.as_bytes())
    }

    fn remove(&mut self) -> io::Result<()> {
        std::fs::remove_file(self.kept.place())
    }
}
