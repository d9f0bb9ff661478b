//! An algorithm with all its public numbers.

use crate::LearnError;
use pairdp_certificate::{Algorithm, Average, CellPlan, KnotPlan, NoiseKind, Order, Training};
use serde::{Deserialize, Serialize};

/// The public numbers of a run, checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Training", into = "Training")]
pub struct Plan {
    algorithm: Algorithm,
    steps: u32,
    step_size: f64,
    average: Average,
    law: NoiseKind,
    order: Order,
    expected_pairs: Option<f64>,
    constant_noise: bool,
    momentum: f64,
    representation: Option<KnotPlan>,
    probabilities: Option<CellPlan>,
}

impl TryFrom<Training> for Plan {
    type Error = LearnError;
    fn try_from(raw: Training) -> Result<Self, LearnError> {
        let at_rest = Self::at_rest(raw.law);
        let plan = match raw.steps {
            0 if raw.algorithm == at_rest.algorithm && raw.representation.is_some() => Ok(at_rest),
            _ => Self::new(raw.algorithm, raw.steps, raw.step_size, raw.average),
        };
        let plan = plan?.with_law(raw.law).with_order(raw.order.unwrap_or_default());
        let plan = if raw.constant_noise { plan.with_constant_noise() } else { plan };
        let plan = plan.with_momentum(raw.momentum)?;
        let plan = match raw.representation {
            Some(knots) => plan.with_representation(knots)?,
            None => plan,
        };
        let plan = match raw.probabilities {
            Some(cells) => plan.with_probabilities(cells)?,
            None => plan,
        };
        match raw.expected_pairs {
            Some(pairs) => plan.with_expected_pairs(pairs),
            None => Ok(plan),
        }
    }
}

impl From<Plan> for Training {
    fn from(plan: Plan) -> Self {
        let Plan {
            algorithm,
            steps,
            step_size,
            average,
            law,
            order,
            expected_pairs,
            constant_noise,
            momentum,
            representation,
            probabilities,
        } = plan;
        let order = algorithm.has_order().then_some(order);
        Self {
            algorithm,
            steps,
            step_size,
            average,
            law,
            order,
            expected_pairs,
            constant_noise,
            momentum,
            representation,
            probabilities,
            tighten: None,
        }
    }
}

impl Plan {
    /// Checks the numbers; Gaussian noise, and where steps follow a public order, reshuffled passes.
    ///
    /// # Errors
    /// [`LearnError::Plan`] naming the number that is out of range.
    pub fn new(
        algorithm: Algorithm,
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
        let (law, order) = (NoiseKind::default(), Order::default());
        Ok(Self {
            algorithm,
            steps,
            step_size,
            average,
            law,
            order,
            expected_pairs: None,
            constant_noise: false,
            momentum: 0.0,
            representation: None,
            probabilities: None,
        })
    }

    /// No step at all: where columns lie is all that is released.
    pub fn at_rest(law: NoiseKind) -> Self {
        Self {
            algorithm: Algorithm::NoisyGd,
            steps: 0,
            step_size: 1.0,
            average: Average::Last,
            law,
            order: Order::default(),
            expected_pairs: None,
            constant_noise: false,
            momentum: 0.0,
            representation: None,
            probabilities: None,
        }
    }

    /// The same with another noise.
    #[must_use]
    pub fn with_law(self, law: NoiseKind) -> Self {
        Self { law, ..self }
    }

    /// The same with other public indices.
    #[must_use]
    pub fn with_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// `noisy-sgd` that keeps every unordered pair independently, so many in the mean, instead of drawing one. Its noise
    /// covers the pairs kept of one record, not a replacement, which halves it for losses with D = 2G.
    ///
    /// # Errors
    /// [`LearnError::Plan`] unless between 0 and 4096, and for other algorithms.
    pub fn with_expected_pairs(self, pairs: f64) -> Result<Self, LearnError> {
        if self.algorithm == Algorithm::NoisySgd && pairs > 0.0 && pairs <= 4096.0 {
            return Ok(Self { expected_pairs: Some(pairs), ..self });
        }
        let range = "above 0 and at most 4096, for `noisy-sgd` only";
        Err(LearnError::Plan { what: "the expected number of pairs", range, value: pairs })
    }

    /// `noisy-gd` with the same noise in every step, for the steepest pair anywhere in the domain, as the papers have it,
    /// instead of noise that follows the slopes at the public iterate.
    #[must_use]
    pub fn with_constant_noise(self) -> Self {
        Self { constant_noise: true, ..self }
    }

    /// The same with steps that repeat a part β of the last one: w moves by η(1 − β)v, v ← βv + gradient. It follows from what is
    /// released, so it costs nothing.
    ///
    /// # Errors
    /// [`LearnError::Plan`] unless β is at least 0 and below 1.
    pub fn with_momentum(self, momentum: f64) -> Result<Self, LearnError> {
        if (0.0..1.0).contains(&momentum) {
            return Ok(Self { momentum, ..self });
        }
        let range = "at least 0 and below 1";
        Err(LearnError::Plan { what: "the momentum", range, value: momentum })
    }

    /// The same after a release of where columns lie, with its part of the budget.
    ///
    /// # Errors
    /// [`LearnError::Plan`] unless the part is between 0 and 1, or all of it where nothing follows.
    pub fn with_representation(self, knots: KnotPlan) -> Result<Self, LearnError> {
        let (fits, range) = match self.steps {
            0 => ((1.0..=1.0).contains(&knots.share), "1 where nothing else is released"),
            _ => (knots.share > 0.0 && knots.share < 1.0, "between 0 and 1"),
        };
        if fits {
            return Ok(Self { representation: Some(knots), ..self });
        }
        Err(LearnError::Plan {
            what: "the share of the budget for representation",
            range,
            value: knots.share,
        })
    }

    /// The same with a release of labels by cells of the score after it, with its part of the budget.
    ///
    /// # Errors
    /// [`LearnError::Plan`] unless the part is between 0 and what is left of it.
    pub fn with_probabilities(self, cells: CellPlan) -> Result<Self, LearnError> {
        let before = self.representation.map_or(0.0, |knots| knots.share);
        if cells.share > 0.0 && before + cells.share < 1.0 {
            return Ok(Self { probabilities: Some(cells), ..self });
        }
        Err(LearnError::Plan {
            what: "the share of the budget for probabilities",
            range: "above 0, and with that for representation below 1",
            value: cells.share,
        })
    }

    /// The release of labels by cells of the score, if there is one.
    pub fn probabilities(&self) -> Option<CellPlan> {
        self.probabilities
    }

    /// β.
    pub fn momentum(&self) -> f64 {
        self.momentum
    }

    /// The release of where columns lie, if there is one.
    pub fn representation(&self) -> Option<KnotPlan> {
        self.representation
    }

    /// Whether every step has the same noise.
    pub(crate) fn constant_noise(&self) -> bool {
        self.constant_noise
    }

    /// Which algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Number of steps, of all phases together.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// η; phases divide it by 4, 16, ….
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// Which iterate becomes the model.
    pub fn average(&self) -> Average {
        self.average
    }

    /// Which noise.
    pub fn law(&self) -> NoiseKind {
        self.law
    }

    /// The public indices, where there are any.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The mean number of pairs of a step, if pairs are kept independently.
    pub fn expected_pairs(&self) -> Option<f64> {
        self.expected_pairs
    }
}
