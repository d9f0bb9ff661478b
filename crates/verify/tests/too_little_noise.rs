//! Certificates as the code that calibrates would write them if a constant of its own were too small: noise and sensitivity agree with
//! each other, everything adds up, and the verifier refuses them because it has constants of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod trained;

use pairdp_certificate::{Algorithm, ModelDocument, NoiseKind, Order, Released, Shuffle};
use pairdp_pairwise::{Domain, Labels, MetricLoss, Objective, Problem};
use pairdp_release::Plan;
use pairdp_verify::verify_document;
use trained::{document, objectives, plan};

fn failed(document: &ModelDocument) -> Vec<&'static str> {
    verify_document(document).failures().map(|check| check.name).collect()
}

/// What rounding to the lattice takes off a ratio, and the factor to the norm of the noise.
fn rounding(document: &ModelDocument) -> (f64, f64) {
    let p = document.certificate.parameters as f64;
    let laplace = NoiseKind::from_name(&document.certificate.noise) == Some(NoiseKind::Laplace);
    let norm = if laplace { p.sqrt() } else { 1.0 };
    let bits = i32::try_from(document.certificate.lattice_bits).unwrap();
    (norm * p.sqrt() * (1.0 + 2.0_f64.powi(-7)) * 2.0_f64.powi(-bits), norm)
}

/// Which of the numbers that noise is set by.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Constant {
    Sensitivity,
    Error,
}

/// The certificate with a constant times a factor, and the noise that follows from it.
fn with_factor(document: &ModelDocument, which: Constant, factor: f64) -> ModelDocument {
    let mut changed = document.clone();
    let (rounding, norm) = rounding(document);
    let (d, e) = if which == Constant::Sensitivity { (factor, 1.0) } else { (1.0, factor) };
    match &mut changed.certificate.released {
        Released::Gradients { ratio, releases, .. } => {
            for release in releases {
                release.sensitivity *= d;
                release.kernel_error *= e;
                let distance = release.sensitivity + 2.0 * release.kernel_error;
                release.sigma = norm * distance / (*ratio - rounding) * (1.0 + 1e-14);
            }
        }
        Released::SampledGradients { sensitivity, gradient_error, noise_multiplier, sigma, .. } => {
            *sensitivity *= d;
            *gradient_error *= e;
            *sigma =
                (*sensitivity + 2.0 * *gradient_error) / (1.0 / *noise_multiplier - rounding) * (1.0 + 1e-14);
        }
        Released::Online { steps, sensitivity, gradient_error, ratio, sigma, .. } => {
            *sensitivity *= d;
            *gradient_error *= e;
            let factor = (1..=*steps).map(|k| 1.0 / f64::from(k * k)).sum::<f64>().sqrt();
            let root = f64::from(*steps).sqrt();
            *sigma = (factor * *sensitivity + 2.0 * root * *gradient_error) / (*ratio - root * rounding)
                * (1.0 + 1e-14);
        }
        Released::Output { ratio, phases, .. } => {
            for phase in phases {
                phase.sensitivity *= d;
                phase.sigma = norm * phase.sensitivity / (*ratio - rounding) * (1.0 + 1e-14);
            }
        }
        Released::Moments { sensitivity, error, ratio, sigma, .. } => {
            *sensitivity *= d;
            *error *= e;
            *sigma = norm * (*sensitivity + 2.0 * *error) / (*ratio - rounding) * (1.0 + 1e-14);
        }
    }
    changed
}

/// Refuses 1 % and a billionth too little, with the sensitivity alone to blame, and accepts what is certified.
fn check(what: &str, document: &ModelDocument) {
    assert!(failed(document).is_empty(), "{what}: {:?}", failed(document));
    assert!(failed(&with_factor(document, Constant::Sensitivity, 1.0)).is_empty(), "{what}");
    // Of runs that leave a record alone sums are bounded, not computed: what is stated may lie a little above.
    let in_runs = matches!(
        document.certificate.algorithm,
        Algorithm::OutputSgd | Algorithm::MatchingSgd | Algorithm::LocalizedSgd
    );
    let factors: &[f64] = if in_runs { &[0.95] } else { &[0.99, 1.0 - 1e-9] };
    for &factor in factors {
        let found = failed(&with_factor(document, Constant::Sensitivity, factor));
        // The lattice is chosen for the same constants, and may notice too.
        assert!(found.contains(&"sensitivity"), "{what} × {factor}: {found:?}");
        assert!(found.iter().all(|name| ["sensitivity", "lattice"].contains(name)), "{what}: {found:?}");
        if matches!(document.certificate.released, Released::Output { .. }) {
            continue;
        }
        let found = failed(&with_factor(document, Constant::Error, factor));
        assert!(found.iter().any(|name| name.ends_with("error")), "{what}: rounding × {factor}: {found:?}");
    }
}

