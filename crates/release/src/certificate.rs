//! Describing what was done in the plain types of a certificate, and reading a problem back from them.
//!
//! The only file that knows both vocabularies. A certificate is for people who do not trust this crate, so nothing of it is used to
//! say what a certificate means: `pairdp-verify` reads the same types and derives every number again.

use crate::{Mechanism, PublicFacts};
use pairdp_certificate as plain;
use pairdp_certificate::{Certificate, Claim, GradientRelease};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The certificate of a mechanism whose releases have been made; `gradients` lists those of [`Mechanism::Gradients`].
pub(crate) fn describe(mechanism: &Mechanism, gradients: Vec<GradientRelease>) -> Certificate {
    let common = mechanism.common();
    let PublicFacts { problem: learned, plan, records, features, budget } = common.public;
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
        problem: same(&rests_on),
        score_bound: score_bound.is_finite().then_some(score_bound),
        algorithm: plan.algorithm(),
        noise: plan.law().name().into(),
        lattice_bits: mechanism.family().lattice_bits(),
        sampler_delta: common.sampler_delta,
        ranges: None,
        public_ranges: None,
        stages: mechanism.stages(),
        condition: None,
        provenance: None,
        released: mechanism.family().released(gradients),
    }
}

/// The same in the types of a certificate, which have the same names in files. A test holds every value of ours against them.
pub(crate) fn same<T: DeserializeOwned>(ours: &impl Serialize) -> T {
    let theirs = serde_json::to_value(ours).and_then(serde_json::from_value);
    theirs.unwrap_or_else(|error| unreachable!("certificates have no name for this: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_certificate::{Order, Shuffle};
    use pairdp_pairwise::{
        Domain, Labels, LossKind, MarginLoss, MetricLoss, Neighbours, Objective, PointLoss, Problem,
        RankingForm,
    };

    /// Every kind of problem and order has the same name in a certificate, and comes back the same.
    #[test]
    fn certificates_have_a_name_for_all_that_is_learned() {
        let margins: Vec<MarginLoss> = LossKind::all().filter_map(|kind| kind.of_margins(1.5)).collect();
        let rankings = margins.iter().flat_map(|&loss| {
            [RankingForm::Indicator, RankingForm::Symmetric, RankingForm::Comparable]
                .map(|form| Objective::Ranking { form, loss })
        });
        let points = margins.iter().map(|&loss| PointLoss::Margin(loss));
        let points = points.chain([PointLoss::Residual { q: 1.1, target_bound: 0.1 }]);
        let points = points.map(|loss| Objective::Pointwise { loss });
        let metrics = [MetricLoss::Hinge, MetricLoss::Logistic].map(|loss| Objective::Metric { loss });
        let radius = 0.1 + 0.2;
        let domains = [
            Domain::Whole,
            Domain::Ball { radius },
            Domain::PsdBall { radius },
            Domain::PsdDiagonal { radius },
            Domain::PsdNuclear { radius },
        ];
        let mut seen = 0;
        for objective in rankings.chain(points).chain(metrics) {
            for domain in domains {
                let Ok(problem) = Problem::new(objective, domain, 1.0 / 3.0) else { continue };
                let (add_remove, promised) =
                    (Neighbours::AddRemoveOne { most: 7 }, Neighbours::AddRemovePromised { most: 7 });
                for neighbours in [Neighbours::ReplaceOne, add_remove, promised] {
                    for labels in [Labels::Private, Labels::Public] {
                        let problem = problem.with_neighbours(neighbours).with_labels(labels);
                        let written: plain::Problem = same(&problem);
                        assert_eq!(same::<Problem>(&written), problem);
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 100, "{seen}");
        for shuffle in [Shuffle::WithReplacement, Shuffle::FixedPermutation, Shuffle::Reshuffled] {
            let order = Order { shuffle, seed: u64::MAX >> 11 };
            assert_eq!(same::<Order>(&same::<plain::Order>(&order)), order);
        }
    }
}
