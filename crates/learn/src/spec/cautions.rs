//! What public facts alone say against a run, before it is paid for: noise that drowns the signal, an ε or a δ that promises little.

use crate::spec::TrainingSpec;
use pairdp_data::Encoding;
use pairdp_model::{PrivateModel, Task, representation};
use pairdp_pairwise::knots::Spacing;
use pairdp_release::{LearnError, clarity};
use pairdp_units::{Budget, Unit, shown};

/// Above it a promise is next to none.
const LARGE_EPSILON: f64 = 10.0;

/// The clarity at which survival is warned, too: about there one ranker in ten of simulated stays was hardly better than chance. For
/// classifiers it is lenient: where one class is rare, they lose to the larger class well above it.
const BETTER_THAN_CHANCE: f64 = 10.0;
/// The clarity below which regressors of simulated targets lost to the mean.
const BETTER_THAN_THE_MEAN: f64 = 100.0;

/// Of what size a table is, for whom, and what may be spent on it.
struct Facts<'a> {
    task: Task,
    encoding: &'a Encoding,
    /// Records, or persons, or at most so many.
    size: usize,
    unit: Unit,
    budget: Budget,
}

impl TrainingSpec {
    /// What public facts alone say against the run, in sentences; nothing, if all is well.
    ///
    /// # Errors
    /// [`LearnError::Accountant`] for a budget that no noise fits.
    pub fn cautions(&self) -> Result<Vec<String>, LearnError> {
        let facts = self.facts();
        let unit = facts.problem.adjacency().unit();
        let (task, size, budget) = (self.task, facts.records, facts.budget);
        Facts { task, encoding: &self.encoding, size, unit, budget }.cautions()
    }
}

/// What public facts alone say against a model, in sentences; nothing, if all is well.
///
/// # Errors
/// [`LearnError`] for a claim that is no budget.
pub fn cautions_of(model: &PrivateModel) -> Result<Vec<String>, LearnError> {
    let (certificate, predictor) = (&model.certificate, &model.predictor);
    let budget = Budget::new(certificate.claim.epsilon, certificate.claim.delta)?;
    let (size, unit) = (certificate.records, certificate.adjacency().unit());
    Facts { task: predictor.task, encoding: &predictor.encoding, size, unit, budget }.cautions()
}

impl Facts<'_> {
    fn cautions(&self) -> Result<Vec<String>, LearnError> {
        let found = [self.large_epsilon(), self.large_delta(), self.drowned()?];
        Ok(found.into_iter().flatten().collect())
    }

    fn large_epsilon(&self) -> Option<String> {
        let epsilon = self.budget.epsilon.get();
        (epsilon > LARGE_EPSILON).then(|| {
            format!(
                "ε = {} protects hardly anybody: the odds that an attacker gives to a fact about somebody may grow by a factor of e^{}; 1 is a \
                 common choice",
                shown::up(epsilon),
                shown::up(epsilon),
            )
        })
    }

    fn large_delta(&self) -> Option<String> {
        let delta = self.budget.delta.get();
        (delta * self.size as f64 > 1.0).then(|| {
            let (delta, size, many) = (shown::up(delta), self.size, self.unit.many());
            let what = match self.unit {
                Unit::Record => "some record as it is",
                Unit::Person => "all records of some person as they are",
            };
            format!(
                "δ = {delta} is more than one in {size} {many}: a δ that large would allow publishing {what}; choose a δ well below 1/{size}"
            )
        })
    }

    /// Survival and metrics have this among their reasons.
    fn drowned(&self) -> Result<Option<String>, LearnError> {
        let (enough, expect) = match self.task {
            Task::Ranking => (BETTER_THAN_CHANCE, "the order to be much better than chance"),
            Task::Classification => (BETTER_THAN_CHANCE, "the classes to be much better than guessing"),
            Task::Regression => (BETTER_THAN_THE_MEAN, "the predictions to be much better than the mean"),
            Task::Survival | Task::Metric => return Ok(None),
        };
        let (numbers, categories) = representation::layout(self.encoding, Spacing::default()).counts();
        let columns = numbers + categories;
        let found = clarity(self.size, columns, self.budget)?;
        if found >= enough {
            return Ok(None);
        }
        let needed = (self.size as f64 * enough / found / 100.0).ceil() * 100.0;
        let or_epsilon = match self.sufficient_epsilon(columns, enough)? {
            Some(epsilon) => format!(", or ε = {epsilon}"),
            None => String::new(),
        };
        Ok(Some(format!(
            "the noise will drown most of the signal: do not expect {expect}; that takes about {needed} {} at this budget{or_epsilon}",
            self.unit.many(),
        )))
    }

    /// The least ε, to two digits, that makes the table clear enough; none where that would protect hardly anybody.
    fn sufficient_epsilon(&self, columns: usize, enough: f64) -> Result<Option<String>, LearnError> {
        let at = |epsilon: f64| -> Result<f64, LearnError> {
            clarity(self.size, columns, Budget::new(epsilon, self.budget.delta.get())?)
        };
        let (mut low, mut high) = (self.budget.epsilon.get(), LARGE_EPSILON);
        if low >= high || at(high)? < enough {
            return Ok(None);
        }
        while high / low > 1.005 {
            let middle = (low * high).sqrt();
            if at(middle)? < enough {
                low = middle;
            } else {
                high = middle;
            }
        }
        // Upwards, to two digits.
        let unit = 10_f64.powf(high.log10().floor() - 1.0);
        Ok(Some(shown::as_given(((high / unit).ceil() * unit * 1e9).round() / 1e9)))
    }
}
