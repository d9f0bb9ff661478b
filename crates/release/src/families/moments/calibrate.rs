//! The noise, from public facts.

use crate::suggested::Circumstances;
use crate::{Common, Law as _, LearnError, Plan, PublicFacts};
use pairdp_certificate::{Algorithm, Average, NoiseKind};
use pairdp_model::Task;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::moments::{self, Target, Weights};
use pairdp_pairwise::{Neighbours, Objective, PointLoss, RankingForm};
use pairdp_units::Delta;
use pairdp_units::directed::up_by;

/// First and second moments of features and label, released once.
///
/// # Guarantee
/// The release satisfies the budget: `proofs/moments.md`, and for tables of secret size `proofs/add_remove.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    pub(crate) common: Common,
    pub(crate) weights: Weights,
    /// How far one record can move the exact moments.
    pub(crate) sensitivity: f64,
    /// How far computed moments can be from the exact ones.
    pub(crate) error: f64,
    pub(crate) ratio: f64,
    pub(crate) lattice_bits: u32,
    pub(crate) sigma: f64,
}

impl Moments {
    pub(crate) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, records, features, budget } = public;
        if matches!(problem.objective(), Objective::Metric { .. }) {
            return Err(LearnError::NoProof("`moments` of pairs' distances"));
        }
        if plan.steps() != 1 {
            return Err(LearnError::FixedSteps { algorithm: plan.algorithm(), steps: 1 });
        }
        let (law, kappa) = (plan.law(), problem.feature_bound());
        // Gaussian noise does not grow with the number of coordinates; the others' does. Regression cannot do without.
        let weights = Weights::suggested(law == NoiseKind::Gaussian || Task::of(problem) == Task::Regression);
        let p = weights.coordinates(features);
        let (common, for_data) = Common::new(&public, law.samples(p))?;
        let ratio = public.ratio(for_data, 1.0)?;
        let sensitivity = match problem.neighbours() {
            Neighbours::AddRemovePromised { .. } => moments::sensitivity_of_adding(weights, kappa, records)?,
            Neighbours::ReplaceOne | Neighbours::AddRemoveOne { .. } => {
                moments::sensitivity(weights, kappa, records)?
            }
        };
        let sensitivity = sensitivity.get();
        let error = moments::error_bound(weights, kappa, features);
        let distance = up_by(sensitivity + 2.0 * error, 2.0);
        let reach = weights.largest(kappa) * ratio / (law.reach(p) * distance);
        let lattice_bits = lattice::bits_for(up_by(reach, 8.0))?;
        let sigma = law.scale(distance, ratio, p, lattice_bits).ok_or(LearnError::DeltaTooSmall(budget))?;
        Ok(Self { common, weights, sensitivity, error, ratio, lattice_bits, sigma })
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// What y of a record is.
    pub fn target(&self) -> Target {
        match self.common.public.problem.objective() {
            Objective::Pointwise { loss: PointLoss::Residual { target_bound, .. } } => {
                Target::Within(target_bound)
            }
            // What stands for a time.
            Objective::Ranking { form: RankingForm::Comparable, .. } => Target::Within(1.0),
            _ => Target::Sign,
        }
    }

    /// How much of each statistic is released.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Scale of the noise.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// One release.
pub(crate) fn suggested(found: &Circumstances) -> Result<Plan, LearnError> {
    let pure = found.budget.delta == Delta::PURE;
    let law = if pure { NoiseKind::Laplace } else { NoiseKind::Gaussian };
    Ok(Plan::new(Algorithm::Moments, 1, 1.0, Average::Last)?.with_law(law))
}
