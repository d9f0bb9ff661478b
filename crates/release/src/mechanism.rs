//! A calibrated statement of what a run releases, and what every family of releases says of itself.

use crate::{Law as _, LearnError, Mechanism, Plan, can_weigh, knots, packing, probabilities};
use pairdp_accountant::event::Event;
use pairdp_certificate::{Algorithm, GradientRelease, NoiseKind, Released, Stage};
use pairdp_noise::delta_share;
use pairdp_pairwise::{Labels, MetricLoss, Neighbours, Objective, Problem, RankingForm, Score, kernel};
use pairdp_units::directed::down_by;
use pairdp_units::{Budget, Delta};

/// What learns who fails first.
const IN_TIME: [Algorithm; 5] =
    [Algorithm::Moments, Algorithm::NoisyGd, Algorithm::NoisySgd, Algorithm::OutputGd, Algorithm::PhasedGd];

impl Mechanism {
    /// The noise for a plan.
    ///
    /// # Errors
    /// [`LearnError`] when a number is out of range or no noise level fits; only public facts decide.
    pub fn calibrate(
        problem: Problem,
        plan: Plan,
        records: usize,
        features: usize,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        if plan.algorithm().needs_pairs() && matches!(problem.objective(), Objective::Pointwise { .. }) {
            return Err(LearnError::NeedsPairs(plan.algorithm()));
        }
        let in_time = matches!(problem.objective(), Objective::Ranking { form: RankingForm::Comparable, .. });
        if in_time && !IN_TIME.contains(&plan.algorithm()) {
            return Err(LearnError::NotForTask { what: plan.algorithm().name(), task: "survival" });
        }
        if in_time && problem.labels() == Labels::Public {
            // Neighbours would have to have equal times, and nobody's would be protected.
            return Err(LearnError::NotForTask { what: "public labels", task: "survival" });
        }
        let records = problem.size(records);
        let whole_table = matches!(plan.algorithm(), Algorithm::NoisyGd | Algorithm::Moments);
        if problem.neighbours() != Neighbours::ReplaceOne {
            if !whole_table {
                return Err(LearnError::SecretSize(plan.algorithm().name()));
            }
            if problem.labels() == Labels::Public {
                return Err(LearnError::PublicLabelsOfSecretSize);
            }
            // A record more moves the others to other places of a tile, where a distance may round to the other side of the kink.
            if problem.objective() == (Objective::Metric { loss: MetricLoss::Hinge }) {
                return Err(LearnError::SecretSize("the hinge loss of metrics"));
            }
        }
        if problem.per_person().is_some() && problem.labels() == Labels::Public {
            return Err(LearnError::PublicLabelsOfPersons);
        }
        if !problem.score().is_linear() {
            if plan.algorithm() != Algorithm::NoisyGd {
                return Err(LearnError::NoProof("a network under this algorithm"));
            }
            if problem.weighs() {
                return Err(LearnError::NoWeights("a network"));
            }
            // No domain holds all of its parameters: a step would take more than it leaves.
            let shrunk = plan.step_size() * problem.ridge();
            if shrunk > 1.0 {
                let (what, range) = ("the ridge times the step size of a network", "at most 1");
                return Err(LearnError::Plan { what, range, value: shrunk });
            }
            foreign_fits(problem)?;
        }
        if problem.weighs() && !can_weigh(plan.algorithm()) {
            return Err(LearnError::NoWeights(plan.algorithm().name()));
        }
        // Moments of times are sums over records, whatever pairs in the order of time are.
        let of_times = in_time && plan.algorithm() == Algorithm::Moments;
        if problem.weighs() && !of_times && !kernel::can_weigh(problem) {
            return Err(LearnError::NoWeights("this loss"));
        }
        if plan.representation().is_some() && !whole_table {
            return Err(LearnError::NoProof("a representation under this algorithm"));
        }
        if plan.probabilities().is_some() {
            probabilities::check(problem, plan)?;
        }
        if plan.steps() == 0 && !matches!(problem.objective(), Objective::Metric { .. }) {
            // Only a distance is there without learning.
            return Err(LearnError::Plan { what: "the number of steps", range: "at least 1", value: 0.0 });
        }
        let public = PublicFacts { problem, plan, records, features, budget };
        Self::of_family(&public)
    }

    /// What is released beside training, in order.
    pub fn stages(&self) -> Vec<Stage> {
        self.common().stages()
    }

    /// What noise is added to, in words, and its scale: of the first release, at parameters of this norm.
    ///
    /// # Errors
    /// [`LearnError`] for a norm that is none.
    pub fn noise_at(&self, norm: f64) -> Result<(&'static str, f64), LearnError> {
        self.family().noise_at(norm)
    }

    /// What it was calibrated for.
    pub fn facts(&self) -> PublicFacts {
        self.common().public
    }

    /// The release of where columns lie, if there is one.
    pub fn first_stage(&self) -> Option<Stage> {
        self.common().knots
    }

    /// What every kind states.
    pub(crate) fn common(&self) -> &Common {
        self.family().common()
    }
}

