//! What a guarantee rests on beside public facts and noise.

use crate::DocumentError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What nobody can recompute from a file: whether code that scored records kept to what is stated of it.
///
/// The claim of a certificate with a condition reads *if* [`Condition::RESTS_ON`], then (ε, δ). Names and hashes say which code that was, so
/// that whoever has it can read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// What kind of claim it is.
    pub class: Class,
    /// The condition in words: [`Condition::RESTS_ON`].
    pub rests_on: String,
    /// What scaled gradients down and added them up.
    pub adapter: Source,
    /// What scored a row.
    pub function: Source,
    /// Versions of the packages that it used, by name.
    pub packages: BTreeMap<String, String>,
}

/// What kind of claim a certificate makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It holds if the condition does.
    Conditional,
}

/// Code by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is called.
    pub name: String,
    /// SHA-256 of its text in hexadecimal digits, where there is a text.
    #[serde(deserialize_with = "Option::deserialize")]
    pub sha256: Option<String>,
}

impl Condition {
    /// What must have been so.
    pub const RESTS_ON: &str = "the score of a row, and its gradient as scaled down to the stated bound, depend on that row, its place and the parameters alone, and sums of gradients are within the stated error";

    /// Whether hashes are hashes, and texts no longer than anybody reads, on one line.
    ///
    /// # Errors
    /// [`DocumentError::Condition`].
    pub fn check(&self) -> Result<(), DocumentError> {
        let hash = |source: &Source| {
            source.sha256.as_ref().is_none_or(|hash| {
                hash.len() == 64
                    && hash.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
            })
        };
        let short = |text: &String| text.len() <= 1000 && !text.chars().any(char::is_control);
        let names = [&self.rests_on, &self.adapter.name, &self.function.name].into_iter().all(short);
        let packages = self.packages.len() <= 100
            && self.packages.iter().all(|(name, version)| short(name) && short(version));
        if names && packages && hash(&self.adapter) && hash(&self.function) {
            Ok(())
        } else {
            Err(DocumentError::Condition)
        }
    }
}
