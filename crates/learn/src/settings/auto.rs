//! Choices from public facts alone: n, the number of features, the budget and the task.

use super::{Calibration, DomainKind, Risk, Settings};
use crate::{Law, LearnError, PlanKind, Task};
use pairdp_units::{Budget, Delta};
use std::fmt::Write as _;

/// Rows longer than this are scaled down to it, and noise is scaled to it. With many features the length of a row says little
/// and its direction much, so that a bound below the length of nearly every row costs next to nothing and keeps rows that are
/// shorter than the ranges allow from paying for those that are not. With few features the length is information. For metrics
/// it always is: they may be left with the Euclidean distance of what was scaled down.
pub(super) fn feature_bound(task: Task, features: usize) -> f64 {
    const MANY: usize = 8;
    match (task, features) {
        (_, 0..MANY) => 1.0,
        (Task::Metric, _) => 0.6 * (features as f64).sqrt(),
        _ => 0.7,
    }
}

impl Settings {
    /// The same with everything chosen that was left open, and why.
    ///
    /// One release of moments is the best model wherever noise decides; least squares is also the whole answer for regression.
    /// Once there is signal to spare for many noisy steps, a descent on the logistic loss of records finds what least squares
    /// cannot, unless the features are few. A metric has d weights as long as d(d + 1)/2 are too many. The edges were found on
    /// simulated populations and public sets: `cargo xtask bench utility`.
    pub(crate) fn resolved(
        &self,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        // How clear the signal must be for many steps, and with how many features they pay at all.
        let (clear, few) = match self.task {
            Task::Classification if features <= 10 => (60.0, 0),
            _ => (150.0, 10),
        };
        if self.algorithm.is_some() {
            return Ok((self.clone(), None));
        }
        let with = |algorithm, risk| Self { algorithm: Some(algorithm), risk, ..self.clone() };
        let said = self.calibration == Calibration::Literal
            || self.loss.is_some()
            || self.steps.is_some()
            || self.step_size.is_some();
        if self.task == Task::Metric {
            return self.resolved_metric(records, features, budget);
        }
        if said {
            let because = "a loss, steps or a step size were given, which a descent takes".to_owned();
            return Ok((with(PlanKind::NoisyGd, self.risk), Some(because)));
        }
        // Without a guess it could be anything, and for few positives a loss of records finds little.
        let (p, known) = self.positive_rate.map_or((0.0, false), |rate| (rate, true));
        if known && !(p > 0.0 && p < 1.0) {
            let range = "between 0 and 1";
            return Err(LearnError::Plan { what: "the positive rate", range, value: p });
        }
        let clarity = 4.0 * p * (1.0 - p) * clarity(records, features, budget)?;
        let (algorithm, because) = if self.task == Task::Regression {
            (PlanKind::Moments, "least squares needs moments only".to_owned())
        } else if budget.delta == Delta::PURE {
            (PlanKind::Moments, "for δ = 0 the noise of many steps adds up".to_owned())
        } else if features <= few {
            (PlanKind::Moments, format!("with {features} features moments say nearly all"))
        } else if !known {
            let because =
                "one release is the safe choice; a public guess of the positive rate may allow a better one";
            (PlanKind::Moments, because.to_owned())
        } else if clarity < clear {
            let because =
                format!("the signal is about {clarity:.0} times the noise, too little for many steps");
            (PlanKind::Moments, because)
        } else {
            let because = format!("the signal is about {clarity:.0} times the noise, enough for many steps");
            (PlanKind::NoisyGd, because)
        };
        let on_records = algorithm == PlanKind::NoisyGd && self.task == Task::Ranking;
        let chosen = with(algorithm, self.risk.or(on_records.then_some(Risk::Records)));
        Ok((chosen, Some(because)))
    }

    fn resolved_metric(
        &self,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        const CLEAR: f64 = 80.0;
        const BETTER_THAN_EUCLIDEAN: f64 = 100.0;
        let of_weights = clarity(records, features, budget)?;
        let of_matrix = of_weights / (features as f64).sqrt();
        let diagonal = self.domain.is_none() && of_matrix < CLEAR;
        let domain = if diagonal { Some(DomainKind::PsdDiagonal) } else { self.domain };
        let mut because = if diagonal {
            "a weight for each feature, as a whole matrix would be all noise".to_owned()
        } else {
            "signal enough for a whole matrix".to_owned()
        };
        let mut feature_bound = self.feature_bound;
        if of_weights < BETTER_THAN_EUCLIDEAN {
            // Then at least nothing is cut off of the distance that is left.
            feature_bound = feature_bound.or(Some((features as f64).sqrt()));
            let needed = (records as f64 * BETTER_THAN_EUCLIDEAN / of_weights / 100.0).ceil() * 100.0;
            let _ = write!(
                because,
                "; do not expect it to beat the plain Euclidean distance: that would take about {needed} records at this \
                 budget"
            );
        }
        let algorithm = Some(PlanKind::NoisyGd);
        Ok((Self { algorithm, feature_bound, domain, ..self.clone() }, Some(because)))
    }
}

/// How many times the first gradient is longer than its noise, about: n·μ/√d, or n·ε/d for pure ε.
pub(crate) fn clarity(records: usize, features: usize, budget: Budget) -> Result<f64, LearnError> {
    let (n, d) = (records as f64, features as f64);
    if budget.delta == Delta::PURE {
        return Ok(n * budget.epsilon.get() / d);
    }
    Ok(n * Law::Gaussian.ratio(budget, 1.0)? / d.sqrt())
}
