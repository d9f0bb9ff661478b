//! What the accountant, a certificate and people are told of moments.

use super::calibrate::Moments;
use crate::{Common, Family, LearnError, PublicFacts, after};
use pairdp_accountant::event::Event;
use pairdp_certificate::{GradientRelease, Released, Weights};

impl Family for Moments {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn coordinates(&self) -> usize {
        self.weights.coordinates(self.common.public.features)
    }

    fn noise_at(&self, _: f64) -> Result<(&'static str, f64), LearnError> {
        Ok(("noise on each moment", self.sigma()))
    }

    fn event(&self) -> Result<Event, LearnError> {
        let PublicFacts { problem, plan, .. } = self.common.public;
        after(self.common.ratios(), problem.adjacency(), plan.law(), self.ratio, 1)
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        Ok((self.sigma, self.weights.largest(self.common.public.problem.feature_bound())))
    }

    fn released(&self, _: Vec<GradientRelease>) -> Released {
        Released::Moments {
            weights: Weights { mean: self.weights.mean, second: self.weights.second },
            sensitivity: self.sensitivity,
            error: self.error,
            ratio: self.ratio,
            sigma: self.sigma,
        }
    }
}
