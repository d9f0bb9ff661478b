//! Noisy gradients of one pass.

use super::{COMPOSITION, Relation, TOLERANCE, composition, covers, formulas, lattice_rounding};
use crate::certificate::Released;
use crate::{Certificate, Law};

pub(super) fn relations(certificate: &Certificate, law: Law) -> Vec<Relation> {
    let Released::Online { steps, sensitivity, gradient_error, ratio, sigma, .. } = certificate.released
    else {
        return Vec::new();
    };
    let problem = certificate.problem;
    let radius = problem.domain().radius();
    let largest = formulas::largest_term(problem, radius);
    let n = certificate.records as f64;
    let root = f64::from(steps).sqrt();
    let expected_error = (n + 16.0) * 2.0_f64.powi(-52) * largest + formulas::packing_error(problem, largest);
    let squares = (1..=u64::from(steps)).rev().map(|k| 1.0 / (k as f64 * k as f64));
    let factor = squares.sum::<f64>().sqrt();
    let expected_noise = (factor * sensitivity + 2.0 * root * gradient_error)
        / (ratio - root * lattice_rounding(certificate, law));
    vec![
        (
            "releases",
            "n − 1 steps with Gaussian noise",
            if steps as usize + 1 == certificate.records && law == Law::Gaussian {
                Ok(())
            } else {
                Err(format!("{steps} steps over {n} records"))
            },
        ),
        (
            "sensitivity",
            formulas::pair_relation(problem),
            covers(
                "D",
                sensitivity,
                formulas::pair_difference(problem, radius),
                formulas::tolerance(problem),
            ),
        ),
        ("gradient error", "τ = (n + 16)·2⁻⁵²·G", covers("τ", gradient_error, expected_error, TOLERANCE)),
        (
            "noise",
            "σ = (√(1 + 1/4 + … + 1/(n−1)²)·D + √(n−1)·2τ)/(m − √(n−1)·√p·(1 + 2⁻⁷)·2^−bits)",
            covers("σ", sigma, expected_noise, 1e-9),
        ),
        ("composition", COMPOSITION, composition(certificate, law, 1, ratio)),
    ]
}
