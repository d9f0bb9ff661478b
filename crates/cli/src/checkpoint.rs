//! Checkpoints in a file.

use pairdp_learn::Store;
use std::io;
use std::path::{Path, PathBuf};

/// One file, replaced as a whole.
pub(crate) struct File {
    path: PathBuf,
}

impl File {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Forgets the checkpoint of a run that is done. One that cannot be removed does no harm: its mechanism has made all its
    /// releases, and a run that went on from it would write the same model's certificate.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store for File {
    fn load(&mut self) -> io::Result<Option<String>> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&mut self, text: &str) -> io::Result<()> {
        crate::files::replace(&self.path, text.as_bytes())
    }
}
