//! An algorithm with all its public numbers.

use crate::{Gradients, LearnError};
use pairdp_pairwise::Problem;
use pairdp_units::Budget;
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanKind {
    /// Gradient descent over all pairs, noise in every gradient (Kang et al., Algorithm 1; Xue et al., Algorithm 2).
    NoisyGd,
    /// Gradient descent over all pairs without noise, which is added to its result (Xue et al., Algorithm 1).
    OutputGd,
    /// One uniform pair (or record) a step, noise in every gradient (Wang et al., Algorithms 1 and 2; Bassily et al.,
    /// Algorithm 2).
    NoisySgd,
}

impl PlanKind {
    /// The name on the command line and in certificates.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoisyGd => "noisy-gd",
            Self::OutputGd => "output-gd",
            Self::NoisySgd => "noisy-sgd",
        }
    }
}

/// Which of the iterates becomes the model. Where all of them are released this is free; `output-gd` pays for what it
/// releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// The last one.
    Last,
    /// The mean of the second half, which averages noise away.
    SecondHalf,
}

impl Average {
    /// How many of the last iterates are averaged.
    pub(crate) fn kept(self, steps: u32) -> u32 {
        match self {
            Self::Last => 1,
            Self::SecondHalf => steps - steps / 2,
        }
    }
}

/// The public numbers of a run, checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawPlan", into = "RawPlan")]
pub struct Plan {
    algorithm: PlanKind,
    steps: u32,
    step_size: f64,
    average: Average,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlan {
    algorithm: PlanKind,
    steps: u32,
    step_size: f64,
    average: Average,
}

impl TryFrom<RawPlan> for Plan {
    type Error = LearnError;
    fn try_from(raw: RawPlan) -> Result<Self, LearnError> {
        Self::new(raw.algorithm, raw.steps, raw.step_size, raw.average)
    }
}

impl From<Plan> for RawPlan {
    fn from(plan: Plan) -> Self {
        let Plan { algorithm, steps, step_size, average } = plan;
        Self { algorithm, steps, step_size, average }
    }
}

impl Plan {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`LearnError::Plan`] naming the number that is out of range.
    pub fn new(
        algorithm: PlanKind,
        steps: u32,
        step_size: f64,
        average: Average,
    ) -> Result<Self, LearnError> {
        if steps == 0 {
            return Err(LearnError::Plan { what: "the number of steps", range: "at least 1", value: 0.0 });
        }
        if !(step_size.is_finite() && step_size > 0.0) {
            let range = "a finite number above 0";
            return Err(LearnError::Plan { what: "the step size", range, value: step_size });
        }
        Ok(Self { algorithm, steps, step_size, average })
    }

    /// Which algorithm.
    pub fn algorithm(&self) -> PlanKind {
        self.algorithm
    }

    /// Number of steps.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// η.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Which iterate becomes the model.
    pub fn average(&self) -> Average {
        self.average
    }

    /// Numbers that suit a problem, from public facts alone.
    ///
    /// # Errors
    /// [`LearnError`] when no noise level fits the budget.
    pub fn suggested(
        algorithm: PlanKind,
        problem: Problem,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        let longest = longest_step(problem, records);
        match algorithm {
            PlanKind::NoisyGd => {
                let steps = noisy_steps(problem, records, features, budget)?;
                Self::new(algorithm, steps, longest, Average::SecondHalf)
            }
            PlanKind::OutputGd => {
                // Every step moves the result, and so costs noise; a slope that jumps costs it at every step.
                const STEPS: u32 = 10;
                let travel = problem.domain().radius() / problem.constants().gradient_bound;
                let jumps = problem.constants().smoothness().is_none();
                let size = if jumps { travel / f64::from(STEPS) } else { 0.5 * longest };
                Self::new(algorithm, STEPS, size, Average::Last)
            }
            PlanKind::NoisySgd => {
                let steps = u32::try_from(records).unwrap_or(u32::MAX);
                let size = longest / smaller(f64::from(steps), 50.0).sqrt();
                Self::new(algorithm, steps, size, Average::SecondHalf)
            }
        }
    }
}

/// Each step of `noisy-gd` shares the budget, so many steps pay only when one has noise to spare. The first gradient's
/// norm is of order κ, its noise √d·κ/(n·m): one step for every hundred in n·μ/√d served best in trials on simulated
/// cohorts.
fn noisy_steps(problem: Problem, records: usize, features: usize, budget: Budget) -> Result<u32, LearnError> {
    const MOST_STEPS: f64 = 50.0;
    let ratio = Gradients::calibrate(problem, records, features, 1, budget)?.ratio();
    let clarity = records as f64 * ratio / (problem.parameters(features) as f64).sqrt();
    let steps = larger(1.0, smaller((clarity / 100.0).round(), MOST_STEPS));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 50")]
    let steps = steps as u32;
    Ok(steps)
}

/// Twice the inverse smoothness of the risk: descent without noise just converges. Losses whose slope jumps get what the
/// logistic loss would.
fn longest_step(problem: Problem, records: usize) -> f64 {
    let logistic = problem.feature_bound() * problem.feature_bound() / 4.0;
    2.0 / problem.risk_smoothness(records).unwrap_or(logistic)
}
