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

mod curves;
pub(crate) mod map;
mod monotone;
mod reading;
mod shapes;
mod target;
mod times;

pub use map::Map;
pub use target::TargetMap;

use pairdp_certificate::Representation;
use pairdp_data::{ColumnEncoding, Encoding, Kind, Table};
use pairdp_pairwise::Strata;
use pairdp_pairwise::kernel::Par;
use pairdp_pairwise::kernel::parts::Mismatch;
use pairdp_pairwise::knots::{Block, KnotSums, Layout, Spacing, TIME_CELLS, count_weight};
use pairdp_units::directed::{larger, smaller};

/// How weights are read; a meaning never changes under the same name.
pub(crate) const READING: &str = "ranks/2";
/// The same from knots that are close together.
pub(crate) const READING_FINE: &str = "fine-ranks/1";
/// The same where distances of ranks are all that is wanted: no row is cut.
pub const READING_DISTANCES: &str = "distances/1";
/// The same where they are of times alone, and rows stay as ranges put them.
pub(crate) const READING_TIMES: &str = "times/1";

/// Whether it is one for such columns; files can hold anything.
pub fn fits(released: &Representation, encoding: &Encoding) -> bool {
    let spacing = spacing(released);
    let (known, columns) = match released.reading.as_str() {
        READING | READING_FINE | READING_DISTANCES => (true, layout(encoding, spacing).coordinates(false)),
        reading => (reading == READING_TIMES, 1),
    };
    let knots = spacing.knots();
    // With the number of records, with knots or times of the target, with both.
    let beyond = released.weights.len().checked_sub(columns);
    known
        && beyond.is_some_and(|beyond| {
            let of_columns = [0, 1, knots, knots + 1].contains(&beyond);
            if of_columns { maps_rows(released) } else { [TIME_CELLS, TIME_CELLS + 1].contains(&beyond) }
        })
        && released.weights.iter().all(|weight| weight.is_finite())
        && released.counted.is_finite()
        && released.counted >= 1.0
        && released.noise.is_finite()
        && released.noise > 0.0
}

/// How far apart the knots were.
pub(crate) fn spacing(released: &Representation) -> Spacing {
    if released.reading == READING_FINE { Spacing::Fine } else { Spacing::Coarse }
}

/// Whether rows are mapped by what was released.
pub fn maps_rows(released: &Representation) -> bool {
    released.reading != READING_TIMES
}

/// The map of rows that follows from what was released, if one does.
pub fn map(encoding: &Encoding, released: Option<&Representation>) -> Option<Map> {
    let of_rows = |released: &Representation| Map::new(&layout(encoding, spacing(released)), released);
    released.filter(|released| maps_rows(released)).map(of_rows)
}

/// The columns of an encoding as knots see them.
pub fn layout(encoding: &Encoding, spacing: Spacing) -> Layout {
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
    Layout::new(spacing, encoding.columns().iter().map(block).collect())
}

/// What the first release of a run is about: columns, if rows are mapped by it, and what is to be learned, if that is.
pub fn layout_for(encoding: &Encoding, spacing: Spacing, ranks: bool, target: Option<Block>) -> Layout {
    let columns = if ranks { layout(encoding, spacing).blocks().to_vec() } else { Vec::new() };
    Layout::new(spacing, columns.into_iter().chain(target).collect())
}

/// What follows from a release about a table of so many records, or, if their number is secret, of as many as was released.
pub fn read(layout: &Layout, released: Vec<f64>, noise: f64, records: usize) -> Representation {
    let (numbers, categories) = layout.counts();
    let known = records as f64;
    let counted =
        released.get(layout.columns() + 1).map_or(known, |sum| sum / count_weight(numbers, categories));
    let counted = smaller(larger(counted, 1.0), known);
    let reading = match (layout.maps_rows(), layout.spacing()) {
        (true, Spacing::Coarse) => READING,
        (true, Spacing::Fine) => READING_FINE,
        (false, _) => READING_TIMES,
    };
    Representation { reading: reading.into(), counted, noise, weights: released }
}

/// What a reading takes for noise where there is none.
pub(crate) const NO_NOISE: f64 = 1e-9;

/// A table's own weights, as they are: for models without privacy.
///
/// # Errors
/// [`Mismatch`] for rows that are not of these columns.
pub fn exact(layout: &Layout, table: &Table, strata: &Strata) -> Result<Representation, Mismatch> {
    let Table { features, columns, targets, .. } = table;
    let sums = KnotSums::new(layout, features, *columns, targets, strata, Par::Parallel);
    Ok(read(layout, sums.query(layout, false)?, NO_NOISE, strata.size()))
}

/// The share of positive records, or for numbers the place of their mean between the ends of their range, as released and moved
/// towards the middle by how much of it may be noise.
pub fn label_share(layout: &Layout, released: &Representation) -> f64 {
    /// Standard deviations of the noise that it is moved by.
    const CAREFUL: f64 = 1.5;
    let share = released.weights[layout.columns()] / released.counted;
    let least = larger(1.0 / released.counted, 1e-6);
    let share = smaller(larger(share, least), 1.0 - least);
    let (off, careful) = (share - 0.5, CAREFUL * released.noise / released.counted);
    0.5 + off.signum() * larger(off.abs() - careful, 0.0)
}
