//! The map: a row by its ranks.

use super::curves::{Curves, FUNCTIONS, QUANTILES};
use super::reading::read;
use super::{NO_NOISE, READING_DISTANCES, Representation};
use pairdp_data::{Encoding, Kind, Table};
use pairdp_pairwise::clip_row;
use pairdp_pairwise::knots::{Block, CATEGORY_WEIGHT, Layout, Spacing};
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;
use zeroize::Zeroize as _;

/// Columns of a result beyond which numbers keep their rank alone.
const MOST_COLUMNS: usize = 600;
/// A category's deviation from its share is multiplied by this: as a rank's, √3·(2F − 1).
pub(crate) const CATEGORY_SCALE: f64 = 1.732_050_807_568_877_2;
/// Rows are cut to this share of the length that they have in the root mean square.
const KEPT_LENGTH: f64 = 0.7;
/// The same where no noise is scaled to it: nearly all rows stay as they are.
const WHOLE_LENGTH: f64 = 3.0;

/// How many functions a number becomes, from public facts: the columns of the table.
fn functions(layout: &Layout) -> usize {
    if columns(layout, FUNCTIONS) <= MOST_COLUMNS { FUNCTIONS } else { 1 }
}

fn columns(layout: &Layout, functions: usize) -> usize {
    let width = |block: &Block| match block {
        Block::Number { .. } => functions,
        Block::NumberOrMissing { .. } => functions + 1,
        Block::Category { width, .. } => *width,
        Block::Target | Block::Times => 0,
    };
    layout.blocks().iter().map(width).sum()
}

/// A public map of single rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    columns: Vec<Column>,
    width: usize,
    /// What a row is divided by, and then cut to 1.
    length: f64,
}

/// One column's part of it.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    Number {
        at: usize,
        curves: Curves,
        /// The share of empty cells, if they have a place.
        missing: Option<f64>,
    },
    Category {
        at: usize,
        shares: Vec<f64>,
    },
}

impl Map {
    /// Columns of the rows that it makes of such columns.
    pub fn width_of(layout: &Layout) -> usize {
        columns(layout, functions(layout))
    }

    /// The map that follows from what was released.
    pub fn new(layout: &Layout, released: &Representation) -> Self {
        let (n, noise) = (released.counted, released.noise);
        let share = |weight: f64, of: f64| smaller(larger(weight / of / n, 0.0), 1.0);
        let mut rest = released.weights.as_slice();
        let mut weights = Vec::with_capacity(layout.blocks().len());
        for block in layout.blocks() {
            let (own, after) = rest.split_at(block.coordinates(layout.spacing()));
            weights.push(own);
            rest = after;
        }
        // The share of empty cells that have a place; a column is read from the records that have a number, one at least.
        let absent = |own: &[f64]| own.get(layout.spacing().knots()).map(|weight| share(*weight, 1.0));
        let present = |own: &[f64]| larger(n * (1.0 - absent(own).unwrap_or(0.0)), 1.0);
        // Targets are read apart: a row's map does not depend on whether they have knots.
        let is_number = |block: &Block| matches!(block, Block::Number { .. } | Block::NumberOrMissing { .. });
        let of_numbers = layout.blocks().iter().zip(&weights).filter(|(block, _)| is_number(block));
        let of_numbers: Vec<(&[f64], f64)> = of_numbers.map(|(_, own)| (*own, present(own))).collect();
        let width = functions(layout);
        let mut curves = read(layout.spacing(), &of_numbers, noise)
            .par_iter()
            .zip(&of_numbers)
            .map(|(reading, (_, present))| Curves::new(reading, width, noise / present))
            .collect::<Vec<_>>()
            .into_iter();
        let (mut columns, mut energy) = (Vec::new(), 0.0);
        for (block, own) in layout.blocks().iter().zip(weights) {
            match *block {
                Block::Number { at } | Block::NumberOrMissing { at } => {
                    // There is one for each.
                    let Some(curves) = curves.next() else { break };
                    let missing = absent(own);
                    energy += missing.map_or(curves.spread, |p| (1.0 - p) * curves.spread + of_share(p));
                    columns.push(Column::Number { at, curves, missing });
                }
                Block::Category { at, .. } => {
                    let shares: Vec<f64> = own.iter().map(|weight| share(*weight, CATEGORY_WEIGHT)).collect();
                    energy += shares.iter().copied().map(of_share).sum::<f64>();
                    columns.push(Column::Category { at, shares });
                }
                Block::Target | Block::Times => {}
            }
        }
        // If nothing seems to vary, rows are as long as they are.
        let kept = if noise > NO_NOISE { KEPT_LENGTH } else { WHOLE_LENGTH };
        let length = match released.reading.as_str() {
            READING_DISTANCES => longest(&columns),
            _ if energy > 1e-6 => kept * energy.sqrt(),
            _ => 1.0,
        };
        Self { columns, width: Self::width_of(layout), length }
    }

