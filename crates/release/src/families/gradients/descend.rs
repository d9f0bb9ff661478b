//! Gradient descent over all pairs, with noise in every gradient.

use crate::Descent;
use crate::Law as _;
use crate::checkpoint::Checkpointer;
use crate::{Curator, LearnError};
use pairdp_certificate::GradientRelease;
use pairdp_model::kept;
use pairdp_noise::Source;
use pairdp_pairwise::{Domain, Objective};

/// w ← Π(w − η·(noisy gradient + λw)), from w = 0.
///
/// # Reference
/// Kang et al., Algorithm 1, with the projection it lacks; Xue et al., Algorithm 2, with noise that suffices.
pub(crate) fn noisy_gd<S: Source>(
    curator: &mut Curator<S>,
    descent: &Descent,
    checkpointer: &mut Checkpointer<'_>,
) -> Result<Vec<f64>, LearnError> {
    if descent.steps == 0 {
        return Ok(euclidean(curator, descent));
    }
    let mut iterates = checkpointer.resume(curator)?;
    while iterates.taken() < descent.steps {
        let gradient = curator.noisy_gradient(iterates.current())?;
        iterates.step(descent, &gradient);
        checkpointer.record(curator, &iterates)?;
    }
    let mut result = iterates.finish(descent);
    if let Objective::Metric { .. } = descent.problem.objective() {
        towards_euclidean(&mut result, descent, noise_in(curator, descent));
    }
    Ok(result)
}

/// The Euclidean distance, as long as the domain allows.
fn euclidean<S: Source>(curator: &Curator<S>, descent: &Descent) -> Vec<f64> {
    let mut identity = vec![0.0; curator.parameters()];
    let d = identity.len().isqrt();
    identity.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0);
    descent.problem.domain().project(&mut identity);
    identity
}

/// Root mean square of the noise in each coordinate of what [`Iterates::finish`](crate::Iterates::finish) returns, were there no
/// projections: a step's noise is in every iterate after it.
fn noise_in<S: Source>(curator: &Curator<S>, descent: &Descent) -> f64 {
    let kept = kept(descent.average, descent.steps);
    let square = |(t, release): (u32, &GradientRelease)| {
        let after = f64::from((descent.steps - t).min(kept)) / f64::from(kept);
        (descent.step_size * release.sigma * after).powi(2)
    };
    let (law, p) = curator.noise();
    let each = law.spread(p) / (p as f64).sqrt();
    each * (0..).zip(curator.releases()).map(square).sum::<f64>().sqrt()
}

/// Adds a multiple of the Euclidean metric that covers the noise: where all is noise what is left is the Euclidean distance,
/// which no training has to beat; where there is little, little changes.
fn towards_euclidean(matrix: &mut [f64], descent: &Descent, noise: f64) {
    const COVER: f64 = 3.0;
    let d = matrix.len().isqrt();
    let largest_eigenvalue = match descent.problem.domain() {
        Domain::PsdDiagonal { .. } => noise * (2.0 * (d as f64).ln_1p()).sqrt(),
        _ => noise * (2.0 * d as f64).sqrt(),
    };
    matrix.iter_mut().step_by(d + 1).for_each(|entry| *entry += COVER * largest_eigenvalue);
    descent.problem.domain().project(matrix);
}
