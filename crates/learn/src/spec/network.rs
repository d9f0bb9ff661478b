//! Choices that a network leaves open.

use super::auto;
use super::foreign;
use crate::{RepresentationKind, Risk, Settings};
use pairdp_certificate::{Algorithm, Average, RandomFeatures};
use pairdp_model::Task;
use pairdp_pairwise::{Activation, LossKind, Network, Problem, Score};
use pairdp_release::{LearnError, Plan, clarity};
use pairdp_units::{Budget, Delta};
use serde::{Deserialize, Serialize};

/// What is compared, by the name that people type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// A weighted sum of what columns became.
    Linear,
    /// One hidden layer beside it.
    Network,
    /// Cosines and sines of random directions beside it.
    RandomFeatures,
}

/// Hidden units, unless said.
const HIDDEN: u32 = 64;
/// α of the linear term, where noise decides and where hidden units have something to find.
const LINEAR: (f64, f64) = (0.85, 0.5);
/// Standard deviation of the first weights, on rows of the unit ball.
const SPREAD: f64 = 2.0;
/// Numbers of random features, unless said, and the standard deviation of entries of their directions.
const RANDOM_FEATURES: u32 = 800;
const DIRECTIONS: f64 = 2.0;
/// The public seed of the first weights, unless said.
pub(super) const SEED: u64 = 1;
/// The part of the budget for where columns lie: tables that are worth a network are large, and need less of it.
pub(crate) const REPRESENTATION_SHARE: f64 = 0.1;
/// From this n·μ on a network may find what linear scores cannot.
pub(crate) const WORTHWHILE: f64 = 20_000.0;

impl Settings {
    /// Whether scores are weighted sums of what records hold.
    pub(crate) fn is_linear(&self) -> bool {
        !self.is_network() && !self.is_foreign()
    }

    /// Whether scores are sums of what columns add.
    pub(crate) fn is_additive(&self) -> bool {
        self.is_linear() && !self.has_random_features()
    }

    /// Whether waves along random directions follow every row.
    pub(crate) fn has_random_features(&self) -> bool {
        self.scores == Some(ScoreKind::RandomFeatures)
    }

    /// Those waves.
    pub(crate) fn random_features(&self) -> Result<Option<RandomFeatures>, LearnError> {
        if !self.has_random_features() {
            return Ok(None);
        }
        if self.task == Task::Metric {
            return Err(LearnError::NotForTask { what: "random features", task: self.task.name() });
        }
        let count = self.hidden.unwrap_or(RANDOM_FEATURES);
        if count < 2 || count % 2 == 1 || count > 2_000_000 {
            return Err(LearnError::OddFeatures(count));
        }
        let linear = self.linear_share.unwrap_or(LINEAR.1);
        if !(linear > 0.0 && linear < 1.0) {
            let (what, range) = ("the share of the linear term", "between 0 and 1");
            return Err(LearnError::Plan { what, range, value: linear });
        }
        let (directions, seed) = (count as usize / 2, self.public_seed()?);
        Ok(Some(RandomFeatures { directions, linear, spread: DIRECTIONS, seed }))
    }

    /// How many numbers they are.
    pub(crate) fn random_columns(&self) -> usize {
        if self.has_random_features() { self.hidden.unwrap_or(RANDOM_FEATURES) as usize } else { 0 }
    }

    /// Whether scores are those of a network.
    pub(crate) fn is_network(&self) -> bool {
        self.scores == Some(ScoreKind::Network)
    }

    /// Of a start or of directions: 53 bits, so that every reader of JSON reads the same number.
    pub(super) fn public_seed(&self) -> Result<u64, LearnError> {
        match self.start_seed.unwrap_or(SEED) {
            seed if seed < 1 << 53 => Ok(seed),
            seed => {
                Err(LearnError::Plan { what: "the start seed", range: "below 2⁵³", value: seed as f64 })
            }
        }
    }

    /// What is compared, for records of so many columns.
    pub(crate) fn score_of(&self, columns: usize) -> Result<Score, LearnError> {
        if self.is_foreign() {
            return self.foreign_score();
        }
        if !self.is_network() {
            let plain = !self.has_random_features();
            let misplaced = [
                (plain && self.hidden.is_some(), "hidden units"),
                (plain && self.linear_share.is_some(), "shares of a linear term"),
                (plain && self.start_seed.is_some(), "seeds of a start"),
                (self.gradient_bound.is_some(), "bounds on gradients"),
            ];
            return match misplaced.iter().find(|(said, _)| *said) {
                Some((_, what)) => Err(LearnError::OfNetworks(what)),
                None => Ok(Score::Linear),
            };
        }
        if self.task == Task::Metric {
            return Err(LearnError::NotForTask { what: "a network", task: self.task.name() });
        }
        if self.gradient_bound.is_some() {
            return Err(LearnError::NotOfNetworks("bound on gradients to choose: it is that of rows"));
        }
        let hidden = self.hidden.unwrap_or(HIDDEN) as usize;
        let network = Network {
            activation: Activation::Tanh,
            hidden,
            linear: self.linear_share.unwrap_or(LINEAR.0),
            spread: SPREAD,
            seed: self.public_seed()?,
        };
        if !network.fits(columns) {
            return Err(LearnError::LargeNetwork { hidden, columns });
        }
        Ok(Score::Network(network))
    }

    /// The same with everything chosen that was left open: a descent, on ranks, of a loss whose noise does not grow. Random features are found alike.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for a budget that no noise fits.
    pub(crate) fn resolved_network(
        &self,
        records: usize,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        let large = is_worthwhile(records, budget)? || self.has_random_features();
        let usual = if large { LINEAR.1 } else { LINEAR.0 };
        let network = Self { linear_share: self.linear_share.or(Some(usual)), ..self.clone() };
        if self.algorithm.is_some() {
            return Ok((network, None));
        }
        let what = if self.is_network() { "a network is" } else { "weights of random features are" };
        let because = format!("{what} found by a descent alone");
        let bounded = self.task != Task::Regression;
        let on_records = self.task == Task::Ranking;
        // Whoever bounds rows means rows as ranges put them.
        let ranks = self.feature_bound.is_none() && budget.delta != Delta::PURE;
        let usual = if ranks { RepresentationKind::Ranks } else { RepresentationKind::Ranges };
        let chosen = Self {
            algorithm: Some(Algorithm::NoisyGd),
            representation: self.representation.or(Some(usual)),
            risk: self.risk.or(on_records.then_some(Risk::Records)),
            loss: self.loss.or(bounded.then_some(LossKind::CappedLogistic)),
            ..network
        };
        Ok((chosen, Some(because)))
    }
}

/// Whether a table is so large that a network may find what linear scores cannot: n·μ of at least 20,000.
///
/// # Errors
/// [`LearnError::Accountant`] for a budget that no noise fits.
pub fn is_worthwhile(records: usize, budget: Budget) -> Result<bool, LearnError> {
    Ok(budget.delta != Delta::PURE && clarity(records, 1, budget)? >= WORTHWHILE)
}

/// A descent by its time, as for linear scores; its last iterate, because a network is still on its way.
pub(crate) fn by_time(
    problem: Problem,
    records: usize,
    budget: Budget,
    share: f64,
) -> Result<Plan, LearnError> {
    let plan = auto::by_time(problem, records, budget, share)?;
    let (steps, size) = (plan.steps(), plan.step_size() / foreign::scale(problem));
    let last = Plan::new(Algorithm::NoisyGd, steps, size, Average::Last)?;
    last.with_law(plan.law()).with_momentum(plan.momentum())
}
