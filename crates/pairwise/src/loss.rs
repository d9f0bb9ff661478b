//! Scalar losses of a margin.

use serde::{Deserialize, Serialize};

/// A convex, non-increasing loss φ of the margin s = score(positive) − score(negative).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// φ(s) = log(1 + e^{−s}).
    Logistic,
}

impl Loss {
    /// φ(s).
    pub fn value(self, margin: f64) -> f64 {
        match self {
            // log(1 + e^{−s}) without overflow.
            Self::Logistic if margin >= 0.0 => (-margin).exp().ln_1p(),
            Self::Logistic => margin.exp().ln_1p() - margin,
        }
    }

    /// −φ'(s), which lies in [0, 1] and falls as the margin grows.
    pub fn steepness(self, margin: f64) -> f64 {
        match self {
            Self::Logistic => logistic(-margin),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steepness_is_minus_the_derivative() {
        for margin in [-30.0, -2.0, -0.1, 0.0, 0.3, 5.0, 30.0] {
            let h = 1e-5;
            let slope = (Loss::Logistic.value(margin + h) - Loss::Logistic.value(margin - h)) / (2.0 * h);
            assert!((Loss::Logistic.steepness(margin) + slope).abs() < 1e-9, "{margin}");
        }
        assert!(Loss::Logistic.value(1e8).is_finite() && Loss::Logistic.value(-1e8).is_finite());
    }
}
