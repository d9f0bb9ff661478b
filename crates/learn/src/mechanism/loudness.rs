//! How loud the noise is, from public facts.

use super::{Mechanism, path};
use crate::LearnError;
use pairdp_units::directed::smaller;

/// The first release of a run: its noise beside what it can release at most, both as lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Scale of the noise.
    pub sigma: f64,
    /// Root mean square length of the noise.
    pub noise: f64,
    /// The largest length that the exact answer can have.
    pub signal: f64,
}

impl Mechanism {
    /// Noise and signal of the first release.
    ///
    /// # Errors
    /// As calibration; only public facts decide.
    pub fn loudness(&self) -> Result<Loudness, LearnError> {
        let public = self.common().public;
        let problem = public.problem;
        let bound = problem.constants().gradient_bound;
        let (sigma, signal) = match self {
            Self::Gradients(gradients) => {
                (gradients.release_at(0.0)?.sigma, problem.gradient_norm_bound(0.0, public.records))
            }
            Self::Sampled(sampled) => (sampled.sigma(), bound),
            Self::Online(online) => (online.sigma(), bound),
            Self::Output(output) => {
                let first = &output.phases()[0];
                (first.sigma, smaller(problem.domain().radius(), path::travel(problem, bound, first)))
            }
            Self::Moments(moments) => (moments.sigma(), moments.weights().largest(problem.feature_bound())),
        };
        Ok(Loudness { sigma, noise: sigma * public.plan.law().spread(self.coordinates()), signal })
    }
}
