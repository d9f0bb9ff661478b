//! Metrics: all n² distances, in tiles, at the speed of matrix products.
//!
//! With g_ij = x_iᵀWx_j and q_i = g_ii the squared distance of a pair is q_i + q_j − 2g_ij, and with C_ij the slope of a pair,
//!
//! Σ_ij C_ij (x_i − x_j)(x_i − x_j)ᵀ = 2 Xᵀ(diag(C1) − C)X.
//!
//! So a tile of pairs costs a product for its distances, its slopes, and two products that fold the slopes back onto rows.
//! C is symmetric: only tiles on and above the diagonal are formed. Memory is O(n·d + tile²).

use super::blocks::{self, Par};
use super::exponential::exp_of_negative;
use super::single::same_class;
use crate::{Element, MetricLoss, Problem, Records};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef};
use pairdp_units::directed::larger;
use pulp::Arch;
use rayon::prelude::*;

/// Rows of a tile.
const TILE: usize = 256;
/// Strips of tiles that are summed apart and merged in order, whatever the number of threads.
const STRIPS: usize = 16;

/// Rounding errors of a term relative to the sum of absolute values: sums over n pairs and over n rows, in any order.
pub(super) fn roundings(n: usize, columns: usize) -> f64 {
    (2 * n + 4 * columns + 64) as f64
}

/// The table in double precision, WX, and the squared norms xᵀWx.
struct Prepared {
    x: Mat<f64>,
    wx: Mat<f64>,
    norms: Vec<f64>,
    classes: Vec<f64>,
}

impl Prepared {
    fn new<E: Element>(records: &Records<E>, w: &[f64]) -> Self {
        let (n, d) = (records.len(), records.columns());
        let x = Mat::from_fn(n, d, |i, k| records.row(i)[k].wide());
        let metric = MatRef::from_row_major_slice(w, d, d);
        let mut wx = Mat::zeros(n, d);
        matmul(wx.as_mut(), Accum::Replace, x.as_ref(), metric, 1.0, faer::Par::Seq);
        let norms = (0..n).map(|i| (0..d).map(|k| wx[(i, k)] * x[(i, k)]).sum()).collect();
        Self { x, wx, norms, classes: records.targets().to_vec() }
    }

    fn rows(&self, tile: usize) -> (usize, usize) {
        let start = tile * TILE;
        (start, TILE.min(self.norms.len() - start))
    }

    /// Sets the top left of `tile` to the products x_iᵀWx_j of two tiles of rows.
    fn products(&self, (i, rows): (usize, usize), (j, columns): (usize, usize), tile: MatMut<'_, f64>) {
        let left = self.wx.as_ref().subrows(i, rows);
        let right = self.x.as_ref().subrows(j, columns);
        matmul(tile, Accum::Replace, left, right.transpose(), 1.0, faer::Par::Seq);
    }

    /// Calls `work` for every tile on and above the diagonal, strip by strip, and returns the strips' results in order.
    fn strips<T: Send>(&self, par: Par, work: impl Fn(&[usize]) -> T + Sync + Send) -> Vec<T> {
        let tiles = self.norms.len().div_ceil(TILE);
        // Rows of tiles get shorter, so deal them out like cards.
        let strips: Vec<Vec<usize>> =
            (0..STRIPS.min(tiles)).map(|strip| (strip..tiles).step_by(STRIPS).collect()).collect();
        match par {
            Par::Sequential => strips.iter().map(|strip| work(strip)).collect(),
            Par::Parallel => strips.par_iter().map(|strip| work(strip)).collect(),
        }
    }
}

pub(super) fn gradient<E: Element>(
    problem: Problem,
    loss: MetricLoss,
    records: &Records<E>,
    w: &[f64],
    par: Par,
) -> Vec<f64> {
    let (n, d) = (records.len(), records.columns());
    if n < 2 {
        return vec![0.0; d * d];
    }
    let prepared = Prepared::new(records, w);
    let length = 4.0 * problem.feature_bound() * problem.feature_bound();
    let steepest = problem.constants_within(Problem::norm(w)).gradient_bound / length;
    let tiles = n.div_ceil(TILE);
    let parts = prepared.strips(par, |strip| {
        let mut folded = Mat::<f64>::zeros(n, d);
        let mut sums = vec![0.0; n];
        let mut tile = Mat::<f64>::zeros(TILE, TILE);
        for &first in strip {
            let here = prepared.rows(first);
            for second in first..tiles {
                let there = prepared.rows(second);
                prepared.products(here, there, tile.as_mut().submatrix_mut(0, 0, here.1, there.1));
                slopes(&prepared, loss, steepest, here, there, &mut tile, &mut sums);
                let c = tile.as_ref().submatrix(0, 0, here.1, there.1);
                let (x_here, x_there) = (
                    prepared.x.as_ref().subrows(here.0, here.1),
                    prepared.x.as_ref().subrows(there.0, there.1),
                );
                matmul(
                    folded.as_mut().subrows_mut(here.0, here.1),
                    Accum::Add,
                    c,
                    x_there,
                    1.0,
                    faer::Par::Seq,
                );
                if second > first {
                    let target = folded.as_mut().subrows_mut(there.0, there.1);
                    matmul(target, Accum::Add, c.transpose(), x_here, 1.0, faer::Par::Seq);
                }
            }
        }
        // Xᵀ(diag(C1)X − CX), this strip's share.
        let balance = Mat::from_fn(n, d, |i, k| sums[i] * prepared.x[(i, k)] - folded[(i, k)]);
        let mut share = Mat::<f64>::zeros(d, d);
        matmul(
            share.as_mut(),
            Accum::Replace,
            prepared.x.as_ref().transpose(),
            balance.as_ref(),
            1.0,
            faer::Par::Seq,
        );
        share
    });
    let mut total = Mat::<f64>::zeros(d, d);
    for part in parts {
        total += part;
    }
    let pairs = n as f64 * (n as f64 - 1.0);
    // The exact gradient is symmetric; averaging the two halves keeps it so in rounding too.
    (0..d * d).map(|at| (total[(at / d, at % d)] + total[(at % d, at / d)]) / pairs).collect()
}

