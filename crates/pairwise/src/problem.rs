//! What is to be learned, in public terms.

use crate::comparison::{Comparison, Linear};
use crate::domain::norm_up;
use crate::{Constants, Domain, MarginLoss, MetricLoss, PointLoss, Score, Sensitivity};
use pairdp_units::directed::{larger, up_by};
use pairdp_units::{Adjacency, FrontEnd, Hint, Labels, Neighbours, PerPerson, Unit, shown};
use serde::{Deserialize, Serialize};

/// Public numbers that do not make a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// A number out of range.
    #[error("the {what} must be {range}, not {}", shown::as_given(*.value))]
    Range {
        /// Which number.
        what: &'static str,
        /// What is accepted.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// The loss has no bounded slope on an unbounded domain.
    #[error("this loss has no Lipschitz constant on the whole space, so no noise would suffice")]
    NotLipschitz,
    /// Matrices for metrics, vectors for scores.
    #[error("this domain holds matrices, and the objective has a vector of weights")]
    MatrixDomain,
    /// A network for what is no score.
    #[error("a network scores records, and this objective is about distances")]
    NetworkOfDistances,
    /// A domain for parameters of which nothing is known.
    #[error("nothing is known of the parameters of a foreign score, and their domain is the whole space")]
    ForeignDomain,
    /// A pair needs two records.
    #[error("pairwise learning needs at least 2 records, not {0}")]
    TooFewRecords(usize),
}

impl Hint for ProblemError {
    fn code(&self) -> &'static str {
        "number"
    }

    fn hint(&self, _: FrontEnd) -> Option<String> {
        match self {
            Self::Range { .. } => Some(
                "sensible values are 1 for a feature bound, 0.01 for a ridge and 1.5 for an exponent".into(),
            ),
            Self::NotLipschitz => Some("choose the domain `ball`, which bounds the parameters".into()),
            Self::MatrixDomain => Some("choose the domain `ball`".into()),
            Self::NetworkOfDistances => Some("learn metrics with linear scores".into()),
            Self::ForeignDomain => Some("leave the domain and its radius out".into()),
            Self::TooFewRecords(_) => None,
        }
    }
}

/// The normalisation of the ranking risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankingForm {
    /// φ(w·(x − x')) for a positive x and a negative x': each pair once.
    Indicator,
    /// φ((y − y')w·(x − x')), y = ±1: each pair twice, at twice the margin (Kang et al., Xue et al.).
    Symmetric,
    /// φ(w·(x − x')) for an x that had its event before that of x' could be seen: each pair once, in the order in which it is
    /// known who failed first. Targets are [signed times](pairdp_units::signed_time).
    Comparable,
}

/// The mean of what is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Objective {
    /// Over all n(n−1) ordered pairs, of a loss of the margin between a positive and a negative record.
    ///
    /// Why n(n−1) and not n₊n₋: the class counts are private, and dividing by them would make the sensitivity
    /// as large as the gradient itself when a class has one member (`proofs/ranking_sensitivity.md`).
    Ranking {
        /// How often a pair counts.
        form: RankingForm,
        /// The loss of its margin.
        loss: MarginLoss,
    },
    /// Over all n(n−1) ordered pairs, of a loss of their squared Mahalanobis distance.
    Metric {
        /// The loss of the distance.
        loss: MetricLoss,
    },
    /// Over all n records, of a loss of the score and the target.
    Pointwise {
        /// The loss of a record.
        loss: PointLoss,
    },
}

/// A risk, the domain it is minimised over, and the public bounds on records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawProblem", into = "RawProblem")]
pub struct Problem {
    objective: Objective,
    domain: Domain,
    feature_bound: f64,
    ridge: f64,
    labels: Labels,
    neighbours: Neighbours,
    per_person: Option<PerPerson>,
    score: Score,
}

/// A problem as written in a file, before its numbers are checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProblem {
    objective: Objective,
    domain: Domain,
    feature_bound: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    ridge: f64,
    labels: Labels,
    #[serde(default, skip_serializing_if = "is_replace_one")]
    neighbours: Neighbours,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_person: Option<PerPerson>,
    #[serde(default, skip_serializing_if = "is_linear")]
    score: Score,
}

