//! What touches add to an output, taken apart.
//!
//! A distance is at most a root, of what untouched terms add in quadrature, plus what each touch adds, contracted by the
//! steps that follow it. The root is the same for all records. The rest is linear: a touch at step t that moves a mean
//! by `same` adds `same`·η_t·V_t to the sum of counted distances, where V_t = [t is counted] + c_{t+1}V_{t+1}. So one
//! pass back and one forth serve all records at once.
//!
//! # Guarantee
//! For every record, Σ of counted distances ≤ `common` + Σ_t `weight[t]`·same_t, caps apart. For smooth losses without
//! numeric errors `common` is 0 and the recurrence attains this. Proof: `proofs/path_lemmas.md`, section 6.
//!
//! # Cost
//! O(T).

use super::{Steps, Window, raise};

/// Weights of touches, and what all records share.
pub(crate) struct Linear {
    /// η_t·V_t at index t = 1 … T; one more at T + 1, which is 0.
    pub(crate) weight: Vec<f64>,
    /// The sum over counted iterates of the root and of numeric errors.
    pub(crate) common: f64,
}

impl Linear {
    pub(crate) fn new(steps: &Steps, window: Window, n_steps: usize) -> Self {
        let counted = |t: usize| if t >= window.first { 1.0 } else { 0.0 };
        let mut weight = vec![0.0; n_steps + 2];
        let mut after = 0.0;
        for t in (1..=n_steps).rev() {
            let total = counted(t) + after;
            weight[t] = raise(steps.get(t).rate() * total);
            after = raise(steps.get(t).contraction() * total);
        }
        let (mut square, mut errors, mut common) = (0.0_f64, 0.0, 0.0);
        for t in 1..=n_steps {
            let step = steps.get(t);
            let c = step.contraction();
            square = (c * c * square + step.variance()) * (1.0 + 8.0 * f64::EPSILON);
            errors = if step.error() > 0.0 { raise(c * errors + step.error()) } else { c * errors };
            if t >= window.first && square + errors > 0.0 {
                common = raise(common + raise(square.sqrt() + errors));
            }
        }
        Self { weight, common }
    }
}
