//! One noisy release of moments.

use super::{Common, Public};
use crate::{Law, LearnError};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::moments::{self, Weights};
use pairdp_pairwise::{Objective, PointLoss};
use pairdp_units::directed::up_by;

/// First and second moments of features and label, released once.
///
/// # Guarantee
/// The release satisfies the budget under replace-one adjacency: `proofs/moments.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    common: Common,
    weights: Weights,
    sensitivity: f64,
    error: f64,
    ratio: f64,
    lattice_bits: u32,
    sigma: f64,
}

impl Moments {
    pub(super) fn calibrate(public: Public) -> Result<Self, LearnError> {
        let Public { problem, plan, records, features, budget } = public;
        let labelled = matches!(
            problem.objective(),
            Objective::Ranking { .. } | Objective::Pointwise { loss: PointLoss::Margin(_) }
        );
        if !labelled {
            return Err(LearnError::NoProof("`moments` of other than two classes"));
        }
        if plan.steps() != 1 {
            return Err(LearnError::FixedSteps { algorithm: plan.algorithm(), steps: 1 });
        }
        let (law, kappa) = (plan.law(), problem.feature_bound());
        // Gaussian noise does not grow with the number of coordinates; the others' does.
        let weights = Weights::suggested(law == Law::Gaussian);
        let p = weights.coordinates(features);
        let (common, for_data) = Common::new(public, law.samples(p))?;
        let ratio = law.ratio(for_data, 1.0)?;
        let sensitivity = moments::sensitivity(weights, kappa, records)?.get();
        let error = moments::error_bound(weights, kappa, records);
        let distance = up_by(sensitivity + 2.0 * error, 2.0);
        let reach = weights.largest(kappa) * ratio / (law.reach(p) * distance);
        let lattice_bits = lattice::bits_for(up_by(reach, 8.0))?;
        let sigma = law.scale(distance, ratio, p, lattice_bits).ok_or(LearnError::DeltaTooSmall(budget))?;
        Ok(Self { common, weights, sensitivity, error, ratio, lattice_bits, sigma })
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// How much of each statistic is released.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// How far one record can move the exact moments.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// How far computed moments can be from the exact ones.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The ratio of the release.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Fineness of the lattice.
    pub fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    /// Scale of the noise.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}
