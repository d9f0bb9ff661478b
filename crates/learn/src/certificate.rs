//! Describing what was done in the plain types of a certificate, and reading a problem back from them.
//!
//! The only file that knows both vocabularies. A certificate is for people who do not trust this crate, so nothing of it is used to
//! say what a certificate means: `pairdp-verify` reads the same types and derives every number again.

pub use pairdp_certificate::{Certificate, Claim, GradientRelease, Released};

use crate::release::{Mechanism, Public};
use crate::{ModelError, Order, PlanKind, Shuffle};
use pairdp_certificate as plain;
use pairdp_pairwise::{
    Domain, Labels, MarginLoss, MetricLoss, Neighbours, Objective, PointLoss, Problem, RankingForm,
};

/// The certificate of a mechanism whose releases have been made; `gradients` lists those of [`Mechanism::Gradients`].
pub(crate) fn describe(mechanism: &Mechanism, gradients: Vec<GradientRelease>) -> Certificate {
    let common = mechanism.common();
    let Public { problem: learned, plan, records, features, budget } = common.public;
    let score_bound = learned.feature_bound() * learned.domain().radius();
    // A ridge is public and cancels between neighbours; only descents whose results are released rest on it.
    let rests_on = if plan.algorithm().perturbs_output() { learned } else { learned.without_ridge() };
    Certificate {
        format: plain::FORMAT.into(),
        claim: Claim {
            epsilon: budget.epsilon.get(),
            delta: budget.delta.get(),
            adjacency: learned.adjacency().name().into(),
        },
        records,
        features,
        parameters: mechanism.family().coordinates(),
        problem: problem(rests_on),
        score_bound: score_bound.is_finite().then_some(score_bound),
        algorithm: algorithm(plan.algorithm()),
        noise: plan.law().name().into(),
        lattice_bits: mechanism.family().lattice_bits(),
        sampler_delta: common.sampler_delta,
        ranges: None,
        public_ranges: None,
        stages: mechanism.stages(),
        released: mechanism.family().released(gradients),
    }
}

fn algorithm(kind: PlanKind) -> plain::Algorithm {
    match kind {
        PlanKind::NoisyGd => plain::Algorithm::NoisyGd,
        PlanKind::NoisySgd => plain::Algorithm::NoisySgd,
        PlanKind::OnlinePair => plain::Algorithm::OnlinePair,
        PlanKind::OutputGd => plain::Algorithm::OutputGd,
        PlanKind::OutputSgd => plain::Algorithm::OutputSgd,
        PlanKind::PhasedGd => plain::Algorithm::PhasedGd,
        PlanKind::LocalizedSgd => plain::Algorithm::LocalizedSgd,
        PlanKind::OfflinePair => plain::Algorithm::OfflinePair,
        PlanKind::MatchingSgd => plain::Algorithm::MatchingSgd,
        PlanKind::Moments => plain::Algorithm::Moments,
    }
}

pub(crate) fn order(Order { shuffle, seed }: Order) -> plain::Order {
    let shuffle = match shuffle {
        Shuffle::WithReplacement => plain::Shuffle::WithReplacement,
        Shuffle::FixedPermutation => plain::Shuffle::FixedPermutation,
        Shuffle::Reshuffled => plain::Shuffle::Reshuffled,
    };
    plain::Order { shuffle, seed }
}

fn problem(problem: Problem) -> plain::Problem {
    plain::Problem {
        objective: match problem.objective() {
            Objective::Ranking { form: RankingForm::Indicator, loss } => {
                plain::Objective::Ranking { form: plain::RankingForm::Indicator, loss: margin(loss) }
            }
            Objective::Ranking { form: RankingForm::Symmetric, loss } => {
                plain::Objective::Ranking { form: plain::RankingForm::Symmetric, loss: margin(loss) }
            }
            Objective::Metric { loss: MetricLoss::Hinge } => {
                plain::Objective::Metric { loss: plain::MetricLoss::Hinge }
            }
            Objective::Metric { loss: MetricLoss::Logistic } => {
                plain::Objective::Metric { loss: plain::MetricLoss::Logistic }
            }
            Objective::Pointwise { loss: PointLoss::Margin(loss) } => {
                plain::Objective::Pointwise { loss: plain::PointLoss::Margin(margin(loss)) }
            }
            Objective::Pointwise { loss: PointLoss::Residual { q, target_bound } } => {
                plain::Objective::Pointwise { loss: plain::PointLoss::Residual { q, target_bound } }
            }
        },
        domain: match problem.domain() {
            Domain::Whole => plain::Domain::Whole,
            Domain::Ball { radius } => plain::Domain::Ball { radius },
            Domain::PsdBall { radius } => plain::Domain::PsdBall { radius },
            Domain::PsdDiagonal { radius } => plain::Domain::PsdDiagonal { radius },
            Domain::PsdNuclear { radius } => plain::Domain::PsdNuclear { radius },
        },
        feature_bound: problem.feature_bound(),
        ridge: problem.ridge(),
        labels: match problem.labels() {
            Labels::Private => plain::Labels::Private,
            Labels::Public => plain::Labels::Public,
        },
        neighbours: match problem.neighbours() {
            Neighbours::ReplaceOne => plain::Neighbours::ReplaceOne,
            Neighbours::AddRemoveOne { most } => plain::Neighbours::AddRemoveOne { most },
        },
    }
}

fn margin(loss: MarginLoss) -> plain::MarginLoss {
    match loss {
        MarginLoss::Hinge => plain::MarginLoss::Hinge,
        MarginLoss::Logistic => plain::MarginLoss::Logistic,
        MarginLoss::CappedLogistic => plain::MarginLoss::CappedLogistic,
        MarginLoss::Squared => plain::MarginLoss::Squared,
        MarginLoss::QHinge { q } => plain::MarginLoss::QHinge { q },
    }
}

/// The problem that a certificate speaks of, to calibrate for it again: both have the same names in files.
///
/// # Errors
/// [`ModelError::Json`] for numbers that no problem has.
pub fn certified_problem(certificate: &Certificate) -> Result<Problem, ModelError> {
    Ok(serde_json::from_value(serde_json::to_value(certificate.problem)?)?)
}
