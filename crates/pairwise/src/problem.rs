//! What is to be learned, in public terms.

use crate::domain::norm_up;
use crate::loss::logistic;
use crate::{Constants, Domain, Loss, Sensitivity};
use pairdp_units::directed::{down, up_by};
use pairdp_units::{Hint, ReplaceOne};
use serde::{Deserialize, Serialize};

/// Public numbers that do not make a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A bound must be finite and positive.
    #[error("the {what} must be a finite number above 0, not {value}")]
    Bound {
        /// Which number.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A pair needs two records.
    #[error("pairwise learning needs at least 2 records, not {0}")]
    TooFewRecords(usize),
}

impl Hint for ProblemError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Bound { .. } => Some("1 is a sensible value".into()),
            Self::TooFewRecords(_) => None,
        }
    }
}

/// A bipartite ranking problem: minimise the mean of φ(w·(x − x')) over pairs of a positive record x and a
/// negative record x', normalised by all n(n−1) ordered pairs.
///
/// Why this normaliser and not n₊n₋: the class counts are private, and dividing by them would make the
/// sensitivity as large as the gradient itself when a class has one member (`proofs/ranking_sensitivity.md`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawProblem", into = "RawProblem")]
pub struct Problem {
    loss: Loss,
    domain: Domain,
    feature_bound: f64,
}

/// A problem as written in a file, before its numbers are checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProblem {
    loss: Loss,
    domain: Domain,
    feature_bound: f64,
}

impl TryFrom<RawProblem> for Problem {
    type Error = ProblemError;
    fn try_from(raw: RawProblem) -> Result<Self, ProblemError> {
        Self::new(raw.loss, raw.domain, raw.feature_bound)
    }
}

impl From<Problem> for RawProblem {
    fn from(problem: Problem) -> Self {
        Self { loss: problem.loss, domain: problem.domain, feature_bound: problem.feature_bound }
    }
}

impl Problem {
    /// `feature_bound` is κ, the largest norm of a record's features.
    ///
    /// # Errors
    /// [`ProblemError::Bound`] when κ or the radius is not a finite positive number.
    pub fn new(loss: Loss, domain: Domain, feature_bound: f64) -> Result<Self, ProblemError> {
        for (what, value) in [("feature bound", feature_bound), ("radius", domain.radius())] {
            if !(value.is_finite() && value > 0.0) {
                return Err(ProblemError::Bound { what, value });
            }
        }
        Ok(Self { loss, domain, feature_bound })
    }

    /// The scalar loss.
    pub fn loss(self) -> Loss {
        self.loss
    }

    /// Where the parameters live.
    pub fn domain(self) -> Domain {
        self.domain
    }

    /// κ: the largest norm of a record's features.
    pub fn feature_bound(self) -> f64 {
        self.feature_bound
    }

    /// The worst-case constants over the whole domain.
    pub fn constants(self) -> Constants {
        Constants::of(self)
    }

    /// The largest margin |w·(x − x')| of a pair at parameters of norm at most `norm`: 2κ·norm, rounded up.
    pub fn margin_bound(self, norm: f64) -> f64 {
        up_by(2.0 * self.feature_bound * norm, 2.0)
    }

    /// The largest steepness −φ' of a pair at parameters of norm at most `norm`, rounded up.
    ///
    /// Margins reach ±2κ‖w‖, the steepness falls in the margin, so the bound is attained at −2κ‖w‖.
    pub fn steepness_bound(self, norm: f64) -> f64 {
        match self.loss {
            Loss::Logistic => up_by(logistic(self.margin_bound(norm)), 8.0),
        }
    }

    /// How far replacing one of `n` records can move the gradient of the risk at public parameters of norm at
    /// most `norm`: 2κ·c/n, where c is the steepness bound there.
    ///
    /// # Guarantee
    /// `proofs/ranking_sensitivity.md`; attained, so there is no tighter bound in these terms.
    ///
    /// # Errors
    /// [`ProblemError::TooFewRecords`] below two records.
    pub fn gradient_sensitivity(self, norm: f64, n: usize) -> Result<Sensitivity<ReplaceOne>, ProblemError> {
        if n < 2 {
            return Err(ProblemError::TooFewRecords(n));
        }
        let per_pair = up_by(2.0 * self.feature_bound * self.steepness_bound(norm), 2.0);
        Ok(Sensitivity::new(up_by(per_pair / n as f64, 1.0)))
    }

    /// The largest norm that the gradient of the risk can have: at most n₊n₋ ≤ n²/4 of n(n−1) pairs count.
    pub fn gradient_norm_bound(self, norm: f64, n: usize) -> f64 {
        let share = n as f64 / (4.0 * down(n as f64 - 1.0));
        up_by(2.0 * self.feature_bound * self.steepness_bound(norm) * share, 4.0)
    }

    /// The norm of public parameters, rounded up, as the other functions of this type take it.
    pub fn norm(parameters: &[f64]) -> f64 {
        norm_up(parameters)
    }
}
