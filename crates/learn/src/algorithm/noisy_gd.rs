//! Gradient descent over all pairs, with noise in every gradient.

use super::Pace;
use crate::checkpoint::Journal;
use crate::{Curator, LearnError};
use pairdp_noise::Source;

/// w ← Π(w − η·(noisy gradient + λw)), from w = 0.
///
/// # Reference
/// Kang et al., Algorithm 1, with the projection it lacks; Xue et al., Algorithm 2, with noise that suffices.
pub(crate) fn noisy_gd<S: Source>(
    curator: &mut Curator<S>,
    pace: &Pace,
    journal: &mut Journal<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut iterates = journal.resume(curator)?;
    while iterates.taken() < pace.steps {
        let gradient = curator.noisy_gradient(iterates.current())?;
        iterates.step(pace, &gradient);
        journal.record(curator, &iterates)?;
    }
    Ok(iterates.finish(pace))
}
