//! Which schema a data set is read by.
//!
//! Whoever writes a schema chooses which cells are refused: a label column and its values, what a number is, whether a cell may be
//! empty. "Line 14: the label is none of its values" answers a question about record 14, exactly and for nothing. So the
//! schema belongs to the data set, like its number of records: the owner sets it, and a run with another one is refused
//! before a table is opened.

use crate::key::{from_hex, to_hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The digest of everything in a schema that the refusal of a table could depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SchemaDigest([u8; 32]);

impl SchemaDigest {
    /// Of a text that two schemas share only if they refuse the same tables; it is public, as schemas are.
    ///
    /// ```
    /// let digest = pairdp_ledger::SchemaDigest::of("{\"features\":3}");
    /// assert_eq!(digest.to_string().len(), 64);
    /// ```
    pub fn of(form: &str) -> Self {
        Self(Sha256::digest(form.as_bytes()).into())
    }
}

impl fmt::Display for SchemaDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl From<SchemaDigest> for String {
    fn from(digest: SchemaDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for SchemaDigest {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = from_hex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a digest has 64 hexadecimal digits")
    }
}
