//! One noisy release of moments.

use super::{COMPOSITION, Relation, TOLERANCE, composition, covers, noise_scale};
use crate::certificate::Released;
use crate::{Certificate, Law};
use pairdp_pairwise::moments::Weights;

pub(super) fn relations(certificate: &Certificate, law: Law) -> Vec<Relation> {
    let Released::Moments { weights, sensitivity, error, ratio, sigma } = certificate.released else {
        return Vec::new();
    };
    let (n, kappa) = (certificate.records as f64, certificate.problem.feature_bound());
    let rounded = 24.0 * (1.0 + (certificate.parameters as f64).sqrt());
    let expected_error = rounded * 2.0_f64.powi(-52) * largest(weights, kappa);
    vec![
        (
            "weights",
            "a in (0, ½], α in [0, 1]",
            if weights.check() { Ok(()) } else { Err(format!("{weights:?}")) },
        ),
        (
            "sensitivity",
            "Δ = κ·max over angles of ‖u − u'‖/n, u = (½yx, a·x, aκ·y, (α/κ)·xxᵀ)",
            covers("Δ", sensitivity, apart(weights) * kappa / n, 1e-6),
        ),
        ("error", "τ = 24(1 + √p)·2⁻⁵²·κ√(¼ + 2a² + α²)", covers("τ", error, expected_error, TOLERANCE)),
        (
            "noise",
            "σ = c·(Δ + 2τ)/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            covers("σ", sigma, noise_scale(certificate, law, sensitivity + 2.0 * error, ratio), TOLERANCE),
        ),
        ("composition", COMPOSITION, composition(certificate, law, 1, ratio)),
    ]
}

pub(super) fn largest(weights: Weights, kappa: f64) -> f64 {
    kappa * (0.25 + 2.0 * weights.mean.powi(2) + weights.second.powi(2)).sqrt()
}

/// The largest distance of two records' vectors in units of κ, on a grid of angles: two unit vectors of the plane, with equal
/// labels and with different ones.
fn apart(weights: Weights) -> f64 {
    let vector = |angle: f64, y: f64| {
        let (x, z) = (angle.cos(), angle.sin());
        let (a, s) = (weights.mean, weights.second);
        [0.5 * y * x, 0.5 * y * z, a * x, a * z, a * y, s * x * x, s * z * z, s * 2.0_f64.sqrt() * x * z]
    };
    let mut most = 0.0;
    for k in 0..=20_000_u32 {
        let angle = f64::from(k) * std::f64::consts::PI / 20_000.0;
        for y in [1.0, -1.0] {
            let (u, v) = (vector(0.0, 1.0), vector(angle, y));
            let distance = u.iter().zip(&v).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            if distance > most {
                most = distance;
            }
        }
    }
    most
}
