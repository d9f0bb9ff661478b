//! The verifier's own constants beside those that noise is calibrated to, over every objective, domain, label and radius.
//!
//! What is stated must not lie below what the verifier derives, on any side that would lower noise, and not far above. A constant in
//! `pairdp-pairwise`, `pairdp-stability` or `pairdp-learn` that is too small by a billionth fails here.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate as plain;
use pairdp_certificate::{Algorithm, Average};
use pairdp_pairwise::{
    Domain, Labels, LossKind, MarginLoss, MetricLoss, Neighbours, Objective, PointLoss, Problem, RankingForm,
    Regularity, kernel,
};
use pairdp_release::{Mechanism, Plan};
use pairdp_units::Budget;
use pairdp_verify::constants::{self, Slope};

fn problems() -> Vec<Problem> {
    let margins: Vec<MarginLoss> = [1.2, 1.9]
        .into_iter()
        .flat_map(|q| LossKind::all().filter_map(move |kind| kind.of_margins(q)))
        .collect();
    let mut objectives = vec![
        Objective::Metric { loss: MetricLoss::Hinge },
        Objective::Metric { loss: MetricLoss::Logistic },
        Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } },
        Objective::Pointwise { loss: PointLoss::Residual { q: 1.4, target_bound: 0.01 } },
    ];
    for loss in margins {
        objectives.push(Objective::Ranking { form: RankingForm::Indicator, loss });
        objectives.push(Objective::Ranking { form: RankingForm::Symmetric, loss });
        objectives.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    let mut problems = Vec::new();
    for objective in objectives {
        for radius in [1e-30, 1e-3, 0.2, 1.0, 7.0, 1e6, 1e30] {
            for domain in [
                Domain::Whole,
                Domain::Ball { radius },
                Domain::PsdBall { radius },
                Domain::PsdDiagonal { radius },
                Domain::PsdNuclear { radius },
            ] {
                for kappa in [1e-30, 0.03, 1.0, 5.0, 1e15] {
                    let Ok(problem) = Problem::new(objective, domain, kappa) else { continue };
                    for ridge in [0.0, 0.1] {
                        let problem = problem.with_ridge(ridge).unwrap();
                        problems.push(problem);
                        problems.push(problem.with_labels(Labels::Public));
                        problems.push(problem.with_neighbours(Neighbours::AddRemoveOne { most: 40 }));
                    }
                }
            }
        }
    }
    assert!(problems.len() > 3000);
    problems
}

/// Both have the same names in files.
fn described(problem: Problem) -> plain::Problem {
    serde_json::from_value(serde_json::to_value(problem).unwrap()).unwrap()
}

/// Stated numbers cover derived ones: never below, and above by the outward rounding of a few dozen operations alone.
fn covers(what: &str, stated: f64, derived: f64, problem: Problem) {
    let same = stated.to_bits() == derived.to_bits();
    let near = stated >= derived * (1.0 - 1e-13) && stated <= derived * (1.0 + 1e-11);
    assert!(same || near, "{what} is {stated:e}, derived {derived:e}: {problem:?}");
}

