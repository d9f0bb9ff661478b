//! Stochastic descent: secret pairs (or a record) a step, with noise in their gradient.

use crate::checkpoint::Checkpointer;
use crate::{Curator, LearnError};
use crate::{Descent, Iterates};
use pairdp_noise::Source;

/// w ← Π(w − η·(noisy gradient of secret pairs + λw)), from w = 0.
///
/// # Reference
/// Wang et al., Algorithm 2 (pairs) and Algorithm 1 (records); Bassily et al., Algorithm 2. The noise is that of the
/// exact accountant, not the printed formulas'.
pub(crate) fn noisy_sgd<S: Source>(
    curator: &mut Curator<S>,
    descent: &Descent,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut iterates: Iterates = checkpointer.resume(curator)?;
    let mut gradient = vec![0.0; curator.parameters()];
    while iterates.taken() < descent.steps {
        curator.noisy_sample(iterates.current(), &mut gradient)?;
        iterates.step(descent, &gradient);
        checkpointer.record(curator, &iterates)?;
    }
    Ok(iterates.finish(descent))
}
