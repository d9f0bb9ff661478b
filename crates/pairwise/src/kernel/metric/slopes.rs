//! The slopes of a tile's pairs, in the registers that the machine has.

use crate::MetricLoss;
use crate::kernel::blocks;
use crate::kernel::exponential::exp_of_negative;
use crate::kernel::single::{quadratic_form, same_class};
use faer::Mat;
use pulp::NullaryFnOnce;

/// The squared norms of rows.
pub(super) struct SetNorms<'a> {
    pub(super) rows: &'a [f64],
    pub(super) w: &'a [f64],
    pub(super) out: &'a mut [f64],
}

impl NullaryFnOnce for SetNorms<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.rows.len() / self.out.len().max(1);
        for (norm, row) in self.out.iter_mut().zip(self.rows.chunks_exact(columns)) {
            *norm = quadratic_form(row, self.w);
        }
    }
}

/// Replaces the products of a tile by the slopes of its pairs, and adds them up by record.
pub(super) struct SetSlopes<'a> {
    pub(super) loss: MetricLoss,
    pub(super) range: (f64, f64),
    /// Of all records.
    pub(super) norms: &'a [f64],
    pub(super) targets: &'a [f64],
    /// First row and number of rows of both sides.
    pub(super) here: (usize, usize),
    pub(super) there: (usize, usize),
    pub(super) tile: &'a mut Mat<f64>,
    pub(super) sums: &'a mut [f64],
}

impl NullaryFnOnce for SetSlopes<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.loss {
            MetricLoss::Hinge => self.set(hinge_slope),
            MetricLoss::Logistic => self.set(logistic_slope),
        }
    }
}

impl SetSlopes<'_> {
    #[inline(always)]
    fn set(self, slope: impl Fn(f64, bool) -> f64) {
        let Self { range, norms, targets, here: (i, rows), there: (j, columns), tile, sums, .. } = self;
        for b in 0..columns {
            let column = &mut tile.col_as_slice_mut(b)[..rows];
            let own = (norms[j + b], targets[j + b]);
            set_column(column, &norms[i..i + rows], &targets[i..i + rows], own, range, &slope);
            if i != j {
                blocks::add(&mut sums[i..i + rows], column);
                sums[j + b] += whole(column);
            }
        }
        if i == j {
            mirror(tile, rows);
            for b in 0..columns {
                blocks::add(&mut sums[i..i + rows], &tile.col_as_slice(b)[..rows]);
            }
        }
    }
}

#[inline(always)]
fn set_column(
    column: &mut [f64],
    norms: &[f64],
    classes: &[f64],
    (norm, class): (f64, f64),
    (low, high): (f64, f64),
    slope: &impl Fn(f64, bool) -> f64,
) {
    for ((value, other), other_class) in column.iter_mut().zip(norms).zip(classes) {
        let slope = slope(norm + other - 2.0 * *value, same_class(class, *other_class));
        let slope = if slope > high { high } else { slope };
        let slope = if slope < low { low } else { slope };
        // Distances that overflow are no numbers, and count as nothing.
        *value = if slope.is_nan() { 0.0 } else { slope };
    }
}

/// Makes a diagonal tile symmetric to the last bit, so that a pair has one slope; a record is no pair with itself.
fn mirror(tile: &mut Mat<f64>, rows: usize) {
    for b in 0..rows {
        tile[(b, b)] = 0.0;
        for a in 0..b {
            tile[(b, a)] = tile[(a, b)];
        }
    }
}

/// The sum of a column in eight lanes.
#[inline(always)]
fn whole(column: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let mut chunks = column.chunks_exact(8);
    for chunk in &mut chunks {
        for k in 0..8 {
            lanes[k] += chunk[k];
        }
    }
    lanes.iter().sum::<f64>() + chunks.remainder().iter().sum::<f64>()
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