    /// A name for each column of the rows that it makes.
    pub(crate) fn names(encoding: &Encoding) -> Vec<String> {
        const NAMES: [&str; FUNCTIONS] = ["rank", "rank²", "rank³", "upper tail", "lower tail"];
        let functions = functions(&super::layout(encoding, Spacing::default()));
        let mut of_entries = encoding.feature_names().into_iter();
        let mut names = Vec::new();
        for column in encoding.columns() {
            let mut own = of_entries.by_ref().take(column.width());
            if matches!(column.kind, Kind::Range(_)) {
                names.extend(NAMES[..functions].iter().map(|function| format!("{} {function}", column.name)));
                own.next();
            }
            names.extend(own);
        }
        names
    }

    /// Puts the images of its rows, of length at most `bound`, in place of a table's.
    pub fn apply_to(&self, table: &mut Table, bound: f64) {
        const TOGETHER: usize = 512;
        let (from, to) = (table.columns.max(1), self.width.max(1));
        let rows = table.features.len() / from;
        // With room for the constant that some ways to learn append: there is no third matrix.
        let mut mapped = vec![0.0; rows * (to + 1)];
        mapped.truncate(rows * to);
        let pieces = mapped.par_chunks_mut(TOGETHER * to).zip(table.features.par_chunks(TOGETHER * from));
        pieces.for_each_init(Vec::new, |image, (mapped, rows)| {
            for (mapped, row) in mapped.chunks_exact_mut(to).zip(rows.chunks_exact(from)) {
                image.clear();
                self.apply(row, bound, image);
                mapped.copy_from_slice(image);
            }
        });
        // Records are wiped when they are dropped; what they were made from is, too.
        std::mem::replace(&mut table.features, mapped).zeroize();
        table.columns = self.width;
    }

    /// Appends the image of an encoded row, of length at most `bound`.
    pub(crate) fn apply(&self, row: &[f64], bound: f64, out: &mut Vec<f64>) {
        let start = out.len();
        self.columns.iter().for_each(|column| column.apply(&row[column.start()..], out));
        let scale = bound / self.length;
        let image = &mut out[start..];
        image.iter_mut().for_each(|value| *value *= scale);
        clip_row(image, bound);
    }

    /// Where a column's part starts in a mapped row, and the functions of its number, if it has one.
    pub(crate) fn curves(&self, index: usize) -> (usize, Option<&Curves>) {
        let start = self.columns[..index].iter().map(Column::width).sum();
        match &self.columns[index] {
            Column::Number { curves, .. } => (start, Some(curves)),
            Column::Category { .. } => (start, None),
        }
    }

