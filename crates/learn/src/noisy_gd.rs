//! Gradient descent over all pairs, with noise in every step.

use crate::{Curator, LearnError, Mechanism};
use pairdp_noise::Source;
use pairdp_pairwise::Problem;
use pairdp_units::Budget;
use pairdp_units::directed::{larger, smaller};
use serde::{Deserialize, Serialize};

/// Which of the iterates becomes the model. All of them are released, so this is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// The last one.
    Last,
    /// The mean of the second half, which averages noise away.
    SecondHalf,
}

/// The public numbers of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawNoisyGd", into = "RawNoisyGd")]
pub struct NoisyGd {
    steps: u32,
    step_size: f64,
    average: Average,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNoisyGd {
    steps: u32,
    step_size: f64,
    average: Average,
}

impl TryFrom<RawNoisyGd> for NoisyGd {
    type Error = LearnError;
    fn try_from(raw: RawNoisyGd) -> Result<Self, LearnError> {
        Self::new(raw.steps, raw.step_size, raw.average)
    }
}

impl From<NoisyGd> for RawNoisyGd {
    fn from(plan: NoisyGd) -> Self {
        Self { steps: plan.steps, step_size: plan.step_size, average: plan.average }
    }
}

impl NoisyGd {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`LearnError::Plan`] naming the number that is out of range.
    pub fn new(steps: u32, step_size: f64, average: Average) -> Result<Self, LearnError> {
        if steps == 0 {
            return Err(LearnError::Plan { what: "the number of steps", range: "at least 1", value: 0.0 });
        }
        if !(step_size.is_finite() && step_size > 0.0) {
            let range = "a finite number above 0";
            return Err(LearnError::Plan { what: "the step size", range, value: step_size });
        }
        Ok(Self { steps, step_size, average })
    }

    /// Number of noisy gradients.
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
    /// Each step shares the budget, so many steps pay only when one has noise to spare. The first gradient's norm is
    /// of order κ, its noise √d·κ/(n·m): one step for every hundred in n·μ/√d served best in trials on simulated
    /// cohorts. The step size is near the largest for which descent without noise converges.
    ///
    /// # Errors
    /// [`LearnError`] when no noise level fits the budget.
    pub fn suggested(
        problem: Problem,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        const MOST_STEPS: f64 = 50.0;
        let ratio = Mechanism::calibrate(problem, records, features, 1, budget)?.ratio();
        let clarity = records as f64 * ratio / (features as f64).sqrt();
        let steps = larger(1.0, smaller((clarity / 100.0).round(), MOST_STEPS));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 50")]
        let steps = steps as u32;
        Self::new(steps, step_size(problem, records), Average::SecondHalf)
    }
}

/// Twice the inverse smoothness of the risk: descent without noise just converges. Losses whose slope jumps get what
/// the logistic loss would.
fn step_size(problem: Problem, records: usize) -> f64 {
    let logistic = problem.feature_bound() * problem.feature_bound() / 4.0;
    2.0 / problem.risk_smoothness(records).unwrap_or(logistic)
}

/// w ← Π(w − η·noisy gradient), from w = 0.
///
/// # Errors
/// [`LearnError`] from the curator.
///
/// # Reference
/// Kang et al., Algorithm 1, with the projection it lacks; Xue et al., Algorithm 2, with noise that suffices.
pub fn noisy_gd<S: Source>(curator: &mut Curator<S>, plan: &NoisyGd) -> Result<Vec<f64>, LearnError> {
    let domain = curator.problem().domain();
    let ridge = curator.problem().ridge();
    let mut w = vec![0.0; curator.parameters()];
    let mut sum = vec![0.0; curator.parameters()];
    for step in 1..=plan.steps {
        let gradient = curator.noisy_gradient(&w)?;
        for (value, slope) in w.iter_mut().zip(&gradient) {
            *value -= plan.step_size * (slope + ridge * *value);
        }
        domain.project(&mut w);
        if 2 * step > plan.steps {
            sum.iter_mut().zip(&w).for_each(|(s, value)| *s += value);
        }
    }
    if plan.average == Average::SecondHalf {
        let kept = f64::from(plan.steps - plan.steps / 2);
        w = sum.into_iter().map(|s| s / kept).collect();
        domain.project(&mut w);
    }
    Ok(w)
}
