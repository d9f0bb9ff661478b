//! The map: a row by its ranks.

use super::Representation;
use super::reading::read;
use super::shapes::GRID;
use pairdp_data::{Encoding, Kind, Table};
use pairdp_pairwise::clip_row;
use pairdp_pairwise::knots::{Block, CATEGORY_WEIGHT, KNOTS, Layout};
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;

/// Columns of a result beyond which numbers keep their rank alone.
const MOST_COLUMNS: usize = 600;
/// Polynomials of a rank.
pub(crate) const DEGREES: usize = 3;
/// The standard deviation of a tail's score is taken to be about this times a rank's.
pub(crate) const TAIL_WEIGHT: f64 = 0.5;
/// A category's deviation from its share is multiplied by this: as a rank's, √3·(2F − 1).
pub(crate) const CATEGORY_SCALE: f64 = 1.732_050_807_568_877_2;
/// Rows are cut to this share of the length that they have in the root mean square.
const KEPT_LENGTH: f64 = 0.7;

/// What a number becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// Its rank.
    Rank,
    /// Three Legendre polynomials of its rank, and how far it is out in either tail.
    Curve,
}

impl Basis {
    /// From public facts: the columns of the table.
    fn of(layout: &Layout) -> Self {
        if columns(layout, Self::Curve) <= MOST_COLUMNS { Self::Curve } else { Self::Rank }
    }

    fn width(self) -> usize {
        match self {
            Self::Rank => 1,
            Self::Curve => DEGREES + 2,
        }
    }
}

fn columns(layout: &Layout, basis: Basis) -> usize {
    let width = |block: &Block| match block {
        Block::Number { .. } => basis.width(),
        Block::NumberOrMissing { .. } => basis.width() + 1,
        Block::Category { width, .. } => *width,
    };
    layout.blocks().iter().map(width).sum()
}

/// A public map of single rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
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
        cumulative: Vec<f64>,
        /// Where tails end: smaller shares are noise.
        floor: f64,
        /// Of each feature.
        means: Vec<f64>,
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
    pub(crate) fn width_of(layout: &Layout) -> usize {
        columns(layout, Basis::of(layout))
    }

    /// The map that follows from what was released.
    pub(crate) fn new(layout: &Layout, released: &Representation) -> Self {
        let basis = Basis::of(layout);
        let (n, noise) = (released.counted, released.noise);
        let share = |weight: f64, of: f64| within(weight / of / n, 0.0, 1.0);
        let floor = within(noise / n, 1e-4, 0.2);
        let mut weights = released.weights.as_slice();
        let (mut columns, mut energy) = (Vec::new(), 0.0);
        for block in layout.blocks() {
            let (own, rest) = weights.split_at(block.coordinates());
            weights = rest;
            columns.push(match *block {
                Block::Number { at } | Block::NumberOrMissing { at } => {
                    let cumulative = read(&own[..KNOTS], noise, n).cumulative;
                    let (means, spread) = moments(basis, &cumulative, floor);
                    let missing = own.get(KNOTS).map(|weight| share(*weight, 1.0));
                    energy += spread + missing.map_or(0.0, of_share);
                    Column::Number { at, cumulative, floor, means, missing }
                }
                Block::Category { at, .. } => {
                    let shares: Vec<f64> = own.iter().map(|weight| share(*weight, CATEGORY_WEIGHT)).collect();
                    energy += shares.iter().copied().map(of_share).sum::<f64>();
                    Column::Category { at, shares }
                }
            });
        }
        // If nothing seems to vary, rows are as long as they are.
        let length = if energy > 1e-6 { KEPT_LENGTH * energy.sqrt() } else { 1.0 };
        Self { columns, width: Self::width_of(layout), length }
    }

    /// A name for each column of the rows that it makes.
    pub(crate) fn names(encoding: &Encoding) -> Vec<String> {
        let basis = Basis::of(&super::layout(encoding));
        let of_number = |name: &str| -> Vec<String> {
            let functions = ["rank", "rank²", "rank³", "upper tail", "lower tail"];
            functions[..basis.width()].iter().map(|function| format!("{name} {function}")).collect()
        };
        let mut of_categories = encoding.feature_names().into_iter();
        let mut names = Vec::new();
        for column in encoding.columns() {
            let own: Vec<String> = of_categories.by_ref().take(column.width()).collect();
            names.extend(if matches!(column.kind, Kind::Range(_)) { of_number(&column.name) } else { own });
        }
        names
    }

    /// Puts the images of its rows, of length at most `bound`, in place of a table's.
    pub(crate) fn apply_to(&self, table: &mut Table, bound: f64) {
        const TOGETHER: usize = 512;
        let mapped: Vec<Vec<f64>> = table
            .features
            .par_chunks(TOGETHER * table.columns.max(1))
            .map(|rows| {
                let mut out = Vec::with_capacity(rows.len() / table.columns * self.width);
                rows.chunks_exact(table.columns).for_each(|row| self.apply(row, bound, &mut out));
                out
            })
            .collect();
        table.features = mapped.concat();
        table.columns = self.width;
    }

    /// Appends the image of an encoded row, of length at most `bound`.
    pub(crate) fn apply(&self, row: &[f64], bound: f64, out: &mut Vec<f64>) {
        let start = out.len();
        for column in &self.columns {
            match column {
                Column::Number { at, cumulative, floor, means, missing } => {
                    let absent = missing.is_some() && row[at + 1] > 0.0;
                    if absent {
                        out.extend(means.iter().map(|_| 0.0));
                    } else {
                        let place = out.len();
                        features(means.len(), rank(cumulative, row[*at]), *floor, |value| out.push(value));
                        out[place..].iter_mut().zip(means).for_each(|(value, mean)| *value -= mean);
                    }
                    if let Some(share) = missing {
                        out.push(CATEGORY_SCALE * (f64::from(u8::from(absent)) - share));
                    }
                }
                Column::Category { at, shares } => {
                    let entries = row[*at..*at + shares.len()].iter().zip(shares);
                    out.extend(entries.map(|(entry, share)| CATEGORY_SCALE * (entry - share)));
                }
            }
        }
        let scale = bound / self.length;
        let image = &mut out[start..];
        image.iter_mut().for_each(|value| *value *= scale);
        clip_row(image, bound);
    }
}

