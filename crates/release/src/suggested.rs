//! Numbers that suit a problem, from public facts alone; each family has its own in `calibrate`.

use crate::packing::coordinates;
use crate::{Law as _, LearnError, Plan, families};
use pairdp_certificate::{Algorithm, NoiseKind};
use pairdp_pairwise::Problem;
use pairdp_units::directed::smaller;
use pairdp_units::{Budget, Delta};

impl Plan {
    /// Steps and step sizes of the papers' theorems, with constants that served in trials on simulated cohorts; the noise
    /// with the least root mean square.
    ///
    /// # Errors
    /// [`LearnError`] when no noise level fits the budget, or there are too few records.
    pub fn suggested(
        algorithm: Algorithm,
        problem: Problem,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        problem.gradient_sensitivity(0.0, records)?;
        families::suggested(algorithm, &Circumstances::new(problem, records, features, budget))
    }

    /// Twice the inverse smoothness of the risk: descent without noise just converges. Losses whose slope jumps get what the
    /// logistic loss would.
    pub fn longest_step(problem: Problem, records: usize) -> f64 {
        let logistic = problem.feature_bound() * problem.feature_bound() / 4.0;
        2.0 / problem.risk_smoothness(records).unwrap_or(logistic)
    }
}

/// Public facts, and the lengths that steps are measured by.
pub(crate) struct Circumstances {
    pub(crate) problem: Problem,
    pub(crate) records: usize,
    pub(crate) features: usize,
    pub(crate) budget: Budget,
    /// Coordinates of a release.
    pub(crate) coordinates: usize,
    /// The longest step of a descent over all pairs.
    pub(crate) longest: f64,
    /// The same over single pairs, which are less smooth than the mean over all.
    longest_of_a_pair: f64,
    /// As many of the largest gradients as a descent should get far: margins of a few, or the edge of the domain.
    pub(crate) unit: f64,
}

impl Circumstances {
    fn new(problem: Problem, records: usize, features: usize, budget: Budget) -> Self {
        let longest = Plan::longest_step(problem, records);
        let travel = smaller(problem.domain().radius(), 5.0 / problem.feature_bound());
        let constants = problem.constants();
        Self {
            problem,
            records,
            features,
            budget,
            coordinates: coordinates(problem, features),
            longest,
            longest_of_a_pair: constants.smoothness().map_or(longest, |l| 2.0 / (l + problem.ridge())),
            unit: travel / constants.gradient_bound,
        }
    }

    /// The step size of one pass: a gradient of norm G, plus noise of every step where there is any.
    pub(crate) fn one_pass(&self, noise: f64) -> f64 {
        let steps = self.records as f64 * (1.0 + noise * noise);
        smaller(self.unit / steps.sqrt(), 0.99 * self.longest_of_a_pair)
    }

    /// The step size of the first of several phases.
    pub(crate) fn phase_rate(&self) -> f64 {
        // ln(1/δ), or the 1 that takes its place without δ.
        let delta = self.budget.delta;
        let inverse = if delta == Delta::PURE { 1.0 } else { -delta.get().ln() };
        let noise = (self.coordinates as f64 * inverse).sqrt() / self.budget.epsilon.get();
        let rate = smaller(1.0 / (self.records as f64).sqrt(), 1.0 / noise);
        smaller(16.0 * self.unit * rate, 3.9 * self.longest_of_a_pair)
    }

    /// The noise with the least root mean square for so many releases.
    pub(crate) fn quietest(&self, releases: f64) -> Result<NoiseKind, LearnError> {
        NoiseKind::quietest(self.budget, releases, self.coordinates)
    }
}

/// A number of steps as plans have it.
pub(crate) fn whole(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}
