//! Metrics: all n² distances, in tiles, at the speed of matrix products.
//!
//! With g_ij = x_iᵀWx_j and q_i = g_ii the squared distance of a pair is q_i + q_j − 2g_ij, and with C_ij the slope of a pair,
//!
//! Σ_ij C_ij (x_i − x_j)(x_i − x_j)ᵀ = 2(Xᵀdiag(C1)X − XᵀCX).
//!
//! C is symmetric, so only tiles on and above the diagonal are formed: for rows I, Y = ½C_II X_I + Σ_{J>I} C_IJ X_J, and XᵀCX is
//! Σ X_IᵀY plus its transpose. A tile costs two products and its slopes. The table is read where it lies; memory beyond it is
//! a few tiles and some vectors of length n.

mod slopes;

use super::blocks::{self, Par};
use super::exact::{self, Fine};
use super::parts::{Mismatch, Share};
use super::single::same_class;
use crate::{MetricLoss, Problem, Records};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef};
use pairdp_units::directed::{larger, up_by};
use pulp::Arch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use slopes::{SetNorms, SetSlopes};

/// Rows of a tile: a multiple of what the products take at once, 48 rows with the widest registers, 12 or 8 with others.
const TILE: usize = 240;
/// Strips of tiles that are summed apart, whatever the number of threads.
const STRIPS: usize = 16;

/// Rounding errors of a term relative to the sum of absolute values: sums over n pairs and over n rows, in any order.
pub(super) fn roundings(n: usize, columns: usize) -> f64 {
    (2 * n + 4 * columns + 64) as f64
}

/// R·(¼e + 16·2⁻⁵²) for R = 4κ² and distances off by at most e = 8(2d + 16)·2⁻⁵²·κ²‖W‖: a logistic slope is ¼-Lipschitz. That
/// of a hinge has no such bound.
pub(super) fn position_error(loss: MetricLoss, kappa: f64, norm: f64, columns: usize) -> f64 {
    let square = kappa * kappa;
    let distance = 8.0 * (2.0 * columns as f64 + 16.0) * f64::EPSILON * square * norm;
    match loss {
        MetricLoss::Logistic => up_by(4.0 * square * (0.25 * distance + 16.0 * f64::EPSILON), 8.0),
        MetricLoss::Hinge => f64::INFINITY,
    }
}

/// (W + Wᵀ)/2: distances depend on nothing else, and the tiles rely on it.
fn symmetric_part(w: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|at| 0.5 * (w[at] + w[at % d * d + at / d])).collect()
}

/// A table, a metric and the squared norms xᵀWx.
struct Distances<'a> {
    records: &'a Records,
    metric: MatRef<'a, f64>,
    norms: Vec<f64>,
}

/// Memory that a thread works in.
struct Scratch {
    left: Mat<f64>,
    tile: Mat<f64>,
}

impl<'a> Distances<'a> {
    fn new(records: &'a Records, w: &'a [f64], par: Par) -> Self {
        let columns = records.columns();
        let mut norms = vec![0.0; records.len()];
        blocks::fill(&mut norms, par, |range, out| {
            let rows = &records.features()[range.start * columns..range.end * columns];
            Arch::new().dispatch(SetNorms { rows, w, out });
        });
        Self { records, metric: MatRef::from_row_major_slice(w, columns, columns), norms }
    }

    fn tiles(&self) -> usize {
        self.records.len().div_ceil(TILE)
    }

    /// First row and number of rows of a tile.
    fn extent(&self, tile: usize) -> (usize, usize) {
        (tile * TILE, TILE.min(self.records.len() - tile * TILE))
    }

    fn scratch(&self) -> Scratch {
        let left = Mat::zeros(TILE, self.records.columns());
        Scratch { left, tile: Mat::zeros(TILE, TILE) }
    }

    /// The rows of a tile.
    fn rows(&self, (start, rows): (usize, usize)) -> MatRef<'_, f64> {
        let columns = self.records.columns();
        let cells = &self.records.features()[start * columns..(start + rows) * columns];
        MatRef::from_row_major_slice(cells, rows, columns)
    }

    /// Calls `work` for every strip of a share's tile rows and returns the results in order.
    fn strips<T: Send>(&self, share: Share, par: Par, work: impl Fn(&[usize]) -> T + Sync + Send) -> Vec<T> {
        // Rows of tiles get shorter, so deal them out like cards.
        let tiles: Vec<usize> = (share.index..self.tiles()).step_by(share.of.max(1)).collect();
        let strips: Vec<Vec<usize>> = (0..STRIPS.min(tiles.len()))
            .map(|strip| tiles[strip..].iter().step_by(STRIPS).copied().collect())
            .collect();
        match par {
            Par::Sequential => strips.iter().map(|strip| work(strip)).collect(),
            Par::Parallel => strips.par_iter().map(|strip| work(strip)).collect(),
        }
    }
}