#[test]
fn every_constant_that_lowers_noise_is_missed() {
    let mut checked = 0;
    for objective in objectives() {
        let metric = matches!(objective, Objective::Metric { .. });
        for domain in [Domain::Ball { radius: 0.5 }, Domain::Whole, Domain::PsdBall { radius: 0.5 }] {
            let Ok(problem) = Problem::new(objective, domain, 0.8) else { continue };
            for labels in [Labels::Private, Labels::Public] {
                for algorithm in Algorithm::ALL {
                    let Some(document) = document(problem.with_labels(labels), plan(algorithm, 0.05, 5))
                    else {
                        continue;
                    };
                    check(
                        &format!("{} of {objective:?} on {domain:?}, {labels:?}", algorithm.name()),
                        &document,
                    );
                    checked += 1;
                }
                if !metric {
                    break;
                }
            }
        }
    }
    assert!(checked > 150, "{checked}");
}

/// Short and long steps, with a ridge and without, to the edge of the domain, and beyond what is smooth.
#[test]
fn every_way_of_growing_apart_is_followed_again() {
    let mut checked = 0;
    for objective in objectives() {
        for (radius, ridge, rate) in [
            (2.0, 0.0, 0.02),
            (2.0, 0.3, 0.02),
            (1.0, 0.0, 3.0),
            (1.0, 0.2, 2.0),
            (0.01, 0.0, 0.1),
            (0.01, 0.1, 0.5),
        ] {
            let problem =
                Problem::new(objective, Domain::Ball { radius }, 0.8).unwrap().with_ridge(ridge).unwrap();
            for algorithm in Algorithm::ALL.into_iter().filter(|kind| kind.perturbs_output()) {
                for (shuffle, steps) in [
                    (Shuffle::WithReplacement, 90),
                    (Shuffle::FixedPermutation, 1),
                    (Shuffle::Reshuffled, 47),
                ] {
                    let plan = plan(algorithm, rate, steps).with_order(Order { shuffle, seed: 5 });
                    let Some(document) = document(problem, plan) else { continue };
                    let what =
                        format!("{} of {objective:?}, {radius} {ridge} {rate} {shuffle:?}", algorithm.name());
                    assert!(failed(&document).is_empty(), "{what}: {:?}", failed(&document));
                    checked += 1;
                    // What the diameter cuts off is no more than it, whatever the constants; and sums over runs are bounds.
                    let exact = !matches!(
                        algorithm,
                        Algorithm::MatchingSgd | Algorithm::LocalizedSgd | Algorithm::OutputSgd
                    );
                    if exact && radius > 0.1 {
                        check(&what, &document);
                    }
                }
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

/// Steps of just 2/(L + λ), where rounding decides which rule holds.
#[test]
fn steps_of_exactly_the_longest_smooth_length_verify() {
    for objective in objectives() {
        let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 0.8).unwrap();
        for ridge in [0.0, 0.1] {
            let problem = problem.with_ridge(ridge).unwrap();
            let Some(of_a_pair) = problem.constants().smoothness().map(|l| l + ridge) else { continue };
            for (algorithm, total) in [
                (Algorithm::OutputGd, problem.risk_smoothness(trained::N).unwrap()),
                (Algorithm::OutputSgd, of_a_pair),
                (Algorithm::OfflinePair, of_a_pair),
            ] {
                for rate in [2.0 / total, (2.0 / total).next_up(), (2.0 / total).next_down()] {
                    let Some(document) = document(problem, plan(algorithm, rate, 30)) else { continue };
                    assert!(
                        failed(&document).is_empty(),
                        "{algorithm:?} {objective:?}: {:?}",
                        failed(&document)
                    );
                }
            }
        }
    }
}

#[test]
fn other_noise_and_pairs_kept_independently_are_checked_alike() {
    for objective in objectives() {
        let problem = Problem::new(objective, Domain::Ball { radius: 0.5 }, 0.8).unwrap();
        let plans: [Plan; 5] = [
            plan(Algorithm::NoisySgd, 0.05, 30).with_expected_pairs(3.0).unwrap(),
            plan(Algorithm::NoisyGd, 0.05, 4).with_law(NoiseKind::Laplace),
            plan(Algorithm::OutputGd, 0.05, 4).with_law(NoiseKind::Laplace),
            plan(Algorithm::OutputGd, 0.05, 4).with_law(NoiseKind::Euclidean),
            plan(Algorithm::NoisyGd, 0.05, 4).with_constant_noise(),
        ];
        for plan in plans {
            let Some(document) = document(problem, plan) else { continue };
            check(&format!("{} of {objective:?}, {:?}", plan.algorithm().name(), plan.law()), &document);
        }
    }
    let hinge = Objective::Metric { loss: MetricLoss::Logistic };
    let capped = Problem::new(hinge, Domain::PsdDiagonal { radius: 0.5 }, 0.8)
        .unwrap()
        .with_neighbours(pairdp_pairwise::Neighbours::AddRemoveOne { most: 60 });
    check("a diagonal metric under a cap", &document(capped, plan(Algorithm::NoisyGd, 0.05, 4)).unwrap());
}
