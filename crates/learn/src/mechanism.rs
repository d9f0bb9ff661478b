//! What will be released, stated before any record is read.

use crate::{LearnError, Release};
use pairdp_accountant::{AccountantError, gaussian};
use pairdp_noise::delta_share;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Problem, kernel};
use pairdp_units::directed::{down_by, up_by};
use pairdp_units::{Budget, Delta};

/// A calibrated sequence of noisy gradients over all pairs.
///
/// The noise of each release is scaled to the sensitivity at the public point where the gradient is taken:
/// σ_t = Δ_t/m with a ratio m fixed in advance. Each release is then m-GDP whatever came before, and T of them are
/// exactly √T·m-GDP, while early steps, taken near 0 where no pair is steep, need half the noise of late ones.
///
/// # Guarantee
/// The releases together satisfy the budget under replace-one adjacency: `proofs/noisy_gd.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mechanism {
    problem: Problem,
    records: usize,
    features: usize,
    steps: u32,
    budget: Budget,
    sampler_delta: f64,
    ratio: f64,
    lattice_bits: u32,
}

impl Mechanism {
    /// The noise for `steps` gradients of `features` coordinates over `records` records.
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
        problem.gradient_sensitivity(0.0, records)?;
        if steps == 0 {
            return Err(LearnError::Plan { what: "the number of steps", range: "at least 1", value: 0.0 });
        }
        if budget.delta == Delta::PURE {
            return Err(AccountantError::PureGaussian.into());
        }
        let samples = f64::from(steps) * problem.parameters(features) as f64;
        let sampler_delta = delta_share(budget.epsilon.get(), samples);
        let for_data = Delta::new(down_by(budget.delta.get() - sampler_delta, 1.0))
            .map_err(|_| LearnError::DeltaTooSmall(budget))?;
        let total = gaussian::largest_ratio(Budget { epsilon: budget.epsilon, delta: for_data })?;
        let ratio = down_by(total / f64::from(steps).sqrt(), 4.0);
        // The largest gradient in units of σ = Δ/m. Its share of Δ does not depend on where it is taken.
        let reach =
            problem.gradient_norm_bound(0.0, records) / problem.gradient_sensitivity(0.0, records)?.get();
        let lattice_bits = lattice::bits_for(up_by(reach * ratio, 8.0))?;
        Ok(Self { problem, records, features, steps, budget, sampler_delta, ratio, lattice_bits })
    }

    /// The terms of a release at public parameters of norm at most `iterate_norm`.
    ///
    /// # Errors
    /// [`LearnError`] when the lattice is too coarse for the ratio.
    pub fn release_at(&self, iterate_norm: f64) -> Result<Release, LearnError> {
        let sensitivity = self.problem.gradient_sensitivity(iterate_norm, self.records)?.get();
        let kernel_error = kernel::error_bound(self.problem, iterate_norm, self.records, self.features);
        // Two neighbours' computed gradients differ by at most Δ + 2τ, and rounding them to the lattice adds
        // ρ·σ: (Δ + 2τ + ρσ)/σ ≤ m.
        let rounding = lattice::rounding_ratio(self.parameters(), self.lattice_bits);
        let left = down_by(self.ratio - rounding, 2.0);
        let sigma = up_by((sensitivity + 2.0 * kernel_error) / left, 4.0);
        if !(left > 0.0 && sigma.is_finite()) {
            let value = f64::from(self.steps);
            return Err(LearnError::Plan { what: "the number of steps", range: "smaller", value });
        }
        Ok(Release { iterate_norm, sensitivity, kernel_error, sigma })
    }

    pub(crate) fn lattice(&self, release: Release) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(release.sigma, self.lattice_bits)?)
    }

    /// What is minimised.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// n.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Features of a record.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Coordinates of a release.
    pub fn parameters(&self) -> usize {
        self.problem.parameters(self.features)
    }

    /// Number of releases.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// What the releases together may cost.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The part of δ set aside for the sampler.
    pub fn sampler_delta(&self) -> f64 {
        self.sampler_delta
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
