//! How loud the noise is, from public facts.

use super::Mechanism;
use crate::LearnError;

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
