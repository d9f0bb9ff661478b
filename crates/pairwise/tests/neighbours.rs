//! No neighbour moves what the kernels really compute further than the claimed sensitivity and their stated error,
//! whatever the objective, the parameters and the table: hostile ones included.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Domain, Labels, LossKind, MarginLoss, MetricLoss, Objective, PointLoss, Problem, RankingForm, Records,
    clip_row,
};

const D: usize = 2;

fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// How far the computed gradient moves, as a share of Δ + 2τ.
fn share(problem: Problem, table: (&[f64], &[f64]), replacement: (&[f64], f64), w: &[f64]) -> f64 {
    let columns = replacement.0.len();
    let gradient = |features: Vec<f64>, targets: Vec<f64>| {
        let records = Records::with_targets(features, columns, targets, problem.feature_bound()).unwrap();
        kernel::gradient(problem, &records, w, Par::Sequential)
    };
    let (mut features, mut targets) = (table.0.to_vec(), table.1.to_vec());
    features[..columns].copy_from_slice(replacement.0);
    targets[0] = replacement.1;
    let (a, b) = (gradient(table.0.to_vec(), table.1.to_vec()), gradient(features, targets));
    assert!(a.iter().chain(&b).all(|v| v.is_finite()), "{problem:?} at {w:?}");
    let distance = a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    let norm = Problem::norm(w);
    let error = kernel::error_bound(problem, norm, table.1.len(), columns);
    distance / (problem.gradient_sensitivity(norm, table.1.len()).unwrap().get() + 2.0 * error)
}

fn objectives() -> Vec<Objective> {
    let mut all = Vec::new();
    for loss in LossKind::all().filter_map(|kind| kind.of_margins(1.1)) {
        all.push(Objective::Ranking { form: RankingForm::Indicator, loss });
        all.push(Objective::Ranking { form: RankingForm::Symmetric, loss });
        all.push(Objective::Ranking { form: RankingForm::Comparable, loss });
        all.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    all.push(Objective::Pointwise { loss: PointLoss::Residual { q: 1.5, target_bound: 1.0 } });
    all.push(Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } });
    all.push(Objective::Metric { loss: MetricLoss::Hinge });
    all.push(Objective::Metric { loss: MetricLoss::Logistic });
    all
}

/// Features in the unit ball, often on its edge; targets of every sort, absurd ones too.
fn record(random: &mut Replay, labels: Labels) -> (Vec<f64>, f64) {
    let mut row: Vec<f64> = (0..D).map(|_| 1.5 * uniform(random)).collect();
    if uniform(random) > 0.3 {
        row = vec![uniform(random).signum(), 0.0];
    }
    clip_row(&mut row, 1.0);
    let target = match random.next_word() % 8 {
        0 if labels == Labels::Private => 1e9 * uniform(random),
        1 if labels == Labels::Private => f64::NAN,
        // Signed times.
        2..=4 => (1.0 + (uniform(random).abs() * 3.0).floor() / 3.0).copysign(uniform(random)),
        _ => uniform(random).signum(),
    };
    (row, target)
}

#[test]
fn every_objective_keeps_its_sensitivity() {
    let mut random = Replay::from_seed(21);
    for objective in objectives() {
        for labels in [Labels::Private, Labels::Public] {
            for domain in [Domain::Ball { radius: 3.0 }, Domain::PsdBall { radius: 3.0 }] {
                let Ok(problem) = Problem::new(objective, domain, 1.0) else { continue };
                let problem = problem.with_labels(labels);
                let mut largest = 0.0;
                for _ in 0..3000 {
                    let n = 2 + usize::try_from(random.next_word() % 7).unwrap();
                    let size = [0.0, 0.3, 1.0, 3.0][usize::try_from(random.next_word() % 4).unwrap()];
                    // Any parameters: unprojected, asymmetric, indefinite.
                    let w: Vec<f64> =
                        (0..problem.parameters(D)).map(|_| size * uniform(&mut random)).collect();
                    let rows: Vec<_> = (0..n).map(|_| record(&mut random, labels)).collect();
                    let features: Vec<f64> = rows.iter().flat_map(|r| r.0.clone()).collect();
                    let targets: Vec<f64> = rows.iter().map(|r| r.1).collect();
                    let (row, mut target) = record(&mut random, labels);
                    if labels == Labels::Public {
                        target = targets[0];
                    }
                    let found = share(problem, (&features, &targets), (&row, target), &w);
                    assert!(found <= 1.000_001, "{problem:?}: {found}");
                    if found > largest {
                        largest = found;
                    }
                }
                assert!(largest > 0.3, "{problem:?}: the search reached {largest} only");
            }
        }
    }
}

/// Parameters that no sane run has: boxes beyond numbering, distances that overflow.
#[test]
fn absurd_parameters_keep_it_too() {
    let mut random = Replay::from_seed(22);
    for objective in objectives() {
        for size in [1e12, 3e18, 1e100, 1e300] {
            let problem = Problem::new(objective, Domain::Ball { radius: 1e30 }, 1.0).unwrap();
            // Squares of the distances must not overflow in this test.
            if problem.constants_within(size).symmetric_difference > 1e150 {
                continue;
            }
            for _ in 0..200 {
                let rows: Vec<_> = (0..6).map(|_| record(&mut random, Labels::Private)).collect();
                let features: Vec<f64> = rows.iter().flat_map(|r| r.0.clone()).collect();
                let targets: Vec<f64> = rows.iter().map(|r| r.1).collect();
                let (row, target) = record(&mut random, Labels::Private);
                let w: Vec<f64> = (0..problem.parameters(D)).map(|_| size * uniform(&mut random)).collect();
                let found = share(problem, (&features, &targets), (&row, target), &w);
                assert!(found <= 1.000_001, "{problem:?} at {size:e}: {found}");
            }
        }
    }
}

/// Clusters a few roundings wide, at the kink of the q-hinge: intervals whose positions say nothing about their distance.
#[test]
fn clusters_at_the_last_bit_keep_it_too() {
    let n = 20_000;
    for (centre, weight) in [(1e6_f64, 4_194_304.0_f64), (2.0, 4.0)] {
        let objective =
            Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::QHinge { q: 1.03 } };
        let problem = Problem::new(objective, Domain::Ball { radius: 1e9 }, 1.0).unwrap();
        let unit = (centre + 0.5).next_up() - (centre + 0.5);
        let score = |i: usize| {
            let wiggle = unit * f64::from(u8::from(i / 2 % 2 == 1));
            if i.is_multiple_of(2) { centre + 0.5 + wiggle } else { centre - 0.5 + 4.0 * unit + wiggle }
        };
        let features: Vec<f64> = (0..n).map(|i| score(i) / weight).collect();
        let targets: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = share(problem, (&features, &targets), (&[-0.9], 1.0), &[weight]);
        assert!(found <= 1.000_001, "at {centre}: {found}");
    }
}
