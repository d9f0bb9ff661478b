//! Files in the making, beside their place.
//!
//! A draft is locked as long as its process lives. Whoever finds one that nobody holds may remove it: it is what a kill left.

use std::fs::TryLockError;
use std::io;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// What the names of drafts begin with, in all of pairdp.
const PREFIX: &str = ".pairdp-draft-";

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in a folder, locked.
pub(crate) fn new(builder: &mut Builder<'_, '_>, folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let file = builder.tempfile_in(folder)?;
        // Someone who tidied up between these lines may have it; then there is nothing in it yet.
        let locked = file.as_file().try_lock();
        if !matches!(locked, Err(TryLockError::WouldBlock)) && file.path().exists() {
            return Ok(file);
        }
    }
}

/// How drafts are named.
pub(crate) fn builder<'a>() -> Builder<'a, 'a> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    builder
}
