//! Choices that a foreign score leaves open, and the function that computes it.
//!
//! The function is code that nobody here has read. It is asked for scores and for sums of clipped gradients, and what lies between is
//! ours. So a guarantee holds on a [condition](Condition), which certificates state; `proofs/foreign_scores.md`.

use super::network::SEED;
use super::plan::Algorithm;
use crate::{LearnError, LossKind, Risk, Settings, Task};
use pairdp_certificate::Condition;
use pairdp_pairwise::kernel::BLOCK;
use pairdp_pairwise::{Foreign, Problem, Score};

/// A function elsewhere that scores rows.
///
/// What it returns must be, to within the stated error, what its score is: see [`Condition::RESTS_ON`]. Rows come in the order of the table, one
/// after the other.
pub trait ForeignScore: Send + Sync {
    /// What a certificate says of it.
    fn condition(&self) -> Condition;

    /// Where a descent starts, from a public seed.
    ///
    /// # Errors
    /// What it said instead.
    fn initial(&self, seed: u64) -> Result<Vec<f64>, String>;

    /// The score of every row.
    ///
    /// # Errors
    /// What it said instead.
    fn scores(&self, parameters: &[f64], rows: &[f64], columns: usize) -> Result<Vec<f64>, String>;

    /// Σ charge·(gradient of the row's score, scaled down to `bound`).
    ///
    /// # Errors
    /// What it said instead.
    fn weighted_clipped_gradient(
        &self,
        parameters: &[f64],
        rows: &[f64],
        columns: usize,
        charges: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, String>;
}

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
            seed: self.start_seed.unwrap_or(SEED) & ((1 << 53) - 1),
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

/// Where a function starts. It is asked about rows of zeros, before a record is shown to it: whether it returns as many numbers as it should.
pub(crate) fn start(
    score: &dyn ForeignScore,
    foreign: Foreign,
    columns: usize,
) -> Result<Vec<f64>, LearnError> {
    let rows = BLOCK + 1;
    let wrong = |what: String| LearnError::WrongAnswer { rows, columns, what };
    let expect = |what: &str, found: usize, expected: usize| {
        if found == expected {
            Ok(())
        } else {
            Err(wrong(format!("{what} has {found} numbers, not {expected}")))
        }
    };
    let zeros = vec![0.0; rows * columns];
    let start = score.initial(foreign.seed).map_err(wrong)?;
    expect("where it starts", start.len(), foreign.parameters)?;
    if !start.iter().all(|value| value.is_finite()) {
        return Err(wrong("where it starts is no number".into()));
    }
    expect("what it scores", score.scores(&start, &zeros, columns).map_err(wrong)?.len(), rows)?;
    let charges = vec![1.0; rows];
    let sum =
        score.weighted_clipped_gradient(&start, &zeros, columns, &charges, foreign.bound).map_err(wrong)?;
    expect("a sum of gradients", sum.len(), foreign.parameters)?;
    Ok(start)
}
