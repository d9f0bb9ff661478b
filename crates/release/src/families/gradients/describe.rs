//! What the accountant, a certificate and people are told of noisy gradients.

use super::calibrate::Gradients;
use crate::{Common, Family, LearnError, PublicFacts, after};
use pairdp_accountant::event::Event;
use pairdp_certificate::{GradientRelease, Released};
use pairdp_pairwise::kernel;

impl Gradients {
    /// The noise of the one release that there is, where no step is taken.
    fn at_rest(&self) -> Option<f64> {
        let noise = self.common.knots.map(|stage| stage.noise().sigma);
        noise.filter(|_| self.steps() == 0)
    }
}

impl Family for Gradients {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn noise_at(&self, norm: f64) -> Result<(&'static str, f64), LearnError> {
        Ok(match self.at_rest() {
            Some(sigma) => ("noise in how many records lie near a knot", sigma),
            None => ("noise in the first gradient over the whole table", self.release_at(norm)?.sigma),
        })
    }

    fn event(&self) -> Result<Event, LearnError> {
        let PublicFacts { problem, plan, .. } = self.common.public;
        after(self.common.ratios(), problem.adjacency(), plan.law(), self.ratio, self.steps())
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        let PublicFacts { problem, records, .. } = self.common.public;
        Ok(match self.at_rest() {
            Some(sigma) => (sigma, records as f64),
            None => (self.release_at(0.0)?.sigma, problem.gradient_norm_bound(0.0, records)),
        })
    }

    fn released(&self, releases: Vec<GradientRelease>) -> Released {
        let kernel = kernel::name(self.common.public.problem).to_owned();
        Released::Gradients { steps: self.steps(), kernel, ratio: self.ratio, releases }
    }
}