    /// About how far the score of weights varies, if columns were independent of each other.
    pub(crate) fn deviation(&self, weights: &[f64], bound: f64) -> f64 {
        let (mut rest, mut variance) = (weights, 0.0);
        for column in &self.columns {
            let (own, after) = rest.split_at(column.width());
            rest = after;
            let (own, shares) = match column {
                Column::Number { curves, missing, .. } => {
                    let (of_curves, of_missing) = own.split_at(curves.width);
                    variance += curves.variance(of_curves) * (1.0 - missing.unwrap_or(0.0));
                    (of_missing, missing.as_slice())
                }
                Column::Category { shares, .. } => (own, shares.as_slice()),
            };
            let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
                own.iter().zip(shares).map(|(weight, share)| share * of(*weight)).sum()
            };
            let spread = mean(&|weight| weight * weight) - mean(&|weight| weight).powi(2);
            variance += CATEGORY_SCALE * CATEGORY_SCALE * larger(spread, 0.0);
        }
        larger(variance, 0.0).sqrt() * bound / self.length
    }

    /// Where a column of numbers lies, as it was read: places within ±1 below which shares of the records lie.
    pub(crate) fn quantiles(&self, index: usize) -> Option<[f64; QUANTILES.len()]> {
        match &self.columns[index] {
            Column::Number { curves, .. } => Some(curves.quantiles),
            Column::Category { .. } => None,
        }
    }

    /// One column's part of the image of a row that is not too long.
    pub(crate) fn column(&self, index: usize, entries: &[f64], bound: f64) -> Vec<f64> {
        let mut image = Vec::new();
        self.columns[index].apply(entries, &mut image);
        let scale = bound / self.length;
        image.iter_mut().for_each(|value| *value *= scale);
        image
    }
}

impl Column {
    /// Entries of a mapped row that it takes.
    fn width(&self) -> usize {
        match self {
            Self::Number { curves, missing, .. } => curves.width + missing.iter().len(),
            Self::Category { shares, .. } => shares.len(),
        }
    }

    /// Where its entries start in an encoded row.
    fn start(&self) -> usize {
        match self {
            Self::Number { at, .. } | Self::Category { at, .. } => *at,
        }
    }

    /// Appends what its entries become.
    fn apply(&self, entries: &[f64], out: &mut Vec<f64>) {
        match self {
            Self::Number { curves, missing, .. } => {
                let absent = missing.is_some() && entries[1] > 0.0;
                if absent {
                    out.extend(std::iter::repeat_n(0.0, curves.width));
                } else {
                    curves.look_up(entries[0], out);
                }
                if let Some(share) = missing {
                    out.push(CATEGORY_SCALE * (f64::from(u8::from(absent)) - share));
                }
            }
            Self::Category { shares, .. } => {
                let entries = entries[..shares.len()].iter().zip(shares);
                out.extend(entries.map(|(entry, share)| CATEGORY_SCALE * (entry - share)));
            }
        }
    }
}

/// No row is longer: of a number's functions the longest point of the grid counts, between which they are linear, and √3 times a 1 in
/// one place, or in none, less shares that are at most 1 each is no longer than √3 times the root of their number.
fn longest(columns: &[Column]) -> f64 {
    let square = |point: &[f64]| point.iter().map(|value| value * value).sum::<f64>();
    let most = |column: &Column| match column {
        Column::Number { curves, missing, .. } => {
            let points = curves.values.chunks_exact(curves.width).map(square);
            points.fold(0.0, larger) + 3.0 * missing.iter().len() as f64
        }
        Column::Category { shares, .. } => 3.0 * shares.len() as f64,
    };
    // A little more, for rounding.
    larger(1.001 * columns.iter().map(most).sum::<f64>().sqrt(), 1.0)
}

/// 3p(1 − p).
fn of_share(share: f64) -> f64 {
    CATEGORY_SCALE * CATEGORY_SCALE * share * (1.0 - share)
}

/// The map as tables, for other programs.
pub(crate) struct Tables {
    pub(crate) numbers: Vec<NumberTable>,
    pub(crate) categories: Vec<CategoryTable>,
    /// What a row is divided by.
    pub(crate) length: f64,
}

/// A column of numbers.
pub(crate) struct NumberTable {
    /// Where its functions start in a mapped row.
    pub(crate) place: usize,
    /// Whether empty cells have a place, among the categories; the functions are then 0.
    pub(crate) or_missing: bool,
    /// Its functions, function by function, on as many equally distant points of [−1, 1].
    pub(crate) functions: Vec<Vec<f64>>,
}

