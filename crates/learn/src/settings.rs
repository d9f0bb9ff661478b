//! Public choices as people make them, with defaults for what they leave out: the one way from a command line or a Python
//! call to a problem and a plan.

use crate::literal::{AsPrinted, Paper, as_printed};
use crate::{Average, Law, LearnError, Order, Plan, PlanKind, Shuffle, Task};
use pairdp_noise::{Secure, Source};
use pairdp_pairwise::{Domain, Labels, MarginLoss, MetricLoss, Objective, PointLoss, Problem, RankingForm};
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};

/// A loss by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// log(1 + e^−margin).
    Logistic,
    /// (1 − margin)₊.
    Hinge,
    /// (1 − margin)², or (target − score)².
    Squared,
    /// (1 − margin)₊^q.
    QHinge,
    /// |target − score|^q.
    QNorm,
}

impl LossKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::Squared => "squared",
            Self::QHinge => "q-hinge",
            Self::QNorm => "q-norm",
        }
    }
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
    /// Positive semidefinite matrices of bounded trace.
    PsdNuclear,
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

/// Public choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// What is learned.
    pub task: Task,
    /// How; by public facts unless said.
    pub algorithm: Option<PlanKind>,
    /// The loss; logistic, or squared for regression, unless said.
    pub loss: Option<LossKind>,
    /// Exponent of the q-losses.
    pub q: f64,
    /// λ of the ridge.
    pub ridge: f64,
    /// κ; by the number of features unless said.
    pub feature_bound: Option<f64>,
    /// Where parameters live.
    pub domain: DomainKind,
    /// B; by the task and loss unless said.
    pub radius: Option<f64>,
    /// Whether labels are known to everyone.
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
    pub mechanism: Option<Law>,
    /// For `noisy-sgd`: keep every pair independently, so many in the mean, instead of drawing one.
    pub expected_pairs: Option<f64>,
    /// How public indices follow one another.
    pub shuffle: Shuffle,
    /// Their seed; drawn afresh unless said. It is public, in the certificate, and never reaches the noise.
    pub order_seed: Option<u64>,
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
            ridge: 0.0,
            feature_bound: None,
            domain: DomainKind::Ball,
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
            calibration: Calibration::Certified,
            paper: None,
        }
    }
}

/// What a run needs to know, before any record is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is minimised.
    pub problem: Problem,
    /// How.
    pub plan: Plan,
    /// What may be spent: what was asked for, or what a printed formula really spends.
    pub budget: Budget,
    /// The paper's claim, if the noise is a paper's.
    pub as_printed: Option<AsPrinted>,
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
        let margin = || match loss {
            LossKind::Logistic => Ok(MarginLoss::Logistic),
            LossKind::Hinge => Ok(MarginLoss::Hinge),
            LossKind::Squared => Ok(MarginLoss::Squared),
            LossKind::QHinge => Ok(MarginLoss::QHinge { q: self.q }),
            LossKind::QNorm => Err(refuse()),
        };
        let objective = match self.task {
            Task::Ranking => Objective::Ranking { form: self.form, loss: margin()? },
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
        let radius = self.radius.unwrap_or(match (self.task, loss) {
            (Task::Metric, _) => 10.0,
            (_, LossKind::Logistic | LossKind::Hinge) => 20.0,
            // The noise of losses that grow steeper with the score grows with the radius.
            _ => 3.0,
        });
        let domain = match self.domain {
            DomainKind::Ball => Domain::Ball { radius },
            DomainKind::Whole => Domain::Whole,
            DomainKind::PsdBall => Domain::PsdBall { radius },
            DomainKind::PsdNuclear => Domain::PsdNuclear { radius },
        };
        let labels = if self.public_labels { Labels::Public } else { Labels::Private };
        let feature_bound = self.feature_bound.unwrap_or(suggested_bound(features));
        Ok(Problem::new(objective, domain, feature_bound)?.with_ridge(self.ridge)?.with_labels(labels))
    }

    /// Problem, plan and budget for a table of public size.
    ///
    /// # Errors
    /// [`LearnError`], from public facts alone.
    pub fn prepare(&self, records: usize, features: usize, budget: Budget) -> Result<Prepared, LearnError> {
        let problem = self.problem(features)?;
        let algorithm = match self.algorithm {
            Some(algorithm) => algorithm,
            None => suggested_algorithm(self, records, features, budget)?,
        };
        let suggested = Plan::suggested(algorithm, problem, records, features, budget)?;
        let steps = self.steps.unwrap_or(suggested.steps());
        let mut plan = Plan::new(
            algorithm,
            steps,
            self.step_size.unwrap_or(suggested.step_size()),
            self.average.unwrap_or(suggested.average()),
        )?;
        let law = match self.mechanism {
            Some(law) => law,
            None if algorithm == PlanKind::NoisyGd => {
                Law::quietest(budget, f64::from(steps), crate::packing::coordinates(problem, features))?
            }
            None => suggested.law(),
        };
        if algorithm.has_order() {
            let seed = match self.order_seed {
                Some(seed) => seed,
                // 53 bits, so that every reader of JSON reads the same number.
                None => Secure::from_os()?.next_word() >> 11,
            };
            plan = plan.with_order(Order { shuffle: self.shuffle, seed });
        }
        if let Some(pairs) = self.expected_pairs {
            plan = plan.with_expected_pairs(pairs)?;
        }
        if self.calibration == Calibration::Certified {
            return Ok(Prepared { problem, plan: plan.with_law(law), budget, as_printed: None });
        }
        if algorithm == PlanKind::NoisyGd {
            plan = plan.with_constant_noise();
        }
        let (printed, budget) = as_printed(problem, plan, records, features, budget, self.paper)?;
        Ok(Prepared { problem, plan, budget, as_printed: Some(printed) })
    }
}

/// Rows longer than κ are scaled down to it, and noise is scaled to κ. With many features the length of a row says little and
/// its direction much, so that κ below the length of nearly every row costs next to nothing and keeps rows that are shorter
/// than the bounds allow from paying for those that are not. With few features the length is information.
fn suggested_bound(features: usize) -> f64 {
    const MANY: usize = 8;
    if features >= MANY { 0.7 } else { 1.0 }
}

/// A descent pays once there is signal to spare for many noisy steps; before, one release of moments ranks best. The edge was
/// found on simulated populations and public sets: `cargo xtask bench utility`.
fn suggested_algorithm(
    settings: &Settings,
    records: usize,
    features: usize,
    budget: Budget,
) -> Result<PlanKind, LearnError> {
    const CLEAR: f64 = 2000.0;
    const FEW: usize = 10;
    if settings.task != Task::Ranking
        || settings.calibration == Calibration::Literal
        || settings.steps.is_some()
        || settings.step_size.is_some()
    {
        return Ok(PlanKind::NoisyGd);
    }
    if budget.delta == Delta::PURE {
        return Ok(PlanKind::Moments);
    }
    let clarity = records as f64 * Law::Gaussian.ratio(budget, 1.0)? / (features as f64).sqrt();
    Ok(if clarity >= CLEAR && features > FEW { PlanKind::NoisyGd } else { PlanKind::Moments })
}
