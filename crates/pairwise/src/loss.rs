//! Losses: value and slope of a scalar, and what a proof needs to know of them.
//!
//! A loss is named here by its formula; on which records, pairs and domain it is minimised is for
//! [`Problem`](crate::Problem) to say. All are convex. All that there is to say of a loss of margins is in this file, but for
//! pairs in the order of time (`constants/comparable.rs`, `kernel/comparable.rs`) and its kernel; [`LossKind`] is the one table of
//! names that people type.

mod metric;
mod point;

pub use metric::MetricLoss;
pub use point::PointLoss;

use crate::Regularity;
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// A loss by the name that people type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// log(1 + e^−margin).
    Logistic,
    /// The same with a slope of at most ½.
    CappedLogistic,
    /// (1 − margin)₊.
    Hinge,
    /// (1 − margin)², or (target − score)².
    Squared,
    /// (1 − margin)₊^q.
    QHinge,
    /// |target − score|^q.
    QNorm,
}

/// A name, and the loss of a margin that it is for an exponent q, if it is one.
type Row = (LossKind, &'static str, fn(f64) -> Option<MarginLoss>);

impl LossKind {
    /// All of them, in order.
    const TABLE: [Row; 6] = [
        (Self::Logistic, "logistic", |_| Some(MarginLoss::Logistic)),
        (Self::CappedLogistic, "capped-logistic", |_| Some(MarginLoss::CappedLogistic)),
        (Self::Hinge, "hinge", |_| Some(MarginLoss::Hinge)),
        (Self::Squared, "squared", |_| Some(MarginLoss::Squared)),
        (Self::QHinge, "q-hinge", |q| Some(MarginLoss::QHinge { q })),
        (Self::QNorm, "q-norm", |_| None),
    ];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::TABLE.into_iter().map(|row| row.0)
    }

    fn row(self) -> Row {
        Self::TABLE[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The loss of a margin, with its exponent if it has one; none for a loss of residuals alone.
    pub fn of_margins(self, q: f64) -> Option<MarginLoss> {
        self.row().2(q)
    }

    /// Whether it grows no steeper with the margin than 1.
    pub fn is_lipschitz(self) -> bool {
        self.of_margins(1.5).is_some_and(MarginLoss::is_lipschitz)
    }
}

/// A loss φ of the margin s = score(positive) − score(negative), or of s = y·score for one record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarginLoss {
    /// φ(s) = (1 − s)₊.
    Hinge,
    /// φ(s) = log(1 + e^{−s}).
    Logistic,
    /// φ(s) = log(1 + e^{−s}) for s ≥ 0 and log 2 − s/2 below: the logistic loss whose slope goes no further than at 0, so that no
    /// record pulls harder than at the start. Convex and smooth, and consistent for AUC (Gao and Zhou 2015, Theorem 2).
    CappedLogistic,
    /// φ(s) = (1 − s)².
    Squared,
    /// φ(s) = (1 − s)₊^q with 1 < q < 2: smoother than the hinge, with a Hölder continuous slope.
    QHinge {
        /// The exponent q.
        q: f64,
    },
}

impl MarginLoss {
    /// φ(s).
    pub fn value(self, margin: f64) -> f64 {
        match self {
            Self::Hinge => positive_part(1.0 - margin),
            // log(1 + e^{−s}) without overflow.
            Self::Logistic if margin >= 0.0 => (-margin).exp().ln_1p(),
            Self::Logistic => margin.exp().ln_1p() - margin,
            Self::CappedLogistic if margin >= 0.0 => Self::Logistic.value(margin),
            Self::CappedLogistic => std::f64::consts::LN_2 - margin / 2.0,
            Self::Squared => (1.0 - margin) * (1.0 - margin),
            Self::QHinge { q } => positive_part(1.0 - margin).powf(q),
        }
    }

    /// −φ'(s): how steeply the loss falls. At the hinge's corner it is 0.
    pub fn steepness(self, margin: f64) -> f64 {
        match self {
            Self::Hinge => f64::from(u8::from(margin < 1.0)),
            Self::Logistic => logistic(-margin),
            Self::CappedLogistic => smaller(logistic(-margin), 0.5),
            Self::Squared => 2.0 * (1.0 - margin),
            Self::QHinge { q } => q * positive_part(1.0 - margin).powf(q - 1.0),
        }
    }

    /// The largest steepness at margins down to −`reach`.
    pub(crate) fn steepest(self, reach: f64) -> f64 {
        match self {
            Self::Hinge => 1.0,
            Self::Logistic => logistic(reach),
            Self::CappedLogistic => 0.5,
            Self::Squared => 2.0 * (1.0 + reach),
            Self::QHinge { q } => q * (1.0 + reach).powf(q - 1.0),
        }
    }

    /// The least steepness at margins up to `reach`: below 0 for the squared loss alone.
    pub(crate) fn flattest(self, reach: f64) -> f64 {
        match self {
            Self::Squared => 2.0 * (1.0 - reach),
            Self::Hinge | Self::Logistic | Self::CappedLogistic | Self::QHinge { .. } => 0.0,
        }
    }

    /// How far the steepness can vary over margins within ±`reach`.
    pub(crate) fn variation(self, reach: f64) -> f64 {
        match self {
            Self::Hinge => 1.0,
            Self::Logistic => (reach / 2.0).tanh(),
            Self::CappedLogistic => 0.5 * (reach / 2.0).tanh(),
            Self::Squared => 4.0 * reach,
            Self::QHinge { q } => self.steepest(reach) - q * larger(1.0 - reach, 0.0).powf(q - 1.0),
        }
    }

    /// Regularity of φ(w·v) in w for ‖v‖ ≤ `length`.
    pub(crate) fn regularity(self, length: f64) -> Regularity {
        match self {
            Self::Hinge => Regularity::Jumps,
            Self::Logistic | Self::CappedLogistic => Regularity::Smooth { constant: length * length / 4.0 },
            Self::Squared => Regularity::Smooth { constant: 2.0 * length * length },
            Self::QHinge { q } => Regularity::Hoelder { exponent: q - 1.0, constant: q * length.powf(q) },
        }
    }

    /// Whether no margin is steeper than 1, so that there is noise without a bound on the parameters.
    pub(crate) fn is_lipschitz(self) -> bool {
        match self {
            Self::Hinge | Self::Logistic | Self::CappedLogistic => true,
            Self::Squared | Self::QHinge { .. } => false,
        }
    }

    /// An exponent that has to lie between 1 and 2.
    pub(crate) fn exponent(self) -> Option<f64> {
        match self {
            Self::QHinge { q } => Some(q),
            Self::Hinge | Self::Logistic | Self::CappedLogistic | Self::Squared => None,
        }
    }

    /// Which kernel adds up its slopes over all pairs.
    pub(crate) fn summation(self) -> Summation {
        match self {
            Self::Hinge => Summation::Counts,
            Self::Logistic => Summation::Boxes,
            Self::CappedLogistic => Summation::Capped,
            Self::Squared => Summation::Sums,
            Self::QHinge { q } => Summation::Powers { q },
        }
    }
}

/// How slopes are added up over all pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Summation {
    /// The logistic function, by boxes of scores.
    Boxes,
    /// A step, by counts of sorted scores.
    Counts,
    /// A straight line, by sums.
    Sums,
    /// q·(1 − s)₊^{q−1}, by a tree over all scores.
    Powers {
        /// The exponent q.
        q: f64,
    },
    /// min(σ(−s), ½), by a tree over all scores.
    Capped,
}

