//! How columns are spread, released first, and the public map of single rows that follows from it.
//!
//! Public ranges are honest and therefore wide: by themselves they put all rows close to one point, and noise decides. So the
//! first release of a run is the weights of public knots of every column (`pairdp_pairwise::knots`). Read as distribution
//! functions they tell where each column lies; every number becomes its rank and a few functions of it, centred, and rows are
//! scaled to the unit ball by what the same release says of their length. Given the release the map is a fixed function of a row
//! alone, so what is learned afterwards has the sensitivity that it has for any rows of the unit ball.
//!
//! A model keeps the released weights and nothing else of it: the map is computed from them wherever it is needed, so it cannot
//! be another one than they give.
//!
//! # Guarantee
//! `proofs/representation.md`.

mod map;
mod reading;
mod shapes;

pub(crate) use map::Map;

use pairdp_data::{ColumnEncoding, Encoding, Kind};
use pairdp_pairwise::knots::{Block, Layout};
use serde::{Deserialize, Serialize};

/// How weights are read; a meaning never changes under the same name.
pub(crate) const READING: &str = "ranks/1";

/// What was released of the columns, and how it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Representation {
    /// The version of the reading.
    pub reading: String,
    /// How many records the weights were summed over: their public number, or what was released of a secret one.
    pub records: f64,
    /// Standard deviation of the noise on each weight.
    pub noise: f64,
    /// The noisy weights, column by column.
    pub weights: Vec<f64>,
}

impl Representation {
    /// Whether it is one for such columns; files can hold anything.
    pub(crate) fn fits(&self, encoding: &Encoding) -> bool {
        self.reading == READING
            && self.weights.len() == layout(encoding).coordinates()
            && self.weights.iter().all(|weight| weight.is_finite())
            && self.records.is_finite()
            && self.records >= 1.0
            && self.noise.is_finite()
            && self.noise > 0.0
    }
}

/// The columns of an encoding as knots see them.
pub(crate) fn layout(encoding: &Encoding) -> Layout {
    let mut at = 0;
    let block = |column: &ColumnEncoding| {
        let start = at;
        at += column.width();
        match &column.kind {
            Kind::Range(_) if column.width() == 2 => Block::NumberOrMissing { at: start },
            Kind::Range(_) => Block::Number { at: start },
            Kind::Categories(_) => Block::Category { at: start, width: column.width() },
        }
    };
    Layout::new(encoding.columns().iter().map(block).collect())
}
