//! Noisy gradients of one pass, each record against all before it: `proofs/one_pass_and_matching.md`.

use crate::Family;
use crate::constants::{packing_error, pair_relation};
use crate::facts::{COMPOSITION, Facts};
use crate::relations::{Relation, TOLERANCE, UNIT, covers, require};
use pairdp_certificate::{Algorithm, NoiseKind, Released};

pub(crate) const FAMILY: Family = Family {
    is_of: |algorithm| algorithm == Algorithm::OnlinePair,
    fits_plan: |facts, plan| {
        let Released::Online { steps, order, .. } = facts.certificate.released else { return false };
        steps == plan.steps && order == plan.order.unwrap_or_default()
    },
    reach: |facts| {
        let Released::Online { sigma, .. } = facts.certificate.released else { return Ok(f64::NAN) };
        Ok(facts.over_domain().gradient / sigma)
    },
    // σ is known only after the bits.
    slack: 1e-3,
    samples: |facts, _| {
        let Released::Online { steps, .. } = facts.certificate.released else { return f64::NAN };
        f64::from(steps) * facts.certificate.parameters as f64
    },
    relations: |facts, _| relations(facts),
};

fn relations(facts: &Facts) -> Vec<Relation> {
    let Released::Online { steps, sensitivity, gradient_error, ratio, sigma, .. } =
        facts.certificate.released
    else {
        return Vec::new();
    };
    let (bounds, n) = (facts.over_domain(), facts.n());
    let one_pass = usize::try_from(steps).ok().and_then(|steps| steps.checked_add(1));
    let fits = one_pass == Some(facts.certificate.records) && facts.noise == NoiseKind::Gaussian;
    let expected_error = (n + 16.0) * UNIT * bounds.gradient + packing_error(facts.problem, bounds.gradient);
    let root = f64::from(steps).sqrt();
    let moved = inverse_squares(steps).sqrt() * sensitivity + 2.0 * root * gradient_error;
    let expected_noise = moved / (ratio - root * facts.lattice_rounding());
    vec![
        (
            "releases",
            "n − 1 steps with Gaussian noise",
            require(fits, || format!("{steps} steps over {n} records")),
        ),
        ("sensitivity", pair_relation(facts.problem), covers("D", sensitivity, bounds.pair, TOLERANCE)),
        ("gradient error", "τ = (n + 16)·2⁻⁵²·G", covers("τ", gradient_error, expected_error, TOLERANCE)),
        (
            "noise",
            "σ = (√(1 + 1/4 + … + 1/(n−1)²)·D + √(n−1)·2τ)/(m − √(n−1)·√p·(1 + 2⁻⁷)·2^−bits)",
            covers("σ", sigma, expected_noise, 1e-9),
        ),
        ("composition", COMPOSITION, facts.composition(1, ratio)),
    ]
}

/// 1 + 1/4 + … + 1/N². What follows the first thousand terms is nearly an integral: Euler and Maclaurin have it to 10⁻¹⁸.
fn inverse_squares(steps: u32) -> f64 {
    const FIRST: u32 = 1000;
    let few = if steps < FIRST { steps } else { FIRST };
    let sum: f64 = (1..=few).rev().map(|k| f64::from(k).powi(-2)).sum();
    let after = |n: f64| 1.0 / n - 0.5 / n.powi(2) + 1.0 / (6.0 * n.powi(3));
    if steps > FIRST { sum + (after(f64::from(FIRST)) - after(f64::from(steps))) } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_stability::realised::one_pass_online_factor;

    #[test]
    fn squares_of_later_steps_add_up() {
        for steps in [1, 2, 999, 1000, 1001, 5000, 1_000_000] {
            let plainly: f64 = (1..=steps).rev().map(|k| 1.0 / (f64::from(k) * f64::from(k))).sum();
            let found = inverse_squares(steps);
            assert!((found - plainly).abs() < 1e-14, "{steps}: {found} {plainly}");
            let trained = one_pass_online_factor(steps as usize + 1);
            let root = found.sqrt();
            assert!(trained >= root * (1.0 - 1e-13) && trained <= root * (1.0 + 1e-9), "{steps}: {trained}");
        }
        let limit = std::f64::consts::PI.powi(2) / 6.0;
        assert!((inverse_squares(u32::MAX) - limit + 1.0 / f64::from(u32::MAX)).abs() < 1e-15);
    }
}
