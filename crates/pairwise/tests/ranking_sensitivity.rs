//! An adversary tries to break the claimed sensitivity of the ranking gradient.
//!
//! Random neighbouring tables must never move the gradient further than the bound; the equality case of the proof
//! (n−1 negatives at −κe, one positive at +κe that flips) must reach it, or the bound would not be tight.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_pairwise::{Domain, Loss, Problem, Records, kernel};
use proptest::prelude::*;

const KAPPA: f64 = 0.7;

fn problem() -> Problem {
    Problem::new(Loss::Logistic, Domain::Ball { radius: 3.0 }, KAPPA).unwrap()
}

fn gradient(rows: &[(Vec<f64>, bool)], w: &[f64]) -> Vec<f64> {
    let features = rows.iter().flat_map(|r| r.0.clone()).collect();
    let records = Records::new(features, w.len(), rows.iter().map(|r| r.1).collect(), KAPPA).unwrap();
    kernel::ranking_gradient(problem(), &records, w)
}

/// How far the gradient moves, as a share of the bound.
fn share(table: &[(Vec<f64>, bool)], replacement: (Vec<f64>, bool), w: &[f64]) -> f64 {
    let mut neighbour = table.to_vec();
    neighbour[0] = replacement;
    let (a, b) = (gradient(table, w), gradient(&neighbour, w));
    let distance = a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    distance / problem().gradient_sensitivity(Problem::norm(w), table.len()).unwrap().get()
}

fn record() -> impl Strategy<Value = (Vec<f64>, bool)> {
    (proptest::collection::vec(-1.0..1.0_f64, 2), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn no_neighbour_moves_the_gradient_further(
        table in proptest::collection::vec(record(), 2..7),
        replacement in record(),
        w in proptest::collection::vec(-2.0..2.0_f64, 2),
    ) {
        let share = share(&table, replacement, &w);
        prop_assert!(share <= 1.000_001, "{share}");
    }
}

#[test]
fn the_bound_is_attained() {
    for norm in [0.0, 0.5, 3.0] {
        for n in [2, 5, 40] {
            // The steepest margins are negative: positives score low, negatives high.
            let mut table = vec![(vec![-KAPPA, 0.0], true)];
            table.resize(n, (vec![KAPPA, 0.0], false));
            let flipped = (vec![-KAPPA, 0.0], false);
            let share = share(&table, flipped, &[norm, 0.0]);
            assert!(share > 0.999_999 && share <= 1.000_001, "norm {norm}, n {n}: {share}");
        }
    }
}

#[test]
fn one_class_has_no_gradient() {
    let table = vec![(vec![0.5, 0.1], true); 4];
    assert_eq!(gradient(&table, &[1.0, 1.0]), vec![0.0, 0.0]);
}

/// The gradient is the derivative of the risk, by central differences of the definition.
#[test]
fn gradient_is_the_derivative_of_the_risk() {
    let table: Vec<(Vec<f64>, bool)> = (0..9)
        .map(|i| (vec![(f64::from(i) * 0.7).sin() * 0.4, (f64::from(i) * 1.3).cos() * 0.4], i % 3 == 0))
        .collect();
    let risk = |w: [f64; 2]| {
        let score = |x: &[f64]| x[0] * w[0] + x[1] * w[1];
        let mut sum = 0.0;
        for (x, _) in table.iter().filter(|r| r.1) {
            for (y, _) in table.iter().filter(|r| !r.1) {
                sum += Loss::Logistic.value(score(x) - score(y));
            }
        }
        sum / 72.0
    };
    let w = [0.8, -1.1];
    let h = 1e-5;
    let slope = |e: [f64; 2]| {
        (risk([w[0] + h * e[0], w[1] + h * e[1]]) - risk([w[0] - h * e[0], w[1] - h * e[1]])) / (2.0 * h)
    };
    let computed = gradient(&table, &w);
    assert!((computed[0] - slope([1.0, 0.0])).abs() < 1e-9 && (computed[1] - slope([0.0, 1.0])).abs() < 1e-9);
}
