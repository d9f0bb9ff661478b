//! Public choices as people make them, with defaults for what they leave out: the one way from a command line or a Python
//! call to a problem and a plan.

use super::auto;
use super::network::ScoreKind;
use pairdp_certificate::{Algorithm, Average, NoiseKind, Paper, Shuffle};
use pairdp_model::{Task, probabilities, record_bound};
pub(crate) use pairdp_pairwise::LossKind;
use pairdp_pairwise::{
    Domain, Labels, MetricLoss, Neighbours, Objective, PerPerson, PointLoss, Problem, RankingForm, Unit,
    kernel,
};
use pairdp_release::{LearnError, can_weigh};
use pairdp_units::directed::up_by;
use serde::{Deserialize, Serialize};

/// What a ranker minimises the mean of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// The loss of every pair of a positive and a negative record.
    Pairs,
    /// The loss of every record, as a classifier does. It stands in for the pairs where noise decides: at equal noise its
    /// gradient has twice the signal.
    Records,
}

/// A domain by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DomainKind {
    /// Parameters of bounded norm.
    #[default]
    Ball,
    /// No bound.
    Whole,
    /// Positive semidefinite matrices of bounded Frobenius norm.
    PsdBall,
    /// Weights of features: diagonal matrices without negative entries, of bounded Frobenius norm.
    PsdDiagonal,
    /// Positive semidefinite matrices of bounded trace.
    PsdNuclear,
}

/// How columns become numbers to learn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepresentationKind {
    /// By their ranges, mapped to [−1, 1].
    Ranges,
    /// By ranks, from a first release of where columns lie.
    Ranks,
}

/// Whose noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// Proved, and as little as is needed.
    #[default]
    Certified,
    /// A paper's printed formula, for comparison; the certificate has what it really gives.
    Literal,
}

/// What ends a record of ranks, of length 1 with it.
const RANKS_CONSTANT: f64 = 0.2;

/// Public choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// What is learned.
    pub task: Task,
    /// How; by public facts unless said.
    pub algorithm: Option<Algorithm>,
    /// The loss; logistic, or squared for regression, unless said.
    pub loss: Option<LossKind>,
    /// Exponent of the q-losses.
    pub q: f64,
    /// What is compared: linear scores unless said.
    pub scores: Option<ScoreKind>,
    /// Hidden units of a network, 64 unless said; or how many random features there are, 800 unless said.
    pub hidden: Option<u32>,
    /// What the linear term has beside hidden units or random features, between 0 and 1; by public facts unless said.
    pub linear_share: Option<f64>,
    /// Public seed of a network's first weights or of random directions, which the model names; 1 unless said. It never reaches the noise.
    pub start_seed: Option<u64>,
    /// Parameters of a foreign score, which is then what is compared: a function that is not part of this code.
    pub foreign_parameters: Option<u64>,
    /// The longest gradient of a record's foreign score, to which longer ones are scaled down; 1 unless said.
    pub gradient_bound: Option<f64>,
    /// What share of records is positive, as far as is publicly known; a guess will do.
    pub positive_rate: Option<f64>,
    /// For rankers: of what; pairs unless said or, without an algorithm, by public facts.
    pub risk: Option<Risk>,
    /// Whether the last weight goes with a constant; for losses of records unless said.
    pub intercept: Option<bool>,
    /// λ of the ridge.
    pub ridge: f64,
    /// The largest norm of a record's features; by their number unless said.
    pub feature_bound: Option<f64>,
    /// Where parameters live; in a ball unless said or, for metrics without an algorithm, by public facts.
    pub domain: Option<DomainKind>,
    /// B; by the task and loss unless said.
    pub radius: Option<f64>,
    /// Whether labels are known to everyone; the guarantee is then for the features of a record alone.
    pub public_labels: bool,
    /// Whether a pair of a ranker counts once or, as some papers have it, twice.
    pub form: RankingForm,
    /// T; by the algorithm unless said.
    pub steps: Option<u32>,
    /// η; by the algorithm unless said.
    pub step_size: Option<f64>,
    /// Which iterates are averaged; by the algorithm unless said.
    pub average: Option<Average>,
    /// Which noise; the quietest unless said.
    pub mechanism: Option<NoiseKind>,
    /// For `noisy-sgd`: keep every pair independently, so many in the mean, instead of drawing one.
    pub expected_pairs: Option<f64>,
    /// How public indices follow one another.
    #[serde(rename = "order")]
    pub shuffle: Shuffle,
    /// Their seed; drawn afresh unless said. It is public, in the certificate, and never reaches the noise.
    pub order_seed: Option<u64>,
    /// How columns become numbers to learn from; by public facts unless said.
    pub representation: Option<RepresentationKind>,
    /// The part of the budget (of μ², or of ε for δ = 0) that goes into learning where columns lie.
    pub representation_share: Option<f64>,
    /// Whether labels are counted by cells of the score, from which probabilities follow, with a tenth of the budget; for
    /// classifiers by public facts unless said.
    pub probabilities: Option<bool>,
    /// β: how much of the last step a step of a descent repeats; by public facts unless said.
    pub momentum: Option<f64>,
    /// The most records, or persons, if their number is secret: the guarantee is then for adding or removing one, not for replacing
    /// it.
    pub max_records: Option<usize>,
    /// Whether the custodian promises that there are no more: no record is then pushed out by another, which takes less noise, and a
    /// table that has more is refused.
    pub promised: bool,
    /// Whom the guarantee protects: a record, or a person with all records.
    pub unit: Unit,
    /// How the records of a person enter; by the algorithm unless said.
    pub per_person: Option<PerPerson>,
    /// Whose noise.
    pub calibration: Calibration,
    /// Whose formula, where more than one paper has one.
    pub paper: Option<Paper>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            task: Task::Ranking,
            algorithm: None,
            loss: None,
            q: 1.5,
            scores: None,
            hidden: None,
            linear_share: None,
            start_seed: None,
            foreign_parameters: None,
            gradient_bound: None,
            positive_rate: None,
            risk: None,
            intercept: None,
            ridge: 0.0,
            feature_bound: None,
            domain: None,
            radius: None,
            public_labels: false,
            form: RankingForm::Indicator,
            steps: None,
            step_size: None,
            average: None,
            mechanism: None,
            expected_pairs: None,
            shuffle: Shuffle::Reshuffled,
            order_seed: None,
            representation: None,
            representation_share: None,
            probabilities: None,
            momentum: None,
            max_records: None,
            promised: false,
            unit: Unit::Record,
            per_person: None,
            calibration: Calibration::Certified,
            paper: None,
        }
    }
}

