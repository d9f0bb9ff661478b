//! Sufficient statistics of a linear model, as one query.
//!
//! Each record gives the vector (½yx, a·x, aκ·y, (α/κ)·xxᵀ), |y| ≤ 1, the symmetric matrix by its upper half with entries off the
//! diagonal times √2. Their mean has all that is needed for the covariance of features and label, centred, and for the
//! covariance of features: one release instead of a descent.
//!
//! Why the label-weighted mean and not the mean over pairs: at equal sensitivity it has twice the signal of the gradient over all
//! pairs at w = 0, which is its centred half, and centring by the mean costs little noise. Why second moments: up to a
//! weight they are *free*, because two records that differ most in yx, opposite ones, have the same xxᵀ.
//!
//! # Guarantee
//! Replacing a record moves the exact mean by at most [`sensitivity`]; what [`query`] computes is within [`error_bound`] of it.
//! Proof: `proofs/moments.md`.

use crate::kernel::Par;
use crate::kernel::blocks;
use crate::kernel::exact::{self, FEW, Grid};
use crate::kernel::parts::Mismatch;
use crate::problem::within_range;
use crate::{ProblemError, Records, Sensitivity};
use pairdp_units::directed::{larger, up_by};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// How much of each statistic a record's vector has.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// a: of the mean of features, and with κ of the mean label.
    pub mean: f64,
    /// α: of second moments; 0 for none.
    pub second: f64,
}

impl Weights {
    /// a = ¼ and the largest α that costs nothing, √((1 − 4a²)/8); or no second moments.
    pub fn suggested(second_moments: bool) -> Self {
        let mean: f64 = 0.25;
        // A hair below the edge, where rounding cannot cost anything.
        let free = 0.999 * ((1.0 - 4.0 * mean * mean) / 8.0).sqrt();
        Self { mean, second: if second_moments { free } else { 0.0 } }
    }

    /// Whether both are finite and at least 0, the mean's at most ½.
    pub fn check(self) -> bool {
        self.mean > 0.0 && self.mean <= 0.5 && self.second >= 0.0 && self.second <= 1.0
    }

    /// Coordinates of the query for records of `columns` features.
    pub fn coordinates(self, columns: usize) -> usize {
        let matrix = if self.second > 0.0 { columns.saturating_mul(columns + 1) / 2 } else { 0 };
        2 * columns + 1 + matrix
    }

    /// The largest norm of a record's vector.
    pub fn largest(self, kappa: f64) -> f64 {
        up_by(kappa * (0.25 + 2.0 * self.mean * self.mean + self.second * self.second).sqrt(), 8.0)
    }

    /// The largest distance of two records' vectors.
    fn apart(self, kappa: f64) -> f64 {
        let (aa, ss) = (self.mean * self.mean, self.second * self.second);
        // Over the cosine c of the angle of the two, both of length κ: quadratics that open downwards.
        let same = |c: f64| (0.5 + 2.0 * aa) * (1.0 - c) + 2.0 * ss * (1.0 - c * c);
        let other = |c: f64| 0.5 * (1.0 + c) + 2.0 * aa * (1.0 - c) + 4.0 * aa + 2.0 * ss * (1.0 - c * c);
        let inside = |c: f64| if c > 1.0 { 1.0 } else { larger(c, -1.0) };
        let (mut at_same, mut at_other) = (-1.0, 1.0);
        if ss > 0.0 {
            at_same = inside(-(0.5 + 2.0 * aa) / (4.0 * ss));
            at_other = inside((0.5 - 2.0 * aa) / (4.0 * ss));
        }
        up_by(kappa * larger(same(at_same), other(at_other)).sqrt(), 16.0)
    }
}

/// How far replacing one of n records can move the exact mean.
///
/// # Errors
/// [`ProblemError::TooFewRecords`] below two records, [`ProblemError::Range`] for κ beyond what rounding is bounded for.
pub fn sensitivity(weights: Weights, kappa: f64, n: usize) -> Result<Sensitivity, ProblemError> {
    within_range("feature bound", kappa)?;
    if n < 2 {
        return Err(ProblemError::TooFewRecords(n));
    }
    Ok(Sensitivity::new(up_by(weights.apart(kappa) / n as f64, 2.0)))
}

/// How far one record more can move the sum over at most n records, divided as if there were n, if none is ever pushed out: by its
/// own vector.
///
/// # Errors
/// As [`sensitivity`].
pub fn sensitivity_of_adding(weights: Weights, kappa: f64, n: usize) -> Result<Sensitivity, ProblemError> {
    within_range("feature bound", kappa)?;
    if n < 2 {
        return Err(ProblemError::TooFewRecords(n));
    }
    Ok(Sensitivity::new(up_by(weights.largest(kappa) / n as f64, 2.0)))
}

