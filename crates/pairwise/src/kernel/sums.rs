//! Squared loss: the charge of a record needs the other class's count and sum alone.
//!
//! Σ_j 2(1 − s + t_j) = 2(N(1 − s) + Σt_j) for a positive of score s, and the mirror image for a negative.

use super::blocks::{self, Par};

/// Count, sum and sum of squares of each class's scores; blocks merge by addition.
pub(super) struct Sums {
    /// Negatives, then positives.
    classes: [[f64; 3]; 2],
}

impl Sums {
    pub(super) fn new(scores: &[f64], targets: &[f64], par: Par) -> Self {
        let parts = blocks::map(scores.len(), par, |range| {
            let mut classes = [[0.0; 3]; 2];
            for (s, target) in scores[range.clone()].iter().zip(&targets[range]) {
                let class = &mut classes[usize::from(*target > 0.0)];
                class[0] += 1.0;
                class[1] += s;
                class[2] += s * s;
            }
            classes
        });
        let mut classes = [[0.0; 3]; 2];
        for part in parts {
            for (class, add) in classes.iter_mut().zip(part) {
                blocks::add(class, &add);
            }
        }
        Self { classes }
    }

    pub(super) fn charges(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        let [[negatives, sum_of_negatives, _], [positives, sum_of_positives, _]] = self.classes;
        for ((charge, s), target) in out.iter_mut().zip(scores).zip(targets) {
            *charge = if *target > 0.0 {
                2.0 * (negatives * (1.0 - s) + sum_of_negatives)
            } else {
                -2.0 * (positives * (1.0 + s) - sum_of_positives)
            };
        }
    }

    /// Σ (1 − s + t)² over pairs: with u = 1 − s, Σ u² + 2ut + t².
    pub(super) fn risk(&self, scores: &[f64], targets: &[f64]) -> f64 {
        let [negatives, sum, squares] = self.classes[0];
        let one = |s: f64| {
            let u = 1.0 - s;
            negatives * u * u + 2.0 * u * sum + squares
        };
        scores.iter().zip(targets).filter(|(_, t)| **t > 0.0).map(|(s, _)| one(*s)).sum()
    }
}
