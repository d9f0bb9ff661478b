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
use crate::{ProblemError, Records, Sensitivity};
use faer::{MatRef, linalg::matmul::matmul};
use pairdp_units::ReplaceOne;
use pairdp_units::directed::{larger, up_by};
use rayon::prelude::*;
use std::f64::consts::SQRT_2;

/// Rows that are added up before their sum is.
const BLOCK: usize = 4096;

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
/// [`ProblemError::TooFewRecords`] below two records.
pub fn sensitivity(weights: Weights, kappa: f64, n: usize) -> Result<Sensitivity<ReplaceOne>, ProblemError> {
    if n < 2 {
        return Err(ProblemError::TooFewRecords(n));
    }
    Ok(Sensitivity::new(up_by(weights.apart(kappa) / n as f64, 2.0)))
}

/// How far the computed mean can be from the exact one: a term passes through the sum of its block, that of the blocks, and a
/// handful of products.
pub fn error_bound(weights: Weights, kappa: f64, n: usize) -> f64 {
    let roundings = (BLOCK + n.div_ceil(BLOCK)) as f64 + 24.0;
    up_by(roundings * f64::EPSILON * weights.largest(kappa), 4.0)
}

/// What y is.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The sum of the first `size` records' vectors over `size`, for the κ that the sensitivity is for.
pub fn query(
    weights: Weights,
    kappa: f64,
    target: Target,
    records: &Records,
    size: usize,
    par: Par,
) -> Vec<f64> {
    let (n, d) = (records.len().min(size), records.columns());
    let block = |range: std::ops::Range<usize>| {
        let rows = &records.features()[range.start * d..range.end * d];
        let mut sums = vec![0.0; 2 * d + 1];
        for (row, label) in rows.chunks_exact(d).zip(&records.targets()[range.clone()]) {
            let y = target.of(*label);
            for (k, value) in row.iter().enumerate() {
                sums[k] += 0.5 * y * value;
                sums[d + k] += value;
            }
            sums[2 * d] += y;
        }
        let mut matrix = vec![0.0; if weights.second > 0.0 { d * d } else { 0 }];
        if weights.second > 0.0 {
            let x = MatRef::from_row_major_slice(rows, range.len(), d);
            let out = faer::MatMut::from_row_major_slice_mut(&mut matrix, d, d);
            matmul(out, faer::Accum::Replace, x.transpose(), x, 1.0, faer::Par::Seq);
        }
        (sums, matrix)
    };
    let ranges: Vec<_> = (0..n).step_by(BLOCK).map(|start| start..(start + BLOCK).min(n)).collect();
    let parts: Vec<_> = match par {
        Par::Sequential => ranges.into_iter().map(block).collect(),
        Par::Parallel => ranges.into_par_iter().map(block).collect(),
    };
    let (mut sums, mut matrix) =
        (vec![0.0; 2 * d + 1], vec![0.0; if weights.second > 0.0 { d * d } else { 0 }]);
    for (part_sums, part_matrix) in &parts {
        sums.iter_mut().zip(part_sums).for_each(|(sum, part)| *sum += part);
        matrix.iter_mut().zip(part_matrix).for_each(|(sum, part)| *sum += part);
    }
    let n = size as f64;
    let mut out = Vec::with_capacity(weights.coordinates(d));
    out.extend(sums[..d].iter().map(|sum| sum / n));
    out.extend(sums[d..2 * d].iter().map(|sum| weights.mean * sum / n));
    out.push(weights.mean * kappa * sums[2 * d] / n);
    if weights.second > 0.0 {
        let scale = weights.second / (kappa * n);
        for i in 0..d {
            out.push(scale * matrix[i * d + i]);
            out.extend(
                (i + 1..d).map(|j| scale * SQRT_2 * f64::midpoint(matrix[i * d + j], matrix[j * d + i])),
            );
        }
    }
    out
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
            let mut expected = vec![0.0; weights.coordinates(d)];
            for i in 0..n {
                let one = vector(weights, kappa, records.row(i), records.targets()[i]);
                expected.iter_mut().zip(&one).for_each(|(sum, v)| *sum += v / n as f64);
            }
            let all = |par| query(weights, kappa, Target::Sign, &records, n, par);
            let found = all(Par::Parallel);
            assert_eq!(found, all(Par::Sequential));
            assert!(distance(&found, &expected) < 1e-12);
            // Over a cap, as if there were so many records; and none beyond it.
            let capped = |size| query(weights, kappa, Target::Sign, &records, size, Par::Parallel);
            let twice: Vec<f64> = capped(2 * n).iter().map(|v| 2.0 * v).collect();
            assert!(distance(&twice, &expected) < 1e-12);
            let first = records.select(&(0..500).collect::<Vec<u32>>());
            let expected = query(weights, kappa, Target::Sign, &first, 500, Par::Parallel);
            assert!(distance(&capped(500), &expected) < 1e-12);
            assert!(error_bound(weights, kappa, n) < 1e-11);
        }
    }
}
