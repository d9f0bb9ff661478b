//! Gradient descent over all pairs, with noise in every gradient.

use super::Iterates;
use crate::{Curator, LearnError, Plan};
use pairdp_noise::Source;

/// w ← Π(w − η·(noisy gradient + λw)), from w = 0.
///
/// # Reference
/// Kang et al., Algorithm 1, with the projection it lacks; Xue et al., Algorithm 2, with noise that suffices.
pub(crate) fn noisy_gd<S: Source>(curator: &mut Curator<S>, plan: Plan) -> Result<Vec<f64>, LearnError> {
    let mut iterates = Iterates::new(curator.problem(), plan, curator.parameters());
    for _ in 0..plan.steps() {
        let gradient = curator.noisy_gradient(iterates.current())?;
        iterates.step(&gradient);
    }
    Ok(iterates.finish())
}