/// One category of a column, or the place of its empty cells.
pub(crate) struct CategoryTable {
    /// Where it is in a mapped row.
    pub(crate) place: usize,
    /// Where it is among the entries that the other program has.
    pub(crate) entry: usize,
    pub(crate) share: f64,
}

impl Map {
    /// The map, for a program whose encoded entries are at these places of ours.
    pub(crate) fn tables(&self, places: &[usize]) -> Tables {
        let (mut numbers, mut categories, mut place) = (Vec::new(), Vec::new(), 0);
        for column in &self.columns {
            let (first, shares) = match column {
                Column::Number { at, curves, missing } => {
                    let of = |function: usize| {
                        curves.values.iter().skip(function).step_by(curves.width).copied().collect()
                    };
                    let functions = (0..curves.width).map(of).collect();
                    numbers.push(NumberTable { place, or_missing: missing.is_some(), functions });
                    place += curves.width;
                    (at + 1, missing.as_slice())
                }
                Column::Category { at, shares } => (*at, shares.as_slice()),
            };
            for (at, share) in (first..).zip(shares) {
                let entry = places.iter().position(|own| *own == at).unwrap_or_default();
                categories.push(CategoryTable { place, entry, share: *share });
                place += 1;
            }
        }
        Tables { numbers, categories, length: self.length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::representation::READING;

    fn map(block: Block, weights: &[f64], counted: f64) -> Map {
        let weights = [weights, &[0.5 * counted]].concat();
        let released = Representation { reading: READING.into(), counted, noise: 30.0, weights };
        Map::new(&Layout::new(Spacing::Coarse, vec![block]), &released)
    }

    /// A column is read from the cells that are there: empty ones in any number leave its functions alone.
    #[test]
    fn empty_cells_do_not_move_the_functions_of_a_number() {
        let present = 1000.0;
        let bump = |knot: &f64| (-40.0 * (knot - 0.3) * (knot - 0.3)).exp();
        let bell: Vec<f64> = Spacing::Coarse.positions().iter().map(bump).collect();
        let total: f64 = bell.iter().sum();
        let weights: Vec<f64> = bell.iter().map(|weight| present * weight / total).collect();
        let alone = map(Block::Number { at: 0 }, &weights, present);
        for empty in [0.0, 1000.0, 3000.0] {
            let with_place = [&weights[..], &[empty]].concat();
            let own = map(Block::NumberOrMissing { at: 0 }, &with_place, present + empty);
            assert_eq!((own.columns.len(), own.width), (1, FUNCTIONS + 1));
            match (&own.columns[0], &alone.columns[0]) {
                (Column::Number { curves, missing, .. }, Column::Number { curves: same, .. }) => {
                    assert_eq!(curves, same, "{empty}");
                    assert_eq!(*missing, Some(empty / (present + empty)));
                }
                _ => unreachable!(),
            }
            // An empty cell is 0 in all functions, and the mean of the last entry is 0.
            let (absent, there) = (own.column(0, &[0.0, 1.0], 1.0), own.column(0, &[0.3, 0.0], 1.0));
            assert_eq!(absent[..FUNCTIONS], [0.0; FUNCTIONS]);
            assert!((absent[FUNCTIONS] * empty + there[FUNCTIONS] * present).abs() < 1e-9 * present);
        }
    }

    /// More empty cells than records, as noise may have it.
    #[test]
    fn a_column_without_a_cell_is_still_mapped() {
        let own = map(
            Block::NumberOrMissing { at: 0 },
            &[vec![-3.0; Spacing::Coarse.knots()], vec![150.0]].concat(),
            100.0,
        );
        for entries in [[0.5, 0.0], [0.0, 1.0], [f64::NAN, 1.0]] {
            let mut row = Vec::new();
            own.apply(&entries, 1.0, &mut row);
            let square: f64 = row.iter().map(|value| value * value).sum();
            assert!(row.len() == FUNCTIONS + 1 && square <= 1.0 + 1e-12, "{row:?}");
        }
    }
}
