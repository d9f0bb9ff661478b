//! The noise, from public facts.

use crate::suggested::Circumstances;
use crate::{Common, Law as _, LearnError, Plan, PublicFacts, packing, too_many_steps};
use pairdp_certificate::{Algorithm, Average, GradientRelease, NoiseKind};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Neighbours, Objective, Problem, kernel};
use pairdp_units::directed::{larger, smaller, up_by};

/// A calibrated sequence of noisy gradients.
///
/// The noise of each release is scaled to the sensitivity at the public point where the gradient is taken:
/// σ_t = Δ_t/m with a ratio m fixed in advance. Each release is then m-GDP (or m-private, for noise whose ratios add up)
/// whatever came before, and T of them are exactly √T·m-GDP (T·m-private), while early steps, taken near 0 where no pair
/// is steep, need half the noise of late ones.
///
/// # Guarantee
/// The releases together satisfy the budget: `proofs/noisy_gd.md`, and for tables of secret size `proofs/add_remove.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    pub(crate) common: Common,
    /// Of one release.
    pub(crate) ratio: f64,
    pub(crate) lattice_bits: u32,
}

impl Gradients {
    pub(crate) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, records, .. } = public;
        let (p, law) = (public.coordinates(), plan.law());
        let releases = f64::from(plan.steps());
        let (common, for_data) = Common::new(&public, releases * law.samples(p))?;
        if plan.steps() == 0 {
            // What comes before has all of the budget.
            return Ok(Self { common, ratio: 0.0, lattice_bits: lattice::bits_for(0.0)? });
        }
        let ratio = public.ratio(for_data, releases)?;
        // The largest gradient in units of σ = Δ/m. Its share of Δ does not depend on where it is taken.
        let reach = problem.gradient_norm_bound(0.0, records) / public.gradient_sensitivity(0.0)?;
        let lattice_bits = lattice::bits_for(up_by(reach * ratio / law.reach(p), 8.0))?;
        let gradients = Self { common, ratio, lattice_bits };
        gradients.release_at(0.0)?;
        Ok(gradients)
    }

    /// The terms of a release at public parameters of norm at most `iterate_norm`.
    ///
    /// # Errors
    /// [`LearnError`] when the lattice is too coarse for the ratio.
    pub fn release_at(&self, iterate_norm: f64) -> Result<GradientRelease, LearnError> {
        let public = self.common.public;
        let PublicFacts { problem, plan, records, features, .. } = public;
        let iterate_norm = if plan.constant_noise() { problem.domain().radius() } else { iterate_norm };
        if iterate_norm.is_infinite() {
            return Err(LearnError::NoProof("constant noise without a bound on the parameters"));
        }
        let sensitivity = public.gradient_sensitivity(iterate_norm)?;
        let kernel_error = gradient_error(problem, iterate_norm, records, features);
        // Two neighbours' computed gradients differ by at most Δ + 2τ, and rounding them to the lattice adds to the ratio.
        let reach = up_by(sensitivity + 2.0 * kernel_error, 2.0);
        let sigma = plan
            .law()
            .scale(reach, self.ratio, public.coordinates(), self.lattice_bits)
            .ok_or_else(|| too_many_steps(plan))?;
        Ok(GradientRelease { iterate_norm, sensitivity, kernel_error, sigma })
    }

    pub(crate) fn lattice(&self, release: GradientRelease) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(release.sigma, self.lattice_bits)?)
    }

    /// Number of releases.
    pub fn steps(&self) -> u32 {
        self.common.public.plan.steps()
    }
}

/// How far a computed and packed gradient can be from the exact one.
fn gradient_error(problem: Problem, norm: f64, records: usize, features: usize) -> f64 {
    let largest = problem.gradient_norm_bound(norm, records);
    let kernel = kernel::error_bound(problem, norm, records, features);
    let secret_size = match problem.neighbours() {
        Neighbours::ReplaceOne => 0.0,
        // The share of the cap's pairs that there are is rounded, and multiplying by it is.
        Neighbours::AddRemoveOne { .. } | Neighbours::AddRemovePromised { .. } => {
            4.0 * f64::EPSILON * largest + kernel::position_error(problem, norm, features)
        }
    };
    up_by(kernel + packing::error(problem, largest) + secret_size, 2.0)
}

/// As many steps as the budget pays for.
pub(crate) fn suggested(found: &Circumstances) -> Result<Plan, LearnError> {
    let pointwise = matches!(found.problem.objective(), Objective::Pointwise { .. });
    let steps = steps(found, found.quietest(1.0)?, pointwise)?;
    // Where features are many, no direction has all of the curvature that the smoothness allows for.
    let size = if pointwise && found.features > 10 { 2.0 * found.longest } else { found.longest };
    let plan = Plan::new(Algorithm::NoisyGd, steps, size, Average::SecondHalf)?;
    Ok(plan.with_law(found.quietest(f64::from(steps))?))
}

/// Each step shares the budget, so many steps pay only when one has noise to spare. The first gradient's norm is of order κ, its
/// noise √p·κ/(n·m): one step for every hundred in n·m/√p served best in trials on simulated cohorts. Where ratios add up instead
/// of their squares, steps are dearer. Losses of records need more steps, as their gradients are mostly about the intercept at
/// first, and have twice the signal.
fn steps(found: &Circumstances, law: NoiseKind, pointwise: bool) -> Result<u32, LearnError> {
    let (a_step, most_steps) = if pointwise { (5.0, 100.0) } else { (100.0, 50.0) };
    let p = found.coordinates;
    let clarity = found.records as f64 * law.ratio(found.budget, 1.0)? / (law.reach(p) * law.spread(p));
    let steps = match law {
        NoiseKind::Gaussian => clarity / a_step,
        NoiseKind::Laplace | NoiseKind::Euclidean => (clarity / a_step).sqrt(),
    };
    let steps = larger(1.0, smaller(steps.round(), most_steps));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100")]
    let steps = steps as u32;
    Ok(steps)
}
