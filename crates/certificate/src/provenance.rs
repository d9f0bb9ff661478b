//! Where a model comes from, as far as that is public.

use serde::{Deserialize, Serialize};

/// What the text begins with whose SHA-256 hash is [`Provenance::weights`].
const WEIGHTS: &[u8] = b"pairdp-weights/1\n";

/// Where a model comes from. Nothing here is derived from records but the weights, which were released, and no guarantee rests on it: a
/// date is what a clock said, and names are what somebody called things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// What trained it, with its version.
    pub software: String,
    /// The day in UTC on which the run began, before a record was read: `2026-02-28`.
    pub date: String,
    /// The name of the data set in the ledger that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_set: Option<String>,
    /// The entry of that ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// SHA-256 of the schema's form, in hexadecimal digits: what a ledger keeps of it. None where there was no schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// SHA-256 of the weights, in hexadecimal digits: so a certificate is of these weights and no others.
    pub weights: String,
}

impl Provenance {
    /// The bytes whose hash is that of the weights: a line that says so, then each weight of the score, and each released weight of where
    /// columns lie, as the eight bytes of IEEE 754, the least significant first.
    pub fn hashed(parameters: &[f64], places: &[f64]) -> Vec<u8> {
        let weights = parameters.iter().chain(places).flat_map(|weight| weight.to_le_bytes());
        WEIGHTS.iter().copied().chain(weights).collect()
    }

    /// Whether every entry has the form that it must have.
    ///
    /// # Errors
    /// Which has not.
    pub fn check(&self) -> Result<(), String> {
        let is_hash = |text: &str| {
            text.len() == 64
                && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        let wrong = |what: &str| Err(format!("the {what} is not written as it must be"));
        if !crate::encoding::is_date(&self.date) {
            return wrong("date");
        }
        if !is_hash(&self.weights) || !self.schema.as_deref().is_none_or(is_hash) {
            return wrong("digest");
        }
        let short = |text: &str| !text.is_empty() && text.len() <= 1024 && !text.contains('\n');
        if !short(&self.software)
            || ![&self.data_set, &self.run].into_iter().flatten().all(|text| short(text))
        {
            return wrong("name");
        }
        Ok(())
    }
}
