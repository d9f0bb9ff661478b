//! One pass, each record against all before it, with noise in every gradient.

use crate::Descent;
use crate::checkpoint::Checkpointer;
use crate::{Curator, LearnError};
use pairdp_noise::Source;

/// w ← Π(w − η·(noisy mean gradient of the next record's pairs + λw)), from w = 0.
///
/// # Reference
/// The online learners after Huai et al. (2020), reconstructed; the noise is our own.
pub(crate) fn online_pair<S: Source>(
    curator: &mut Curator<S>,
    descent: &Descent,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut iterates = checkpointer.resume(curator)?;
    while iterates.taken() < descent.steps {
        let gradient = curator.noisy_arrival(iterates.current())?;
        iterates.step(descent, &gradient);
        checkpointer.record(curator, &iterates)?;
    }
    Ok(iterates.finish(descent))
}
