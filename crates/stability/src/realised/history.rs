//! Stochastic descent over the history: a newly drawn record is paired with all drawn before.
//!
//! T indices i₁ … i_T make T − 1 steps: step t = 1 … T − 1 draws i_{t+1} and descends along the mean of the t terms
//! (i_{t+1}, i_k), k ≤ t. Record r is in all t terms if i_{t+1} = r, else in c_r(t) of them, the times it was drawn
//! before. Indices repeat, so a record can be paired with itself: those terms count with S instead of D.
//!
//! Records drawn early and often are the worst: they are partners in every later step. Reshuffled indices, which draw
//! no record often, and suffix averages are gentler than uniform indices and the average of all iterates.
//!
//! # Reference
//! Yang, Lei, Lyu and Ying (2021), Algorithms 1 and 2. Their output is [`Output::AverageWithStart`].

use super::{RealisedPath, check_indices, mean_above};
use crate::error::StabilityError;
use crate::geometry::Geometry;
use crate::path::{Output, Rates, Steps, Window};
use crate::touch::Touch;

/// Sensitivities by the recurrence itself.
///
/// # Cost
/// O(T·n) time, O(n) memory.
///
/// # Errors
/// Fewer than two indices, an index out of range, or step sizes that no rule covers.
pub fn history_path(
    geometry: &Geometry,
    indices: &[u32],
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<RealisedPath, StabilityError> {
    let (steps, window) = prepare(geometry, indices, n_records, rates, output)?;
    let mut drawn = vec![0.0_f64; n_records];
    let mut distance = vec![0.0_f64; n_records];
    let mut sum = vec![0.0_f64; n_records];
    drawn[indices[0] as usize] = 1.0;
    for (t, &index) in indices.iter().enumerate().skip(1) {
        let terms = t as f64;
        let step = steps.get(t);
        let new = index as usize;
        let twice = drawn[new];
        let touched = step.after(distance[new], Touch::mixed(geometry, terms - twice, twice, terms));
        step.sweep(geometry, &mut distance, &drawn, terms);
        distance[new] = touched;
        if t >= window.first {
            for (sum, &distance) in sum.iter_mut().zip(&distance) {
                *sum += distance;
            }
        }
        drawn[new] += 1.0;
    }
    for sum in &mut sum {
        *sum = mean_above(*sum, window.divisor, indices.len() as f64);
    }
    RealisedPath::new(sum, steps.rule())
}

fn prepare(
    geometry: &Geometry,
    indices: &[u32],
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<(Steps, Window), StabilityError> {
    if indices.len() < 2 {
        return Err(StabilityError::TooFewSteps { given: indices.len(), least: 2 });
    }
    check_indices(indices, n_records)?;
    let steps = indices.len() - 1;
    Ok((Steps::new(geometry, rates, steps)?, output.window(steps)?))
}
