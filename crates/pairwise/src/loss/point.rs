//! Losses of one record.

use super::MarginLoss;
use serde::{Deserialize, Serialize};

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
