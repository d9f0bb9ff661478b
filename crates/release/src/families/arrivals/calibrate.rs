//! The noise, from public facts.

use crate::families::results::path;
use crate::suggested::{Circumstances, whole};
use crate::{Common, Law as _, LearnError, Plan, PublicFacts, packing, too_many_steps};
use pairdp_certificate::{Algorithm, Average, NoiseKind};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_stability::realised;
use pairdp_units::directed::up_by;

/// n − 1 noisy gradients: step k takes the record in place k + 1 of a public order and the mean of its pairs with the k
/// records before it.
///
/// A record moves its own step by up to D and each later step k by D/k, so that all steps together cost what one release of
/// sensitivity D·√(1 + 1/4 + 1/9 + …) ≤ 1.2826·D does, whatever n.
///
/// # Guarantee
/// The releases together satisfy the budget under replace-one adjacency: `proofs/one_pass_and_matching.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    pub(crate) common: Common,
    /// μ of all releases together.
    pub(crate) ratio: f64,
    /// D: how far replacing a record can move the gradient of its own step.
    pub(crate) sensitivity: f64,
    /// How far a computed gradient can be from the exact one.
    pub(crate) gradient_error: f64,
    pub(crate) lattice_bits: u32,
    pub(crate) sigma: f64,
}

impl Arrivals {
    pub(crate) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, records, .. } = public;
        if plan.law() != NoiseKind::Gaussian {
            return Err(LearnError::NoProof("`online-pair` with other than Gaussian noise"));
        }
        let steps = records.saturating_sub(1);
        if plan.steps() as usize != steps {
            return Err(LearnError::FixedSteps { algorithm: plan.algorithm(), steps });
        }
        if !path::can_be_followed(plan.algorithm(), records, steps) {
            return Err(LearnError::PathTooLong { records, steps });
        }
        let p = public.coordinates();
        let (common, for_data) = Common::new(&public, steps as f64 * p as f64)?;
        let ratio = NoiseKind::Gaussian.ratio(for_data, 1.0)?;
        let constants = problem.constants();
        let sensitivity = constants.pair_difference;
        // A mean of up to n − 1 terms added up one by one.
        let sum_error = (records as f64 + 16.0) * f64::EPSILON * constants.gradient_bound;
        let gradient_error = up_by(sum_error + packing::error(problem, constants.gradient_bound), 2.0);
        // By Minkowski's inequality: (F·D + √(n−1)·2τ)/σ + √(n−1)·ρ ≤ m.
        let factor = realised::one_pass_online_factor(records);
        let root = up_by((steps as f64).sqrt(), 1.0);
        let reach = up_by(factor * sensitivity + root * 2.0 * gradient_error, 4.0);
        let lattice_bits = lattice::bits_for(up_by(constants.gradient_bound * ratio / reach, 8.0))?;
        let left = ratio - up_by(root * NoiseKind::Gaussian.rounding(p, lattice_bits), 2.0);
        let sigma = up_by(reach / left, 6.0);
        if !(left > 0.0 && sigma.is_finite()) {
            return Err(too_many_steps(plan));
        }
        Ok(Self { common, ratio, sensitivity, gradient_error, lattice_bits, sigma })
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// Number of releases.
    pub fn steps(&self) -> u32 {
        self.common.public.plan.steps()
    }

    /// Standard deviation of the noise on each coordinate.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// One pass.
pub(crate) fn suggested(found: &Circumstances) -> Result<Plan, LearnError> {
    let noise = 1.3 * (found.coordinates as f64).sqrt() / NoiseKind::Gaussian.ratio(found.budget, 1.0)?;
    Plan::new(Algorithm::OnlinePair, whole(found.records - 1), found.one_pass(noise), Average::All)
}
