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
use crate::path::{Linear, Output, Rates, Steps, Window};
use crate::touch::Touch;
use pairdp_units::directed::{smaller, up_by};

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

/// Upper bounds in linear time: without a cap or numeric errors they equal [`history_path`] for smooth losses.
///
/// What touched terms add is linear in the indices: an occurrence of r at k is a partner of every step t ≥ k, and so adds
/// D·Σ_{t≥k} weight_t/t, weight_t being what a touch at t adds to the output. One suffix sum serves all records. For losses with
/// jumps the root of what untouched terms add is that of a record touched from the start.
///
/// # Cost
/// O(T + n).
///
/// # Errors
/// As [`history_path`].
pub fn history_bound(
    geometry: &Geometry,
    indices: &[u32],
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<RealisedPath, StabilityError> {
    let (steps, window) = prepare(geometry, indices, n_records, rates, output)?;
    let last = indices.len() - 1;
    let Linear { weight, common } = Linear::new(&steps, window, last);
    let mut partner = vec![0.0_f64; indices.len() + 1];
    for t in (1..=last).rev() {
        partner[t] = partner[t + 1] + weight[t] / t as f64;
    }

    let (once, twice) = (geometry.replaced(), geometry.replaced_twice());
    let mut drawn = vec![0.0_f64; n_records];
    let mut sum = vec![0.0_f64; n_records];
    let mut magnitude = vec![0.0_f64; n_records];
    for (t, &index) in indices.iter().enumerate() {
        let r = index as usize;
        if t > 0 {
            let (weight, share) = (weight[t], drawn[r] / t as f64);
            // As the new record it is in every term; its share as a partner was counted already.
            sum[r] += weight * (once * (1.0 - 2.0 * share) + twice * share);
            magnitude[r] += weight * (once + twice);
        }
        if t < last {
            sum[r] += once * partner[t + 1];
            magnitude[r] += once * partner[t + 1];
        }
        drawn[r] += 1.0;
    }

    let ulps = 4.0 * indices.len() as f64 + 64.0;
    for ((sum, magnitude), &drawn) in sum.iter_mut().zip(&magnitude).zip(&drawn) {
        let own = *sum + magnitude * ulps * f64::EPSILON;
        *sum = if drawn > 0.0 {
            smaller(up_by((own + common) / window.divisor, 8.0), geometry.diameter())
        } else {
            0.0
        };
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
