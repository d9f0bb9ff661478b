//! What came of a run, as far as a history keeps it.
//!
//! A run that is done and whose result nobody has is budget lost. So the entry that ends a run also says what to look for: the
//! digest of a model's file, which lies somewhere under a name of its own until it is in its place; or the numbers
//! themselves, where they are few. Both were released with the noise that the run paid for, and nothing else of a run is kept.

use crate::key::{from_hex, to_hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// A model, in a file.
    Model {
        /// Of its bytes.
        digest: ModelDigest,
    },
    /// Released numbers by name.
    Numbers {
        /// The numbers.
        numbers: BTreeMap<String, f64>,
    },
}

impl Outcome {
    /// A model, by the bytes of its file.
    pub fn model(file: &[u8]) -> Self {
        Self::Model { digest: ModelDigest::of(file) }
    }

    /// Numbers by name. What is not finite says nothing and could not be read back; it is left out.
    ///
    /// ```
    /// use pairdp_ledger::Outcome;
    /// let kept = Outcome::numbers([("auc".into(), 0.7), ("low".into(), f64::NAN)]);
    /// assert_eq!(kept, Outcome::numbers([("auc".into(), 0.7)]));
    /// ```
    pub fn numbers(numbers: impl IntoIterator<Item = (String, f64)>) -> Self {
        Self::Numbers { numbers: numbers.into_iter().filter(|(_, number)| number.is_finite()).collect() }
    }
}

/// The SHA-256 of a model's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelDigest([u8; 32]);

impl ModelDigest {
    /// Of a file's bytes.
    pub fn of(file: &[u8]) -> Self {
        Self(Sha256::digest(file).into())
    }
}

impl fmt::Display for ModelDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl From<ModelDigest> for String {
    fn from(digest: ModelDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for ModelDigest {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = from_hex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a digest has 64 hexadecimal digits")
    }
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub enum RunState {
    /// It reserved and has not ended: at work, or broken off.
    Open,
    /// It is done.
    Done {
        /// What came of it, if that was kept.
        outcome: Option<Outcome>,
        /// Whether its model was seen in its place.
        placed: bool,
    },
    /// It is not in this ledger, or was cancelled.
    Unknown,
}