impl Summation {
    /// Whether it takes all scores in one place.
    pub(crate) fn is_tree(self) -> bool {
        matches!(self, Self::Powers { .. } | Self::Capped)
    }
}

/// 1/(1 + e^{−t}), without overflow.
pub(crate) fn logistic(t: f64) -> f64 {
    if t >= 0.0 {
        1.0 / (1.0 + (-t).exp())
    } else {
        let e = t.exp();
        e / (1.0 + e)
    }
}

pub(crate) fn positive_part(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Away from corners, slopes are derivatives by central differences.
    #[test]
    fn slopes_are_derivatives() {
        let h = 1e-6;
        let derivative = |f: &dyn Fn(f64) -> f64, x: f64| (f(x + h) - f(x - h)) / (2.0 * h);
        let margins: Vec<MarginLoss> = LossKind::all().filter_map(|kind| kind.of_margins(1.4)).collect();
        for x in [-3.0, -0.7, 0.0, 0.4, 0.9, 1.7, 4.0] {
            for loss in margins.iter().copied() {
                let found = derivative(&|s| loss.value(s), x);
                assert!((loss.steepness(x) + found).abs() < 1e-6, "{loss:?} at {x}");
            }
            for (loss, same) in [
                (MetricLoss::Hinge, true),
                (MetricLoss::Hinge, false),
                (MetricLoss::Logistic, true),
                (MetricLoss::Logistic, false),
            ] {
                let found = derivative(&|m| loss.value(m, same), x);
                assert!((loss.slope(x, same) - found).abs() < 1e-6, "{loss:?} {same} at {x}");
            }
            for loss in margins.iter().copied().map(PointLoss::Margin).chain([
                PointLoss::Residual { q: 1.5, target_bound: 1.0 },
                PointLoss::Residual { q: 2.0, target_bound: 1.0 },
            ]) {
                for target in [-1.0, 1.0] {
                    let found = derivative(&|s| loss.value(s, target), x);
                    assert!((loss.slope(x, target) - found).abs() < 1e-5, "{loss:?} at {x}");
                }
            }
        }
    }

    #[test]
    fn the_table_of_names_is_in_the_order_of_the_kinds() {
        for (k, kind) in LossKind::all().enumerate() {
            assert_eq!(kind as usize, k);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }

    /// What a proof is told of a loss is what the loss does, margin by margin.
    #[test]
    fn bounds_on_slopes_are_those_of_the_slopes() {
        for loss in LossKind::all().filter_map(|kind| kind.of_margins(1.4)) {
            for reach in [0.0, 0.3, 1.0, 2.5, 30.0] {
                let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
                for k in -500..=500 {
                    let found = loss.steepness(f64::from(k) / 500.0 * reach);
                    (most, least) = (larger(most, found), smaller(least, found));
                }
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
                assert!(near(loss.steepest(reach), most), "{loss:?} within {reach}");
                assert!(loss.flattest(reach) <= least, "{loss:?} within {reach}");
                assert!(loss.variation(reach) >= most - least - 1e-12, "{loss:?} within {reach}");
                assert!(!loss.is_lipschitz() || most <= 1.0, "{loss:?} within {reach}");
            }
        }
    }

    #[test]
    fn huge_margins_stay_finite() {
        for margin in [1e8, -1e8, 1e300, -1e300] {
            assert!(MarginLoss::Logistic.value(margin).is_finite());
            assert!((0.0..=1.0).contains(&MarginLoss::Logistic.steepness(margin)));
        }
    }
}
