//! The slopes of a tile's pairs.

use crate::MetricLoss;
use crate::kernel::exponential::exp_of_negative;
use crate::kernel::single::same_class;
use pulp::NullaryFnOnce;

/// Replaces a column of products by slopes.
pub(super) struct SetSlopes<'a> {
    pub(super) loss: MetricLoss,
    pub(super) column: &'a mut [f64],
    pub(super) norms: &'a [f64],
    pub(super) classes: &'a [f64],
    pub(super) norm: f64,
    pub(super) class: f64,
    pub(super) range: (f64, f64),
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
        let (low, high) = self.range;
        for ((value, other), other_class) in self.column.iter_mut().zip(self.norms).zip(self.classes) {
            let slope = slope(self.norm + other - 2.0 * *value, same_class(self.class, *other_class));
            let slope = if slope > high { high } else { slope };
            let slope = if slope < low { low } else { slope };
            // Distances that overflow are no numbers, and count as nothing.
            *value = if slope.is_nan() { 0.0 } else { slope };
        }
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