/// How far the computed mean can be from the exact one: terms are rounded in each coordinate, sums over records are exact, and
/// a handful of products follow.
pub fn error_bound(weights: Weights, kappa: f64, columns: usize) -> f64 {
    let roundings = 24.0 * (1.0 + (weights.coordinates(columns) as f64).sqrt());
    up_by(roundings * f64::EPSILON * weights.largest(kappa), 4.0)
}

/// What y is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// The sign of the label.
    Sign,
    /// A number, cut off at ± this bound and divided by it.
    Within(f64),
}

impl Target {
    fn of(self, target: f64) -> f64 {
        match self {
            Self::Sign => {
                if target > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Self::Within(bound) => {
                let y = target / bound;
                if y > 1.0 { 1.0 } else { larger(y, -1.0) }
            }
        }
    }
}

/// Sums of ½yx, x, y and, if they are wanted, the upper half of xxᵀ, in whole numbers: parts of a table merge by addition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Totals(Vec<i128>);

impl Totals {
    /// Of all records, each as often as it counts.
    pub fn new(weights: Weights, kappa: f64, target: Target, records: &Records, par: Par) -> Self {
        let d = records.columns();
        let width = weights.coordinates(d);
        let grids = Grids::new(kappa);
        let parts = blocks::map(records.len(), par, |range| {
            let (mut total, mut few) = (vec![0; width], vec![0; width]);
            for (piece, counts) in records.strata().pieces(range, FEW) {
                let rows = &records.features()[piece.start * d..piece.end * d];
                let labels = &records.targets()[piece];
                Arch::new().dispatch(AddRecords { rows, labels, target, grids, out: &mut few });
                exact::flush(&mut total, &mut few, counts);
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
    /// [`Mismatch`] if they are of records of other lengths.
    pub fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        if self.0.len() != other.0.len() {
            return Err(Mismatch);
        }
        exact::add(&mut self.0, &other.0);
        Ok(())
    }

    /// The query: the sum of all records' vectors over `size`, for records of `columns` features.
    ///
    /// # Errors
    /// [`Mismatch`] for totals of something else.
    pub fn mean(
        &self,
        weights: Weights,
        kappa: f64,
        columns: usize,
        size: usize,
    ) -> Result<Vec<f64>, Mismatch> {
        let d = columns;
        if self.0.len() != weights.coordinates(d) {
            return Err(Mismatch);
        }
        let (grids, n) = (Grids::new(kappa), size as f64);
        let mut out = Vec::with_capacity(self.0.len());
        out.extend(self.0[..d].iter().map(|sum| grids.feature.weighed(*sum) / n));
        out.extend(self.0[d..2 * d].iter().map(|sum| weights.mean * grids.feature.weighed(*sum) / n));
        out.push(weights.mean * kappa * grids.label.weighed(self.0[2 * d]) / n);
        let scale = weights.second / (kappa * n);
        let mut squares = self.0[2 * d + 1..].iter();
        let rows = (0..d).flat_map(|i| (i..d).map(move |j| if i == j { 1.0 } else { SQRT_2 }));
        out.extend(rows.zip(&mut squares).map(|(off, sum)| scale * off * grids.square.weighed(*sum)));
        Ok(out)
    }
}

/// Steps of the terms.
#[derive(Clone, Copy)]
struct Grids {
    feature: Grid,
    label: Grid,
    square: Grid,
}

impl Grids {
    fn new(kappa: f64) -> Self {
        let grid = Grid::for_terms;
        Self { feature: grid(kappa), label: grid(1.0), square: grid(kappa * kappa) }
    }
}

/// Adds records to sums.
struct AddRecords<'a> {
    rows: &'a [f64],
    labels: &'a [f64],
    target: Target,
    grids: Grids,
    out: &'a mut [i64],
}

impl NullaryFnOnce for AddRecords<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Grids { feature, label, square } = self.grids;
        let d = self.rows.len() / self.labels.len().max(1);
        let (signed, rest) = self.out.split_at_mut(d);
        let (plain, rest) = rest.split_at_mut(d);
        let Some((labels, squares)) = rest.split_first_mut() else { return };
        for (row, target) in self.rows.chunks_exact(d).zip(self.labels) {
            let y = self.target.of(*target);
            *labels += label.whole(y);
            for ((signed, plain), x) in signed.iter_mut().zip(plain.iter_mut()).zip(row) {
                *signed += feature.whole(0.5 * y * x);
                *plain += feature.whole(*x);
            }
            if squares.is_empty() {
                continue;
            }
            let mut rest = &mut *squares;
            for (i, x) in row.iter().enumerate() {
                let (line, below) = rest.split_at_mut(d - i);
                for (sum, other) in line.iter_mut().zip(&row[i..]) {
                    *sum += square.whole(x * other);
                }
                rest = below;
            }
        }
    }
}

/// The sum of all records' vectors, each as often as it counts, over `size`, for the κ that the sensitivity is for.
pub fn query(
    weights: Weights,
    kappa: f64,
    target: Target,
    records: &Records,
    size: usize,
    par: Par,
) -> Vec<f64> {
    Totals::new(weights, kappa, target, records, par)
        .mean(weights, kappa, records.columns(), size)
        .unwrap_or_else(|Mismatch| unreachable!("totals of the same records"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(weights: Weights, kappa: f64, x: &[f64], y: f64) -> Vec<f64> {
        let d = x.len();
        let mut out: Vec<f64> = x.iter().map(|v| 0.5 * y * v).collect();
        out.extend(x.iter().map(|v| weights.mean * v));
        out.push(weights.mean * kappa * y);
        if weights.second > 0.0 {
            for i in 0..d {
                for j in i..d {
                    let off = if i == j { 1.0 } else { SQRT_2 };
                    out.push(weights.second / kappa * off * x[i] * x[j]);
                }
            }
        }
        out
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn no_two_records_are_further_apart_than_claimed(
            mut x in proptest::collection::vec(-1.0..1.0_f64, 3), mut z in proptest::collection::vec(-1.0..1.0_f64, 3),
            y in -1.0..1.0_f64, w in -1.0..1.0_f64, extreme in any::<bool>(), mean in 0.05..0.5_f64, second in 0.0..1.0_f64, kappa in 0.2..3.0_f64,
        ) {
            let weights = Weights { mean, second };
            // On the sphere, where the extremes are.
            for row in [&mut x, &mut z] {
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                row.iter_mut().for_each(|v| *v *= kappa * 0.999_999 / norm);
            }
            let label = |y: f64| if extreme { y.signum() } else { y };
            let (u, v) = (vector(weights, kappa, &x, label(y)), vector(weights, kappa, &z, label(w)));
            prop_assert!(distance(&u, &v) <= weights.apart(kappa));
            prop_assert!(distance(&u, &vec![0.0; u.len()]) <= weights.largest(kappa));
        }
    }

    /// The bound is attained: opposite records of one label, or equal ones of two; and second moments are free up to their
    /// suggested weight.
    #[test]
    fn the_sensitivity_is_attained() {
        for second_moments in [false, true] {
            let weights = Weights::suggested(second_moments);
            let (x, z) = ([1.0, 0.0], [-1.0, 0.0]);
            let found = distance(&vector(weights, 1.0, &x, 1.0), &vector(weights, 1.0, &z, 1.0));
            assert!((found / weights.apart(1.0) - 1.0).abs() < 1e-12);
            assert!((found - 1.25_f64.sqrt()).abs() < 1e-12);
            let other = distance(&vector(weights, 1.0, &x, 1.0), &vector(weights, 1.0, &x, -1.0));
            assert!((other - found).abs() < 1e-12);
        }
    }

    #[test]
    fn the_query_is_the_mean_of_the_vectors() {
        let (n, d, kappa) = (9000, 3, 0.8);
        let features: Vec<f64> = (0..n * d).map(|i| ((i * 37 % 101) as f64 / 50.0) - 1.0).collect();
        let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let records = Records::new(features, d, positive, kappa).unwrap();
        for second_moments in [false, true] {
            let weights = Weights::suggested(second_moments);
            // Sums with what their roundings lost.
            let mut sums = vec![(0.0, 0.0); weights.coordinates(d)];
            for i in 0..n {
                let one = vector(weights, kappa, records.row(i), records.targets()[i]);
                for ((sum, lost), v) in sums.iter_mut().zip(&one) {
                    let next: f64 = *sum + v;
                    *lost += if sum.abs() > v.abs() { (*sum - next) + v } else { (v - next) + *sum };
                    *sum = next;
                }
            }
            let expected: Vec<f64> = sums.iter().map(|(sum, lost)| (sum + lost) / n as f64).collect();
            let all = |par| query(weights, kappa, Target::Sign, &records, n, par);
            let found = all(Par::Parallel);
            assert_eq!(found, all(Par::Sequential));
            assert!(distance(&found, &expected) < error_bound(weights, kappa, d));
            // Over a cap, as if there were so many records.
            let capped = query(weights, kappa, Target::Sign, &records, 2 * n, Par::Parallel);
            let twice: Vec<f64> = capped.iter().map(|v| 2.0 * v).collect();
            assert!(distance(&twice, &expected) < 1e-12);
            assert!(error_bound(weights, kappa, d) < 1e-13);
            // In parts, in any order.
            let part = |rows: std::ops::Range<u32>| {
                let part = records.select(&rows.collect::<Vec<u32>>());
                Totals::new(weights, kappa, Target::Sign, &part, Par::Sequential)
            };
            let mut totals = part(5000..9000);
            totals.merge(&part(0..1)).unwrap();
            totals.merge(&part(1..5000)).unwrap();
            assert_eq!(totals.mean(weights, kappa, d, n).unwrap(), found);
        }
    }
}
