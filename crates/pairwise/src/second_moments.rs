//! The second moments of rows of length at most 1, as one query: how columns lie to one another.
//!
//! The mean of xxᵀ by its upper half, entries off the diagonal times √2, so that its Euclidean norm is that of the matrix.
//!
//! # Guarantee
//! Replacing a record moves the exact mean by at most √2/n: ‖xxᵀ − yyᵀ‖² = ‖x‖⁴ + ‖y‖⁴ − 2(x·y)² ≤ 2, attained by orthogonal unit
//! rows. What is computed is within [`error_bound`] of it. Proof: `proofs/representation.md`.

use crate::kernel::Par;
use crate::kernel::blocks;
use crate::kernel::exact::{self, FEW, Grid};
use crate::kernel::parts::Mismatch;
use crate::{ProblemError, Sensitivity};
use pairdp_units::directed::up_by;
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// Coordinates of the query for rows of `columns` entries.
pub fn coordinates(columns: usize) -> usize {
    columns.saturating_mul(columns + 1) / 2
}

/// How far replacing one of n records, or adding one below a cap of n, can move the exact mean.
///
/// # Errors
/// [`ProblemError::TooFewRecords`] below two records.
pub fn sensitivity(n: usize) -> Result<Sensitivity, ProblemError> {
    if n < 2 {
        return Err(ProblemError::TooFewRecords(n));
    }
    Ok(Sensitivity::new(up_by(SQRT_2 / n as f64, 4.0)))
}

/// How far the computed mean can be from the exact one: products are rounded and put on a grid in each coordinate, sums over
/// records are exact, and two products follow.
pub fn error_bound(columns: usize) -> f64 {
    up_by(16.0 * f64::EPSILON * (1.0 + (coordinates(columns) as f64).sqrt()), 4.0)
}

/// Sums of the upper half of xxᵀ in whole numbers: parts of a table merge by addition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SquareSums(Vec<i128>);

impl SquareSums {
    /// Of rows of length at most 1, the first `size` of them.
    pub fn new(rows: &[f64], columns: usize, size: usize, par: Par) -> Self {
        let n = (rows.len() / columns.max(1)).min(size);
        let width = coordinates(columns);
        let parts = blocks::map(n, par, |range| {
            let (mut total, mut few) = (vec![0; width], vec![0; width]);
            for rows in rows[range.start * columns..range.end * columns].chunks(FEW * columns) {
                Arch::new().dispatch(AddSquares { rows, columns, grid: grid(), out: &mut few });
                exact::flush(&mut total, &mut few);
            }
            total
        });
        let mut totals = vec![0; width];
        parts.iter().for_each(|part| exact::add(&mut totals, part));
        Self(totals)
    }

    /// Adds another part's.
    ///
    /// # Errors
    /// [`Mismatch`] if they are of rows of other lengths.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        if self.0.len() != other.0.len() {
            return Err(Mismatch);
        }
        exact::add(&mut self.0, &other.0);
        Ok(())
    }

    /// The query: the sum over `size`.
    ///
    /// # Errors
    /// [`Mismatch`] for sums of rows of another length.
    pub fn mean(&self, columns: usize, size: usize) -> Result<Vec<f64>, Mismatch> {
        if self.0.len() != coordinates(columns) {
            return Err(Mismatch);
        }
        let off = (0..columns).flat_map(|i| (i..columns).map(move |j| if i == j { 1.0 } else { SQRT_2 }));
        let n = size as f64;
        Ok(self.0.iter().zip(off).map(|(sum, off)| off * grid().value(*sum) / n).collect())
    }
}

fn grid() -> Grid {
    Grid::for_terms(1.0)
}

struct AddSquares<'a> {
    rows: &'a [f64],
    columns: usize,
    grid: Grid,
    out: &'a mut [i64],
}

impl NullaryFnOnce for AddSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.rows.chunks_exact(self.columns) {
            let mut rest = &mut *self.out;
            for (i, x) in row.iter().enumerate() {
                let (line, below) = rest.split_at_mut(self.columns - i);
                for (sum, other) in line.iter_mut().zip(&row[i..]) {
                    *sum += self.grid.whole(x * other);
                }
                rest = below;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(rows: &[f64], columns: usize, size: usize) -> Vec<f64> {
        SquareSums::new(rows, columns, size, Par::Parallel).mean(columns, size).unwrap()
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn no_record_moves_it_further_than_claimed(
            mut x in proptest::collection::vec(-1.0..1.0_f64, 3), mut y in proptest::collection::vec(-1.0..1.0_f64, 3), on in any::<bool>(),
        ) {
            for row in [&mut x, &mut y] {
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                if norm > 1.0 || on {
                    row.iter_mut().for_each(|v| *v *= 0.999_999_999 / norm);
                }
            }
            let other = [0.1, 0.2, 0.3];
            let (a, b) = (query(&[other.to_vec(), x].concat(), 3, 2), query(&[other.to_vec(), y].concat(), 3, 2));
            prop_assert!(distance(&a, &b) <= sensitivity(2).unwrap().get() + 2.0 * error_bound(3));
        }
    }

    #[test]
    fn the_sensitivity_is_attained_by_orthogonal_rows() {
        let (a, b) = (query(&[1.0, 0.0, 0.3, 0.4], 2, 2), query(&[0.0, 1.0, 0.3, 0.4], 2, 2));
        assert!((distance(&a, &b) / sensitivity(2).unwrap().get() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn it_is_the_mean_by_definition_in_any_parts() {
        let (n, d) = (5000, 4);
        let rows: Vec<f64> = (0..n * d).map(|i| ((i * 37 % 101) as f64 / 101.0 - 0.5) * 0.9).collect();
        let mut expected = Vec::new();
        for i in 0..d {
            for j in i..d {
                let sum: f64 = rows.chunks_exact(d).map(|row| row[i] * row[j]).sum();
                expected.push(sum / n as f64 * if i == j { 1.0 } else { SQRT_2 });
            }
        }
        assert!(distance(&query(&rows, d, n), &expected) < 1e-12);
        let part = |range: std::ops::Range<usize>| SquareSums::new(&rows[range], d, n, Par::Sequential);
        let mut sums = part(4 * d..n * d);
        sums.merge(&part(0..4 * d)).unwrap();
        assert_eq!(sums.mean(d, n).unwrap(), query(&rows, d, n));
    }
}
