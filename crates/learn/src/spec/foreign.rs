//! Choices that a foreign score leaves open.

use crate::{Risk, Settings};
use pairdp_certificate::Algorithm;
use pairdp_model::Task;
use pairdp_pairwise::{Foreign, LossKind, Problem, Score};
use pairdp_release::LearnError;

impl Settings {
    /// Whether scores are those of a function elsewhere.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign_parameters.is_some()
    }

    /// What is compared then.
    pub(crate) fn foreign_score(&self) -> Result<Score, LearnError> {
        let misplaced = [
            (self.scores.is_some(), "other scores beside it"),
            (self.hidden.is_some(), "number of hidden units"),
            (self.linear_share.is_some(), "share of a linear term"),
            (self.intercept == Some(true), "intercept beside it"),
            (self.task == Task::Metric, "distances"),
            (self.task == Task::Regression, "regression"),
        ];
        if let Some((_, what)) = misplaced.iter().find(|(said, _)| *said) {
            return Err(LearnError::NotOfForeign(what));
        }
        let parameters = self.foreign_parameters.unwrap_or_default();
        Ok(Score::Foreign(Foreign {
            parameters: usize::try_from(parameters).unwrap_or(usize::MAX),
            bound: self.gradient_bound.unwrap_or(1.0),
            seed: self.public_seed()?,
        }))
    }

    /// The same with everything chosen that was left open: a descent over rows as ranges put them, of a loss whose noise does not grow.
    pub(crate) fn resolved_foreign(&self) -> (Self, Option<String>) {
        let because =
            (self.algorithm.is_none()).then(|| "a foreign score is found by a descent alone".to_owned());
        let chosen = Self {
            algorithm: self.algorithm.or(Some(Algorithm::NoisyGd)),
            risk: self.risk.or((self.task == Task::Ranking).then_some(Risk::Pairs)),
            loss: self.loss.or(Some(LossKind::CappedLogistic)),
            ..self.clone()
        };
        (chosen, because)
    }
}

/// By how much steps are shorter where gradients may be longer than 1.
pub(super) fn scale(problem: Problem) -> f64 {
    match problem.score() {
        Score::Linear | Score::Network(_) => 1.0,
        Score::Foreign(foreign) => foreign.bound * foreign.bound,
    }
}