fn is_linear(score: &Score) -> bool {
    score.is_linear()
}

fn is_replace_one(neighbours: &Neighbours) -> bool {
    *neighbours == Neighbours::ReplaceOne
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(ridge: &f64) -> bool {
    *ridge == 0.0
}

impl TryFrom<RawProblem> for Problem {
    type Error = ProblemError;
    fn try_from(raw: RawProblem) -> Result<Self, ProblemError> {
        Self::new(raw.objective, raw.domain, raw.feature_bound)?
            .with_ridge(raw.ridge)?
            .with_labels(raw.labels)
            .with_neighbours(raw.neighbours)
            .with_persons(raw.per_person)
            .with_score(raw.score)
    }
}

impl From<Problem> for RawProblem {
    fn from(p: Problem) -> Self {
        let Problem { objective, domain, feature_bound, ridge, labels, neighbours, per_person, score } = p;
        Self { objective, domain, feature_bound, ridge, labels, neighbours, per_person, score }
    }
}

impl Problem {
    /// A problem with private labels and no ridge; `feature_bound` is κ, the largest norm of a
    /// record's features.
    ///
    /// ```
    /// use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
    ///
    /// let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    /// let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0)?;
    /// assert!((problem.constants().gradient_bound - 2.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-12);
    /// # Ok::<(), pairdp_pairwise::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProblemError`] when a number is out of range or the loss is not Lipschitz on the domain.
    pub fn new(objective: Objective, domain: Domain, feature_bound: f64) -> Result<Self, ProblemError> {
        within_range("feature bound", feature_bound)?;
        if domain != Domain::Whole {
            within_range("radius", domain.radius())?;
        }
        if domain.is_psd() && !matches!(objective, Objective::Metric { .. }) {
            return Err(ProblemError::MatrixDomain);
        }
        let (lipschitz_everywhere, exponent) = match objective {
            Objective::Ranking { loss, .. } | Objective::Pointwise { loss: PointLoss::Margin(loss) } => {
                (loss.is_lipschitz(), loss.exponent().map(|q| (q, q < 2.0)))
            }
            Objective::Metric { .. } => (true, None),
            Objective::Pointwise { loss: PointLoss::Residual { q, target_bound } } => {
                within_range("target bound", target_bound)?;
                (false, Some((q, q <= 2.0)))
            }
        };
        if let Some((q, small_enough)) = exponent
            && !(q > 1.0 && small_enough)
        {
            let range = "above 1 and below 2 (for residuals, at most 2)";
            return Err(ProblemError::Range { what: "exponent q", range, value: q });
        }
        if domain == Domain::Whole && !lipschitz_everywhere {
            return Err(ProblemError::NotLipschitz);
        }
        let (labels, neighbours, per_person) = (Labels::Private, Neighbours::ReplaceOne, None);
        let (ridge, score) = (0.0, Score::Linear);
        Ok(Self { objective, domain, feature_bound, ridge, labels, neighbours, per_person, score })
    }

    /// The same plus (λ/2)‖w‖².
    ///
    /// # Errors
    /// [`ProblemError::Range`] unless λ is finite and at least 0.
    pub fn with_ridge(self, ridge: f64) -> Result<Self, ProblemError> {
        if ridge.is_finite() && ridge >= 0.0 {
            return Ok(Self { ridge, ..self });
        }
        Err(ProblemError::Range { what: "ridge", range: "a finite number of at least 0", value: ridge })
    }

    /// The same without a ridge.
    #[must_use]
    pub fn without_ridge(self) -> Self {
        Self { ridge: 0.0, ..self }
    }

    /// The same with labels private or public.
    #[must_use]
    pub fn with_labels(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }

    /// The same for other neighbours.
    #[must_use]
    pub fn with_neighbours(self, neighbours: Neighbours) -> Self {
        Self { neighbours, ..self }
    }

    /// The same for persons with several records each, if it is said how those enter.
    #[must_use]
    pub fn with_persons(self, per_person: Option<PerPerson>) -> Self {
        Self { per_person, ..self }
    }

    /// The same with other scores. A network's are bounded by a domain of what scores grow with.
    ///
    /// # Errors
    /// [`ProblemError`] for a network of distances, or one whose numbers are none.
    pub fn with_score(self, score: Score) -> Result<Self, ProblemError> {
        match score {
            Score::Linear => {}
            Score::Network(network) => _ = network.check()?,
            // Nothing bounds its scores, so that slopes must be bounded wherever they are.
            Score::Foreign(_) if self.domain != Domain::Whole => return Err(ProblemError::ForeignDomain),
            Score::Foreign(foreign) => _ = foreign.check()?,
        }
        if !score.is_linear() && matches!(self.objective, Objective::Metric { .. }) {
            return Err(ProblemError::NetworkOfDistances);
        }
        Ok(Self { score, ..self })
    }

    /// What is compared.
    pub fn score(self) -> Score {
        self.score
    }

    /// How the records of a person enter, if persons are protected.
    pub fn per_person(self) -> Option<PerPerson> {
        self.per_person
    }

    /// Whether records count by weights, as all records of a person do.
    pub fn weighs(self) -> bool {
        self.per_person == Some(PerPerson::Weights)
    }

    /// What a sum over ordered pairs is divided by. Two records of one person are a pair as well, so that persons have N², and
    /// pairs that a record forms with itself are none.
    pub(crate) fn pairs(self, size: usize) -> f64 {
        let n = size as f64;
        if self.weighs() { n * n } else { n * (n - 1.0) }
    }

    /// Whom the guarantee protects.
    pub fn unit(self) -> Unit {
        if self.per_person.is_some() { Unit::Person } else { Unit::Record }
    }

    /// Which tables count as neighbours.
    pub fn neighbours(self) -> Neighbours {
        self.neighbours
    }

    /// The name of the neighbouring relation, for whom the guarantee is.
    pub fn adjacency(self) -> Adjacency {
        Adjacency::of(self.neighbours, self.labels, self.unit())
    }

    /// The size that sums are divided by and noise is scaled to: that of the table, or the cap.
    pub fn size(self, records: usize) -> usize {
        match self.neighbours {
            Neighbours::ReplaceOne => records,
            Neighbours::AddRemoveOne { most } | Neighbours::AddRemovePromised { most } => most,
        }
    }

    /// What is minimised.
    pub fn objective(self) -> Objective {
        self.objective
    }

    /// Which terms the risk adds up.
    pub(crate) fn comparison(self) -> Comparison {
        Comparison::of(self.objective)
    }

    /// How long the gradient of a score is: a network's is scaled down to the same bound.
    pub(crate) fn score_gradient(self) -> Linear {
        match self.score {
            Score::Linear | Score::Network(_) => Linear { feature_bound: self.feature_bound },
            Score::Foreign(foreign) => Linear { feature_bound: foreign.bound },
        }
    }

    /// Where the parameters live.
    pub fn domain(self) -> Domain {
        self.domain
    }

    /// κ: the largest norm of a record's features.
    pub fn feature_bound(self) -> f64 {
        self.feature_bound
    }

    /// λ of the ridge (λ/2)‖w‖². It cancels in every sensitivity, being public at a public point.
    pub fn ridge(self) -> f64 {
        self.ridge
    }

    /// Whether neighbours may differ in their label.
    pub fn labels(self) -> Labels {
        self.labels
    }

    /// Number of parameters for records of `columns` features.
    pub fn parameters(self, columns: usize) -> usize {
        match (self.objective, self.score) {
            (Objective::Metric { .. }, _) => columns.saturating_mul(columns),
            (_, Score::Network(network)) => network.parameters(columns),
            (_, Score::Foreign(foreign)) => foreign.parameters,
            _ => columns,
        }
    }

    /// Worst-case constants over the whole domain.
    pub fn constants(self) -> Constants {
        Constants::of(self, self.domain.radius())
    }

    /// Worst-case constants over parameters of norm at most `norm`.
    pub fn constants_within(self, norm: f64) -> Constants {
        Constants::of(self, norm)
    }

    /// How far one record can move the gradient of the risk at public parameters of norm at most `norm`, for a table of n
    /// records or, where their number is secret, the sum over at most `most` of them divided as if there were so many.
    ///
    /// Replacing a record moves it by D/n, where D = [`Constants::symmetric_difference`]. Under a cap a new record adds its own
    /// pairs or, where records are dropped, takes the place of another, whose label may be another one too: labels that are
    /// public make no difference there. Where no table has more than were promised, a new record only adds its own.
    ///
    /// Taking the constant at the current iterate rather than over the domain is what makes early steps cheap: at
    /// w = 0 a logistic pair has half its largest steepness.
    ///
    /// # Guarantee
    /// `proofs/ranking_sensitivity.md`, `proofs/metric_constants.md`, `proofs/pointwise_constants.md`; under a cap
    /// `proofs/add_remove.md`; for persons, with n := N, `proofs/persons.md`.
    ///
    /// # Errors
    /// [`ProblemError::TooFewRecords`] below two records, or for a cap below two.
    pub fn gradient_sensitivity(self, norm: f64, n: usize) -> Result<Sensitivity, ProblemError> {
        let n = self.size(n);
        if n < 2 {
            return Err(ProblemError::TooFewRecords(n));
        }
        let replaced =
            |problem: Self| up_by(problem.constants_within(norm).symmetric_difference / n as f64, 1.0);
        if self.neighbours == Neighbours::ReplaceOne {
            return Ok(Sensitivity::new(replaced(self)));
        }
        let added =
            up_by(self.comparison().orders() * self.constants_within(norm).gradient_bound / n as f64, 2.0);
        if let Neighbours::AddRemovePromised { .. } = self.neighbours {
            return Ok(Sensitivity::new(added));
        }
        Ok(Sensitivity::new(larger(added, replaced(self.with_labels(Labels::Private)))))
    }

    /// An upper bound on the norm of the risk's gradient, ridge excluded.
    pub fn gradient_norm_bound(self, norm: f64, n: usize) -> f64 {
        let gradient = self.constants_within(norm).gradient_bound;
        up_by(gradient * self.active_share(n), 4.0)
    }

    /// The largest share of all terms of n records or persons that count at once.
    pub(crate) fn active_share(self, n: usize) -> f64 {
        let n = n.max(2);
        self.comparison().active_share(n as f64 * n as f64 / self.pairs(n))
    }

    /// The norm of public parameters, rounded up, as the other functions of this type take it for linear scores.
    pub fn norm(parameters: &[f64]) -> f64 {
        norm_up(parameters)
    }

    /// The norm of the public parameters that scores grow with, rounded up, as the other functions of this type take it.
    pub fn norm_at(self, parameters: &[f64]) -> f64 {
        norm_up(self.score.growing(parameters))
    }

    /// Moves parameters to the nearest point of the domain, which is about those that scores grow with.
    pub fn project(self, parameters: &mut [f64]) {
        let growing = self.score.growing(parameters).len();
        self.domain.project(&mut parameters[..growing]);
    }

    /// Whether parameters are in the domain.
    pub fn contains(self, parameters: &[f64]) -> bool {
        self.domain.contains(self.score.growing(parameters))
    }
}

/// Public bounds lie between these. Fourth powers of them, and what rounds them, neither overflow nor vanish in f64, which every
/// bound on rounding in this workspace takes for granted.
const BOUNDS: (f64, f64) = (1e-30, 1e30);

pub(crate) fn within_range(what: &'static str, value: f64) -> Result<(), ProblemError> {
    if value >= BOUNDS.0 && value <= BOUNDS.1 {
        return Ok(());
    }
    Err(ProblemError::Range { what, range: "between 1e-30 and 1e30", value })
}
