//! Where parameters may live, and the exact Euclidean projection onto it.
//!
//! A matrix is a row-major vector of length d², and its Euclidean norm is the Frobenius norm.

mod psd;

pub use psd::{metric_map, solve_ridge};

use pairdp_units::directed::{larger, up_by};
use serde::{Deserialize, Serialize};

/// A closed convex set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Domain {
    /// Everything.
    Whole,
    /// Euclidean (for matrices: Frobenius) norm at most `radius`.
    Ball {
        /// A finite positive number.
        radius: f64,
    },
    /// Positive semidefinite matrices of Frobenius norm at most `radius`.
    PsdBall {
        /// A finite positive number.
        radius: f64,
    },
    /// Diagonal matrices without negative entries, of Frobenius norm at most `radius`: a weight for each feature.
    PsdDiagonal {
        /// A finite positive number.
        radius: f64,
    },
    /// Positive semidefinite matrices of nuclear norm (here: trace) at most `radius`.
    PsdNuclear {
        /// A finite positive number.
        radius: f64,
    },
}

impl Domain {
    /// The largest Euclidean norm of a point of the domain.
    pub fn radius(self) -> f64 {
        match self {
            Self::Whole => f64::INFINITY,
            Self::Ball { radius }
            | Self::PsdBall { radius }
            | Self::PsdDiagonal { radius }
            | Self::PsdNuclear { radius } => radius,
        }
    }

    /// The largest distance of two points: 2B for a ball; √2·B within the positive semidefinite cone, where
    /// ⟨U, V⟩ ≥ 0.
    pub fn diameter(self) -> f64 {
        match self {
            Self::Whole => f64::INFINITY,
            Self::Ball { radius } => 2.0 * radius,
            Self::PsdBall { radius } | Self::PsdDiagonal { radius } | Self::PsdNuclear { radius } => {
                up_by(std::f64::consts::SQRT_2 * radius, 2.0)
            }
        }
    }

    /// Whether points are positive semidefinite matrices.
    pub fn is_psd(self) -> bool {
        matches!(self, Self::PsdBall { .. } | Self::PsdDiagonal { .. } | Self::PsdNuclear { .. })
    }

    /// Whether a point is in the domain. Projections leave such a point as it is, to the last bit.
    pub fn contains(self, point: &[f64]) -> bool {
        if let Self::Ball { radius } = self
            && crate::clip::fits_by_far(point, radius)
        {
            return true;
        }
        let mut inside = point.to_vec();
        self.project(&mut inside);
        inside.iter().zip(point).all(|(a, b)| a.to_bits() == b.to_bits())
    }

    /// Moves `point` to the nearest point of the domain.
    ///
    /// For the matrix domains `point` is a square matrix; its antisymmetric part is dropped, which is itself a
    /// projection and commutes with the rest.
    pub fn project(self, point: &mut [f64]) {
        match self {
            Self::Whole => {}
            Self::Ball { radius } => crate::clip_row(point, radius),
            Self::PsdBall { radius } => {
                // The nearest point of a cone within a ball is the ball's nearest point to the cone's.
                psd::project_eigenvalues(point, |values| {
                    values.iter_mut().for_each(|v| *v = larger(*v, 0.0));
                });
                crate::clip_row(point, radius);
            }
            Self::PsdDiagonal { radius } => {
                let d = point.len().isqrt();
                for (k, value) in point.iter_mut().enumerate() {
                    *value = if k.is_multiple_of(d + 1) { larger(*value, 0.0) } else { 0.0 };
                }
                crate::clip_row(point, radius);
            }
            Self::PsdNuclear { radius } => {
                psd::project_eigenvalues(point, |values| psd::project_to_simplex_below(values, radius));
            }
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
mod tests;
