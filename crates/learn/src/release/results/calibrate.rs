//! The noise, from public facts.

use super::path;
use crate::LearnError;
use crate::release::{Common, PublicFacts, packing};
use pairdp_certificate::Phase;
use pairdp_noise::lattice::{self, Lattice};
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
    pub(super) common: Common,
    pub(super) phases: Vec<Phase>,
    /// Of each release.
    pub(super) ratio: f64,
    pub(super) lattice_bits: u32,
}

impl Results {
    pub(in crate::release) fn calibrate(public: &PublicFacts) -> Result<Self, LearnError> {
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
