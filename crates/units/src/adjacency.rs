//! Which two tables count as neighbours.
//!
//! In pairwise learning one record touches n−1 pairs, and replacing a record changes them twice as much as
//! removing it, so a sensitivity without its adjacency is meaningless. Adjacency is therefore a type.

use serde::{Deserialize, Serialize};

mod sealed {
    pub trait Sealed {}
}

/// A neighbouring relation. Sealed: a new one needs new proofs.
pub trait Adjacency: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The name stored in certificates; never reused for another meaning.
    const ID: &'static str;
}

/// Tables of the same public size that differ in one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplaceOne;

/// Tables of which one has a record more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AddRemoveOne;

impl sealed::Sealed for ReplaceOne {}
impl sealed::Sealed for AddRemoveOne {}

impl Adjacency for ReplaceOne {
    const ID: &'static str = "replace-one";
}
impl Adjacency for AddRemoveOne {
    const ID: &'static str = "add-remove-one";
}