impl Settings {
    /// The problem that these choices name, for records of so many features.
    ///
    /// # Errors
    /// [`LearnError`] naming the choice that does not fit.
    pub fn problem(&self, features: usize) -> Result<Problem, LearnError> {
        let loss = self.loss.unwrap_or(match self.task {
            Task::Regression => LossKind::Squared,
            _ => LossKind::Logistic,
        });
        let refuse = || LearnError::TaskLoss { task: self.task.name(), loss: loss.name() };
        let margin = || loss.of_margins(self.q).ok_or_else(refuse);
        self.check_choices()?;
        // Before a constant joins it, whose square would hide a sign.
        if let Some(value) = self.feature_bound
            && !(1e-30..=1e30).contains(&value)
        {
            let (what, range) = ("the feature bound", "between 1e-30 and 1e30");
            return Err(LearnError::Plan { what, range, value });
        }
        let objective = match self.task {
            Task::Ranking if self.risk == Some(Risk::Records) => {
                Objective::Pointwise { loss: PointLoss::Margin(margin()?) }
            }
            Task::Ranking => Objective::Ranking { form: self.form, loss: margin()? },
            Task::Survival => Objective::Ranking { form: RankingForm::Comparable, loss: margin()? },
            Task::Classification => Objective::Pointwise { loss: PointLoss::Margin(margin()?) },
            Task::Metric => Objective::Metric {
                loss: match loss {
                    LossKind::Logistic => MetricLoss::Logistic,
                    LossKind::Hinge => MetricLoss::Hinge,
                    _ => return Err(refuse()),
                },
            },
            Task::Regression => {
                let q = match loss {
                    LossKind::Squared => 2.0,
                    LossKind::QNorm => self.q,
                    _ => return Err(refuse()),
                };
                // Targets are mapped to [−1, 1] as features are.
                Objective::Pointwise { loss: PointLoss::Residual { q, target_bound: 1.0 } }
            }
        };
        if self.intercept == Some(true) && !matches!(objective, Objective::Pointwise { .. }) {
            return Err(LearnError::NoIntercept);
        }
        let radius = self.radius.unwrap_or(match (self.task, loss) {
            (Task::Metric, _) => 10.0,
            // Weights of both layers, next to which scores are small.
            _ if self.is_network() && loss.is_lipschitz() => 100.0,
            // Noise that does not grow with the radius; the intercept starts far out where positives are rare.
            (_, LossKind::CappedLogistic) => 100.0,
            _ if loss.is_lipschitz() => 20.0,
            _ if self.algorithm == Some(Algorithm::Moments) => 20.0,
            // The noise of losses that grow steeper with the score grows with the radius.
            _ => 3.0,
        });
        let usual = if self.is_foreign() { DomainKind::Whole } else { DomainKind::default() };
        let domain = match self.domain.unwrap_or(usual) {
            DomainKind::Ball => Domain::Ball { radius },
            DomainKind::Whole => Domain::Whole,
            DomainKind::PsdBall => Domain::PsdBall { radius },
            DomainKind::PsdDiagonal => Domain::PsdDiagonal { radius },
            DomainKind::PsdNuclear => Domain::PsdNuclear { radius },
        };
        let labels = match (self.public_labels, self.task, self.max_records) {
            (false, ..) => Labels::Private,
            _ if self.unit == Unit::Person => return Err(LearnError::PublicLabelsOfPersons),
            (true, _, Some(_)) => return Err(LearnError::PublicLabelsOfSecretSize),
            (true, Task::Metric, None) => Labels::Public,
            (true, task, None) => return Err(LearnError::LabelsMakeNoDifference(task.name())),
        };
        let (bound, constant) = (self.row_bound(features), self.constant(features));
        let bound = if self.constant_in_records() { record_bound(bound, constant) } else { bound };
        let neighbours = match (self.max_records, self.promised) {
            (Some(most), true) => Neighbours::AddRemovePromised { most },
            (Some(most), false) => Neighbours::AddRemoveOne { most },
            (None, true) => return Err(LearnError::PromiseOfNothing),
            (None, false) => Neighbours::ReplaceOne,
        };
        let problem = Problem::new(objective, domain, bound)?.with_ridge(self.ridge)?;
        let problem = problem.with_labels(labels).with_neighbours(neighbours);
        let problem = problem.with_score(self.score_of(self.columns(features))?)?;
        Ok(problem.with_persons(self.per_person(problem)?))
    }

