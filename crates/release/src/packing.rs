//! What of the parameters is released: all of a vector, the upper half of a symmetric matrix, a diagonal.
//!
//! A symmetric d × d matrix has d(d + 1)/2 free entries. With those off the diagonal multiplied by √2 they form a vector
//! of the same Euclidean norm, so sensitivities stay what they are and only half the noise is added. A diagonal metric has d:
//! leaving out the rest of a gradient moves it no further.

use pairdp_pairwise::{Domain, Objective, Problem};
use std::f64::consts::SQRT_2;

/// Roundings of packing a matrix, relative to its norm.
pub(crate) const PACKING_ROUNDINGS: f64 = 4.0;

/// What parameters are.
enum Shape {
    Vector,
    Symmetric,
    Diagonal,
}

impl Shape {
    fn of(problem: Problem) -> Self {
        match (problem.objective(), problem.domain()) {
            (Objective::Metric { .. }, Domain::PsdDiagonal { .. }) => Self::Diagonal,
            (Objective::Metric { .. }, _) => Self::Symmetric,
            _ => Self::Vector,
        }
    }
}

/// Coordinates of a release.
pub fn coordinates(problem: Problem, features: usize) -> usize {
    match Shape::of(problem) {
        Shape::Symmetric => features.saturating_mul(features + 1) / 2,
        Shape::Diagonal => features,
        Shape::Vector => problem.parameters(features),
    }
}

/// How far packing can move a query of norm at most `norm` from its exact image.
pub(crate) fn error(problem: Problem, norm: f64) -> f64 {
    match problem.objective() {
        Objective::Metric { .. } => PACKING_ROUNDINGS * f64::EPSILON * norm,
        _ => 0.0,
    }
}

/// The coordinates of a vector of parameters; the antisymmetric part of a matrix is dropped.
pub(crate) fn pack(problem: Problem, features: usize, parameters: Vec<f64>) -> Vec<f64> {
    let at = |i: usize, j: usize| parameters[i * features + j];
    match Shape::of(problem) {
        Shape::Vector => parameters,
        Shape::Diagonal => (0..features).map(|i| at(i, i)).collect(),
        Shape::Symmetric => {
            let mut packed = Vec::with_capacity(coordinates(problem, features));
            for i in 0..features {
                packed.push(at(i, i));
                packed.extend((i + 1..features).map(|j| f64::midpoint(at(i, j), at(j, i)) * SQRT_2));
            }
            packed
        }
    }
}

/// The parameters of given coordinates.
pub(crate) fn unpack(problem: Problem, features: usize, packed: Vec<f64>) -> Vec<f64> {
    let zeros = || vec![0.0; features * features];
    match Shape::of(problem) {
        Shape::Vector => packed,
        Shape::Diagonal => {
            let mut matrix = zeros();
            matrix.iter_mut().step_by(features + 1).zip(packed).for_each(|(entry, value)| *entry = value);
            matrix
        }
        Shape::Symmetric => {
            let mut matrix = zeros();
            let mut rest = packed.into_iter();
            for i in 0..features {
                for j in i..features {
                    let value = rest.next().unwrap_or(0.0) / if i == j { 1.0 } else { SQRT_2 };
                    matrix[i * features + j] = value;
                    matrix[j * features + i] = value;
                }
            }
            matrix
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_pairwise::{Domain, MetricLoss};

    #[test]
    fn packing_keeps_norms_and_returns() {
        let objective = Objective::Metric { loss: MetricLoss::Logistic };
        let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
        let matrix = vec![1.0, 2.0, -3.0, 2.0, 5.0, 0.25, -3.0, 0.25, -1.0];
        let packed = pack(problem, 3, matrix.clone());
        assert_eq!(packed.len(), 6);
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        assert!((norm(&packed) - norm(&matrix)).abs() < 1e-12);
        let back = unpack(problem, 3, packed);
        assert!(back.iter().zip(&matrix).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
