//! Choices from public facts alone: n, the number of features, the budget and the task.

use super::settings::{Calibration, DomainKind, LossKind, RepresentationKind, Risk, Settings};
use pairdp_certificate::{Algorithm, Average, NoiseKind};
use pairdp_model::Task;
use pairdp_model::representation::Map;
use pairdp_pairwise::knots::{Layout, Spacing};
use pairdp_pairwise::{MarginLoss, Objective, PointLoss, Problem};
use pairdp_release::Law as _;
use pairdp_release::{LearnError, Plan, clarity};
use pairdp_units::directed::{larger, smaller};
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

/// The part of the budget for where columns lie.
pub(crate) const REPRESENTATION_SHARE: f64 = 0.3;
/// The part of the budget for when people were last seen, where columns are as ranges put them.
pub(crate) const TIMES_SHARE: f64 = 0.1;
/// Moments of more columns take gigabytes, and their noise drowns them.
const WIDE: usize = 5000;
/// From this clarity on a descent finds more than moments do.
const CLEAR_ENOUGH: f64 = 30.0;
/// For δ = 0, where ratios add up: from this clarity on knowing where columns lie is worth its part of ε.
const WORTH_A_SHARE: f64 = 60.0;
/// For times, of which a histogram is released in any case: from this clarity on ranks of columns are worth their part.
const RANKS_FROM: f64 = 30.0;
/// From this clarity on knots that are close together say more than their noise costs.
const FINE_FROM: f64 = 200.0;
/// τ over nμ: how far a descent goes, in units of what one logit of noise in a score allows.
const TRAVEL: f64 = 1.5;
/// The same for losses whose noise grows with the parameters, and for pairs, whose signal is a quarter.
const SHORT_TRAVEL: f64 = 1.0;

impl Settings {
    /// The same with everything chosen that was left open, and why.
    ///
    /// Whoever names a loss or steps means a descent on columns as ranges put them, as papers have it. A metric has d weights as long
    /// as d(d + 1)/2 are too many. Everything else is learned from ranks.
    pub(crate) fn resolved(
        &self,
        records: usize,
        layout: &Layout,
        features: usize,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        if let Some(rate) = self.positive_rate
            && !(rate > 0.0 && rate < 1.0)
        {
            return Err(LearnError::Plan {
                what: "the positive rate",
                range: "between 0 and 1",
                value: rate,
            });
        }
        if self.is_foreign() {
            return Ok(self.resolved_foreign());
        }
        if (self.is_network() || self.has_random_features()) && self.task != Task::Metric {
            return self.resolved_network(records, budget);
        }
        if self.algorithm.is_some() {
            return Ok((self.clone(), None));
        }
        if self.task == Task::Metric {
            return self.resolved_metric(records, features, budget);
        }
        let said = self.calibration == Calibration::Literal
            || self.loss.is_some()
            || self.steps.is_some()
            || self.step_size.is_some();
        if said {
            let because =
                "a loss, steps or a step size were given, which only training in steps uses".to_owned();
            return Ok((Self { algorithm: Some(Algorithm::NoisyGd), ..self.clone() }, Some(because)));
        }
        if self.task == Task::Survival {
            return self.resolved_survival(records, layout, budget);
        }
        self.resolved_by_ranks(records, layout, budget)
    }

    /// One release of moments with a number for every record's time, which a histogram of times gives.
    fn resolved_survival(
        &self,
        records: usize,
        layout: &Layout,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        /// Below it a ranking is hardly better than chance.
        const BETTER_THAN_CHANCE: f64 = 10.0;
        let (numbers, categories) = layout.counts();
        let clarity = clarity(records, numbers + categories, budget)?;
        let mut because = "one release, of when everybody was last seen, tells who fails first".to_owned();
        if clarity < BETTER_THAN_CHANCE {
            let needed = (records as f64 * BETTER_THAN_CHANCE / clarity / 100.0).ceil() * 100.0;
            let _ = write!(
                because,
                "; do not expect it to be much better than chance: that would take about {needed} {} at this budget",
                self.unit.many()
            );
        }
        let worth = clarity >= RANKS_FROM && self.feature_bound.is_none() && Map::width_of(layout) <= WIDE;
        let usual = if worth { RepresentationKind::Ranks } else { RepresentationKind::Ranges };
        let representation = self.representation.or(Some(usual));
        let algorithm = Some(Algorithm::Moments);
        Ok((Self { algorithm, representation, ..self.clone() }, Some(because)))
    }

