//! Scores from elsewhere: charges against their definition, how far one record moves a sum, and what no sum can be.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, Foreign, MarginLoss, Objective, PointLoss, Problem, RankingForm, Score};
use proptest::prelude::*;

const LOSSES: [MarginLoss; 3] = [MarginLoss::Logistic, MarginLoss::CappedLogistic, MarginLoss::Hinge];

fn problems(bound: f64, parameters: usize) -> Vec<Problem> {
    let foreign = Score::Foreign(Foreign { parameters, bound, seed: 1 });
    let of = |objective| Problem::new(objective, Domain::Whole, 3.0).unwrap().with_score(foreign).unwrap();
    LOSSES
        .into_iter()
        .flat_map(|loss| {
            [
                Objective::Ranking { form: RankingForm::Indicator, loss },
                Objective::Ranking { form: RankingForm::Symmetric, loss },
                Objective::Pointwise { loss: PointLoss::Margin(loss) },
            ]
        })
        .map(of)
        .collect()
}

/// −Σ over pairs (or Σ over records) of what each record pulls with, by definition.
fn naive_charges(problem: Problem, scores: &[f64], targets: &[f64]) -> Vec<f64> {
    let scores: Vec<f64> = scores.iter().map(|s| if s.is_nan() { 0.0 } else { *s }).collect();
    match problem.objective() {
        Objective::Pointwise { loss } => scores
            .iter()
            .zip(targets)
            .map(|(score, target)| loss.slope(*score, loss.read_target(*target)))
            .collect(),
        Objective::Ranking { form, loss } => {
            let scale = if form == RankingForm::Symmetric { 2.0 } else { 1.0 };
            let mut charges = vec![0.0; scores.len()];
            for i in 0..scores.len() {
                for j in 0..scores.len() {
                    if targets[i] > 0.0 && targets[j] < 0.0 {
                        let steepness = loss.steepness(scale * (scores[i] - scores[j]));
                        charges[i] += steepness;
                        charges[j] -= steepness;
                    }
                }
            }
            charges
        }
        Objective::Metric { .. } => unreachable!(),
    }
}

fn sum(charges: &[f64], vectors: &[[f64; 2]]) -> Vec<f64> {
    (0..2).map(|k| charges.iter().zip(vectors).map(|(charge, v)| charge * v[k]).sum()).collect()
}

