//! Where parameters may live.

use pairdp_units::directed::up_by;
use serde::{Deserialize, Serialize};

/// A closed convex set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Domain {
    /// Euclidean norm at most `radius`.
    Ball {
        /// A finite positive number.
        radius: f64,
    },
}

impl Domain {
    /// The largest norm of a point of the domain.
    pub fn radius(self) -> f64 {
        match self {
            Self::Ball { radius } => radius,
        }
    }

    /// Moves `point` to the nearest point of the domain.
    pub fn project(self, point: &mut [f64]) {
        match self {
            Self::Ball { radius } => crate::clip_row(point, radius),
        }
    }
}

/// The Euclidean norm, rounded up; 0 for the zero vector only.
pub(crate) fn norm_up(point: &[f64]) -> f64 {
    let largest = point.iter().fold(0.0_f64, |m, v| if v.abs() > m { v.abs() } else { m });
    if largest == 0.0 {
        return if point.iter().any(|v| v.is_nan()) { f64::NAN } else { 0.0 };
    }
    // Relative to the largest entry, so that tiny entries do not vanish.
    let relative = point.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt();
    up_by(largest * relative, point.len() as f64 + 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_is_the_nearest_point() {
        let ball = Domain::Ball { radius: 2.0 };
        let mut inside = vec![1.0, 1.0];
        ball.project(&mut inside);
        assert_eq!(inside, vec![1.0, 1.0]);
        let mut outside = vec![3.0, 4.0];
        ball.project(&mut outside);
        assert!((outside[0] - 1.2).abs() < 1e-12 && (outside[1] - 1.6).abs() < 1e-12);
        assert!(norm_up(&outside) >= 2.0 - 1e-12);
    }

    #[test]
    fn norm_is_rounded_up_and_zero_only_at_zero() {
        assert_eq!(norm_up(&[0.0, -0.0]).to_bits(), 0);
        assert!(norm_up(&[1e-200, 0.0]) > 1e-200);
        assert!(norm_up(&[3.0, 4.0]) > 5.0 && norm_up(&[3.0, 4.0]) < 5.0 + 1e-13);
        assert!(norm_up(&[f64::NAN]).is_nan());
    }
}
