//! What the accountant, a certificate and people are told of secret samples.

use super::calibrate::Samples;
use crate::certificate::same;
use crate::{Common, Family, LearnError, sampled_event};
use pairdp_accountant::event::Event;
use pairdp_certificate::{GradientRelease, Released};

impl Family for Samples {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn noise_at(&self, _: f64) -> Result<(&'static str, f64), LearnError> {
        Ok(("noise in the gradient of each secret sample", self.sigma()))
    }

    fn event(&self) -> Result<Event, LearnError> {
        let adjacency = self.common.public.problem.adjacency();
        sampled_event(adjacency, self.sampling, self.steps(), self.noise_multiplier)
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        Ok((self.sigma, self.common.public.problem.constants().gradient_bound))
    }

    fn released(&self, _: Vec<GradientRelease>) -> Released {
        Released::SampledGradients {
            steps: self.steps(),
            sampling: same(&self.sampling),
            sensitivity: self.sensitivity,
            gradient_error: self.gradient_error,
            noise_multiplier: self.noise_multiplier,
            sigma: self.sigma,
        }
    }
}
