//! Steps that name one record or one pair: most steps leave a given record alone.
//!
//! A record's distance changes in a known way between its touches ([`Step::untouched`](crate::Step::untouched)), so only
//! touches are visited. Until the first one the two runs are equal.

use super::{RealisedPath, check_indices, mean_above};
use crate::error::StabilityError;
use crate::geometry::Geometry;
use crate::path::{Output, Rates, Steps, Window};
use crate::touch::Touch;

/// Sensitivities of descent along given pairs of different records.
///
/// # Cost
/// O(T log T + n) for a constant step size; with [`Rates::Each`] every record is followed step by step, O(T·n).
///
/// # Errors
/// No pairs, an index out of range, a record paired with itself, or step sizes that no rule covers.
pub fn pair_path(
    geometry: &Geometry,
    pairs: &[(u32, u32)],
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<RealisedPath, StabilityError> {
    let flat: Vec<u32> = pairs.iter().flat_map(|&(first, second)| [first, second]).collect();
    if let Some(step) = pairs.iter().position(|(first, second)| first == second) {
        return Err(StabilityError::SelfPair { index: pairs[step].0, step });
    }
    touched_path(geometry, &flat, 2, n_records, rates, output)
}

/// Sensitivities of pointwise descent along given records, whatever the law of the indices: with replacement, a fixed
/// permutation or reshuffled.
///
/// # Cost
/// As [`pair_path`].
///
/// # Errors
/// As [`pair_path`].
pub fn record_path(
    geometry: &Geometry,
    indices: &[u32],
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<RealisedPath, StabilityError> {
    touched_path(geometry, indices, 1, n_records, rates, output)
}

fn touched_path(
    geometry: &Geometry,
    indices: &[u32],
    per_step: usize,
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<RealisedPath, StabilityError> {
    check_indices(indices, n_records)?;
    let n_steps = indices.len() / per_step;
    let window = output.window(n_steps)?;
    let steps = Steps::new(geometry, rates, n_steps)?;
    let every = Touch::every(geometry);
    let mut followers = vec![Follower::default(); n_records];
    for (position, &index) in indices.iter().enumerate() {
        let step = position / per_step + 1;
        let follower = &mut followers[index as usize];
        follower.wait(step - 1, &steps, window);
        follower.touch(every, &steps, window);
    }
    let per_record = followers
        .into_iter()
        .map(|mut follower| {
            follower.wait(n_steps, &steps, window);
            mean_above(follower.sum, window.divisor, follower.additions)
        })
        .collect();
    RealisedPath::new(per_record, steps.rule())
}

/// One record's distance, as far as it has been followed.
#[derive(Debug, Clone, Copy, Default)]
struct Follower {
    step: usize,
    distance: f64,
    sum: f64,
    additions: f64,
}

impl Follower {
    /// Untouched steps up to and including `until`.
    fn wait(&mut self, until: usize, steps: &Steps, window: Window) {
        if self.distance <= 0.0 {
            self.step = until;
        }
        while self.step < until {
            // Steps before the window count for the distance only.
            let uncounted = (window.first - 1).saturating_sub(self.step).min(until - self.step);
            let count = match steps {
                Steps::Constant(_) if uncounted > 0 => uncounted,
                Steps::Constant(_) => until - self.step,
                Steps::Each(_) => 1,
            };
            let run = steps.get(self.step + 1).untouched(self.distance, count);
            self.distance = run.end;
            self.step += count;
            if uncounted == 0 {
                self.add(run.sum);
            }
        }
    }

    /// The next step, which touches the record.
    fn touch(&mut self, touch: Touch, steps: &Steps, window: Window) {
        self.step += 1;
        self.distance = steps.get(self.step).after(self.distance, touch);
        if self.step >= window.first {
            self.add(self.distance);
        }
    }

    fn add(&mut self, amount: f64) {
        self.sum += amount;
        self.additions += 1.0;
    }
}
