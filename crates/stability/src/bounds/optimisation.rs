//! How far noisy descent is from the minimum on the table, and what noise on the output costs.

use super::{Setting, above};

/// Average of noisy projected descent with unbiased gradients: D₀²/(2ηT) + η(G² + dσ²)/2.
pub fn average_descent(s: &Setting, start_distance: f64, dimension: f64, sigma: f64) -> f64 {
    let g = s.lipschitz();
    above(
        start_distance * start_distance / (2.0 * s.rate() * s.steps())
            + 0.5 * s.rate() * (g * g + dimension * sigma * sigma),
    )
}

/// Last iterate under a Polyak–Łojasiewicz condition with η = 1/L: (1 − μ/L)^T gap₀ + dσ²/(2μ).
///
/// # Reference
/// Kang et al., Theorem 2.
pub fn polyak_lojasiewicz(
    sharpness: f64,
    smoothness: f64,
    n_steps: usize,
    start_gap: f64,
    dimension: f64,
    sigma: f64,
) -> f64 {
    let shrink = (1.0 - sharpness / smoothness).powf(n_steps as f64);
    pairdp_units::directed::up_by(
        shrink * start_gap + dimension * sigma * sigma / (2.0 * sharpness),
        4.0 * n_steps as f64 + 64.0,
    )
}

/// Risk added by Gaussian noise on the output of a Lipschitz loss, expected: Gσ√d.
pub fn output_gaussian(lipschitz: f64, dimension: f64, sigma: f64) -> f64 {
    above(lipschitz * sigma * dimension.sqrt())
}

/// The same with probability 1 − γ: Gσ(√d + √(2 ln(1/γ))).
pub fn output_gaussian_likely(lipschitz: f64, dimension: f64, sigma: f64, failure: f64) -> f64 {
    above(lipschitz * sigma * (dimension.sqrt() + (-2.0 * failure.ln()).sqrt()))
}

/// Risk added by Euclidean noise of density ∝ e^{−ε‖z‖/Δ}, expected: G·d·Δ/ε.
pub fn output_euclidean(lipschitz: f64, dimension: f64, sensitivity: f64, epsilon: f64) -> f64 {
    above(lipschitz * dimension * sensitivity / epsilon)
}

/// Risk added by Gaussian noise on the output of a loss that is smooth on the whole space, expected: Ldσ²/2.
pub fn output_gaussian_smooth(smoothness: f64, dimension: f64, sigma: f64) -> f64 {
    above(0.5 * smoothness * dimension * sigma * sigma)
}
