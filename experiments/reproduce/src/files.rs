//! Files of a run. A file of ours begins with a line that says so; any other is somebody's and stays what it is.

use anyhow::{Context as _, Result, bail};
use std::fs::{create_dir_all, read};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Makes the folder of a run and returns its file of cells, which nothing else shares from here on: cells are added to it, and
/// another name of the same file must not grow with it.
///
/// # Errors
/// When the folder cannot be made, or what lies there in the place of cells is something else.
pub fn open(folder: &Path) -> Result<PathBuf> {
    if folder.exists() && !folder.is_dir() {
        bail!("{}: this is a file; name a folder", folder.display());
    }
    create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let cells = folder.join("cells.jsonl");
    if let Some(bytes) = present(&cells)? {
        if !bytes.starts_with(b"{\"experiment\":") {
            bail!("{}: it is not a file of finished cells", cells.display());
        }
        put(&cells, &bytes)?;
    }
    Ok(cells)
}

/// Writes a file, in place of one with the same first line or of none.
///
/// # Errors
/// When it cannot be written, or what lies there is not ours.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let mark = text.split_inclusive('\n').next().unwrap_or_default();
    if present(path)?.is_some_and(|bytes| !bytes.starts_with(mark.as_bytes())) {
        bail!("{}: this file is not from an earlier run; move it", path.display());
    }
    put(path, text.as_bytes())
}

fn present(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path) {
        Ok(bytes) => Ok((!bytes.is_empty()).then_some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// A whole file or none, and never through a link.
fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let about = || path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder).with_context(about)?;
    draft.write_all(bytes).with_context(about)?;
    draft.persist(path).with_context(about)?;
    Ok(())
}
