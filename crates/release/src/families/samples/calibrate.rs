//! The noise, from public facts.

use super::binomial::Binomial;
use crate::suggested::{Circumstances, whole};
use crate::{Common, Law as _, LearnError, Plan, PublicFacts, packing, sampled_event, too_many_steps};
use pairdp_accountant::event::{Event, Sampling};
use pairdp_accountant::{AccountantError, calibrate, delta_value};
use pairdp_certificate::{Algorithm, Average, NoiseKind};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Labels, Objective, Problem};
use pairdp_units::Budget;
use pairdp_units::directed::{smaller, up_by};

/// Roundings of a computed gradient of one pair, relative to its largest norm.
const PAIR_ROUNDINGS: f64 = 8.0;

/// T noisy gradients, each of one uniform ordered pair of distinct records, of one uniform record, or the sum over
/// unordered pairs that were each kept independently.
///
/// # Guarantee
/// The releases together satisfy the budget under replace-one adjacency, as long as the sampled indices stay secret:
/// `proofs/noisy_sgd.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    pub(crate) common: Common,
    pub(crate) sampling: Sampling,
    /// σ over the sensitivity, all rounding included.
    pub(crate) noise_multiplier: f64,
    pub(crate) sensitivity: f64,
    pub(crate) gradient_error: f64,
    pub(crate) lattice_bits: u32,
    pub(crate) sigma: f64,
    pub(crate) kept: Option<Binomial>,
}

impl Samples {
    pub(crate) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, records, .. } = public;
        if plan.law() != NoiseKind::Gaussian {
            return Err(LearnError::NoProof("`noisy-sgd` with other than Gaussian noise"));
        }
        let sampling = sampling(problem, plan, records)?;
        let p = public.coordinates();
        // The number of kept pairs is one more approximate sample a step.
        let (common, for_data) = Common::new(&public, f64::from(plan.steps()) * (p as f64 + 1.0))?;
        let noise_multiplier = calibrate::noise_multiplier(
            &sampled_event(problem.adjacency(), sampling, plan.steps(), 1.0)?,
            for_data,
        )?;
        let kept = match sampling {
            Sampling::PoissonPairs { records, expected_pairs } => {
                confirm(
                    &sampled_event(problem.adjacency(), sampling, plan.steps(), noise_multiplier)?,
                    for_data,
                )?;
                Some(Binomial::of_pairs(records, expected_pairs)?)
            }
            _ => None,
        };
        // The most terms a step adds up.
        let terms = kept.as_ref().map_or(1.0, Binomial::largest);
        let constants = problem.constants();
        let sensitivity = sensitivity(problem, sampling);
        let rounding = (PAIR_ROUNDINGS + terms) * terms * f64::EPSILON * constants.gradient_bound;
        let packing = packing::error(problem, terms * constants.gradient_bound);
        let gradient_error = up_by(rounding + packing, 2.0);
        let reach = terms * constants.gradient_bound / (sensitivity * noise_multiplier);
        let lattice_bits = lattice::bits_for(up_by(reach, 8.0))?;
        // (D + 2τ + ρσ)/σ ≤ 1/multiplier.
        let sigma = NoiseKind::Gaussian
            .scale(up_by(sensitivity + 2.0 * gradient_error, 2.0), 1.0 / noise_multiplier, p, lattice_bits)
            .ok_or_else(|| too_many_steps(plan))?;
        Ok(Self {
            common,
            sampling,
            noise_multiplier,
            sensitivity,
            gradient_error,
            lattice_bits,
            sigma,
            kept,
        })
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// The law of the number of kept pairs, if pairs are kept independently.
    pub(crate) fn kept(&self) -> Option<&Binomial> {
        self.kept.as_ref()
    }

    /// Number of releases.
    pub(crate) fn steps(&self) -> u32 {
        self.common.public.plan.steps()
    }

    /// How the records of a step are chosen.
    pub(crate) fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// How far replacing a record can move the gradient of a sample that holds it; where pairs are kept independently, the
    /// largest contribution of a pair.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// How far a computed gradient of a sample can be from the exact one.
    pub fn gradient_error(&self) -> f64 {
        self.gradient_error
    }

    /// Standard deviation of the noise on each coordinate.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// Whether a second method, the verifiers' own, finds the same δ. For very few steps with very few pairs it does not settle, and a
/// model that nobody can verify should not be paid for.
fn confirm(event: &Event, budget: Budget) -> Result<(), LearnError> {
    let asked = budget.delta.get();
    let found = delta_value(event, budget.epsilon)?;
    if found >= asked * 0.985 && found <= asked * (1.0 + 5e-7) {
        return Ok(());
    }
    Err(AccountantError::NoConvergence("two methods do not agree on the noise of so few sampled pairs")
        .into())
}

fn sampling(problem: Problem, plan: Plan, records: usize) -> Result<Sampling, LearnError> {
    let records = records as u64;
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    match plan.expected_pairs() {
        Some(_) if pointwise => Err(LearnError::NeedsPairs(plan.algorithm())),
        Some(expected_pairs) => Ok(Sampling::PoissonPairs { records, expected_pairs }),
        None if pointwise => Ok(Sampling::OneIndex { records }),
        None => Ok(Sampling::FixedSize { batch: 2, records }),
    }
}

/// D of a pair in both orders (the indicator form has one, so that D_sym = D_pair there), or for pairs kept independently
/// the largest contribution of one.
///
/// A sample that holds the replaced record is also compared with one that has *another record* of the table in its place
/// (`proofs/sym.md`), and that one has a label of its own: public labels do not make D smaller.
fn sensitivity(problem: Problem, sampling: Sampling) -> f64 {
    let constants = problem.with_labels(Labels::Private).constants();
    match sampling {
        Sampling::PoissonPairs { .. } => constants.gradient_bound,
        _ => constants.pair_difference,
    }
}

/// As many steps as records.
pub(crate) fn suggested(found: &Circumstances) -> Result<Plan, LearnError> {
    let steps = whole(found.records);
    let size = found.longest / smaller(f64::from(steps), 50.0).sqrt();
    Plan::new(Algorithm::NoisySgd, steps, size, Average::SecondHalf)
}
