//! Tighter ranges for users who know only wide ones, paid for.
//!
//! Of every numeric column the records are counted in bins that double in width away from 0, up to the public range. From the
//! noisy counts follows which bins are surely in use; from the first to the last of them is the new range. What lies beyond is
//! cut off, as with any range.

use crate::LearnError;
use crate::mechanism::{BINS, Ranges};
use pairdp_data::{Encoding, Kind, Table};
use pairdp_noise::Source;
use pairdp_units::directed::{larger, smaller};

const HALF: usize = BINS / 2;

/// Looks for tighter ranges and encodes the table by them.
///
/// # Guarantee
/// Beyond the noisy counts that `ranges` states, nothing about the records leaves: `proofs/ranges.md`.
///
/// # Errors
/// [`LearnError::WrongTable`] unless the encoding has as many numeric columns as the counts are for.
pub(crate) fn tighten<S: Source>(
    table: &mut Table,
    encoding: &Encoding,
    ranges: &Ranges,
    source: &mut S,
) -> Result<Encoding, LearnError> {
    let columns = numeric_columns(encoding);
    if columns.len() != ranges.columns {
        return Err(LearnError::WrongTable {
            expected: table.rows,
            expected_features: ranges.columns,
            found: table.rows,
            found_features: columns.len(),
        });
    }
    let lattice = ranges.lattice()?;
    let noise = lattice.draw(source, columns.len() * BINS);
    let counts = lattice.release(&counted(table, &columns), &noise);
    // Above what noise reaches in any of the bins, but for one run in two or so.
    let sure = ranges.sigma * (2.0 * (counts.len() as f64).ln()).sqrt();
    let found: Vec<[f64; 2]> = counts
        .chunks_exact(BINS)
        .zip(&columns)
        .map(|(counts, (_, range))| hull(counts, sure, *range))
        .collect();
    for row in table.features.chunks_exact_mut(table.columns) {
        for ((place, old), new) in columns.iter().zip(&found) {
            row[*place] = encoded(*new, decoded(*old, row[*place]));
        }
    }
    Ok(encoding.with_ranges(&found))
}

/// The counts of a table whose columns range from −1 to 1, without noise. Not for private records: an auditor compares made-up
/// tables by them.
pub fn exact_counts(cells: &[f64], columns: usize) -> Vec<f64> {
    let range = [-1.0, 1.0];
    let features = cells.iter().map(|x| encoded(range, *x)).collect();
    let places: Vec<(usize, [f64; 2])> = (0..columns).map(|column| (column, range)).collect();
    counted(&Table { features, columns, targets: Vec::new(), rows: cells.len() / columns }, &places)
}

/// How many records are in each bin of each column.
fn counted(table: &Table, columns: &[(usize, [f64; 2])]) -> Vec<f64> {
    let mut counts = vec![0.0; columns.len() * BINS];
    for row in table.features.chunks_exact(table.columns) {
        for (c, (place, range)) in columns.iter().enumerate() {
            counts[c * BINS + bin(*range, decoded(*range, row[*place]))] += 1.0;
        }
    }
    counts
}

/// Where the numbers are in a row, and their public ranges.
fn numeric_columns(encoding: &Encoding) -> Vec<(usize, [f64; 2])> {
    let mut place = 0;
    let mut found = Vec::new();
    for column in encoding.columns() {
        if let Kind::Range(range) = column.kind {
            found.push((place, range));
        }
        place += column.width();
    }
    found
}

fn decoded([low, high]: [f64; 2], value: f64) -> f64 {
    f64::midpoint(low, high) + value * (high / 2.0 - low / 2.0)
}

fn encoded([low, high]: [f64; 2], x: f64) -> f64 {
    let value = (x - f64::midpoint(low, high)) / (high / 2.0 - low / 2.0);
    if value > 1.0 { 1.0 } else { larger(value, -1.0) }
}

/// Bins count upwards from the most negative: HALF − 1 and HALF touch 0.
fn bin([low, high]: [f64; 2], x: f64) -> usize {
    let most = larger(low.abs(), high.abs());
    let steps = (1..HALF).take_while(|k| x.abs() >= edge(most, *k)).count();
    if x < 0.0 { HALF - 1 - steps } else { HALF + steps }
}

/// Where the bin of a number begins, counted from 0.
fn edge(most: f64, steps: usize) -> f64 {
    if steps == 0 { 0.0 } else { most * (steps as f64 - HALF as f64).exp2() }
}

