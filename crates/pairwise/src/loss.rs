//! Scalar losses: value and slope, and the range their slopes can have.
//!
//! A loss is named here by its formula; on which records, pairs and domain it is minimised is for
//! [`Problem`](crate::Problem) to say. All are convex.

use pairdp_units::directed::smaller;
use serde::{Deserialize, Serialize};

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
}

/// A loss of the squared distance M = (x − x')ᵀW(x − x') of two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricLoss {
    /// (1 + M)₊ for records of one class, (1 − M)₊ for records of two.
    Hinge,
    /// log(1 + e^{M−1}) for records of one class, log(1 + e^{1−M}) for records of two.
    Logistic,
}

impl MetricLoss {
    /// The loss of a pair at squared distance M.
    pub fn value(self, distance: f64, same_class: bool) -> f64 {
        match (self, same_class) {
            (Self::Hinge, true) => positive_part(1.0 + distance),
            (Self::Hinge, false) => positive_part(1.0 - distance),
            (Self::Logistic, true) => MarginLoss::Logistic.value(1.0 - distance),
            (Self::Logistic, false) => MarginLoss::Logistic.value(distance - 1.0),
        }
    }

    /// The derivative in M: at least 0 for one class (pull together), at most 0 for two (push apart).
    pub fn slope(self, distance: f64, same_class: bool) -> f64 {
        match (self, same_class) {
            (Self::Hinge, true) => f64::from(u8::from(distance > -1.0)),
            (Self::Hinge, false) => -f64::from(u8::from(distance < 1.0)),
            (Self::Logistic, true) => logistic(distance - 1.0),
            (Self::Logistic, false) => -logistic(1.0 - distance),
        }
    }
}

/// A loss of one record's score and target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointLoss {
    /// A margin loss of y·score, y = ±1.
    Margin(MarginLoss),
    /// |y − score|^q, 1 < q ≤ 2, for targets within ±`target_bound`; q = 2 is least squares.
    Residual {
        /// The exponent q.
        q: f64,
        /// Y: targets beyond it are cut off.
        target_bound: f64,
    },
}

impl PointLoss {
    /// A stored target as this loss takes it: the sign for margins, within ±Y for residuals, 0 for what is no number.
    #[inline]
    pub fn read_target(self, stored: f64) -> f64 {
        match self {
            Self::Margin(_) => {
                if stored > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Self::Residual { target_bound, .. } => {
                if stored > target_bound {
                    target_bound
                } else if stored >= -target_bound {
                    stored
                } else if stored < -target_bound {
                    -target_bound
                } else {
                    0.0
                }
            }
        }
    }

    /// The loss of a record.
    pub fn value(self, score: f64, target: f64) -> f64 {
        match self {
            Self::Margin(loss) => loss.value(target * score),
            Self::Residual { q, .. } => (target - score).abs().powf(q),
        }
    }

    /// The derivative in the score.
    pub fn slope(self, score: f64, target: f64) -> f64 {
        match self {
            Self::Margin(loss) => -target * loss.steepness(target * score),
            Self::Residual { q, .. } => {
                let residual = score - target;
                // signum(0) is 1, but the power is 0 there.
                q * residual.abs().powf(q - 1.0) * residual.signum()
            }
        }
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

fn positive_part(value: f64) -> f64 {
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
        let margins = [
            MarginLoss::Hinge,
            MarginLoss::Logistic,
            MarginLoss::CappedLogistic,
            MarginLoss::Squared,
            MarginLoss::QHinge { q: 1.4 },
        ];
        for x in [-3.0, -0.7, 0.0, 0.4, 0.9, 1.7, 4.0] {
            for loss in margins {
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
            for loss in margins.map(PointLoss::Margin).into_iter().chain([
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
    fn huge_margins_stay_finite() {
        for margin in [1e8, -1e8, 1e300, -1e300] {
            assert!(MarginLoss::Logistic.value(margin).is_finite());
            assert!((0.0..=1.0).contains(&MarginLoss::Logistic.steepness(margin)));
        }
    }
}
