//! Models that a ledger paid for, from being whole to being in their place.
//!
//! A whole model is first kept beside its place under a name that says whose it is, `.pairdp-model-RUN-NAME`, readable by its
//! owner alone and locked as long as its process lives. Such files are nobody's leftovers: no run removes another's.

use super::draft::{Draft, Onto, Waiting};
use super::{Output, Way, folder_of};
use crate::failure::Failure;
use pairdp_ledger::LedgerError;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const PREFIX: &str = ".pairdp-model-";
/// Longer names do not fit behind the prefix and a run's name, in the 255 bytes that file systems give.
pub(super) const LONGEST_NAME: usize = 200;

/// A model that is kept and not yet in its place.
pub(crate) struct Paid<'a> {
    path: PathBuf,
    bytes: &'a [u8],
    way: PaidWay,
}

enum PaidWay {
    Beside(Waiting),
    /// For a pipe or a device; kept elsewhere until it took all of it.
    Through(File, Option<Waiting>),
    /// It could not be kept beside its place.
    Elsewhere(Option<Waiting>, io::Error),
}

impl Output {
    /// Keeps what a run was paid for, where a kill does not lose it: beside its place, or in the folder for temporary files.
    pub(crate) fn keep<'a>(self, run: &str, bytes: &'a [u8]) -> Paid<'a> {
        let Self { path, way } = self;
        // A link's own name says nothing about the place.
        let name = match &way {
            Way::Beside(draft) => draft.name(),
            Way::Through(_) => path.file_name(),
        };
        let name = name.unwrap_or(OsStr::new("model.json")).to_owned();
        let kept = kept_name(run, &name);
        let elsewhere = || {
            let place = std::env::temp_dir().join(&name);
            Draft::for_place(&place, Onto::at(&place), true).and_then(|draft| draft.keep(&kept, bytes)).ok()
        };
        let way = match way {
            Way::Beside(draft) => match draft.keep(&kept, bytes) {
                Ok(waiting) => PaidWay::Beside(waiting),
                Err(error) => PaidWay::Elsewhere(elsewhere(), error),
            },
            Way::Through(node) => PaidWay::Through(node, elsewhere()),
        };
        Paid { path, bytes, way }
    }
}

impl Paid<'_> {
    /// Why it is not put in its place: the run could not be recorded as done.
    pub(crate) fn unsettled(&self, error: &LedgerError) -> Failure {
        let kept = self.kept();
        Failure::Failed(format!(
            "the run could not be recorded as done: {error}; the model is paid for and {kept}; `pairdp budget recover` puts it in place"
        ))
    }

    /// Removes what was kept: it must not be seen.
    pub(crate) fn forget(self) {
        if let Some(waiting) = self.waiting() {
            let _ = std::fs::remove_file(&waiting.kept);
        }
    }

    fn waiting(&self) -> Option<&Waiting> {
        match &self.way {
            PaidWay::Beside(waiting) => Some(waiting),
            PaidWay::Through(_, waiting) | PaidWay::Elsewhere(waiting, _) => waiting.as_ref(),
        }
    }

    /// Where it is; if nowhere, it is printed.
    fn kept(&self) -> String {
        if let Some(waiting) = self.waiting() {
            return format!("was kept as {}", waiting.kept.display());
        }
        let _ = io::stdout().write_all(self.bytes);
        "went to standard output".to_owned()
    }

    /// Puts it in its place; if that fails, says where it is.
    pub(crate) fn put(mut self) -> Result<(), Failure> {
        let error = match &mut self.way {
            PaidWay::Beside(waiting) => waiting.put().err(),
            PaidWay::Elsewhere(_, error) => Some(io::Error::new(error.kind(), error.to_string())),
            PaidWay::Through(node, waiting) => {
                let written = node.write_all(self.bytes).and_then(|()| node.flush());
                if written.is_ok() {
                    // It was taken; the copy has done its part.
                    waiting.iter().for_each(|waiting| drop(std::fs::remove_file(&waiting.kept)));
                }
                written.err()
            }
        };
        let Some(error) = error else { return Ok(()) };
        let message = Failure::not_written(&self.path, &error);
        Err(Failure::Failed(format!("{message}; the model is paid for and {}", self.kept())))
    }
}

fn kept_name(run: &str, name: &OsStr) -> OsString {
    let mut kept = OsString::from(format!("{PREFIX}{run}-"));
    kept.push(name);
    kept
}

/// A kept model that was found.
pub(crate) struct Found {
    /// Where it is.
    pub(crate) kept: PathBuf,
    /// Whose it says it is.
    pub(crate) run: String,
    /// Where it should be.
    pub(crate) place: PathBuf,
    /// Held as long as this is looked at, so that nobody else puts it in its place; none if its own process still lives.
    pub(crate) locked: Option<File>,
}

/// Whether a file has the name of a kept model.
pub(crate) fn is_kept(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

/// The models that are kept in a folder, by name.
pub(crate) fn kept_in(folder: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let kept = entry?.path();
        let name = kept.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_prefix(PREFIX));
        let Some((run, name)) = name.and_then(|name| name.split_once('-')) else { continue };
        if name.is_empty() || kept.is_symlink() || !kept.is_file() {
            continue;
        }
        let Ok(file) = File::open(&kept) else { continue };
        let locked = file.try_lock().is_ok().then_some(file);
        found.push(Found { run: run.to_owned(), place: kept.with_file_name(name), locked, kept });
    }
    found.sort_by(|a, b| a.kept.cmp(&b.kept));
    Ok(found)
}

/// A model of a process that is gone, kept for this very place.
pub(crate) fn kept_for(path: &Path) -> Option<Found> {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = place.file_name()?;
    let kept = kept_in(folder_of(&place)).unwrap_or_default();
    kept.into_iter().find(|found| found.locked.is_some() && found.place.file_name() == Some(name))
}