/// From the first bin that is surely in use to the last, within the public range; all of it if none is.
fn hull(counts: &[f64], sure: f64, [low, high]: [f64; 2]) -> [f64; 2] {
    let most = larger(low.abs(), high.abs());
    let used = |k: &usize| counts[*k] > sure;
    let (Some(first), Some(last)) = ((0..BINS).find(used), (0..BINS).rev().find(used)) else {
        return [low, high];
    };
    let start = if first < HALF { -edge(most, HALF - first) } else { edge(most, first - HALF) };
    let end = if last < HALF { -edge(most, HALF - 1 - last) } else { edge(most, last - HALF + 1) };
    let (start, end) = (larger(start, low), smaller(end, high));
    if start < end { [start, end] } else { [low, high] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every number lies in the bin that counts it, and in the hull of that bin alone.
        #[test]
        fn numbers_lie_in_their_bins(low in -1e3..1e3_f64, width in 1e-3..1e3_f64, share in 0.0..1.0_f64) {
            let range = [low, low + width];
            let x = low + share * width;
            let mut counts = [0.0; BINS];
            counts[bin(range, x)] = 10.0;
            let [start, end] = hull(&counts, 5.0, range);
            prop_assert!(start <= x && x <= end && start >= low && end <= low + width, "{} in {:?}", x, (start, end));
            prop_assert!((decoded(range, encoded(range, x)) - x).abs() < 1e-9 * (1.0 + x.abs()));
        }
    }

    proptest! {
        /// Whatever a record is replaced by, the counts move by no more than the sensitivity; and they can move that far.
        #[test]
        fn no_record_moves_the_counts_further_than_claimed(
            row in proptest::collection::vec(-2.0..2.0_f64, 3), other in proptest::collection::vec(-2.0..2.0_f64, 3),
        ) {
            let encoding = Encoding::of_ranges([[-1.0, 1.0], [0.0, 1e3], [-5.0, 2.0]]).unwrap();
            let columns = numeric_columns(&encoding);
            let counts = |row: &[f64]| {
                let cells = [[0.1, 7.0, 0.3].as_slice(), row].concat();
                counted(&encoding.encode_matrix(&cells, 3).unwrap(), &columns)
            };
            let moved = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            prop_assert!(moved(&counts(&row), &counts(&other)) <= 6.0);
            prop_assert!(moved(&counts(&[-0.9, 900.0, -4.0]), &counts(&[0.9, 1.0, 1.0])) >= 6.0);
        }
    }

    #[test]
    fn a_wide_range_is_tightened_and_the_table_encoded_again() {
        use crate::{Average, Mechanism, Plan, PlanKind, Settings, Tighten};
        use pairdp_noise::Replay;
        use pairdp_units::Budget;
        let n = 20_000;
        let encoding = Encoding::of_ranges([[-1e6, 1e6], [0.0, 1000.0]]).unwrap();
        let cells: Vec<f64> = (0..n).flat_map(|i| [20.0 + f64::from(i % 60), f64::from(i % 1000)]).collect();
        let mut table = encoding.encode_matrix(&cells, 2).unwrap();
        let plan = Plan::new(PlanKind::Moments, 1, 1.0, Average::Last).unwrap();
        let plan = plan.with_tighter_ranges(Tighten { share: 0.2, columns: 2 }).unwrap();
        let problem = Settings::default().problem(2).unwrap();
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let mechanism = Mechanism::calibrate(problem, plan, table.rows, 2, budget).unwrap();
        let ranges = mechanism.ranges().unwrap();
        let tighter = tighten(&mut table, &encoding, &ranges, &mut Replay::from_seed(1)).unwrap();
        let found: Vec<[f64; 2]> = numeric_columns(&tighter).into_iter().map(|(_, range)| range).collect();
        // Ages from 20 to 79, between powers of two below a million.
        assert!(
            found[0][0] <= 20.0 && found[0][0] > 9.0 && found[0][1] >= 79.0 && found[0][1] < 160.0,
            "{found:?}"
        );
        assert!(found[1][0] < 10.0 && found[1][1] >= 999.0, "{found:?}");
        // A little at the ends, where bins are not surely in use, may be cut off.
        let again = tighter.encode_matrix(&cells, 2).unwrap();
        assert!(table.features.iter().zip(&again.features).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