/// Replaces the products of a tile by the slopes of its pairs, and adds them up by record.
fn slopes(
    prepared: &Prepared,
    loss: MetricLoss,
    steepest: f64,
    (i, rows): (usize, usize),
    (j, columns): (usize, usize),
    tile: &mut Mat<f64>,
    sums: &mut [f64],
) {
    for b in 0..columns {
        let (norm, class) = (prepared.norms[j + b], prepared.classes[j + b]);
        let column = &mut tile.col_as_slice_mut(b)[..rows];
        let (norms, classes) = (&prepared.norms[i..i + rows], &prepared.classes[i..i + rows]);
        Arch::new().dispatch(|| match loss {
            MetricLoss::Hinge => set_slopes(column, norms, classes, norm, class, steepest, hinge_slope),
            MetricLoss::Logistic => set_slopes(column, norms, classes, norm, class, steepest, logistic_slope),
        });
        if i == j {
            // A record is no pair with itself.
            column[b] = 0.0;
        }
        blocks::add(&mut sums[i..i + rows], column);
        if i != j {
            sums[j + b] += whole(column);
        }
    }
}

#[inline(always)]
fn set_slopes(
    column: &mut [f64],
    norms: &[f64],
    classes: &[f64],
    norm: f64,
    class: f64,
    steepest: f64,
    slope: impl Fn(f64, bool) -> f64,
) {
    for ((value, other), other_class) in column.iter_mut().zip(norms).zip(classes) {
        let slope = slope(norm + other - 2.0 * *value, same_class(class, *other_class));
        // Slopes are numbers: distances of finite rows are.
        let slope = if slope > steepest { steepest } else { slope };
        *value = if slope < -steepest { -steepest } else { slope };
    }
}

#[inline(always)]
fn hinge_slope(distance: f64, same: bool) -> f64 {
    let pull = if distance > -1.0 { 1.0 } else { 0.0 };
    let push = if distance < 1.0 { -1.0 } else { 0.0 };
    if same { pull } else { push }
}

/// σ(M − 1), less 1 for two classes, without a branch.
#[inline(always)]
fn logistic_slope(distance: f64, same: bool) -> f64 {
    let z = distance - 1.0;
    let e = exp_of_negative(-z.abs());
    let large = 1.0 / (1.0 + e);
    let small = e * large;
    let pull = if z > 0.0 { large } else { small };
    let push = if z > 0.0 { -small } else { -large };
    if same { pull } else { push }
}

/// The sum of a column in eight lanes.
fn whole(column: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let mut chunks = column.chunks_exact(8);
    for chunk in &mut chunks {
        blocks::add(&mut lanes, chunk);
    }
    lanes.iter().sum::<f64>() + chunks.remainder().iter().sum::<f64>()
}

pub(super) fn risk<E: Element>(loss: MetricLoss, records: &Records<E>, w: &[f64], par: Par) -> f64 {
    let n = records.len();
    if n < 2 {
        return 0.0;
    }
    let prepared = Prepared::new(records, w);
    let tiles = n.div_ceil(TILE);
    let parts = prepared.strips(par, |strip| {
        let mut tile = Mat::<f64>::zeros(TILE, TILE);
        let mut sum = 0.0;
        for &first in strip {
            let (i, rows) = prepared.rows(first);
            for second in first..tiles {
                let (j, columns) = prepared.rows(second);
                prepared.products((i, rows), (j, columns), tile.as_mut().submatrix_mut(0, 0, rows, columns));
                for b in 0..columns {
                    // Above the diagonal only, each pair once.
                    let end = if i == j { b } else { rows };
                    for a in 0..end {
                        let distance = prepared.norms[i + a] + prepared.norms[j + b] - 2.0 * tile[(a, b)];
                        sum += loss
                            .value(distance, same_class(prepared.classes[i + a], prepared.classes[j + b]));
                    }
                }
            }
        }
        sum
    });
    2.0 * parts.into_iter().sum::<f64>() / (n as f64 * (n as f64 - 1.0))
}

/// The squared distances (x − y)ᵀW(x − y) of every row of `a` from every row of `b`, row-major.
pub fn score_pairs(a: &[f64], b: &[f64], columns: usize, w: &[f64]) -> Vec<f64> {
    let (x, y) = (
        MatRef::from_row_major_slice(a, a.len() / columns, columns),
        MatRef::from_row_major_slice(b, b.len() / columns, columns),
    );
    let metric = MatRef::from_row_major_slice(w, columns, columns);
    let (wx, wy) = (x * metric, y * metric);
    let norm =
        |m: &Mat<f64>, r: MatRef<'_, f64>, i: usize| (0..columns).map(|k| m[(i, k)] * r[(i, k)]).sum::<f64>();
    let norms: Vec<f64> = (0..y.nrows()).map(|j| norm(&wy, y, j)).collect();
    let products = &wx * y.transpose();
    (0..x.nrows())
        .flat_map(|i| {
            let here = norm(&wx, x, i);
            let products = &products;
            norms.iter().enumerate().map(move |(j, there)| larger(here + there - 2.0 * products[(i, j)], 0.0))
        })
        .collect()
}
