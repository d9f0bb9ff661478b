//! Every public fact that a guarantee rests on.

use crate::{Algorithm, Condition, Neighbours, Problem, Provenance, Released, Stage};
use pairdp_units::Adjacency;
use serde::{Deserialize, Serialize};

/// The format written by this version; a meaning never changes under the same name.
///
/// Format 3 has an adjacency of its own for public labels, the public ranges from which tighter ones were found, and stages.
pub const FORMAT: &str = "pairdp-certificate/3";
/// The format of version 0.1, which is still read: a verifier says of which certificates it no longer holds.
pub const FORMER: &str = "pairdp-certificate/2";

/// What an independent reviewer needs to recompute (ε, δ), and nothing that was derived from records except
/// through the noise: no data hash, no class counts, no data range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this document.
    pub format: String,
    /// What is promised.
    pub claim: Claim,
    /// n, public under replace-one adjacency; under add-remove-one the public cap in its place. Where persons are protected, how
    /// many of them.
    pub records: usize,
    /// Length of a record's feature vector.
    pub features: usize,
    /// Length of a release.
    pub parameters: usize,
    /// What was minimised.
    pub problem: Problem,
    /// κB: the largest score of a record anywhere in the domain; absent if there is no bound.
    #[serde(deserialize_with = "Option::deserialize")]
    pub score_bound: Option<f64>,
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// The law of the noise, by its versioned name: a name that is not known is for a verifier to refuse.
    pub noise: String,
    /// The noise and the releases live on a lattice of step σ/2^bits.
    pub lattice_bits: u32,
    /// The part of δ that the sampler's distance from the ideal law may cost.
    pub sampler_delta: f64,
    /// What was released before, to find tighter ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Ranges>,
    /// The public ranges of numeric columns whose bins were counted, if tighter ones were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_ranges: Option<Vec<[f64; 2]>>,
    /// What was released beside training, in order: before it what a public map of single rows follows from, after it counts of scores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// What the guarantee rests on beside all this, where it is more than the noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Where the model comes from; none in certificates of before, and no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What was released.
    pub released: Released,
}

/// (ε, δ) and between whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The neighbouring relation.
    pub adjacency: String,
}

/// Counts of all columns' bins, released once before training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Number of columns.
    pub columns: usize,
    /// Bins of each.
    pub bins: usize,
    /// How far one record can move the counts.
    pub sensitivity: f64,
    /// The ratio of the release.
    pub ratio: f64,
    /// Fineness of the lattice.
    pub lattice_bits: u32,
    /// Scale of the noise.
    pub sigma: f64,
}

impl Certificate {
    /// Which tables are neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.problem.adjacency()
    }

    /// Whom the guarantee protects and from what, in words that follow "private for".
    pub fn protects(&self) -> String {
        let protects = self.adjacency().protects(self.records);
        if self.released.goes_by_places() && self.adjacency() == Adjacency::ReplaceOnePerson {
            return format!("{protects}, at the same place in the order of first appearance");
        }
        protects
    }

    /// Whether the number of records is secret, so that [`Certificate::records`] is a cap.
    pub fn is_secret_size(&self) -> bool {
        self.problem.neighbours != Neighbours::ReplaceOne
    }
}
