//! What the accountant, a certificate and people are told of results of descents.

use super::calibrate::Results;
use super::path;
use crate::{Common, Family, LearnError, PublicFacts, plain_event};
use pairdp_accountant::event::Event;
use pairdp_certificate::{Algorithm, GradientRelease, Released};
use pairdp_pairwise::kernel;
use pairdp_units::directed::smaller;

impl Family for Results {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn releases(&self) -> u32 {
        u32::try_from(self.phases.len()).unwrap_or(u32::MAX)
    }

    /// Phases are about disjoint parts: one ratio covers all.
    fn noise_at(&self, _: f64) -> Result<(&'static str, f64), LearnError> {
        Ok(("noise on the result (of the first phase)", self.phases[0].sigma))
    }

    fn event(&self) -> Result<Event, LearnError> {
        let PublicFacts { problem, plan, .. } = self.common.public;
        plain_event(problem.adjacency(), plan.law(), self.ratio, 1)
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        let problem = self.common.public.problem;
        let (bound, first) = (problem.constants().gradient_bound, &self.phases[0]);
        Ok((first.sigma, smaller(problem.domain().radius(), path::travel(problem, bound, first))))
    }

    fn released(&self, _: Vec<GradientRelease>) -> Released {
        let PublicFacts { problem, plan, .. } = self.common.public;
        let full_batch = matches!(plan.algorithm(), Algorithm::OutputGd | Algorithm::PhasedGd);
        Released::Output {
            order: plan.algorithm().has_order().then(|| plan.order()),
            average: plan.average(),
            kernel: full_batch.then(|| kernel::name(problem).to_owned()),
            ratio: self.ratio,
            phases: self.phases.clone(),
        }
    }
}
