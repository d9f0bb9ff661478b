//! What one run pays: from a description of its releases to numbers that may be added up.

use crate::LedgerError;
use crate::curve::Curve;
use pairdp_accountant::event::{Event, Release, Sampling};
use pairdp_accountant::{epsilon_for, gaussian};
use pairdp_units::directed::{down_by, larger, up_by};
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};

/// How far two outward roundings of the same number may lie apart.
const ROUNDING: f64 = 1e-9;
/// Ways to split the cost of a sampled run between noise and δ: its own δ, halved so many times.
const SPLITS: i32 = 9;

/// What a run pays, in three currencies: see `filter.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// μ² of the Gaussian noise that protects at least as well.
    pub ratio_squared: f64,
    /// ε that is simply added.
    pub epsilon: f64,
    /// δ that is simply added.
    pub delta: f64,
    /// How far the computed noise may be from its law.
    pub distance: f64,
}

/// Checks a claim against the releases it is about, and lists what the run may pay: any one of the charges is enough.
///
/// # Guarantee
/// Each charge covers the run for all neighbours: `proofs/ledger.md`.
///
/// # Cost
/// Microseconds for Gaussian and pure releases, about a second for sampled ones.
///
/// # Errors
/// [`LedgerError::Accountant`] for releases without a proved bound, [`LedgerError::Claim`] when the releases cost more
/// than the claim says.
pub(crate) fn charges(
    event: &Event,
    sampler_delta: Delta,
    claim: Budget,
) -> Result<Vec<Charge>, LedgerError> {
    let distance = sampler_distance(sampler_delta);
    let free = Charge { ratio_squared: 0.0, epsilon: 0.0, delta: 0.0, distance };
    let for_data = claim.delta.get() - sampler_delta.get();
    let for_data = Delta::new(if for_data > 0.0 { down_by(for_data, 1.0) } else { for_data })
        .map_err(|_| LedgerError::SamplerDelta { sampler_delta, claim })?;
    let covered = |epsilon: f64| {
        if epsilon <= claim.epsilon.get() * (1.0 + ROUNDING) {
            Ok(())
        } else {
            Err(LedgerError::Claim { claim, epsilon })
        }
    };
    if let Some(squared) = gaussian_squared(event.release())? {
        covered(gaussian::epsilon(for_data, up_by(squared.sqrt(), 1.0))?.get())?;
        return Ok(vec![Charge { ratio_squared: squared, ..free }]);
    }
    let certified = epsilon_for(event, for_data)?.0.get();
    covered(certified)?;
    let pure = epsilon_for(event, Delta::PURE)?.0.get();
    if pure.is_finite() {
        let added = Charge { epsilon: pure_epsilon(event.release()).unwrap_or(pure), ..free };
        let noise = pure_squared(event.release()).map(|ratio_squared| Charge { ratio_squared, ..free });
        return Ok(noise.into_iter().chain([added]).collect());
    }
    // Basic composition is what always holds; the curve tells what the run costs beside others.
    let epsilon = larger(certified, claim.epsilon.get());
    let mut all = vec![Charge { epsilon, delta: for_data.get(), ..free }];
    let leaks: Vec<f64> = (1..=SPLITS).map(|j| for_data.get() * f64::powi(2.0, -j)).collect();
    if let Some(curve) = leaks.last().and_then(|least| Curve::of(event, *least)) {
        let split = |&delta: &f64| {
            let ratio = curve.ratio(delta)?;
            Some(Charge { ratio_squared: up_by(ratio * ratio, 1.0), delta, ..free })
        };
        all.extend(leaks.iter().filter_map(split));
    }
    Ok(all)
}

/// How far the noise may be from its law: what is set aside for it is (1 + e^ε) ≥ 2 times that.
pub(crate) fn sampler_distance(sampler_delta: Delta) -> f64 {
    0.5 * sampler_delta.get()
}

/// Σμ² of releases with plain Gaussian noise, rounded up; nothing when another kind is among them.
fn gaussian_squared(release: &Release) -> Result<Option<f64>, LedgerError> {
    Ok(match release {
        Release::Gaussian { times: 0, .. } => Some(0.0),
        Release::Gaussian { noise_multiplier, sampling: Sampling::None, times } => {
            Some(up_by(*times as f64 / (noise_multiplier * noise_multiplier), 2.0))
        }
        Release::LastIterate(run) => run.ratio().map(|ratio| Some(up_by(ratio * ratio, 1.0)))?,
        Release::Sequence { parts } => {
            let mut sum = Some(0.0);
            for part in parts {
                sum = sum.zip(gaussian_squared(part)?).map(|(sum, one): (f64, f64)| up_by(sum + one, 1.0));
            }
            sum
        }
        Release::Gaussian { .. } | Release::Pure { .. } | Release::Disjoint { .. } => None,
    })
}

/// ε of a single pure release on all records: exactly what it says.
fn pure_epsilon(release: &Release) -> Option<f64> {
    match release {
        Release::Pure { epsilon, sampling: Sampling::None, times: 1 } => Some(*epsilon),
        _ => None,
    }
}

/// Σμ² of Gaussian noise that protects as well as pure releases on all records.
fn pure_squared(release: &Release) -> Option<f64> {
    match release {
        Release::Pure { epsilon, sampling: Sampling::None, times } => {
            let ratio = Curve::pure(*epsilon).ratio(0.0)?;
            Some(up_by(ratio * ratio * *times as f64, 2.0))
        }
        Release::Sequence { parts } => {
            parts.iter().try_fold(0.0, |sum, part| Some(up_by(sum + pure_squared(part)?, 1.0)))
        }
        _ => None,
    }
}

/// Whether `released` reveals no more than `reserved`, whatever the records: the same releases, or fewer, or with more
/// noise. Anything that is not plainly so counts as more.
pub(crate) fn within(released: &Event, reserved: &Event) -> bool {
    released.adjacency() == reserved.adjacency() && release_within(released.release(), reserved.release())
}

fn release_within(released: &Release, reserved: &Release) -> bool {
    match (released, reserved) {
        (
            Release::Gaussian { noise_multiplier: noise, sampling, times },
            Release::Gaussian { noise_multiplier: least, sampling: stated, times: most },
        ) => noise >= least && sampling == stated && times <= most,
        (
            Release::Pure { epsilon, sampling, times },
            Release::Pure { epsilon: largest, sampling: stated, times: most },
        ) => epsilon <= largest && sampling == stated && times <= most,
        (Release::Sequence { parts: released }, Release::Sequence { parts: reserved })
        | (Release::Disjoint { parts: released }, Release::Disjoint { parts: reserved }) => {
            released.len() <= reserved.len()
                && released.iter().zip(reserved).all(|(one, other)| release_within(one, other))
        }
        _ => released == reserved,
    }
}
