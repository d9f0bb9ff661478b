//! Full-batch gradient perturbation (Kang et al., Theorem 1).

use super::{Printed, Standing};
use pairdp_units::Budget;

const ERRATUM: &str = "no range of ε is given: the formula holds for ε ≤ 2.34 ln(1/δ). Iterates are not projected, so \
    constants must hold on the whole space. The constants of the examples are too small (metric learning: G = 1 for \
    3.8 to 4, L = 0.21 for 4; bipartite ranking: G = 2 for 4, L = 0.84 for 4)";

/// Constants that a paper states for a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KangConstants {
    /// G as stated.
    pub lipschitz: f64,
    /// L as stated.
    pub smoothness: f64,
    /// The true L, for features of norm at most 1.
    pub true_smoothness: f64,
}

/// Bipartite ranking, logistic, Lemma 2. G is too small but the noise is not: its D_sym is 8, as much as 4G claims. L is
/// too small, which a step size rule η ≤ 2/L must not use.
pub const KANG_BIPARTITE: KangConstants =
    KangConstants { lipschitz: 2.0, smoothness: 0.84, true_smoothness: 4.0 };

/// Metric learning, logistic, Lemma 3. D_sym is 8 at the start, up to 16 unprojected, and 4G claims 4: not private.
pub const KANG_METRIC: KangConstants =
    KangConstants { lipschitz: 1.0, smoothness: 0.21, true_smoothness: 4.0 };

/// σ = 8G√(T ln(1/δ))/(nε) on each of T full-batch gradients.
///
/// `lipschitz` is the G put into the formula, `both_orders` the true D_sym.
///
/// # Guarantee
/// If D_sym ≤ 4G, T releases have ratio μ ≤ ε/(2√ln(1/δ)), which is (ε²/(8 ln(1/δ)))-zCDP, and that implies (ε, δ) for
/// ε ≤ 8(1 − 1/√2) ln(1/δ). Refused otherwise.
pub fn kang_gradient(
    lipschitz: f64,
    both_orders: f64,
    n_steps: usize,
    n_records: usize,
    budget: &Budget,
) -> Printed {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let log = (1.0 / delta).ln();
    let standing = if both_orders > 4.0 * lipschitz || both_orders.is_nan() || lipschitz.is_nan() {
        Standing::Refused("the G put in is too small for the loss: the gradient moves by more than 4G/n")
    } else if epsilon <= 8.0 * (1.0 - std::f64::consts::FRAC_1_SQRT_2) * log {
        Standing::Holds
    } else {
        Standing::Refused("ε exceeds 2.34 ln(1/δ)")
    };
    let sigma = 8.0 * lipschitz * (n_steps as f64 * log).sqrt() / (n_records as f64 * epsilon);
    Printed { sigma, standing, erratum: ERRATUM }
}