/// What a foreign score is proved for: records that keep their places, as its code may compute in blocks of them, and losses of records and
/// of pairs of two classes.
fn foreign_fits(problem: Problem) -> Result<(), LearnError> {
    let Score::Foreign(_) = problem.score() else { return Ok(()) };
    if problem.neighbours() != Neighbours::ReplaceOne {
        return Err(LearnError::NotOfForeign("a secret number of records"));
    }
    if problem.per_person().is_some() {
        return Err(LearnError::NotOfForeign("protected persons"));
    }
    match problem.objective() {
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            Err(LearnError::NotOfForeign("pairs in the order of time"))
        }
        _ => Ok(()),
    }
}

/// What every family of releases says of itself.
pub(crate) trait Family {
    /// The facts that all families have.
    fn common(&self) -> &Common;

    /// Fineness of the lattice that queries and noise live on.
    fn lattice_bits(&self) -> u32;

    /// Releases in all.
    fn releases(&self) -> u32 {
        self.common().public.plan.steps()
    }

    /// Coordinates of a release.
    fn coordinates(&self) -> usize {
        self.common().public.coordinates()
    }

    /// What the accountant is told.
    fn event(&self) -> Result<Event, LearnError>;

    /// What noise is added to, in words, and its scale: of the first release, at parameters of this norm.
    fn noise_at(&self, norm: f64) -> Result<(&'static str, f64), LearnError>;

    /// Scale of the first release's noise, and the largest length of its exact answer.
    fn first_release(&self) -> Result<(f64, f64), LearnError>;

    /// What a certificate says was released; `gradients` are the terms of each release, where those differ.
    fn released(&self, gradients: Vec<GradientRelease>) -> Released;
}

/// Everything that a calibration may look at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublicFacts {
    /// What is minimised.
    pub problem: Problem,
    /// How.
    pub plan: Plan,
    /// Records, or persons, or at most so many.
    pub records: usize,
    /// Columns of a record.
    pub features: usize,
    /// What may be spent.
    pub budget: Budget,
}

impl PublicFacts {
    /// How far one record can move the exact gradient at parameters of a norm.
    pub(crate) fn gradient_sensitivity(&self, norm: f64) -> Result<f64, LearnError> {
        Ok(self.problem.gradient_sensitivity(norm, self.records)?.get())
    }

    /// The ratio of each of so many releases, after what stages beside them take.
    pub(crate) fn ratio(&self, for_data: Budget, releases: f64) -> Result<f64, LearnError> {
        let law = self.plan.law();
        let whole = law.ratio(for_data, releases)?;
        let knots = self.plan.representation().map_or(0.0, |knots| knots.share);
        let cells = self.plan.probabilities().map_or(0.0, |cells| cells.share);
        Ok(match knots + cells {
            taken if taken > 0.0 => down_by(whole * law.part(1.0 - knots - cells), 4.0),
            _ => whole,
        })
    }

    /// Coordinates of a release.
    pub(crate) fn coordinates(&self) -> usize {
        packing::coordinates(self.problem, self.features)
    }
}

/// Public facts of every mechanism.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Common {
    pub(crate) public: PublicFacts,
    /// The part of δ set aside for the samplers.
    pub(crate) sampler_delta: f64,
    /// What is released before training.
    pub(crate) knots: Option<Stage>,
    /// What is released after it.
    pub(crate) probabilities: Option<Stage>,
}

impl Common {
    /// What is released beside training, in order.
    pub(crate) fn stages(&self) -> Vec<Stage> {
        self.knots.into_iter().chain(self.probabilities).collect()
    }

    /// Their ratios.
    pub(crate) fn ratios(&self) -> Vec<f64> {
        self.stages().iter().map(|stage| stage.noise().ratio).collect()
    }

    /// Sets aside what approximate samples cost, and returns what is left for the data.
    pub(crate) fn new(public: &PublicFacts, samples: f64) -> Result<(Self, Budget), LearnError> {
        let public = *public;
        let PublicFacts { problem, plan, records, budget, .. } = public;
        problem.gradient_sensitivity(0.0, records)?;
        plan.law().check(budget)?;
        let before = plan.representation().map_or(0.0, |knots| plan.law().samples(knots.coordinates));
        let after = plan.probabilities().map_or(0.0, |cells| plan.law().samples(2 * cells.cells));
        let sampler_delta = delta_share(budget.epsilon.get(), samples + before + after);
        let left = down_by(budget.delta.get() - sampler_delta, 1.0);
        let delta =
            if plan.law() == NoiseKind::Laplace && sampler_delta <= 0.0 { budget.delta.get() } else { left };
        let delta = Delta::new(delta).map_err(|_| LearnError::DeltaTooSmall(budget))?;
        if delta == Delta::PURE && plan.law() != NoiseKind::Laplace {
            return Err(LearnError::DeltaTooSmall(budget));
        }
        let for_data = Budget { epsilon: budget.epsilon, delta };
        let knots = knots::calibrate(&public, for_data)?;
        let probabilities = probabilities::calibrate(&public, for_data)?;
        Ok((Self { public, sampler_delta, knots, probabilities }, for_data))
    }
}

/// Noise that would have to be infinite: a smaller number of steps may do.
pub(crate) fn too_many_steps(plan: Plan) -> LearnError {
    LearnError::Plan { what: "the number of steps", range: "smaller", value: f64::from(plan.steps()) }
}
