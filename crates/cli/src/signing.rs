//! Files of keys and signatures.

use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Role, Taken};
use pairdp_data::{DataError, read_whole};
use pairdp_signature::{PublicKey, SecretKey, Signature};
use pairdp_units::Hint;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// No key and no signature is longer.
const LONGEST: u64 = 1 << 12;

/// Where the public half of a key lies.
pub(crate) fn public_beside(key: &Path) -> PathBuf {
    with_ending(key, ".pub")
}

/// Where the signature of a model lies unless told.
pub(crate) fn signature_beside(model: &Path) -> PathBuf {
    with_ending(model, ".signature")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Reads a signing key, which must be its owner's alone.
pub(crate) fn read_secret(path: &Path) -> Result<SecretKey, Failure> {
    let text = read(path, SecretKey::from_text)?;
    require_own(path)?;
    Ok(text)
}

/// Reads a public key.
pub(crate) fn read_public(path: &Path) -> Result<PublicKey, Failure> {
    read(path, PublicKey::from_text)
}

/// Reads a signature.
pub(crate) fn read_signature(path: &Path) -> Result<Signature, Failure> {
    read(path, Signature::from_json)
}

fn read<T, E: Hint>(path: &Path, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Failure> {
    let unread = |source| Failure::from(DataError::Io { path: path.to_owned(), source });
    let bytes = Zeroizing::new(read_whole(path, LONGEST, |_| true).map_err(unread)?);
    parse(std::str::from_utf8(&bytes).unwrap_or_default()).map_err(|error| Failure::about(path, &error))
}

#[cfg(unix)]
fn require_own(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_or(0, |there| there.permissions().mode());
    // Nothing for the group, and nothing for others.
    if mode.trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(Failure::coded(
        "signature",
        format!("{}: others may read or change this key", path.display()),
        "make it yours alone with chmod 600; if somebody may have read it, make another with `pairdp keygen`",
    ))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn require_own(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// A key, and a place for the signature of a model that is to be written.
pub(crate) struct Signing {
    key: SecretKey,
    place: Output,
}

impl Signing {
    pub(crate) fn prepare(key: &Path, model: &Path, force: Force, reads: &Taken) -> Result<Self, Failure> {
        let taken = reads.clone().and(key, Role::Key).and(model, Role::Model);
        let secret = read_secret(key)?;
        let place = Output::new(&signature_beside(model), Kind::Signature, force, &taken)?;
        Ok(Self { key: secret, place })
    }

    /// Signs, and returns where the signature is and the digits of the public key.
    pub(crate) fn sign(self, file: &[u8]) -> Result<(PathBuf, String), Failure> {
        let path = self.place.path().to_owned();
        self.place.write(self.key.sign(file).to_json().as_bytes())?;
        Ok((path, self.key.public().digits()))
    }
}
