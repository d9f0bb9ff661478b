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
use crate::kernel::lanes::{self, Eight, LANES, Registers, Work};
use crate::kernel::parts::Mismatch;
use crate::problem::within_range;
use crate::{ProblemError, Records, Sensitivity};
use pairdp_units::directed::{larger, up_by};
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
            let mut lines = Lines::new(d, weights.second > 0.0);
            for (piece, counts) in records.strata().pieces(range, FEW) {
                let rows = &records.features()[piece.start * d..piece.end * d];
                let labels = &records.targets()[piece];
                few[2 * d] = labels.iter().map(|label| grids.label.whole(target.of(*label))).sum();
                lanes::dispatch(AddRecords { rows, labels, target, grids, lines: &mut lines });
                lines.take(grids, labels.len(), &mut few);
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

/// Sums of records in registers. A line has a sum for each feature, of products with one number of each record: ½y, 1, and, if second
/// moments are wanted, each feature. Such a line begins at the register of its own feature.
struct Lines {
    columns: usize,
    count: usize,
    sums: Vec<[i64; LANES]>,
    /// Eight records, by registers.
    rows: Vec<[Eight; LANES]>,
}

impl Lines {
    fn new(columns: usize, second: bool) -> Self {
        let (count, width) = (if second { columns + 2 } else { 2 }, columns.div_ceil(LANES));
        Self {
            columns,
            count,
            sums: vec![[0; LANES]; count * width],
            rows: vec![[[0.0; LANES]; LANES]; width],
        }
    }

    /// The register that a line begins at.
    #[inline(always)]
    fn first(line: usize) -> usize {
        line.saturating_sub(2) / LANES
    }

    /// Moves the sums of so many records to where they belong.
    fn take(&mut self, grids: Grids, records: usize, out: &mut [i64]) {
        let (d, width) = (self.columns, self.rows.len());
        // Eight records are added at a time, the last of them perhaps of zeros.
        let added = records.next_multiple_of(LANES).cast_signed() as i64;
        let mut ends = out.iter_mut();
        for line in 0..self.count {
            let grid = if line < 2 { grids.feature } else { grids.square };
            let sums = self.sums[line * width..(line + 1) * width].as_flattened_mut();
            for (sum, end) in sums[line.saturating_sub(2)..d].iter().zip(&mut ends) {
                *end = sum.wrapping_sub(grid.offset().wrapping_mul(added));
            }
            sums.fill(0);
            if line == 1 {
                // The label's.
                ends.next();
            }
        }
    }
}

/// Adds records to sums.
struct AddRecords<'a> {
    rows: &'a [f64],
    labels: &'a [f64],
    target: Target,
    grids: Grids,
    lines: &'a mut Lines,
}

impl Work for AddRecords<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, r: R) {
        let Self { rows, labels, target, grids, lines } = self;
        let Lines { columns, count, sums, rows: eight } = lines;
        let width = eight.len();
        for (rows, labels) in rows.chunks(LANES * *columns).zip(labels.chunks(LANES)) {
            let mut halves = [0.0; LANES];
            halves.iter_mut().zip(labels).for_each(|(half, label)| *half = 0.5 * target.of(*label));
            if labels.len() < LANES {
                eight.fill([[0.0; LANES]; LANES]);
            }
            for (k, row) in rows.chunks_exact(*columns).enumerate() {
                for (register, cells) in eight.iter_mut().zip(row.chunks(LANES)) {
                    register[k] = match cells.as_array() {
                        Some(cells) => *cells,
                        None => r.store(r.partial(cells)),
                    };
                }
            }
            for line in 0..*count {
                let factors = match line {
                    0 => halves,
                    1 => [1.0; LANES],
                    _ => {
                        let (at, lane) = ((line - 2) / LANES, (line - 2) % LANES);
                        let mut own = [0.0; LANES];
                        for k in 0..LANES {
                            own[k] = eight[at][k][lane];
                        }
                        own
                    }
                };
                let grid = if line < 2 { grids.feature } else { grids.square };
                let from = Lines::first(line);
                add_line(
                    r,
                    grid,
                    &factors,
                    &eight[from..],
                    &mut sums[line * width + from..(line + 1) * width],
                );
            }
        }
    }
}

/// Adds the products of eight records with a number for each.
#[inline(always)]
fn add_line<R: Registers>(
    r: R,
    grid: Grid,
    factors: &Eight,
    rows: &[[Eight; LANES]],
    sums: &mut [[i64; LANES]],
) {
    let magic = r.all(grid.magic());
    let mut factor = [magic; LANES];
    for k in 0..LANES {
        factor[k] = r.all(factors[k]);
    }
    for (sums, rows) in sums.iter_mut().zip(rows) {
        let mut sum = r.load_whole(*sums);
        for k in 0..LANES {
            sum = r.add_bits(sum, r.add(r.times(factor[k], r.load(rows[k])), magic));
        }
        *sums = r.store_whole(sum);
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
