//! Full-batch descent with noise on the output, on every step, or by phases (Xue et al. 2021, Algorithms 1 to 3).

use super::{Printed, Standing, classical, classical_factor};
use pairdp_units::{Budget, Epsilon};

/// Algorithm 1: σ = 8√(2 ln(1.25/δ))·G/(αnε) on the last iterate of an α-strongly convex risk, η ≤ 2/(L + α).
///
/// True for ε ≤ 1 with a factor 2 to spare: the last iterate moves by at most D_sym(1 − (1 − ηα)^T)/(αn), and D_sym ≤ 4G.
pub fn xue_output(lipschitz: f64, convexity: f64, n_records: usize, budget: &Budget) -> Printed {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    Printed {
        sigma: 8.0 * classical_factor(epsilon, delta) * lipschitz / (convexity * n_records as f64),
        standing: classical(epsilon),
        erratum: "the classical Gaussian calibration is used for every ε; the sensitivity is twice what is needed",
    }
}

/// Algorithm 1 with coordinate-wise Laplace noise: scale 8G√d/(αnε). True for every ε.
pub fn xue_output_laplace(
    lipschitz: f64,
    convexity: f64,
    n_records: usize,
    dimension: usize,
    epsilon: Epsilon,
) -> Printed {
    Printed {
        sigma: 8.0 * lipschitz * (dimension as f64).sqrt() / (convexity * n_records as f64 * epsilon.get()),
        standing: Standing::Holds,
        erratum: "the sensitivity is twice what is needed",
    }
}

/// Algorithm 2: σ = 4G√(1.25 T ln(1/δ))/(nε) on each of T full-batch gradients.
///
/// Not (ε, δ)-private: with T = 1 and a loss linear in w it is one Gaussian release of ratio ε/√(1.25 ln(1/δ)), which at
/// (1, 1e-6) has δ = 1.4e-6. The constant would have to be about 2. Always refused.
pub fn xue_trajectory(lipschitz: f64, n_steps: usize, n_records: usize, budget: &Budget) -> Printed {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let spread = (1.25 * n_steps as f64 * (1.0 / delta).ln()).sqrt();
    Printed {
        sigma: 4.0 * lipschitz * spread / (n_records as f64 * epsilon),
        standing: Standing::Refused(
            "the constant 1.25 is too small: a single step already exceeds the δ claimed",
        ),
        erratum: "1.25 should be about 2; the step size of Theorem 2 is upside down",
    }
}

/// Algorithm 3: σ = 4√(2 ln(1.25/δ))·Gη/ε on the average of a phase with step size η and at least two records.
///
/// True for ε ≤ 1: the average moves by at most D_sym η(n + 1)/(2n) ≤ 3Gη.
pub fn xue_phase(lipschitz: f64, rate: f64, budget: &Budget) -> Printed {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    Printed {
        sigma: 4.0 * classical_factor(epsilon, delta) * lipschitz * rate,
        standing: classical(epsilon),
        erratum: "the classical Gaussian calibration is used for every ε; the last part has one record and no pairs",
    }
}
