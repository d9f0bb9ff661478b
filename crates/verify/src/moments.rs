//! One noisy release of moments: `proofs/moments.md`.

use crate::facts::{COMPOSITION, Facts};
use crate::relations::{Relation, TOLERANCE, UNIT, covers, larger, require};
use crate::{Family, ROUNDING};
use pairdp_certificate::{Algorithm, Neighbours, Released, Weights};
use std::f64::consts::{PI, SQRT_2};

pub(crate) const FAMILY: Family = Family {
    is_of: |algorithm| algorithm == Algorithm::Moments,
    fits_plan: |_, plan| plan.steps == 1,
    reach: |facts| {
        let Released::Moments { weights, sensitivity, error, ratio, .. } = facts.certificate.released else {
            return Ok(f64::NAN);
        };
        let distance = facts.norm_factor() * (sensitivity + 2.0 * error);
        Ok(largest(weights, facts.problem.feature_bound) * ratio / distance)
    },
    slack: ROUNDING,
    samples: |_, each| each,
    relations: |facts, _| relations(facts),
};

fn relations(facts: &Facts) -> Vec<Relation> {
    let Released::Moments { weights, sensitivity, error, ratio, sigma } = facts.certificate.released else {
        return Vec::new();
    };
    let kappa = facts.problem.feature_bound;
    let roundings = 24.0 * (1.0 + (facts.certificate.parameters as f64).sqrt());
    let proved = weights.mean > 0.0 && weights.mean <= 0.5 && (0.0..=1.0).contains(&weights.second);
    vec![
        ("weights", "a in (0, ½], α in [0, 1]", require(proved, || format!("{weights:?}"))),
        (
            "sensitivity",
            "Δ = κ·max over angles of ‖u − u'‖/n, u = (½yx, a·x, aκ·y, (α/κ)·xxᵀ); under a promised cap ‖u‖/n",
            covers("Δ", sensitivity, moved(facts, weights) / facts.n(), TOLERANCE),
        ),
        (
            "error",
            "τ = 24(1 + √p)·2⁻⁵²·κ√(¼ + 2a² + α²)",
            covers("τ", error, roundings * UNIT * largest(weights, kappa), TOLERANCE),
        ),
        (
            "noise",
            "σ = c·(Δ + 2τ)/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            covers("σ", sigma, facts.noise_scale(sensitivity + 2.0 * error, ratio), TOLERANCE),
        ),
        ("composition", COMPOSITION, facts.composition(1, ratio)),
    ]
}

/// ½yx, a·x, aκ·y, and the upper half of a symmetric matrix unless it has no weight.
pub(crate) fn coordinates(weights: Weights, features: usize) -> Option<usize> {
    let matrix = if weights.second > 0.0 { features.checked_mul(features.checked_add(1)?)? / 2 } else { 0 };
    features.checked_mul(2)?.checked_add(1)?.checked_add(matrix)
}

/// The largest norm of a record's vector.
pub(crate) fn largest(weights: Weights, kappa: f64) -> f64 {
    kappa * (0.25 + 2.0 * weights.mean.powi(2) + weights.second.powi(2)).sqrt()
}

/// n times how far one record can move the moments: by the distance of two vectors, or by its own where none is pushed out.
fn moved(facts: &Facts, weights: Weights) -> f64 {
    let kappa = facts.problem.feature_bound;
    match facts.problem.neighbours {
        Neighbours::AddRemovePromised { .. } => largest(weights, kappa),
        Neighbours::ReplaceOne | Neighbours::AddRemoveOne { .. } => apart(weights) * kappa,
    }
}

/// The vector of a record at an angle of the plane, of length 1.
fn vector(Weights { mean: a, second: s }: Weights, angle: f64, y: f64) -> [f64; 8] {
    let (x, z) = (angle.cos(), angle.sin());
    [0.5 * y * x, 0.5 * y * z, a * x, a * z, a * y, s * x * x, s * z * z, s * SQRT_2 * x * z]
}

/// The largest distance of two records' vectors in units of κ: two unit vectors of the plane, with equal labels and with different
/// ones, by definition on a grid of angles that is refined around its best one.
fn apart(weights: Weights) -> f64 {
    const CELLS: u32 = 1000;
    let mut most = 0.0;
    for y in [1.0, -1.0] {
        let distance = |angle: f64| {
            let (u, v) = (vector(weights, 0.0, 1.0), vector(weights, angle, y));
            u.iter().zip(&v).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        let (mut low, mut width) = (0.0, PI);
        for _ in 0..4 {
            let cell = width / f64::from(CELLS);
            let angles = (0..=CELLS).map(|k| low + f64::from(k) * cell);
            let best =
                angles.fold(low, |best, angle| if distance(angle) > distance(best) { angle } else { best });
            most = larger(most, distance(best));
            (low, width) = (best - cell, 2.0 * cell);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_pairwise::moments::{self, Weights as Trained};

    #[test]
    fn sensitivity_error_and_size_are_those_of_the_query() {
        for (mean, second) in [(0.25, 0.0), (0.25, 0.306), (0.5, 0.0), (0.5, 1.0), (0.1, 0.7), (1e-3, 0.353)]
        {
            let (weights, trained) = (Weights { mean, second }, Trained { mean, second });
            let found = moments::sensitivity(trained, 3.0, 10).unwrap().get();
            let own = apart(weights) * 3.0 / 10.0;
            assert!(
                found >= own * (1.0 - 1e-13) && found <= own * (1.0 + TOLERANCE),
                "{weights:?} {found} {own}"
            );
            let rounded = 24.0 * (1.0 + (coordinates(weights, 7).unwrap() as f64).sqrt());
            let own = rounded * UNIT * largest(weights, 3.0);
            let found = moments::error_bound(trained, 3.0, 7);
            assert!(
                found >= own * (1.0 - 1e-13) && found <= own * (1.0 + TOLERANCE),
                "{weights:?} {found} {own}"
            );
            assert_eq!(coordinates(weights, 7), Some(trained.coordinates(7)));
        }
        assert_eq!(coordinates(Weights { mean: 0.1, second: 0.1 }, usize::MAX), None);
    }
}
