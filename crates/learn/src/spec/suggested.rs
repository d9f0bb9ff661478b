//! Numbers that suit a problem, from public facts alone.

use super::plan::{Algorithm, Average, Plan};
use crate::release::packing::coordinates;
use crate::{LearnError, NoiseKind};
use pairdp_pairwise::{Objective, Problem};
use pairdp_stability::realised;
use pairdp_units::directed::{larger, smaller};
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
        let p = coordinates(problem, features);
        let n = records as f64;
        let longest = Self::longest_step(problem, records);
        // How far a descent should get: margins of a few, or the edge of the domain.
        let travel = smaller(problem.domain().radius(), 5.0 / problem.feature_bound());
        let unit = travel / problem.constants().gradient_bound;
        let whole = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        // Step sizes of one pass: a gradient of norm G, plus noise of every step where there is any. A single pair is less
        // smooth than the mean over all.
        let longest_of_a_pair =
            problem.constants().smoothness().map_or(longest, |l| 2.0 / (l + problem.ridge()));
        let one_pass =
            |noise: f64| smaller(unit / (n * (1.0 + noise * noise)).sqrt(), 0.99 * longest_of_a_pair);
        let phase_rate = || {
            let noise = (p as f64 * log_inverse(budget)).sqrt() / budget.epsilon.get();
            smaller(16.0 * unit * smaller(1.0 / n.sqrt(), 1.0 / noise), 3.9 * longest_of_a_pair)
        };
        let plan = match algorithm {
            Algorithm::NoisyGd => {
                let law = NoiseKind::quietest(budget, 1.0, p)?;
                let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
                let steps = noisy_steps(records, p, law, budget, pointwise)?;
                // Where features are many, no direction has all of the curvature that the smoothness allows for.
                let size = if pointwise && features > 10 { 2.0 * longest } else { longest };
                return Ok(Self::new(algorithm, steps, size, Average::SecondHalf)?
                    .with_law(NoiseKind::quietest(budget, f64::from(steps), p)?));
            }
            Algorithm::OutputGd => {
                // Every step moves the result, and so costs noise; a slope that jumps costs it at every step.
                const STEPS: u32 = 10;
                let jumps = problem.constants().smoothness().is_none();
                let size = if jumps { unit / f64::from(STEPS) } else { 0.5 * longest };
                Self::new(algorithm, STEPS, size, Average::Last)?
            }
            Algorithm::NoisySgd => {
                let steps = whole(records);
                let size = longest / smaller(f64::from(steps), 50.0).sqrt();
                return Self::new(algorithm, steps, size, Average::SecondHalf);
            }
            Algorithm::OnlinePair => {
                let noise = 1.3 * (p as f64).sqrt() / NoiseKind::Gaussian.ratio(budget, 1.0)?;
                return Self::new(algorithm, whole(records - 1), one_pass(noise), Average::All);
            }
            Algorithm::OutputSgd => Self::new(algorithm, whole(records), one_pass(0.0), Average::SecondHalf)?,
            Algorithm::MatchingSgd => {
                Self::new(algorithm, whole(records), one_pass(0.0), Average::SecondHalf)?
            }
            Algorithm::OfflinePair => Self::new(algorithm, whole(records - 1), one_pass(0.0), Average::Last)?,
            Algorithm::Moments => {
                let law = if budget.delta == Delta::PURE { NoiseKind::Laplace } else { NoiseKind::Gaussian };
                return Ok(Self::new(algorithm, 1, 1.0, Average::Last)?.with_law(law));
            }
            Algorithm::PhasedGd => {
                let steps = realised::halving_phases(records, 1.0)?.iter().map(|phase| phase.n_steps).sum();
                Self::new(algorithm, whole(steps), phase_rate(), Average::All)?
            }
            Algorithm::LocalizedSgd => {
                let steps = realised::localized_phases(records, 1.0)?.iter().map(|phase| phase.n_steps).sum();
                Self::new(algorithm, whole(steps), phase_rate(), Average::All)?
            }
        };
        Ok(plan.with_law(NoiseKind::quietest(budget, 1.0, p)?))
    }

    /// Twice the inverse smoothness of the risk: descent without noise just converges. Losses whose slope jumps get what the
    /// logistic loss would.
    pub(crate) fn longest_step(problem: Problem, records: usize) -> f64 {
        let logistic = problem.feature_bound() * problem.feature_bound() / 4.0;
        2.0 / problem.risk_smoothness(records).unwrap_or(logistic)
    }
}

/// ln(1/δ), or the 1 that takes its place without δ.
fn log_inverse(budget: Budget) -> f64 {
    if budget.delta == Delta::PURE { 1.0 } else { -budget.delta.get().ln() }
}

/// Each step of `noisy-gd` shares the budget, so many steps pay only when one has noise to spare. The first gradient's
/// norm is of order κ, its noise √p·κ/(n·m): one step for every hundred in n·m/√p served best in trials on simulated
/// cohorts. Where ratios add up instead of their squares, steps are dearer. Losses of records need more steps, as their
/// gradients are mostly about the intercept at first, and have twice the signal.
fn noisy_steps(
    records: usize,
    coordinates: usize,
    law: NoiseKind,
    budget: Budget,
    pointwise: bool,
) -> Result<u32, LearnError> {
    let (a_step, most_steps) = if pointwise { (5.0, 100.0) } else { (100.0, 50.0) };
    let clarity =
        records as f64 * law.ratio(budget, 1.0)? / (law.reach(coordinates) * law.spread(coordinates));
    let steps = match law {
        NoiseKind::Gaussian => clarity / a_step,
        NoiseKind::Laplace | NoiseKind::Euclidean => (clarity / a_step).sqrt(),
    };
    let steps = larger(1.0, smaller(steps.round(), most_steps));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100")]
    let steps = steps as u32;
    Ok(steps)
}
