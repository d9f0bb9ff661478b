//! What the accountant, a certificate and people are told of secret samples.

use super::Samples;
use crate::LearnError;
use crate::release::{Common, Family};
use pairdp_accountant::event::{Event, Sampling};
use pairdp_certificate::{self as plain, GradientRelease, Released};

impl Family for Samples {
    fn common(&self) -> &Common {
        &self.common
    }

    fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    fn event(&self) -> Result<Event, LearnError> {
        let adjacency = self.common.public.problem.adjacency();
        super::sampled_event(adjacency, self.sampling, self.steps(), self.noise_multiplier)
    }

    fn first_release(&self) -> Result<(f64, f64), LearnError> {
        Ok((self.sigma, self.common.public.problem.constants().gradient_bound))
    }

    fn released(&self, _: Vec<GradientRelease>) -> Released {
        Released::SampledGradients {
            steps: self.steps(),
            sampling: sampling(self.sampling),
            sensitivity: self.sensitivity,
            gradient_error: self.gradient_error,
            noise_multiplier: self.noise_multiplier,
            sigma: self.sigma,
        }
    }
}

fn sampling(sampling: Sampling) -> plain::Sampling {
    match sampling {
        Sampling::FixedSize { batch, records } => plain::Sampling::FixedSize { batch, records },
        Sampling::OneIndex { records } => plain::Sampling::OneIndex { records },
        Sampling::PoissonPairs { records, expected_pairs } => {
            plain::Sampling::PoissonPairs { records, expected_pairs }
        }
        Sampling::None | Sampling::PoissonRecords { .. } => {
            unreachable!("no mechanism samples so")
        }
    }
}
