//! Every fast kernel equals the definition, on ordinary and on nasty tables, for every number of threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par, naive};
use pairdp_pairwise::{
    Domain, LossKind, MarginLoss, MetricLoss, Objective, PointLoss, Problem, RankingForm, Records,
};

/// Every loss of margins; those with an exponent twice.
fn losses() -> impl Iterator<Item = MarginLoss> {
    [1.2, 1.7].into_iter().flat_map(|q| LossKind::all().filter_map(move |kind| kind.of_margins(q)))
}

fn problems(radius: f64, kappa: f64) -> Vec<Problem> {
    let mut objectives = Vec::new();
    for loss in losses() {
        for form in [RankingForm::Indicator, RankingForm::Symmetric, RankingForm::Comparable] {
            objectives.push(Objective::Ranking { form, loss });
        }
        objectives.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    for q in [1.5, 2.0] {
        objectives.push(Objective::Pointwise { loss: PointLoss::Residual { q, target_bound: 1.0 } });
    }
    for loss in [MetricLoss::Hinge, MetricLoss::Logistic] {
        objectives.push(Objective::Metric { loss });
    }
    objectives.into_iter().map(|o| Problem::new(o, Domain::Ball { radius }, kappa).unwrap()).collect()
}

fn is_in_time(problem: Problem) -> bool {
    matches!(problem.objective(), Objective::Ranking { form: RankingForm::Comparable, .. })
}

/// Uniform in [−1, 1].
fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Tables that have broken kernels before.
fn tables(random: &mut Replay, n: usize, d: usize) -> Vec<(&'static str, Vec<f64>, Vec<f64>)> {
    let random_labels: Vec<f64> = (0..n).map(|_| if uniform(random) < -0.4 { 1.0 } else { -1.0 }).collect();
    let mut spread = || (0..n * d).map(|_| uniform(random)).collect::<Vec<f64>>();
    let ordinary = spread();
    let ties: Vec<f64> = spread().iter().map(|v| (v * 2.0).round() / 2.0).collect();
    let clusters: Vec<f64> = spread()
        .iter()
        .enumerate()
        .map(|(i, v)| f64::from(u8::from((i / d).is_multiple_of(2))) + 1e-9 * v)
        .collect();
    let tiny: Vec<f64> = spread().iter().map(|v| v * 1e-310).collect();
    let constant = vec![0.3; n * d];
    let alternating: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    // Signed times, for the comparison that reads them.
    let mut times = |ties: f64| -> Vec<f64> {
        (0..n)
            .map(|_| {
                let share = (uniform(random).abs() * ties).floor() / ties;
                (1.0 + share).copysign(uniform(random) - 0.3)
            })
            .collect()
    };
    vec![
        ("times", ordinary.clone(), times(1e9)),
        ("times with ties", ordinary.clone(), times(4.0)),
        ("ordinary", ordinary.clone(), random_labels.clone()),
        ("ties", ties, random_labels.clone()),
        ("clusters", clusters, alternating),
        ("denormal", tiny, random_labels.clone()),
        ("constant", constant, random_labels),
        ("positives only", ordinary.clone(), vec![1.0; n]),
        ("negatives only", ordinary, vec![-1.0; n]),
    ]
}

fn compare(what: &str, problem: Problem, records: &Records, w: &[f64]) {
    let expected = naive::gradient(problem, records, w);
    let found = kernel::gradient(problem, records, w, Par::Parallel);
    assert_eq!(found, kernel::gradient(problem, records, w, Par::Sequential), "{what}: depends on threads");
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let distance = norm(&expected.iter().zip(&found).map(|(a, b)| a - b).collect::<Vec<_>>());
    // Relative to the gradient, or to a thousandth of the largest possible one where terms cancel.
    let scale = norm(&expected) + 1e-3 * problem.gradient_norm_bound(Problem::norm(w), records.len().max(2));
    assert!(distance <= 1e-10 * scale, "{what} {problem:?}: {distance:e} of {scale:e}");
    // The stated error bound holds, with the naive sum's own error on top.
    let stated = kernel::error_bound(problem, Problem::norm(w), records.len().max(2), records.columns());
    assert!(
        distance <= 2.0 * stated + 1e-14 * scale,
        "{what} {problem:?}: {distance:e} above the stated {stated:e}"
    );

    let (expected, found) =
        (naive::risk(problem, records, w), kernel::risk(problem, records, w, Par::Parallel));
    assert!(
        (expected - found).abs() <= 1e-10 * expected.abs() + 1e-300,
        "{what} {problem:?}: {found} for {expected}"
    );
}

#[test]
fn fast_equals_naive() {
    let mut random = Replay::from_seed(1);
    for (n, d) in [(2, 1), (3, 2), (50, 3), (333, 9)] {
        for (what, features, targets) in tables(&mut random, n, d) {
            for scale in [0.0, 0.7, 30.0] {
                for problem in problems(1e9, 2.0) {
                    if what.starts_with("times") && !is_in_time(problem) {
                        continue;
                    }
                    let w: Vec<f64> = match problem.objective() {
                        Objective::Metric { .. } => {
                            let mut m: Vec<f64> = (0..d * d).map(|_| scale * uniform(&mut random)).collect();
                            (0..d).for_each(|i| (0..i).for_each(|j| m[i * d + j] = m[j * d + i]));
                            m
                        }
                        _ => (0..d).map(|_| scale * uniform(&mut random)).collect(),
                    };
                    let records = Records::with_targets(features.clone(), d, targets.clone(), 2.0).unwrap();
                    compare(what, problem, &records, &w);
                }
            }
        }
    }
}

/// Scores that reach 1e8: boxes beyond counting, saturated pairs, buckets of one value.
#[test]
fn huge_scores_are_exact_too() {
    let mut random = Replay::from_seed(2);
    for problem in
        problems(1e12, 1.0).into_iter().filter(|p| !matches!(p.objective(), Objective::Metric { .. }))
    {
        for size in [3e2, 1e5, 1e8] {
            let features: Vec<f64> =
                (0..400).map(|i| uniform(&mut random) * if i % 3 == 0 { 1e-6 } else { 1.0 }).collect();
            let targets = (0..400).map(|i| if i % 5 == 0 { 1.0 } else { -1.0 }).collect();
            let records = Records::with_targets(features, 1, targets, 1.0).unwrap();
            compare("huge", problem, &records, &[size]);
        }
    }
}

/// More than one block, tile and strip, in each kernel.
#[test]
fn blocks_and_tiles_merge() {
    let mut random = Replay::from_seed(3);
    let n = 2600;
    for problem in problems(100.0, 1.0) {
        let features: Vec<f64> = (0..n * 3).map(|_| uniform(&mut random)).collect();
        let targets = (0..n).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let records = Records::with_targets(features, 3, targets, 1.0).unwrap();
        let w: Vec<f64> = (0..problem.parameters(3)).map(|k| if k % 4 == 0 { 1.3 } else { 0.2 }).collect();
        compare("blocks", problem, &records, &w);
    }
}

/// Margins of exactly 1, where the hinge turns: a pair at the corner has no slope, in both kernels.
#[test]
fn the_corner_of_the_hinge_is_decided_alike() {
    let features: Vec<f64> = (0..60).map(|i| f64::from(i % 5) / 4.0).collect();
    let targets = (0..60).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let records = Records::with_targets(features, 1, targets, 1.0).unwrap();
    for problem in problems(10.0, 1.0) {
        if let Objective::Ranking { loss: MarginLoss::Hinge, .. } = problem.objective() {
            for w in [1.0, 2.0, 4.0, -4.0] {
                compare("corner", problem, &records, &[w]);
            }
        }
    }
}

#[test]
fn multi_class_metrics() {
    let mut random = Replay::from_seed(4);
    let features: Vec<f64> = (0..120 * 4).map(|_| uniform(&mut random)).collect();
    let targets = (0..120).map(|i| f64::from(i % 5)).collect();
    let records = Records::with_targets(features, 4, targets, 1.0).unwrap();
    let mut identity = vec![0.0; 16];
    (0..4).for_each(|i| identity[5 * i] = 0.8);
    for loss in [MetricLoss::Hinge, MetricLoss::Logistic] {
        let problem = Problem::new(Objective::Metric { loss }, Domain::PsdBall { radius: 3.0 }, 1.0).unwrap();
        compare("classes", problem, &records, &identity);
    }
}

#[test]
fn one_class_has_no_ranking_gradient() {
    for problem in
        problems(5.0, 1.0).into_iter().filter(|p| matches!(p.objective(), Objective::Ranking { .. }))
    {
        let records = Records::with_targets(vec![0.5, 0.1, -0.3, 0.2], 2, vec![1.0, 1.0], 1.0).unwrap();
        assert!(kernel::gradient(problem, &records, &[1.0, 2.0], Par::Sequential).iter().all(|v| *v == 0.0));
    }
}

#[test]
fn wide_tables_work() {
    let mut random = Replay::from_seed(5);
    let d = 10_000;
    let features: Vec<f64> = (0..6 * d).map(|_| uniform(&mut random)).collect();
    let records = Records::with_targets(features, d, vec![1.0, -1.0, -1.0, 1.0, -1.0, -1.0], 1.0).unwrap();
    let w: Vec<f64> = (0..d).map(|_| uniform(&mut random)).collect();
    for problem in
        problems(1e3, 1.0).into_iter().filter(|p| !matches!(p.objective(), Objective::Metric { .. }))
    {
        compare("wide", problem, &records, &w);
    }
}
