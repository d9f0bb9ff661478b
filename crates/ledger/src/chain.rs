//! Hashes that tie every entry to all entries before it.
//!
//! | what | HMAC-SHA-256 under the ledger's key of |
//! |---|---|
//! | start | `pairdp-ledger/start/1\n`, the ledger's 16-byte id |
//! | entry k | `pairdp-ledger/entry/1\n`, the hash before it, k as 8 bytes (big-endian), the body as stored |
//! | seal | `pairdp-ledger/seal/1\n`, id, number of entries as 8 bytes, the last hash |
//!
//! An entry cannot be changed, dropped or moved without the key, because its own hash and all later ones would have to be
//! made anew. The end could still be cut off; the seal counts the entries, so that needs an old seal, kept by someone
//! who saw the file then. Against that only a [`Head`] kept elsewhere helps.

use crate::key::{Hash, Key, from_hex, to_hex};
use std::fmt;
use std::str::FromStr;

const START: &str = "pairdp-ledger/start/1";
const ENTRY: &str = "pairdp-ledger/entry/1";
const SEAL: &str = "pairdp-ledger/seal/1";
const CHECK: &str = "pairdp-ledger/key-check/1";

/// How long a history is, and the hash of its last entry: enough to recognise it later. Printed as `12:9f3a…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of entries.
    pub count: u64,
    pub(crate) hash: Hash,
}

impl Head {
    /// The hash of the last entry, in hexadecimal digits.
    pub fn hash_hex(&self) -> String {
        to_hex(&self.hash)
    }

    /// Before the first entry of a ledger.
    pub(crate) fn start(key: &Key, id: &[u8]) -> Self {
        Self { count: 0, hash: key.hash(START, &[id]) }
    }

    /// After one more entry.
    pub(crate) fn after(self, key: &Key, body: &[u8]) -> Self {
        let count = self.count + 1;
        Self { count, hash: key.hash(ENTRY, &[&self.hash, &count.to_be_bytes(), body]) }
    }

    /// After one more entry, if `hash` is its hash.
    pub(crate) fn follow(self, key: &Key, body: &[u8], hash: &[u8]) -> Option<Self> {
        let count = self.count + 1;
        let agrees = key.agrees(hash, ENTRY, &[&self.hash, &count.to_be_bytes(), body]);
        Some(Self { count, hash: hash.try_into().ok()? }).filter(|_| agrees)
    }

    pub(crate) fn seal(self, key: &Key, id: &[u8]) -> Hash {
        key.hash(SEAL, &[id, &self.count.to_be_bytes(), &self.hash])
    }

    pub(crate) fn sealed(self, key: &Key, id: &[u8], seal: &[u8]) -> bool {
        key.agrees(seal, SEAL, &[id, &self.count.to_be_bytes(), &self.hash])
    }
}

/// Tells a wrong key from a changed file.
pub(crate) fn key_check(key: &Key, id: &[u8]) -> Hash {
    key.hash(CHECK, &[id])
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, to_hex(&self.hash))
    }
}

impl FromStr for Head {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (count, hash) = text.split_once(':')?;
            Some(Self { count: count.parse().ok()?, hash: from_hex(hash)?.try_into().ok()? })
        };
        parse().ok_or_else(|| "a head is printed as COUNT:HASH by `pairdp budget check`".to_owned())
    }
}