#[test]
fn constants_of_terms_are_derived_again() {
    for problem in problems() {
        let own = described(problem);
        for norm in [0.0, 1e-4, 0.5, 3.0, 1e5, problem.domain().radius()] {
            let (stated, derived) = (problem.constants_within(norm), constants::constants(&own, norm));
            covers("G", stated.gradient_bound, derived.gradient, problem);
            covers("D", stated.pair_difference, derived.pair, problem);
            covers("D_sym", stated.symmetric_difference, derived.both_orders, problem);
            // At reach 1e-4 a variation is a difference of nearly equal numbers.
            let variation = stated.same_term_difference - derived.same_term;
            assert!(
                variation.abs() <= 1e-11 * (derived.gradient + derived.same_term),
                "H: {problem:?} {norm}"
            );
            match (stated.regularity, derived.slope) {
                (Regularity::Jumps, Slope::Jumps) => {}
                (Regularity::Smooth { constant }, Slope::Smooth(own)) => covers("L", constant, own, problem),
                (Regularity::Hoelder { exponent, constant }, Slope::Hoelder(a, own)) => {
                    assert_eq!(exponent.to_bits(), a.to_bits());
                    covers("L_a", constant, own, problem);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn constants_of_risks_and_domains_are_derived_again() {
    for problem in problems() {
        let own = described(problem);
        let domain = own.domain;
        assert_eq!(problem.domain().radius().to_bits(), constants::radius(domain).to_bits());
        covers("diameter", problem.domain().diameter(), constants::diameter(domain), problem);
        assert_eq!(problem.domain().is_psd(), constants::is_semidefinite(domain));
        for n in [2, 3, 40, 100_000] {
            let size = n as f64;
            match (problem.risk_smoothness(n), constants::risk_smoothness(&own, size)) {
                (Some(stated), Some(derived)) => covers("L of the risk", stated, derived, problem),
                (None, None) => {}
                other => panic!("{other:?}"),
            }
            for norm in [0.0, 0.5, 1e5] {
                let capped = problem.size(n) as f64;
                let stated = problem.gradient_sensitivity(norm, n).unwrap().get();
                covers("Δ", stated, constants::moved(&own, norm) / capped, problem);
                let largest = constants::largest_risk_gradient(&own, norm, size);
                covers("largest gradient", problem.gradient_norm_bound(norm, n), largest, problem);
            }
        }
    }
}

#[test]
fn roundings_of_kernels_are_counted_again() {
    for problem in problems() {
        let own = described(problem);
        assert_eq!(kernel::name(problem), constants::kernel(&own));
        for (n, d, norm) in [(2, 1, 0.0), (40, 2, 0.5), (511, 3, 1.0), (513, 50, 1e3), (1_000_000, 7, 3.0)] {
            let stated = kernel::error_bound(problem, norm, n, d);
            covers("τ", stated, constants::sum_error(&own, norm, n as f64, d as f64), problem);
            let plan = Plan::new(Algorithm::NoisyGd, 1, 1.0, Average::Last).unwrap();
            let budget = Budget::new(1.0, 1e-6).unwrap();
            let Ok(Mechanism::Gradients(gradients)) = Mechanism::calibrate(problem, plan, n, d, budget)
            else {
                continue;
            };
            let Ok(release) = gradients.release_at(norm) else { continue };
            let n = problem.size(n) as f64;
            let derived = constants::sum_error(&own, norm, n, d as f64)
                + constants::packing_error(&own, constants::largest_risk_gradient(&own, norm, n))
                + constants::secret_size_error(&own, norm, n, d as f64);
            covers("τ of a release", release.kernel_error, derived, problem);
        }
    }
}

/// The law of the number of kept pairs is the sampler's own secret; the error of its sums tells how many it allows for.
#[test]
fn the_most_pairs_that_are_kept_are_found_again() {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Hinge };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let budget = Budget::new(1.0, 1e-6).unwrap();
    for (records, expected) in
        [(4, 3.0), (10, 0.5), (41, 4.0), (1000, 8.0), (100_000, 0.01), (3000, 300.0), (20_000, 4096.0)]
    {
        let plan = Plan::new(Algorithm::NoisySgd, 500, 1.0, Average::Last).unwrap();
        let plan = plan.with_expected_pairs(expected).unwrap();
        let Ok(Mechanism::Samples(sampled)) = Mechanism::calibrate(problem, plan, records, 1, budget) else {
            // Pairs so rare that a second method does not confirm the noise are refused.
            assert!(expected < 0.1, "{records} {expected}");
            continue;
        };
        let k = pairdp_verify::most_kept_pairs(records as u64, expected).unwrap();
        let derived = (8.0 + k) * k * f64::EPSILON * constants::constants(&described(problem), 1.0).gradient;
        covers("τ", sampled.gradient_error(), derived, problem);
    }
}
