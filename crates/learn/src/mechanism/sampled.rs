//! Noisy gradients of secretly sampled pairs or records.

use super::Common;
use crate::LearnError;
use pairdp_accountant::calibrate;
use pairdp_accountant::event::{AdjacencyKind, Event, Release, Sampling};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Objective, Problem};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// Roundings of a computed gradient of one pair, relative to its largest norm.
const PAIR_ROUNDINGS: f64 = 8.0;

/// T noisy gradients, each of one uniform ordered pair of distinct records, or of one uniform record.
///
/// # Guarantee
/// The releases together satisfy the budget under replace-one adjacency, as long as the sampled indices stay secret:
/// `proofs/noisy_sgd.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    common: Common,
    steps: u32,
    sampling: Sampling,
    noise_multiplier: f64,
    sensitivity: f64,
    gradient_error: f64,
    lattice_bits: u32,
    sigma: f64,
}

impl Sampled {
    /// The noise for `steps` sampled gradients.
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
        let sampling = match problem.objective() {
            Objective::Pointwise { .. } => Sampling::OneIndex { records: records as u64 },
            _ => Sampling::FixedSize { batch: 2, records: records as u64 },
        };
        let noise_multiplier = calibrate::noise_multiplier(&event(sampling, steps, 1.0)?, for_data)?;
        let constants = problem.constants();
        let sensitivity = constants.pair_difference;
        let gradient_error = up_by(PAIR_ROUNDINGS * f64::EPSILON * constants.gradient_bound, 2.0);
        let reach = constants.gradient_bound / (sensitivity * noise_multiplier);
        let lattice_bits = lattice::bits_for(up_by(reach, 8.0))?;
        // (D + 2τ + ρσ)/σ ≤ 1/multiplier.
        let rounding = lattice::rounding_ratio(common.parameters(), lattice_bits);
        let left = down_by(down_by(1.0 / noise_multiplier, 1.0) - rounding, 2.0);
        let sigma = up_by((sensitivity + 2.0 * gradient_error) / left, 4.0);
        if !(left > 0.0 && sigma.is_finite()) {
            let value = f64::from(steps);
            return Err(LearnError::Plan { what: "the number of steps", range: "smaller", value });
        }
        Ok(Self {
            common,
            steps,
            sampling,
            noise_multiplier,
            sensitivity,
            gradient_error,
            lattice_bits,
            sigma,
        })
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// Number of releases.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// How the records of a step are chosen.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// σ over the sensitivity, all rounding included.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// How far replacing a record can move the gradient of a sample that holds it.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// How far a computed gradient of a sample can be from the exact one.
    pub fn gradient_error(&self) -> f64 {
        self.gradient_error
    }

    /// Fineness of the lattice.
    pub fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    /// Standard deviation of the noise on each coordinate.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// What the accountant is told.
pub(crate) fn event(sampling: Sampling, steps: u32, noise_multiplier: f64) -> Result<Event, LearnError> {
    let release = Release::Gaussian { noise_multiplier, sampling, times: u64::from(steps) };
    Ok(Event::new(AdjacencyKind::ReplaceOne, release)?)
}
