//! The key that makes a history tamper-evident.

use crate::{LedgerError, draft};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zeroize::Zeroizing;

/// A keyed hash.
pub(crate) type Hash = [u8; 32];

/// 256 secret bits. Whoever has them can write history; whoever has not cannot change it unnoticed.
///
/// HMAC-SHA-256 and not something newer, so that a reviewer can recompute every hash with a standard library.
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    /// The key in the file beside a ledger: `clinic.ledger` has `clinic.ledger.key`.
    ///
    /// # Errors
    /// [`LedgerError`] when there is none, others can read it, or it is no key.
    pub fn beside(ledger: &Path) -> Result<Self, LedgerError> {
        let path = file_beside(ledger);
        let mut file = File::open(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => LedgerError::NoKey(path.clone()),
            _ => LedgerError::Io { path: path.clone(), source },
        })?;
        let io = |source| LedgerError::Io { path: path.clone(), source };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            if file.metadata().map_err(io)?.permissions().mode() & 0o077 != 0 {
                return Err(LedgerError::OpenKey(path));
            }
        }
        let mut text = Zeroizing::new(String::new());
        file.read_to_string(&mut text).map_err(io)?;
        Self::from_hex(&text, &path.display().to_string())
    }

    /// The key beside a ledger that is about to be made; a new one, readable by its owner alone, if there is none.
    ///
    /// # Errors
    /// As [`Key::beside`].
    pub fn beside_or_new(ledger: &Path) -> Result<Self, LedgerError> {
        let path = file_beside(ledger);
        if path.symlink_metadata().is_ok() {
            return Self::beside(ledger);
        }
        let io = |source| LedgerError::Io { path: path.clone(), source };
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut_slice())?;
        let text = Zeroizing::new(to_hex(bytes.as_slice()) + "\n");
        // Written elsewhere and then put there: whoever looks at the same moment, or after a kill, finds a whole key or none.
        // Temporary files are their owner's alone.
        let mut file = draft::new(draft::builder().suffix(".key"), draft::folder_of(&path)).map_err(io)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(io)?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Self(bytes)),
            // Someone else was faster, and theirs is the key.
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Self::beside(ledger),
            Err(error) => Err(io(error.error)),
        }
    }

    /// The key that a shell command prints: from a password manager or a key service.
    ///
    /// # Errors
    /// [`LedgerError::KeyCommand`] when the command fails, [`LedgerError::MalformedKey`] when it prints something else.
    pub fn from_command(command: &str) -> Result<Self, LedgerError> {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let output = Command::new(shell[0])
            .args([shell[1], command])
            .stdin(Stdio::inherit())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| LedgerError::KeyCommand(error.to_string()))?;
        let text = Zeroizing::new(output.stdout);
        if !output.status.success() {
            return Err(LedgerError::KeyCommand(output.status.to_string()));
        }
        let text = std::str::from_utf8(&text).unwrap_or_default();
        Self::from_hex(text, "the key command's output")
    }

    fn from_hex(text: &str, source: &str) -> Result<Self, LedgerError> {
        let malformed = || LedgerError::MalformedKey(source.to_owned());
        let bytes = Zeroizing::new(from_hex(text.trim()).ok_or_else(malformed)?);
        let key = <[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| malformed())?;
        Ok(Self(Zeroizing::new(key)))
    }

    /// The keyed hash of `parts`, for one purpose: hashes for different purposes have nothing to do with each other.
    ///
    /// Every part but the last has a fixed length, so no two lists of parts give the same bytes.
    pub(crate) fn hash(&self, purpose: &str, parts: &[&[u8]]) -> Hash {
        self.mac(purpose, parts).finalize().into_bytes().into()
    }

    /// Whether `hash` is [`Key::hash`] of the same, in a time that does not tell where they differ.
    pub(crate) fn agrees(&self, hash: &[u8], purpose: &str, parts: &[&[u8]]) -> bool {
        self.mac(purpose, parts).verify_slice(hash).is_ok()
    }

    fn mac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("a key of any length");
        mac.update(purpose.as_bytes());
        mac.update(b"\n");
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where the key of a ledger is kept unless a command gives it.
fn file_beside(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".key");
    PathBuf::from(name)
}

/// Bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| char::from(b"0123456789abcdef"[half as usize]))
        .collect()
}

/// Hexadecimal digits as bytes.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
