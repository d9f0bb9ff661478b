//! Losses of a squared distance.

use super::{MarginLoss, logistic, positive_part};
use serde::{Deserialize, Serialize};

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
