//! Mixtures of normals on a line, and how far one is above e^ε times another.

use libm::erfc;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Normals of standard deviation 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mixture {
    /// Centre and weight, each centre once.
    parts: Vec<(f64, f64)>,
}

/// Points of the grid on which signs are looked for, a standard deviation. Where two changes of sign fall between two points, δ is
/// found a little smaller than it is, and never larger.
pub(super) const FINE: f64 = 100.0;
pub(super) const COARSE: f64 = 8.0;
/// Standard deviations beyond the outermost centres.
const TAIL: f64 = 12.0;

impl Mixture {
    /// Sums of subsets, each term kept with the same chance.
    pub(super) fn of_subsets(terms: &[f64], chance: f64) -> Self {
        let mut parts = vec![(0.0, 1.0)];
        for term in terms {
            let kept = parts.iter().map(|(centre, weight)| (centre + term, weight * chance));
            let left = parts.iter().map(|(centre, weight)| (*centre, weight * (1.0 - chance)));
            parts = Self::new(kept.chain(left).collect()).parts;
        }
        Self { parts }
    }

    /// Centres with their weights, whatever those add up to; equal centres are one.
    pub(super) fn new(mut parts: Vec<(f64, f64)>) -> Self {
        let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
        parts.iter_mut().for_each(|(_, weight)| *weight /= total);
        parts.sort_by(|a, b| a.0.total_cmp(&b.0));
        parts.dedup_by(|next, kept| {
            let same = (next.0 - kept.0).abs() < 1e-12;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self { parts }
    }

    fn density(&self, x: f64) -> f64 {
        self.parts.iter().map(|(centre, weight)| weight * (-0.5 * (x - centre).powi(2)).exp()).sum::<f64>()
            / TAU.sqrt()
    }

    /// The weight between two places, each part's from the side on which it is small.
    pub(super) fn between(&self, a: f64, b: f64) -> f64 {
        let tail = |x: f64| 0.5 * erfc(x * FRAC_1_SQRT_2);
        let one = |centre: f64| match (a - centre, b - centre) {
            (a, b) if a >= 0.0 => tail(a) - tail(b),
            (a, b) if b <= 0.0 => tail(-b) - tail(-a),
            (a, b) => 1.0 - tail(-a) - tail(b),
        };
        self.parts.iter().map(|(centre, weight)| weight * one(*centre)).sum()
    }

    /// The larger of both directions' ∫ (p − e^ε·q)₊.
    pub(super) fn delta(&self, other: &Self, epsilon: f64, grid: f64) -> f64 {
        let (one, two) = (self.exceeds(other, epsilon, grid), other.exceeds(self, epsilon, grid));
        if one > two { one } else { two }
    }

    /// Signs of p − e^ε·q on a grid, their changes by bisection, and the integral between them.
    fn exceeds(&self, other: &Self, epsilon: f64, grid: f64) -> f64 {
        let factor = epsilon.exp();
        let positive = |x: f64| self.density(x) > factor * other.density(x);
        let ends = [&self.parts, &other.parts].map(|parts| (parts[0].0, parts[parts.len() - 1].0));
        let low = if ends[0].0 < ends[1].0 { ends[0].0 } else { ends[1].0 } - TAIL;
        let high = if ends[0].1 > ends[1].1 { ends[0].1 } else { ends[1].1 } + TAIL;
        let steps = ((high - low) * grid).ceil();
        let point = |k: f64| low + (high - low) * k / steps;
        let mut changes = Vec::new();
        let mut before = positive(low);
        if before {
            changes.push(f64::NEG_INFINITY);
        }
        let mut k = 1.0;
        while k <= steps {
            let now = positive(point(k));
            if now != before {
                let (mut a, mut b) = (point(k - 1.0), point(k));
                for _ in 0..50 {
                    let middle = 0.5 * (a + b);
                    if positive(middle) == before { a = middle } else { b = middle }
                }
                changes.push(0.5 * (a + b));
            }
            (before, k) = (now, k + 1.0);
        }
        if before {
            changes.push(f64::INFINITY);
        }
        let gain = |a: f64, b: f64| self.between(a, b) - factor * other.between(a, b);
        changes.chunks_exact(2).map(|ends| gain(ends[0], ends[1])).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_accountant::quadrature::gaussian_delta;

    #[test]
    fn two_normals_have_the_gaussian_curve() {
        for (ratio, epsilon) in [(0.5, 0.3), (1.0, 1.0), (2.0, 3.0), (0.3, 1.0)] {
            let [a, b] = [0.0, ratio].map(|centre| Mixture::new(vec![(centre, 1.0)]));
            let (found, exact) = (a.delta(&b, epsilon, FINE), gaussian_delta(epsilon, ratio).unwrap());
            assert!((found - exact).abs() <= 1e-7 * exact + 1e-15, "{found:e} for {exact:e}");
        }
    }

    /// Far out only tails are left, on either side.
    #[test]
    fn tiny_deltas_are_the_same_on_both_sides() {
        for side in [1.0, -1.0] {
            let [a, b] = [0.0, side * 0.5].map(|centre| Mixture::new(vec![(centre, 1.0)]));
            let exact = gaussian_delta(4.0, 0.5).unwrap();
            assert!(exact < 1e-15, "{exact:e}");
            let found = b.exceeds(&a, 4.0, FINE);
            assert!((found / exact - 1.0).abs() < 1e-6, "{found:e} for {exact:e}");
            // Two normals have one change of sign, which every grid finds.
            assert!((b.exceeds(&a, 4.0, COARSE) / found - 1.0).abs() < 1e-9);
        }
    }

    /// A sample that misses the record changes nothing: (1 − q)N(0) + qN(d) against N(0) at ε has δ = q·δ_d(log(1 + (e^ε − 1)/q)).
    #[test]
    fn a_mixture_has_the_amplified_curve() {
        let (d, epsilon) = (1.5, 0.4_f64);
        let mixed = Mixture::new(vec![(0.0, 3.0), (d, 1.0)]);
        let plain = Mixture::new(vec![(0.0, 1.0)]);
        let exact = 0.25 * gaussian_delta((1.0 + epsilon.exp_m1() / 0.25).ln(), d).unwrap();
        let found = mixed.exceeds(&plain, epsilon, FINE);
        assert!((found - exact).abs() <= 1e-7 * exact, "{found:e} for {exact:e}");
    }

    #[test]
    fn subsets_weigh_what_their_chances_are() {
        let mixture = Mixture::of_subsets(&[1.0, 1.0, -2.0], 0.5);
        let weight: f64 = mixture.parts.iter().map(|(_, weight)| weight).sum();
        let mean: f64 = mixture.parts.iter().map(|(centre, weight)| centre * weight).sum();
        assert!(
            (weight - 1.0).abs() < 1e-15 && mean.abs() < 1e-15 && mixture.parts.len() == 5,
            "{mixture:?}"
        );
    }
}
