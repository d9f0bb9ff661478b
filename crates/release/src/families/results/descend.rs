//! Descents whose results are released with noise: one, or one for each part of the table.

use crate::Iterates;
use crate::checkpoint::Checkpointer;
use crate::{Curator, LearnError};
use pairdp_noise::Source;

/// w ← noisy result of a descent that starts at w, from w = 0, once for each phase.
///
/// # Reference
/// One phase: Xue et al., Algorithm 1; Yang et al., Algorithm 2; offline learners after Huai et al. Several: Xue et al.,
/// Algorithm 3; localized descent after Yang et al. (2021b).
pub(crate) fn phases<S: Source>(
    curator: &mut Curator<S>,
    count: u32,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut results: Iterates = checkpointer.resume(curator)?;
    while results.taken() < count {
        let result = curator.noisy_result(results.current())?;
        results.replace(result);
        checkpointer.record(curator, &results)?;
    }
    Ok(results.into_current())
}