/// 3p(1 − p).
fn of_share(share: f64) -> f64 {
    CATEGORY_SCALE * CATEGORY_SCALE * share * (1.0 - share)
}

fn within(value: f64, low: f64, high: f64) -> f64 {
    smaller(larger(value, low), high)
}

/// F̂(x), linear between the points of the grid.
fn rank(cumulative: &[f64], x: f64) -> f64 {
    let place = (within(x, -1.0, 1.0) + 1.0) * ((GRID - 1) as f64 / 2.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the grid's end"
    )]
    let left = if place > 0.0 { (place as usize).min(GRID - 2) } else { 0 };
    let share = if place > 0.0 { place - left as f64 } else { 0.0 };
    cumulative[left] + share * (cumulative[left + 1] - cumulative[left])
}

/// Functions of a rank F, as many as are wanted: √3·P₁, √5·P₂/2, √7·P₃/3 of u = 2F − 1, and −log of the shares beyond.
fn features(count: usize, rank: f64, floor: f64, mut push: impl FnMut(f64)) {
    let u = 2.0 * rank - 1.0;
    push(3.0_f64.sqrt() * u);
    if count > 1 {
        push(5.0_f64.sqrt() * (1.5 * u * u - 0.5) / 2.0);
        push(7.0_f64.sqrt() * (2.5 * u * u - 1.5) * u / 3.0);
        push(-TAIL_WEIGHT * libm::log((1.0 - rank) + floor));
        push(-TAIL_WEIGHT * libm::log(rank + floor));
    }
}

/// Means of a column's features under F̂, and the sum of their variances.
fn moments(basis: Basis, cumulative: &[f64], floor: f64) -> (Vec<f64>, f64) {
    let count = basis.width();
    let (mut first, mut second) = (vec![0.0; count], vec![0.0; count]);
    let mut add = |rank: f64, mass: f64| {
        let mut k = 0;
        features(count, rank, floor, |value| {
            first[k] += mass * value;
            second[k] += mass * value * value;
            k += 1;
        });
    };
    // What lies at the ends, and what lies between two points of the grid.
    add(cumulative[0], cumulative[0]);
    for k in 1..GRID {
        let mass = cumulative[k] - cumulative[k - 1];
        if mass > 0.0 {
            add(f64::midpoint(cumulative[k], cumulative[k - 1]), mass);
        }
    }
    add(cumulative[GRID - 1], 1.0 - cumulative[GRID - 1]);
    let spread = first.iter().zip(&second).map(|(mean, square)| larger(square - mean * mean, 0.0)).sum();
    (first, spread)
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
    pub(crate) cumulative: Vec<f64>,
    pub(crate) floor: f64,
    pub(crate) means: Vec<f64>,
}

/// One category of a column.
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
            match column {
                Column::Number { cumulative, floor, means, .. } => {
                    let (cumulative, means) = (cumulative.clone(), means.clone());
                    let width = means.len();
                    numbers.push(NumberTable { place, cumulative, floor: *floor, means });
                    place += width;
                }
                Column::Category { at, shares } => {
                    for (k, share) in shares.iter().enumerate() {
                        let entry = places.iter().position(|own| *own == at + k).unwrap_or_default();
                        categories.push(CategoryTable { place, entry, share: *share });
                        place += 1;
                    }
                }
            }
        }
        Tables { numbers, categories, length: self.length }
    }
}
