//! Noisy gradients over all pairs.

use super::Common;
use crate::{GradientRelease, LearnError};
use pairdp_accountant::gaussian;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Problem, kernel};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// A calibrated sequence of noisy gradients.
///
/// The noise of each release is scaled to the sensitivity at the public point where the gradient is taken:
/// σ_t = Δ_t/m with a ratio m fixed in advance. Each release is then m-GDP whatever came before, and T of them are
/// exactly √T·m-GDP, while early steps, taken near 0 where no pair is steep, need half the noise of late ones.
///
/// # Guarantee
/// The releases together satisfy the budget under replace-one adjacency: `proofs/noisy_gd.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    common: Common,
    steps: u32,
    ratio: f64,
    lattice_bits: u32,
}

impl Gradients {
    /// The noise for `steps` gradients over `records` records of `features` features.
    ///
    /// # Errors
    /// [`LearnError`] when a number is out of range or no noise level fits; only public facts decide.
    pub fn calibrate(
        problem: Problem,
        records: usize,
        features: usize,
        steps: u32,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        let (common, for_data) = Common::new(problem, records, features, f64::from(steps), budget)?;
        let total = gaussian::largest_ratio(for_data)?;
        let ratio = down_by(total / f64::from(steps).sqrt(), 4.0);
        // The largest gradient in units of σ = Δ/m. Its share of Δ does not depend on where it is taken.
        let reach =
            problem.gradient_norm_bound(0.0, records) / problem.gradient_sensitivity(0.0, records)?.get();
        let lattice_bits = lattice::bits_for(up_by(reach * ratio, 8.0))?;
        Ok(Self { common, steps, ratio, lattice_bits })
    }

    /// The terms of a release at public parameters of norm at most `iterate_norm`.
    ///
    /// # Errors
    /// [`LearnError`] when the lattice is too coarse for the ratio.
    pub fn release_at(&self, iterate_norm: f64) -> Result<GradientRelease, LearnError> {
        let Common { problem, records, features, .. } = self.common;
        let sensitivity = problem.gradient_sensitivity(iterate_norm, records)?.get();
        let kernel_error = kernel::error_bound(problem, iterate_norm, records, features);
        // Two neighbours' computed gradients differ by at most Δ + 2τ, and rounding them to the lattice adds
        // ρ·σ: (Δ + 2τ + ρσ)/σ ≤ m.
        let rounding = lattice::rounding_ratio(self.common.parameters(), self.lattice_bits);
        let left = down_by(self.ratio - rounding, 2.0);
        let sigma = up_by((sensitivity + 2.0 * kernel_error) / left, 4.0);
        if !(left > 0.0 && sigma.is_finite()) {
            let value = f64::from(self.steps);
            return Err(LearnError::Plan { what: "the number of steps", range: "smaller", value });
        }
        Ok(GradientRelease { iterate_norm, sensitivity, kernel_error, sigma })
    }

    pub(crate) fn lattice(&self, release: GradientRelease) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(release.sigma, self.lattice_bits)?)
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    /// Number of releases.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// μ of one release.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Fineness of the lattice.
    pub fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }
}
