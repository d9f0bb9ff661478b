//! Whether a part is what it was.
//!
//! A keyed digest of the rows as they were read, and not of the file: it is about the very numbers that answers are computed from,
//! and a file that changes while it is read cannot slip between the two. The key is drawn for one run and the digest
//! stays with the driver, so that nobody can compare it with that of a table he guesses.

use crate::LearnError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use pairdp_data::{Owners, Table};
use pairdp_noise::{Secure, Source as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The key of one run.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct FingerprintKey([u64; 4]);

impl FingerprintKey {
    pub(crate) fn draw() -> Result<Self, LearnError> {
        let mut source = Secure::from_os()?;
        Ok(Self(std::array::from_fn(|_| source.next_word())))
    }

    fn digest(self, of: &[u8]) -> Hmac<Sha256> {
        let key: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut digest = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length");
        digest.update(of);
        digest
    }
}

fn shortened(digest: Hmac<Sha256>) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&digest.finalize().into_bytes()[..16]);
    short
}

/// What parts call a person, so that one with records in several of them is known as one: a keyed digest of the id, whole:
/// that somebody shares a name by chance is less likely than δ is rounded up by (`proofs/persons.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct PersonName([u8; 32]);

impl PersonName {
    pub(crate) fn of(id: &[u8], key: FingerprintKey) -> Self {
        let mut digest = key.digest(b"person");
        digest.update(id);
        Self(digest.finalize().into_bytes().into())
    }
}

/// A digest that two tables share only if they are the same, row by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Of the rows, and of whose each is.
    pub(crate) fn of(table: &Table, names: &[PersonName], key: FingerprintKey) -> Self {
        let mut digest = key.digest(b"rows");
        let owners = table.owners.as_ref().map_or(&[][..], Owners::of_row);
        owners.iter().for_each(|owner| digest.update(&owner.to_le_bytes()));
        names.iter().for_each(|name| digest.update(&name.0));
        for size in [table.rows, table.columns] {
            digest.update(&(size as u64).to_le_bytes());
        }
        let mut bytes = Vec::with_capacity(8 * PIECE);
        for numbers in [&table.features, &table.targets] {
            for piece in numbers.chunks(PIECE) {
                bytes.clear();
                bytes.extend(piece.iter().flat_map(|number| number.to_bits().to_le_bytes()));
                digest.update(&bytes);
            }
        }
        Self(shortened(digest))
    }
}

/// Numbers that are turned into bytes at a time.
const PIECE: usize = 1 << 12;