fn product(out: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, accum, a, b, 1.0, faer::Par::Seq);
}

/// XᵀY over some rows of tiles, and the slopes of the same tiles added up by record: in whole numbers, which merge.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TileSums {
    crossed: Vec<i128>,
    by_record: Vec<i128>,
}

impl TileSums {
    /// Adds another part's.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), Mismatch> {
        if self.crossed.len() != other.crossed.len() || self.by_record.len() != other.by_record.len() {
            return Err(Mismatch);
        }
        exact::add(&mut self.crossed, &other.crossed);
        exact::add(&mut self.by_record, &other.by_record);
        Ok(())
    }
}

/// Sums over one row of tiles, in steps far below their own roundings.
struct Steps {
    matrix: Fine,
    slope: Fine,
}

impl Steps {
    fn new(problem: Problem, (low, high): (f64, f64), n: usize) -> Self {
        let steepest = if -low > high { -low } else { high };
        // A record has up to n pairs in a row of tiles; the matrix adds up the rows of one.
        let slope = steepest * n as f64;
        let matrix = slope * TILE as f64 * problem.feature_bound() * problem.feature_bound();
        Self { matrix: Fine::for_terms(matrix), slope: Fine::for_terms(slope) }
    }
}

fn add_matrix(step: Fine, totals: &mut [i128], matrix: &Mat<f64>) {
    let d = matrix.ncols();
    for (at, total) in totals.iter_mut().enumerate() {
        *total += step.whole(matrix[(at / d, at % d)]);
    }
}

fn slope_range(problem: Problem, w: &[f64]) -> (f64, f64) {
    problem.constants_within(Problem::norm(w)).slopes
}

/// The rows of tiles of a share.
pub(super) fn tiles(
    problem: Problem,
    loss: MetricLoss,
    records: &Records,
    share: Share,
    w: &[f64],
    par: Par,
) -> TileSums {
    let (n, d) = (records.len(), records.columns());
    let w = &symmetric_part(w, d);
    let distances = Distances::new(records, w, par);
    let range = slope_range(problem, w);
    let steps = Steps::new(problem, range, n);
    let parts = distances.strips(share, par, |strip| {
        let mut scratch = distances.scratch();
        let mut folded = Mat::<f64>::zeros(TILE, d);
        let mut product_of_tile = Mat::<f64>::zeros(d, d);
        let mut sums = vec![0.0; n];
        let mut totals = TileSums { crossed: vec![0; d * d], by_record: vec![0; n] };
        for &first in strip {
            let here = distances.extent(first);
            sums[here.0..].fill(0.0);
            fold(&distances, loss, range, first, &mut scratch, &mut folded, &mut sums);
            let rows = distances.rows(here);
            let folded = folded.as_ref().subrows(0, here.1);
            product(product_of_tile.as_mut(), Accum::Replace, rows.transpose(), folded);
            add_matrix(steps.matrix, &mut totals.crossed, &product_of_tile);
            for (total, sum) in totals.by_record[here.0..].iter_mut().zip(&sums[here.0..]) {
                *total += steps.slope.whole(*sum);
            }
        }
        totals
    });
    let mut totals = TileSums { crossed: vec![0; d * d], by_record: vec![0; n] };
    for part in parts {
        exact::add(&mut totals.crossed, &part.crossed);
        exact::add(&mut totals.by_record, &part.by_record);
    }
    totals
}

/// C1: the slopes of every record's pairs.
pub(super) fn row_sums(problem: Problem, tiles: &TileSums, w: &[f64]) -> Vec<f64> {
    let n = tiles.by_record.len();
    let w = &symmetric_part(w, w.len().isqrt());
    let steps = Steps::new(problem, slope_range(problem, w), n);
    tiles.by_record.iter().map(|total| steps.slope.value(*total)).collect()
}