    /// Columns become ranks, by a first release, as honest ranges are wide: unless another representation was asked for, or for δ = 0,
    /// where ratios add up, the first release is not worth its part. Then moments for regression and for rankers where noise decides,
    /// otherwise a descent on a loss of records, on which no record pulls harder than at the start. Classes are always found by a
    /// descent: it starts at the released share of the classes and moves away as far as there is signal, whereas the threshold
    /// that moments give is as noisy as they are. The edges were found on subsamples of public sets: `docs/planner.md`.
    fn resolved_by_ranks(
        &self,
        records: usize,
        layout: &Layout,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        let (numbers, categories) = layout.counts();
        let clarity = clarity(records, numbers + categories, budget)?;
        let wide = Map::width_of(layout) > WIDE;
        let (algorithm, because) = if wide {
            (
                Algorithm::NoisyGd,
                format!("moments need a number for every two columns, and there are more than {WIDE}"),
            )
        } else if self.task == Task::Regression {
            (Algorithm::Moments, "least squares needs moments only".to_owned())
        } else if budget.delta == Delta::PURE {
            (Algorithm::Moments, "for δ = 0 the noise of many steps adds up".to_owned())
        } else if self.task == Task::Classification {
            (
                Algorithm::NoisyGd,
                "training starts from the larger class and moves away only as far as there is signal"
                    .to_owned(),
            )
        } else {
            let below = clarity < CLEAR_ENOUGH;
            let serves = if below { "below" } else { "from" };
            let what = if below {
                "times one release serves best"
            } else {
                "times on, training in many steps finds more"
            };
            let because =
                format!("the signal is about {clarity:.0} times the noise; {serves} {CLEAR_ENOUGH} {what}");
            (if below { Algorithm::Moments } else { Algorithm::NoisyGd }, because)
        };
        let descent = algorithm == Algorithm::NoisyGd;
        let on_records = descent && self.task == Task::Ranking;
        // Whoever bounds rows means rows as ranges put them. Reading where each of very many columns lies takes minutes, and from noise
        // that is louder than the signal nothing is read.
        let worth = (budget.delta != Delta::PURE || clarity >= WORTH_A_SHARE)
            && self.feature_bound.is_none()
            && !(wide && clarity < 1.0);
        let usual = if worth { RepresentationKind::Ranks } else { RepresentationKind::Ranges };
        let chosen = Self {
            representation: self.representation.or(Some(usual)),
            algorithm: Some(algorithm),
            risk: self.risk.or(on_records.then_some(Risk::Records)),
            loss: descent.then_some(LossKind::CappedLogistic),
            probabilities: self.probabilities.or(Some(self.counts_labels(records, budget)?)),
            ..self.clone()
        };
        Ok((chosen, Some(because)))
    }

    /// Whether a classifier's probabilities are worth their part: from public facts, where noise leaves most of the cells standing.
    fn counts_labels(&self, records: usize, budget: Budget) -> Result<bool, LearnError> {
        /// n·μ.
        const WORTH_COUNTING: f64 = 800.0;
        let counted = self.max_records.is_none() || self.promised;
        let scored = self.task == Task::Classification && self.is_additive();
        if !scored || budget.delta == Delta::PURE || !counted {
            return Ok(false);
        }
        Ok(records as f64 * NoiseKind::Gaussian.ratio(budget, 1.0)? >= WORTH_COUNTING)
    }

    fn resolved_metric(
        &self,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<(Self, Option<String>), LearnError> {
        const CLEAR: f64 = 80.0;
        const BETTER_THAN_EUCLIDEAN: f64 = 100.0;
        // Whoever says how to learn wants a metric that is learned; of ranks alone the Euclidean distance serves better.
        let said = self.loss.is_some() || self.step_size.is_some() || self.domain.is_some();
        if self.by_ranks() && !said && self.steps.unwrap_or_default() == 0 {
            let because = "the Euclidean distance of ranks: the whole budget is used to find where columns lie, and labels are not used";
            let (algorithm, domain) = (Some(Algorithm::NoisyGd), Some(DomainKind::PsdDiagonal));
            let resting = Self { algorithm, domain, steps: Some(0), ..self.clone() };
            return Ok((resting, Some(because.to_owned())));
        }
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
                "; do not expect it to beat the plain Euclidean distance: that would take about {needed} {} at this \
                 budget",
                self.unit.many()
            );
        }
        let algorithm = Some(Algorithm::NoisyGd);
        Ok((Self { algorithm, feature_bound, domain, ..self.clone() }, Some(because)))
    }
}

/// How far apart the knots of columns are. Distances of ranks and pure ε, whose noise is not measured by this clarity, keep those that are
/// far apart.
pub(super) fn spacing(
    records: usize,
    layout: &Layout,
    rests: bool,
    budget: Budget,
) -> Result<Spacing, LearnError> {
    if rests || budget.delta == Delta::PURE || layout.blocks().is_empty() {
        return Ok(Spacing::Coarse);
    }
    let fine = clarity(records, layout.blocks().len(), budget)? >= FINE_FROM;
    Ok(if fine { Spacing::Fine } else { Spacing::Coarse })
}

/// A descent on rows of the unit ball, by its time.
///
/// With noise σ = Δ√T/μ in every gradient and steps η, the noise in a score after T steps is τ·nΔ/(nμ) with τ = ηT, whatever T is: how
/// far to go is the one choice, and nμ its natural unit. T is then as large as steps that do not overshoot need. Momentum lets
/// them be nineteen times as long, and the mean of the second half takes out what noise is left to take out.
pub(crate) fn by_time(
    problem: Problem,
    records: usize,
    budget: Budget,
    share: f64,
) -> Result<Plan, LearnError> {
    const MOMENTUM: f64 = 0.9;
    const STEPS: (f64, f64) = (100.0, 2000.0);
    /// η of the last stable step, less a margin: L = κ²/4, and 2(1 + β)/((1 − β)L) is 152.
    const LONGEST: f64 = 150.0;
    let law = if budget.delta == Delta::PURE { NoiseKind::Laplace } else { NoiseKind::Gaussian };
    let left = if share > 0.0 && share < 1.0 { law.part(1.0 - share) } else { 1.0 };
    let capped =
        problem.objective() == (Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) });
    let travel = if capped { TRAVEL } else { SHORT_TRAVEL };
    let time = travel * records as f64 * law.ratio(budget, 1.0)? * left;
    let steps = larger(STEPS.0, smaller((time / LONGEST).ceil(), STEPS.1));
    let size = smaller(time / steps, LONGEST);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 100 and 2000")]
    let plan = Plan::new(Algorithm::NoisyGd, steps as u32, size, Average::SecondHalf)?;
    plan.with_law(law).with_momentum(MOMENTUM)
}
