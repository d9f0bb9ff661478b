//! How loud the noise is, from public facts.

use crate::{Law as _, LearnError, Mechanism};
use pairdp_certificate::NoiseKind;
use pairdp_units::{Budget, Delta};

/// The first release of a run: its noise beside what it can release at most, both as lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseToSignal {
    /// Scale of the noise.
    pub sigma: f64,
    /// Root mean square length of the noise.
    pub noise: f64,
    /// The largest length that the exact answer can have.
    pub signal: f64,
}

impl Mechanism {
    /// Noise and signal of the first release.
    ///
    /// # Errors
    /// As calibration; only public facts decide.
    pub fn noise_to_signal(&self) -> Result<NoiseToSignal, LearnError> {
        let (family, law) = (self.family(), self.common().public.plan.law());
        let (sigma, signal) = family.first_release()?;
        Ok(NoiseToSignal { sigma, noise: sigma * law.spread(family.coordinates()), signal })
    }
}

/// How many times the first gradient is longer than its noise, about: n·μ/√d, or n·ε/d for pure ε.
///
/// # Errors
/// [`LearnError::Accountant`] for a budget that no noise fits.
pub fn clarity(records: usize, features: usize, budget: Budget) -> Result<f64, LearnError> {
    let (n, d) = (records as f64, features as f64);
    if budget.delta == Delta::PURE {
        return Ok(n * budget.epsilon.get() / d);
    }
    Ok(n * NoiseKind::Gaussian.ratio(budget, 1.0)? / d.sqrt())
}
