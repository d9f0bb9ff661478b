//! An adversary tries to break the claimed sensitivity of the ranking gradient.
//!
//! Random neighbouring tables must never move the gradient further than the bound; the equality case of the proof
//! (n−1 negatives at −κe, one positive at +κe that flips) must reach it, or the bound would not be tight.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, LossKind, MarginLoss, Objective, Problem, RankingForm, Records};
use proptest::prelude::*;

const KAPPA: f64 = 0.7;

fn losses() -> impl Iterator<Item = MarginLoss> {
    LossKind::all().filter_map(|kind| kind.of_margins(1.6))
}

fn problem(loss: MarginLoss, form: RankingForm) -> Problem {
    Problem::new(Objective::Ranking { form, loss }, Domain::Ball { radius: 3.0 }, KAPPA).unwrap()
}

fn gradient(problem: Problem, rows: &[(Vec<f64>, bool)], w: &[f64]) -> Vec<f64> {
    let features = rows.iter().flat_map(|r| r.0.clone()).collect();
    let records = Records::new(features, w.len(), rows.iter().map(|r| r.1).collect(), KAPPA).unwrap();
    kernel::gradient(problem, &records, w, Par::Sequential)
}

/// How far the gradient moves, as a share of the bound.
fn share(problem: Problem, table: &[(Vec<f64>, bool)], replacement: (Vec<f64>, bool), w: &[f64]) -> f64 {
    let mut neighbour = table.to_vec();
    neighbour[0] = replacement;
    let (a, b) = (gradient(problem, table, w), gradient(problem, &neighbour, w));
    let distance = a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
    distance / problem.gradient_sensitivity(Problem::norm(w), table.len()).unwrap().get()
}

fn record() -> impl Strategy<Value = (Vec<f64>, bool)> {
    (proptest::collection::vec(-1.0..1.0_f64, 2), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn no_neighbour_moves_the_gradient_further(
        table in proptest::collection::vec(record(), 2..7),
        replacement in record(),
        w in proptest::collection::vec(-2.0..2.0_f64, 2),
    ) {
        for loss in losses() {
            for form in [RankingForm::Indicator, RankingForm::Symmetric] {
                let share = share(problem(loss, form), &table, replacement.clone(), &w);
                prop_assert!(share <= 1.000_001, "{loss:?} {form:?}: {share}");
            }
        }
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
            for loss in losses() {
                for form in [RankingForm::Indicator, RankingForm::Symmetric] {
                    let share = share(problem(loss, form), &table, flipped.clone(), &[norm, 0.0]);
                    assert!(
                        share > 0.999_999 && share <= 1.000_001,
                        "{loss:?} {form:?}, norm {norm}, n {n}: {share}"
                    );
                }
            }
        }
    }
}
