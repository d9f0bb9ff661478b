//! What will be released, stated before any record is read.

mod event;
mod gradients;
mod knots;
mod loudness;
mod moments;
mod online;
mod output;
mod path;
mod sampled;

pub use event::certified_event;
pub(crate) use event::plain as plain_event;
pub use gradients::Gradients;
pub use loudness::Loudness;
pub use moments::Moments;
pub use online::Online;
pub use output::Output;
pub use pairdp_certificate::Phase;
pub use sampled::Sampled;
pub(crate) use sampled::event as sampled_event;

use crate::{Law, LearnError, Plan, PlanKind, packing};
use pairdp_certificate::Stage;
use pairdp_noise::delta_share;
use pairdp_pairwise::{Labels, MetricLoss, Neighbours, Objective, Problem};
use pairdp_units::directed::down_by;
use pairdp_units::{Budget, Delta};

/// A calibrated statement of all releases of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Noisy gradients over all pairs.
    Gradients(Gradients),
    /// Noisy gradients of secretly sampled pairs or records.
    Sampled(Sampled),
    /// Noisy gradients of one pass.
    Online(Online),
    /// Noisy results of descents without noise.
    Output(Output),
    /// One noisy release of moments.
    Moments(Moments),
}

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
        let records = problem.size(records);
        let whole_table = matches!(plan.algorithm(), PlanKind::NoisyGd | PlanKind::Moments);
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
        if plan.representation().is_some() && !whole_table {
            return Err(LearnError::NoProof("a representation under this algorithm"));
        }
        let public = Public { problem, plan, records, features, budget };
        Ok(match plan.algorithm() {
            PlanKind::NoisyGd => Self::Gradients(Gradients::calibrate(public)?),
            PlanKind::NoisySgd => Self::Sampled(Sampled::calibrate(public)?),
            PlanKind::OnlinePair => Self::Online(Online::calibrate(public)?),
            PlanKind::Moments => Self::Moments(Moments::calibrate(public)?),
            _ => Self::Output(Output::calibrate(public)?),
        })
    }

    /// What is released before training, in order.
    pub fn stages(&self) -> Vec<Stage> {
        self.common().knots.into_iter().collect()
    }

    /// What every kind states.
    pub(crate) fn common(&self) -> &Common {
        match self {
            Self::Gradients(gradients) => gradients.common(),
            Self::Sampled(sampled) => sampled.common(),
            Self::Online(online) => online.common(),
            Self::Output(output) => output.common(),
            Self::Moments(moments) => moments.common(),
        }
    }

    /// Coordinates of a release.
    pub(crate) fn coordinates(&self) -> usize {
        match self {
            Self::Moments(moments) => moments.weights().coordinates(self.common().public.features),
            _ => self.common().public.coordinates(),
        }
    }

    /// Releases that the mechanism makes in all.
    pub(crate) fn releases(&self) -> u32 {
        match self {
            Self::Output(output) => u32::try_from(output.phases().len()).unwrap_or(u32::MAX),
            _ => self.common().public.plan.steps(),
        }
    }

    /// Fineness of the lattice that queries and noise live on.
    pub(crate) fn lattice_bits(&self) -> u32 {
        match self {
            Self::Gradients(gradients) => gradients.lattice_bits(),
            Self::Sampled(sampled) => sampled.lattice_bits(),
            Self::Online(online) => online.lattice_bits(),
            Self::Output(output) => output.lattice_bits(),
            Self::Moments(moments) => moments.lattice_bits(),
        }
    }
}

/// Everything that a calibration may look at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Public {
    pub(crate) problem: Problem,
    pub(crate) plan: Plan,
    pub(crate) records: usize,
    pub(crate) features: usize,
    pub(crate) budget: Budget,
}

impl Public {
    /// How far one record can move the exact gradient at parameters of a norm.
    pub(crate) fn gradient_sensitivity(&self, norm: f64) -> Result<f64, LearnError> {
        Ok(self.problem.gradient_sensitivity(norm, self.records)?.get())
    }

    /// The ratio of each of so many releases, after what stages before them take.
    pub(crate) fn ratio(&self, for_data: Budget, releases: f64) -> Result<f64, LearnError> {
        let law = self.plan.law();
        let whole = law.ratio(for_data, releases)?;
        Ok(match self.plan.representation() {
            Some(knots) => down_by(whole * law.part(1.0 - knots.share), 4.0),
            None => whole,
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
    pub(crate) public: Public,
    /// The part of δ set aside for the samplers.
    pub(crate) sampler_delta: f64,
    /// What is released before training.
    pub(crate) knots: Option<Stage>,
}

impl Common {
    /// Sets aside what approximate samples cost, and returns what is left for the data.
    fn new(public: Public, samples: f64) -> Result<(Self, Budget), LearnError> {
        let Public { problem, plan, records, budget, .. } = public;
        problem.gradient_sensitivity(0.0, records)?;
        plan.law().check(budget)?;
        let before = plan.representation().map_or(0.0, |knots| plan.law().samples(knots.coordinates));
        let sampler_delta = delta_share(budget.epsilon.get(), samples + before);
        let left = down_by(budget.delta.get() - sampler_delta, 1.0);
        let delta =
            if plan.law() == Law::Laplace && sampler_delta <= 0.0 { budget.delta.get() } else { left };
        let delta = Delta::new(delta).map_err(|_| LearnError::DeltaTooSmall(budget))?;
        if delta == Delta::PURE && plan.law() != Law::Laplace {
            return Err(LearnError::DeltaTooSmall(budget));
        }
        let for_data = Budget { epsilon: budget.epsilon, delta };
        let knots = knots::calibrate(&public, for_data)?;
        Ok((Self { public, sampler_delta, knots }, for_data))
    }
}

/// Noise that would have to be infinite: a smaller number of steps may do.
fn too_many_steps(plan: Plan) -> LearnError {
    LearnError::Plan { what: "the number of steps", range: "smaller", value: f64::from(plan.steps()) }
}
