//! What was minimised, over what, and between whom the guarantee holds.

use crate::DocumentError;
use pairdp_units::{Adjacency, Labels, Neighbours, PerPerson, Unit};
use serde::{Deserialize, Serialize};

/// A loss φ of a margin s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MarginLoss {
    /// (1 − s)₊.
    Hinge,
    /// log(1 + e^{−s}).
    Logistic,
    /// log(1 + e^{−s}) for s ≥ 0, log 2 − s/2 below.
    CappedLogistic,
    /// (1 − s)².
    Squared,
    /// (1 − s)₊^q, 1 < q < 2.
    QHinge {
        /// The exponent q.
        q: f64,
    },
}

/// A loss of the squared distance M of two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricLoss {
    /// (1 + M)₊ for records of one class, (1 − M)₊ for records of two.
    Hinge,
    /// log(1 + e^{M−1}) for records of one class, log(1 + e^{1−M}) for records of two.
    Logistic,
}

/// A loss of one record's score and target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PointLoss {
    /// A margin loss of y·score, y = ±1.
    Margin(MarginLoss),
    /// |y − score|^q, 1 < q ≤ 2, for targets within ±`target_bound`.
    Residual {
        /// The exponent q.
        q: f64,
        /// Y: targets beyond it are cut off.
        target_bound: f64,
    },
}

/// How often a pair of a ranking risk counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankingForm {
    /// φ(w·(x − x')) for a positive x and a negative x': each pair once.
    Indicator,
    /// φ((y − y')w·(x − x')), y = ±1: each pair twice, at twice the margin.
    Symmetric,
    /// φ(w·(x − x')) for an x that had its event before that of x' could be seen: each pair at most once.
    Comparable,
}

/// The mean of what was minimised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Objective {
    /// Over all ordered pairs, of a loss of the margin between a positive and a negative record.
    Ranking {
        /// How often a pair counts.
        form: RankingForm,
        /// The loss of its margin.
        loss: MarginLoss,
    },
    /// Over all ordered pairs, of a loss of their squared Mahalanobis distance.
    Metric {
        /// The loss of the distance.
        loss: MetricLoss,
    },
    /// Over all records, of a loss of the score and the target.
    Pointwise {
        /// The loss of a record.
        loss: PointLoss,
    },
}

/// Where parameters live.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Domain {
    /// Everywhere.
    Whole,
    /// Euclidean (for matrices: Frobenius) norm at most `radius`.
    Ball {
        /// The bound.
        radius: f64,
    },
    /// Positive semidefinite matrices of Frobenius norm at most `radius`.
    PsdBall {
        /// The bound.
        radius: f64,
    },
    /// Diagonal matrices without negative entries, of Frobenius norm at most `radius`.
    PsdDiagonal {
        /// The bound.
        radius: f64,
    },
    /// Positive semidefinite matrices of nuclear norm at most `radius`.
    PsdNuclear {
        /// The bound.
        radius: f64,
    },
}

/// A risk, the domain it was minimised over, and the public bounds on records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// What was minimised.
    pub objective: Objective,
    /// Where the parameters live.
    pub domain: Domain,
    /// κ: the largest norm of a record's features.
    pub feature_bound: f64,
    /// λ of the ridge (λ/2)‖w‖², where the guarantee rests on it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ridge: f64,
    /// Whether neighbours may differ in their label.
    pub labels: Labels,
    /// Which tables count as neighbours.
    #[serde(default, skip_serializing_if = "is_replace_one")]
    pub neighbours: Neighbours,
    /// How the records of a person enter, if persons are protected: what is called records elsewhere is then persons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_person: Option<PerPerson>,
    /// What was compared: a weighted sum unless said.
    #[serde(default, skip_serializing_if = "Score::is_linear")]
    pub score: Score,
}

/// What was compared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Score {
    /// A weighted sum.
    #[default]
    Linear,
    /// One hidden layer beside it.
    Network(Network),
    /// A function that is not part of the code that trained.
    Foreign(Foreign),
}

/// A score of which nothing is known but what its code is said to keep: each record's gradient is scaled down to κ. The guarantee holds on that
/// [condition](crate::Condition).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// p.
    pub parameters: usize,
    /// κ: the longest gradient of a record's score.
    pub bound: f64,
    /// The public seed of the start.
    pub seed: u64,
}

impl Score {
    /// Whether it is a weighted sum.
    pub fn is_linear(&self) -> bool {
        *self == Self::Linear
    }
}

/// What hidden units do with their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// tanh.
    Tanh,
}

/// s(x) = α·v·x + (βκ/√H)·u·tanh(Wx/κ + b), α² + β² = 1, of which each record's gradient is scaled down to κ; parameters are v, u, b and W.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// What hidden units do.
    pub activation: Activation,
    /// H.
    pub hidden: usize,
    /// α.
    pub linear: f64,
    /// Standard deviation of the entries of W at the start; b has half of it.
    pub spread: f64,
    /// The public seed of the start.
    pub seed: u64,
}

fn is_replace_one(neighbours: &Neighbours) -> bool {
    *neighbours == Neighbours::ReplaceOne
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Problem {
    /// The name of the neighbouring relation, for whom the guarantee is.
    pub fn adjacency(&self) -> Adjacency {
        let unit = if self.per_person.is_some() { Unit::Person } else { Unit::Record };
        Adjacency::of(self.neighbours, self.labels, unit)
    }

    /// Whether the records of a person count by weights.
    pub fn weighs(&self) -> bool {
        self.per_person == Some(PerPerson::Weights)
    }

    /// Whether the numbers are such as a problem can have: bounds between 1e−30 and 1e30, because every proved bound on rounding
    /// takes that for granted; exponents above 1 and below 2 (for residuals, at most 2); a ridge of at least 0.
    ///
    /// # Errors
    /// [`DocumentError::Range`] naming the number.
    pub fn check(&self) -> Result<(), DocumentError> {
        let bound = |what, value: f64| within(what, value, (1e-30..=1e30).contains(&value));
        bound("feature bound", self.feature_bound)?;
        match self.domain {
            Domain::Whole => {}
            Domain::Ball { radius }
            | Domain::PsdBall { radius }
            | Domain::PsdDiagonal { radius }
            | Domain::PsdNuclear { radius } => bound("radius", radius)?,
        }
        match self.objective {
            Objective::Ranking { loss: MarginLoss::QHinge { q }, .. }
            | Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::QHinge { q }) } => {
                within("exponent q", q, q > 1.0 && q < 2.0)?;
            }
            Objective::Pointwise { loss: PointLoss::Residual { q, target_bound } } => {
                bound("target bound", target_bound)?;
                within("exponent q", q, q > 1.0 && q <= 2.0)?;
            }
            _ => {}
        }
        if let Score::Network(Network { hidden, linear, spread, .. }) = self.score {
            within("number of hidden units", hidden as f64, (1..=10_000_000).contains(&hidden))?;
            within("share of the linear term", linear, linear > 0.0 && linear < 1.0)?;
            within("spread of the first weights", spread, (1e-6..=1e6).contains(&spread))?;
        }
        if let Score::Foreign(Foreign { parameters, bound: longest, .. }) = self.score {
            within("number of parameters", parameters as f64, (1..=10_000_000).contains(&parameters))?;
            bound("bound on gradients", longest)?;
        }
        within("ridge", self.ridge, self.ridge.is_finite() && self.ridge >= 0.0)
    }
}

/// Refuses unless `good`, which NaN never is.
pub(crate) fn within(what: &'static str, value: f64, good: bool) -> Result<(), DocumentError> {
    if good { Ok(()) } else { Err(DocumentError::Range { what, value }) }
}
