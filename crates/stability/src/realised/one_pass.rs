//! One pass in a fixed order: each record against all before it.
//!
//! Step k = 1 … n − 1 takes record k + 1 and descends along the mean of its terms with the k records before it. The
//! new record is in every term; a record seen before is in one of k. So *all* records seen before move by the
//! same map, which is increasing, and the largest distance M_k over records needs no list of records:
//!
//! M_k = max(step(M_{k−1}, 1/k touched), step(0, all touched)).
//!
//! # Guarantee
//! Every record's distance after step k is at most M_k, and some record's recurrence attains it: the last output is exact.
//! An average is at most that of M_k, exact while one record is the worst throughout; and at most the largest over records of
//! what their touches add to it, exact for smooth losses. The smaller is taken. Proof: `proofs/one_pass_and_matching.md`.
//!
//! # Reference
//! The online and offline pairwise learners after Huai, Wang, Miao, Xu and Zhang (2020), reconstructed: noise constants of
//! our own. That a record "appears once" is not so; it is a partner of every later record.

use super::{PathBound, mean_above};
use crate::error::{StabilityError, finite};
use crate::geometry::Geometry;
use crate::path::{Linear, Output, Rates, Steps, Window};
use crate::touch::Touch;
use pairdp_units::directed::{larger, smaller, up_by};

/// Sensitivity of offline learning in one pass over n records: n − 1 steps.
///
/// # Cost
/// O(n).
///
/// # Errors
/// Fewer than two records, or step sizes that no rule covers.
pub fn one_pass(
    geometry: &Geometry,
    n_records: usize,
    rates: Rates<'_>,
    output: Output,
) -> Result<PathBound, StabilityError> {
    if n_records < 2 {
        return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
    }
    let n_steps = n_records - 1;
    let window = output.window(n_steps)?;
    let steps = Steps::new(geometry, rates, n_steps)?;
    let new = Touch::every(geometry);
    let (mut most, mut sum) = (0.0, 0.0);
    for k in 1..=n_steps {
        let step = steps.get(k);
        let seen = step.after(most, Touch::share(geometry, 1.0, k as f64));
        most = larger(seen, step.after(0.0, new));
        if k >= window.first {
            sum += most;
        }
    }
    let apart = smaller(sum, largest_total(geometry, &steps, window, n_steps));
    let sensitivity = finite(mean_above(apart, window.divisor, n_steps as f64))?;
    Ok(PathBound { sensitivity, rule: steps.rule() })
}

/// The largest over records of the sum of counted distances, by what touches add to it.
fn largest_total(geometry: &Geometry, steps: &Steps, window: Window, n_steps: usize) -> f64 {
    let Linear { weight, common } = Linear::new(steps, window, n_steps);
    // Record i + 1 is new at step i and one of k at every later step k; record 1 is never new.
    let (mut partner, mut most) = (0.0, 0.0);
    for k in (1..=n_steps).rev() {
        most = larger(most, weight[k] + partner);
        partner += weight[k] / k as f64;
    }
    most = larger(most, partner);
    up_by(geometry.replaced() * most, n_steps as f64 + 4.0) + common
}

/// √Σ_{s<n} s⁻²: online learning that releases every noisy step of one pass is as private as one Gaussian release of
/// sensitivity D times this, at most 1.2826·D whatever n.
///
/// Record i ≥ 2 moves step i − 1 by D and each later step k by D/k, and squares add; record 1 is as record 2.
///
/// # Cost
/// O(n).
pub fn one_pass_online_factor(n_records: usize) -> f64 {
    let sum = (1..n_records).rev().fold(0.0, |sum, s| {
        let s = s as f64;
        sum + 1.0 / (s * s)
    });
    // Small terms first; each addition of positive terms adds one rounding, the square root halves relative errors.
    up_by(sum.sqrt(), n_records as f64 + 4.0)
}