    /// Choices that belong to other tasks.
    fn check_choices(&self) -> Result<(), LearnError> {
        let task = self.task.name();
        let in_time = self.task == Task::Survival;
        let what = match () {
            () if self.form == RankingForm::Comparable && !in_time => "the form `comparable`",
            () if self.form == RankingForm::Symmetric && in_time => "the form `symmetric`",
            () if self.risk == Some(Risk::Records) && in_time => "the risk of records",
            () if self.positive_rate.is_some() && in_time => "a positive rate",
            () => return Ok(()),
        };
        Err(LearnError::NotForTask { what, task })
    }

    /// How the records of a person enter: all of them where sums over the whole table are released and bounds on their rounding do
    /// not depend on how many there are, otherwise one.
    fn per_person(&self, problem: Problem) -> Result<Option<PerPerson>, LearnError> {
        if self.unit == Unit::Record {
            return if self.per_person.is_none() { Ok(None) } else { Err(LearnError::NoPersons) };
        }
        if self.promised {
            return Err(LearnError::NoProof("a promised number of persons"));
        }
        let whole_table = self.algorithm.is_none_or(can_weigh);
        let of_times = self.task == Task::Survival && self.algorithm == Some(Algorithm::Moments);
        let all = of_times || (whole_table && kernel::can_weigh(problem));
        let usual = if all { PerPerson::Weights } else { PerPerson::One };
        Ok(Some(self.per_person.unwrap_or(usual)))
    }

    /// The largest norm of a record's features.
    pub(crate) fn row_bound(&self, features: usize) -> f64 {
        self.feature_bound.unwrap_or(match (self.by_ranks(), self.constant_in_records()) {
            // With the constant, records of length 1.
            (true, true) => (1.0 - RANKS_CONSTANT * RANKS_CONSTANT).sqrt(),
            (true, false) => 1.0,
            // A foreign score takes rows as they are: no guarantee rests on how long they may be.
            (false, _) if self.is_foreign() => up_by((features as f64).sqrt(), 1.0),
            (false, _) => auto::feature_bound(self.task, features - self.random_columns()),
        })
    }

    /// The part of the budget that counts of labels by cells of the score get.
    pub(crate) fn probability_share(&self) -> Option<f64> {
        (self.probabilities == Some(true)).then_some(probabilities::SHARE)
    }

    /// Whether columns become ranks.
    pub(crate) fn by_ranks(&self) -> bool {
        self.representation == Some(RepresentationKind::Ranks)
    }

    /// Whether a metric is the Euclidean distance of ranks as they are: no step is taken, no label looked at.
    pub(crate) fn rests(&self) -> bool {
        self.task == Task::Metric && self.by_ranks() && self.steps == Some(0)
    }

    /// What ends every record; 0 for nothing.
    pub(crate) fn constant(&self, features: usize) -> f64 {
        match (self.has_intercept(), self.constant_in_records()) {
            (true, true) if self.by_ranks() => RANKS_CONSTANT,
            // Half of the bound: large enough to be learned quickly, small enough to cost an eighth more noise.
            (true, true) => 0.5 * self.row_bound(features),
            (true, false) => 1.0,
            (false, _) => 0.0,
        }
    }

    fn has_intercept(&self) -> bool {
        self.intercept.unwrap_or(match self.task {
            // The function has its own, if it has one.
            _ if self.is_foreign() => false,
            Task::Ranking => self.risk == Some(Risk::Records),
            Task::Classification | Task::Regression => true,
            Task::Metric | Task::Survival => false,
        })
    }

    /// Whether gradients need the constant in the records. Moments do not: there the intercept is solved for.
    fn constant_in_records(&self) -> bool {
        self.has_intercept() && self.algorithm != Some(Algorithm::Moments)
    }

    /// Columns of the records for so many features.
    pub fn columns(&self, features: usize) -> usize {
        features + usize::from(self.constant_in_records())
    }
}
