//! Learning without privacy, to compare with. A baseline is a type of its own and never carries a certificate.

use crate::{LearnError, NoisyGd};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Problem, Records};

/// Gradient descent over all pairs without noise. What it returns is not private.
///
/// # Errors
/// [`LearnError`] below two records.
pub fn gd(problem: Problem, plan: &NoisyGd, records: &Records) -> Result<Vec<f64>, LearnError> {
    problem.gradient_sensitivity(0.0, records.len())?;
    let mut w = vec![0.0; problem.parameters(records.columns())];
    for _ in 0..plan.steps() {
        let gradient = kernel::gradient(problem, records, &w, Par::Parallel);
        for (value, slope) in w.iter_mut().zip(&gradient) {
            *value -= plan.step_size() * (slope + problem.ridge() * *value);
        }
        problem.domain().project(&mut w);
    }
    Ok(w)
}
