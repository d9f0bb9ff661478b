//! Files in the making, beside the place they are for.
//!
//! A draft is its owner's alone to read until it is put in place, and locked as long as its process lives: whoever makes the
//! next one in the folder removes those that nobody holds any more.

use super::folder_of;
use super::found::Found;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

const PREFIX: &str = ".pairdp-draft-";

/// A file that is not in its place yet. Dropping it removes it.
pub(super) struct Draft {
    place: PathBuf,
    file: NamedTempFile,
    last: Permissions,
    onto: Onto,
}

/// What was at a file's place when it was taken. Whoever was allowed to write where nothing was may not replace what another
/// command put there since: that may be a model.
#[derive(Clone, Copy)]
pub(super) enum Onto {
    Nothing,
    File,
}

impl Onto {
    pub(super) fn at(place: &Path) -> Self {
        if place.symlink_metadata().is_ok() { Self::File } else { Self::Nothing }
    }

    /// Moves a file to the place.
    fn put(self, file: TempPath, place: &Path) -> io::Result<()> {
        let moved = match self {
            Self::Nothing => file.persist_noclobber(place),
            Self::File => file.persist(place),
        };
        moved.map_err(|error| error.error)
    }
}

/// What the file will have once it is in its place.
struct Permissions {
    #[cfg(unix)]
    mode: u32,
    /// Of the file that is replaced.
    #[cfg(unix)]
    owner: Option<(u32, u32)>,
}

impl Draft {
    /// A file beside `place`, which holds a file or nothing.
    pub(super) fn for_place(place: &Path, onto: Onto, for_its_owner: bool) -> io::Result<Self> {
        let folder = folder_of(place);
        loop {
            let file = new_file(folder, PREFIX, "")?;
            let last = Permissions::for_place(place, file.as_file(), for_its_owner)?;
            // Someone who swept between these lines may have it; then there is nothing in it yet.
            let locked = file.as_file().try_lock();
            if !matches!(locked, Err(TryLockError::WouldBlock)) && file.path().exists() {
                return Ok(Self { place: place.to_owned(), file, last, onto });
            }
        }
    }

    /// The name that it will have.
    pub(super) fn name(&self) -> Option<&OsStr> {
        self.place.file_name()
    }

    /// Fills it and puts it in its place, whole or not at all.
    pub(super) fn put(mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.place()
    }

    /// Puts what was written in its place.
    pub(super) fn place(self) -> io::Result<()> {
        self.last.apply(self.file.as_file())?;
        self.file.as_file().sync_all()?;
        // The lock is held until it is in its place: before that it would be a leftover to whoever sweeps.
        let (_locked, file) = self.file.into_parts();
        self.onto.put(file, &self.place)?;
        sync_folder(&self.place)
    }

    /// Fills it and keeps it under another name, still its owner's alone and locked; it is there, whole, after a power cut.
    pub(super) fn keep(mut self, name: &OsStr, bytes: &[u8]) -> io::Result<Waiting> {
        self.file.write_all(bytes)?;
        self.file.as_file().sync_all()?;
        let kept = self.place.with_file_name(name);
        let file = self.file.persist(&kept).map_err(|error| error.error)?;
        sync_folder(&kept)?;
        Ok(Waiting { kept, place: self.place, file, last: self.last, onto: self.onto })
    }
}

impl io::Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A whole file that waits for its place. Dropping it leaves it where it is.
pub(super) struct Waiting {
    pub(super) kept: PathBuf,
    place: PathBuf,
    file: File,
    last: Permissions,
    onto: Onto,
}

impl Waiting {
    /// Puts it in its place.
    pub(super) fn put(&self) -> io::Result<()> {
        let moved = self.last.apply(&self.file).and_then(|()| {
            let mut kept = TempPath::try_from_path(&self.kept)?;
            kept.disable_cleanup(true);
            self.onto.put(kept, &self.place)
        });
        if moved.is_err() {
            restrict(&self.file)?;
        }
        moved.and_then(|()| sync_folder(&self.place))
    }
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Keeps bytes in the folder for temporary files, for their owner alone.
pub(super) fn elsewhere(bytes: &[u8]) -> io::Result<PathBuf> {
    let mut file = new_file(&std::env::temp_dir(), "pairdp-model-", ".json")?;
    restrict(file.as_file())?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.into_temp_path().keep().map_err(|error| error.error)
}

/// Removes what killed runs left, but for whole models: those were paid for. Half-made ledgers have names that begin alike.
pub(crate) fn sweep(place: &Path) {
    let Ok(entries) = std::fs::read_dir(folder_of(place)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        if !ours || path.is_symlink() || !path.is_file() {
            continue;
        }
        // A database's journal is its owner's.
        let owner = path.to_string_lossy().strip_suffix("-journal").map(PathBuf::from);
        let owner = owner.filter(|owner| owner.exists()).unwrap_or_else(|| path.clone());
        let Ok(file) = File::open(&owner) else { continue };
        let model = matches!(Found::at(&path), Ok(Found::Kind(super::Kind::Model)) | Err(_));
        if !model && file.try_lock().is_ok() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(unix)]
fn new_file(folder: &Path, prefix: &str, suffix: &str) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut builder = tempfile::Builder::new();
    // As any other new file, so that it can be seen what the user's umask leaves of rw-rw-rw-.
    builder.permissions(std::fs::Permissions::from_mode(0o666));
    builder.prefix(prefix).suffix(suffix).tempfile_in(folder)
}

#[cfg(not(unix))]
fn new_file(folder: &Path, prefix: &str, suffix: &str) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile_in(folder)
}

#[cfg(unix)]
fn restrict(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn restrict(_: &File) -> io::Result<()> {
    Ok(())
}

impl Permissions {
    /// Those of the file that is replaced, or of a new one; until then nobody else may read the draft.
    #[cfg(unix)]
    fn for_place(place: &Path, draft: &File, for_its_owner: bool) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let new = draft.metadata()?.mode() & 0o777;
        restrict(draft)?;
        Ok(match std::fs::metadata(place) {
            Ok(there) => Self { mode: there.mode() & 0o777, owner: Some((there.uid(), there.gid())) },
            Err(_) => Self { mode: if for_its_owner { 0o600 } else { new }, owner: None },
        })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    fn for_place(_: &Path, _: &File, _: bool) -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    fn apply(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
        let mut mode = self.mode;
        if let Some((user, group)) = self.owner {
            let now = file.metadata()?;
            if (now.uid(), now.gid()) != (user, group) && fchown(file, Some(user), Some(group)).is_err() {
                // What was for one group is not for another.
                mode &= 0o707;
            }
        }
        file.set_permissions(std::fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    fn apply(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, Onto, sweep};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Commands that begin in the same folder sweep it while others write.
    #[test]
    fn issue_22_4_a_file_is_nobodys_leftover_until_it_is_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let (place, done) = (folder.path().join("file"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        sweep(&place);
                    }
                });
            }
            let saved = (0..300).try_for_each(|_| Draft::for_place(&place, Onto::File, true)?.put(b"x"));
            done.store(true, Ordering::Relaxed);
            assert!(saved.is_ok(), "{saved:?}");
        });
    }
}
