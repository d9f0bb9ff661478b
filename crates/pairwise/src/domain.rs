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

/// The Euclidean norm, rounded up.
pub(crate) fn norm_up(point: &[f64]) -> f64 {
    up_by(point.iter().map(|v| v * v).sum::<f64>().sqrt(), point.len() as f64)
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
}
