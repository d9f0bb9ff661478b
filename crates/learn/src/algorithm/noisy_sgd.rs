//! Stochastic descent: one secret pair (or record) a step, with noise in its gradient.

use super::Iterates;
use crate::{Curator, LearnError, Plan};
use pairdp_noise::Source;

/// w ← Π(w − η·(noisy gradient of a uniform pair + λw)), from w = 0.
///
/// # Reference
/// Wang et al., Algorithm 2 (pairs) and Algorithm 1 (records); Bassily et al., Algorithm 2. The noise is that of the
/// exact accountant, not the printed formulas'.
pub(crate) fn noisy_sgd<S: Source>(curator: &mut Curator<S>, plan: Plan) -> Result<Vec<f64>, LearnError> {
    let mut iterates = Iterates::new(curator.problem(), plan, curator.parameters());
    let mut gradient = vec![0.0; curator.parameters()];
    for _ in 0..plan.steps() {
        curator.noisy_sample(iterates.current(), &mut gradient)?;
        iterates.step(&gradient);
    }
    Ok(iterates.finish())
}