fn gradient(problem: Problem, records: &[(f64, f64, [f64; 2])]) -> Vec<f64> {
    let scores: Vec<f64> = records.iter().map(|record| record.0).collect();
    let targets: Vec<f64> = records.iter().map(|record| record.1).collect();
    let vectors: Vec<[f64; 2]> = records.iter().map(|record| record.2).collect();
    let charges = kernel::foreign::charges(problem, scores, &targets, Par::Sequential);
    kernel::foreign::gradient(problem, sum(&charges, &vectors), records.len()).unwrap()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn record() -> impl Strategy<Value = (f64, f64, [f64; 2])> {
    let scores = prop_oneof![
        -5.0..5.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(1e300),
        Just(-1e300),
        Just(0.0)
    ];
    let target = prop_oneof![Just(1.0), Just(-1.0)];
    // Anywhere on the circle, as the worst are; which scores go with it is free.
    (scores, target, 0.0..std::f64::consts::TAU, prop_oneof![Just(1.0), 0.0..1.0]).prop_map(
        |(score, target, angle, length)| (score, target, [length * angle.cos(), length * angle.sin()]),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn replacing_a_record_moves_the_sum_by_no_more_than_the_sensitivity(
        table in proptest::collection::vec(record(), 2..12),
        other in record(),
        at in 0_usize..12,
        bound in prop_oneof![Just(1.0), 1e-3..1e3],
    ) {
        let mut table = table;
        let scaled = |record: &mut (f64, f64, [f64; 2])| record.2.iter_mut().for_each(|x| *x *= bound * (1.0 - 1e-15));
        let mut other = other;
        scaled(&mut other);
        table.iter_mut().for_each(scaled);
        let mut neighbour = table.clone();
        let place = at % table.len();
        neighbour[place] = other;
        for problem in problems(bound, 2) {
            let moved = distance(&gradient(problem, &table), &gradient(problem, &neighbour));
            let n = table.len();
            let covered = problem.gradient_sensitivity(0.0, n).unwrap().get() + 2.0 * kernel::error_bound(problem, 0.0, n, 3);
            prop_assert!(moved <= covered, "{problem:?}: {moved} of {covered}");
        }
    }

    #[test]
    fn charges_are_what_the_definition_says(
        scores in proptest::collection::vec(prop_oneof![-8.0..8.0, Just(f64::NAN), Just(0.0)], 2..60),
        seed in any::<u64>(),
    ) {
        let targets: Vec<f64> = (0..scores.len()).map(|i| if (seed >> (i % 64)) & 1 == 1 { 1.0 } else { -1.0 }).collect();
        for problem in problems(1.0, 2) {
            let found = kernel::foreign::charges(problem, scores.clone(), &targets, Par::Sequential);
            // Boxes over scores up to 2⁴⁰ know a score to 2⁻¹² or so, and the logistic slope follows a quarter of it.
            let boxes = matches!(problem.objective(), Objective::Ranking { loss: MarginLoss::Logistic, .. });
            let near = if boxes { 2.0_f64.powi(-12) } else { 1e-9 };
            for (found, expected) in found.iter().zip(naive_charges(problem, &scores, &targets)) {
                prop_assert!((found - expected).abs() <= near * scores.len() as f64, "{problem:?}");
            }
        }
    }
}

/// All partners at one end of the ball, and the replaced record flips at the other: what the noise must hide.
#[test]
fn the_sensitivity_is_reached() {
    for problem in problems(2.0, 2) {
        let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
        // Steepest wherever slopes are not bounded by ½: as far apart as scores can be.
        let far = 1e12;
        let mut table = vec![(far, -1.0, [2.0, 0.0]); 8];
        table[0] = (-far, 1.0, [-2.0, 0.0]);
        let mut neighbour = table.clone();
        neighbour[0] = if pointwise { (far, -1.0, [2.0, 0.0]) } else { (far, -1.0, [-2.0, 0.0]) };
        if pointwise {
            table[0] = (-far, 1.0, [2.0, 0.0]);
        }
        let moved = distance(&gradient(problem, &table), &gradient(problem, &neighbour));
        let sensitivity = problem.gradient_sensitivity(0.0, 8).unwrap().get();
        assert!(
            moved > 0.999 * sensitivity && moved <= sensitivity * (1.0 + 1e-12),
            "{problem:?}: {moved} of {sensitivity}"
        );
    }
}

#[test]
fn sums_that_no_bounded_terms_have_are_none_or_cut_short() {
    for problem in problems(1.0, 2) {
        for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(kernel::foreign::gradient(problem, vec![0.0, broken], 5), None);
        }
        let long = kernel::foreign::gradient(problem, vec![1e300, -1e308], 5).unwrap();
        let longest = problem.gradient_norm_bound(0.0, 5) + 1e-9;
        assert!(distance(&long, &[0.0, 0.0]) <= longest && long[1] != 0.0, "{long:?}");
        assert_eq!(kernel::foreign::gradient(problem, vec![0.0, 0.0], 5), Some(vec![0.0, 0.0]));
    }
}

#[test]
fn what_has_no_bound_is_refused() {
    let foreign = |parameters, bound| Score::Foreign(Foreign { parameters, bound, seed: 1 });
    let ranking = |loss| Objective::Ranking { form: RankingForm::Indicator, loss };
    let ball = Problem::new(ranking(MarginLoss::Logistic), Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    assert!(ball.with_score(foreign(3, 1.0)).is_err());
    let whole = Problem::new(ranking(MarginLoss::Logistic), Domain::Whole, 1.0).unwrap();
    for (parameters, bound) in
        [(0, 1.0), (3, 0.0), (3, f64::NAN), (3, f64::INFINITY), (3, -1.0), (20_000_000, 1.0)]
    {
        assert!(whole.with_score(foreign(parameters, bound)).is_err(), "{parameters} {bound}");
    }
    assert!(whole.with_score(foreign(3, 1.0)).is_ok());
    // A loss that grows steeper and steeper has no whole space to be on.
    assert!(Problem::new(ranking(MarginLoss::Squared), Domain::Whole, 1.0).is_err());
}
