//! The noise, from public facts.

use super::path;
use crate::suggested::{Circumstances, whole};
use crate::{Common, Law as _, LearnError, Plan, PublicFacts, packing};
use pairdp_certificate::{Algorithm, Average, Phase};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_stability::realised;
use pairdp_units::directed::{larger, up_by};

/// The results of one or several descents, each released with noise for how far one record can move it.
///
/// Phases have disjoint parts of the table and each starts at what the one before released, so that every phase may use the
/// whole budget: a record is in one part, and later phases only process what was released.
///
/// # Guarantee
/// The releases satisfy the budget under replace-one adjacency: `proofs/output_gd.md`, `proofs/realised_path.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    pub(crate) common: Common,
    pub(crate) phases: Vec<Phase>,
    /// Of each release.
    pub(crate) ratio: f64,
    pub(crate) lattice_bits: u32,
}

impl Results {
    pub(crate) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, budget, .. } = public;
        let mut phases = path::phases(&public)?;
        let (p, law) = (public.coordinates(), plan.law());
        let (common, for_data) = Common::new(&public, phases.len() as f64 * law.samples(p))?;
        let ratio = law.ratio(for_data, 1.0)?;
        let bound = problem.constants().gradient_bound;
        let mut reach = 0.0;
        for phase in &mut phases {
            let travel = path::travel(problem, bound, phase);
            phase.sensitivity = up_by(phase.sensitivity + 2.0 * packing::error(problem, travel), 2.0);
            reach = larger(reach, travel * ratio / (law.reach(p) * phase.sensitivity));
        }
        let lattice_bits = lattice::bits_for(up_by(reach, 8.0))?;
        for phase in &mut phases {
            let sigma = law.scale(phase.sensitivity, ratio, p, lattice_bits);
            phase.sigma = sigma.ok_or(LearnError::DeltaTooSmall(budget))?;
        }
        Ok(Self { common, phases, ratio, lattice_bits })
    }

    pub(crate) fn lattice(&self, phase: Phase) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(phase.sigma, self.lattice_bits)?)
    }

    /// The descents, in order.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }
}

/// Steps of one pass, or of a few over all pairs.
pub(crate) fn suggested(algorithm: Algorithm, found: &Circumstances) -> Result<Plan, LearnError> {
    /// Every step over all pairs moves the result, and so costs noise.
    const STEPS: u32 = 10;
    let (steps, size, average) = match algorithm {
        Algorithm::PhasedGd => {
            let phases = realised::halving_phases(found.records, 1.0)?;
            (whole(phases.iter().map(|phase| phase.n_steps).sum()), found.phase_rate(), Average::All)
        }
        Algorithm::LocalizedSgd => {
            let phases = realised::localized_phases(found.records, 1.0)?;
            (whole(phases.iter().map(|phase| phase.n_steps).sum()), found.phase_rate(), Average::All)
        }
        Algorithm::OfflinePair => (whole(found.records - 1), found.one_pass(0.0), Average::Last),
        Algorithm::OutputSgd | Algorithm::MatchingSgd => {
            (whole(found.records), found.one_pass(0.0), Average::SecondHalf)
        }
        _ => {
            // A slope that jumps costs noise at every step.
            let jumps = found.problem.constants().smoothness().is_none();
            let size = if jumps { found.unit / f64::from(STEPS) } else { 0.5 * found.longest };
            (STEPS, size, Average::Last)
        }
    };
    Ok(Plan::new(algorithm, steps, size, average)?.with_law(found.quietest(1.0)?))
}