/// Xᵀdiag(weights)X over the rows of a share.
pub(super) fn squares(
    problem: Problem,
    records: &Records,
    share: Share,
    w: &[f64],
    weights: &[f64],
    par: Par,
) -> Vec<i128> {
    let d = records.columns();
    let w = &symmetric_part(w, d);
    let steps = Steps::new(problem, slope_range(problem, w), records.len());
    let distances = Distances { records, metric: MatRef::from_row_major_slice(w, d, d), norms: Vec::new() };
    let parts = distances.strips(share, par, |strip| {
        let mut square = Mat::<f64>::zeros(d, d);
        let mut totals = vec![0; d * d];
        for &tile in strip {
            let (start, count) = distances.extent(tile);
            let rows = distances.rows((start, count));
            let weighted = Mat::from_fn(count, d, |i, k| weights[start + i] * rows[(i, k)]);
            product(square.as_mut(), Accum::Replace, rows.transpose(), weighted.as_ref());
            add_matrix(steps.matrix, &mut totals, &square);
        }
        totals
    });
    let mut totals = vec![0; d * d];
    parts.iter().for_each(|part| exact::add(&mut totals, part));
    totals
}

/// The gradient from the sums over all tiles.
pub(super) fn mean(problem: Problem, tiles: &TileSums, own: &[i128], w: &[f64], n: usize) -> Vec<f64> {
    let d = w.len().isqrt();
    let w = &symmetric_part(w, d);
    let steps = Steps::new(problem, slope_range(problem, w), n);
    let pairs = n as f64 * (n as f64 - 1.0);
    let both = |totals: &[i128], i: usize, j: usize| {
        let total = |i: usize, j: usize| totals.get(i * d + j).copied().unwrap_or(0);
        steps.matrix.value(total(i, j).wrapping_add(total(j, i)))
    };
    let entry = |i: usize, j: usize| (both(own, i, j) - 2.0 * both(&tiles.crossed, i, j)) / pairs;
    (0..d * d).map(|at| entry(at / d, at % d)).collect()
}

/// Sets `folded` to ½C_II X_I + Σ_{J>I} C_IJ X_J for the rows of one tile, and adds the slopes up by record.
fn fold(
    distances: &Distances<'_>,
    loss: MetricLoss,
    range: (f64, f64),
    first: usize,
    scratch: &mut Scratch,
    folded: &mut Mat<f64>,
    sums: &mut [f64],
) {
    let here = distances.extent(first);
    let Scratch { left, tile } = scratch;
    let mut left = left.as_mut().subrows_mut(0, here.1);
    product(left.as_mut(), Accum::Replace, distances.rows(here), distances.metric);
    for second in first..distances.tiles() {
        let there = distances.extent(second);
        let rows = distances.rows(there);
        let products = tile.as_mut().submatrix_mut(0, 0, here.1, there.1);
        product(products, Accum::Replace, left.as_ref(), rows.transpose());
        let targets = distances.records.targets();
        Arch::new().dispatch(SetSlopes {
            loss,
            range,
            norms: &distances.norms,
            targets,
            here,
            there,
            tile,
            sums,
        });
        if second == first {
            *tile *= faer::Scale(0.5);
        }
        let accum = if second == first { Accum::Replace } else { Accum::Add };
        let slopes = tile.as_ref().submatrix(0, 0, here.1, there.1);
        product(folded.as_mut().subrows_mut(0, here.1), accum, slopes, rows);
    }
}

pub(super) fn risk(loss: MetricLoss, records: &Records, w: &[f64], par: Par) -> f64 {
    let n = records.len();
    if n < 2 {
        return 0.0;
    }
    let w = &symmetric_part(w, records.columns());
    let distances = Distances::new(records, w, par);
    let (norms, classes) = (&distances.norms, records.targets());
    let parts = distances.strips(Share::WHOLE, par, |strip| {
        let Scratch { mut left, mut tile } = distances.scratch();
        let mut sum = 0.0;
        for &first in strip {
            let (i, rows) = distances.extent(first);
            let mut left = left.as_mut().subrows_mut(0, rows);
            product(left.as_mut(), Accum::Replace, distances.rows((i, rows)), distances.metric);
            for second in first..distances.tiles() {
                let (j, columns) = distances.extent(second);
                let right = distances.rows((j, columns)).transpose();
                product(
                    tile.as_mut().submatrix_mut(0, 0, rows, columns),
                    Accum::Replace,
                    left.as_ref(),
                    right,
                );
                for b in 0..columns {
                    // Above the diagonal only, each pair once.
                    let end = if i == j { b } else { rows };
                    for a in 0..end {
                        let distance = norms[i + a] + norms[j + b] - 2.0 * tile[(a, b)];
                        sum += loss.value(distance, same_class(classes[i + a], classes[j + b]));
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
