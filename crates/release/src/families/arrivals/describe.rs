//! What the accountant, a certificate and people are told of arrivals.

use super::calibrate::Arrivals;
use crate::{Common, Family, LearnError, PublicFacts, plain_event};
use pairdp_accountant::event::Event;
use pairdp_certificate::{GradientRelease, Released};

impl Family for Arrivals {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn noise_at(&self, _: f64) -> Result<(&'static str, f64), LearnError> {
        Ok(("noise in the gradient of each arrival", self.sigma()))
    }

    fn event(&self) -> Result<Event, LearnError> {
        let PublicFacts { problem, plan, .. } = self.common.public;
        plain_event(problem.adjacency(), plan.law(), self.ratio, 1)
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        Ok((self.sigma, self.common.public.problem.constants().gradient_bound))
    }

    fn released(&self, _: Vec<GradientRelease>) -> Released {
        Released::Online {
            steps: self.steps(),
            order: self.common.public.plan.order(),
            sensitivity: self.sensitivity,
            gradient_error: self.gradient_error,
            ratio: self.ratio,
            sigma: self.sigma,
        }
    }
}
