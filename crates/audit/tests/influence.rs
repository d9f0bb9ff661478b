//! Influence against leaving records out one by one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_audit::influence::{Form, Influence, length, relative_error};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};

fn problem() -> Problem {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    Problem::new(objective, Domain::Whole, 4.0).unwrap().with_ridge(0.1).unwrap()
}

fn records(n: usize, seed: u64) -> Records {
    let mut source = Replay::from_seed(seed);
    let mut uniform = || (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let features: Vec<f64> = (0..3 * n).map(|_| 2.0 * uniform()).collect();
    let positive = features.chunks_exact(3).map(|x| x[0] - 0.5 * x[1] + uniform() > 0.0).collect();
    Records::new(features, 3, positive, 4.0).unwrap()
}

/// Median relative error over records and a few tables.
fn error(n: usize, predicted: Form, exact: Form) -> f64 {
    let mut errors = Vec::new();
    for seed in 0..4 {
        let records = records(n, 10 + seed);
        let influence = Influence::fit(problem(), &records).unwrap();
        for i in 0..10 {
            errors.push(relative_error(&influence.predicted(i, predicted), &influence.exact(i, exact)));
        }
    }
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn errors_fall_like_one_over_n() {
    let sizes = [20, 40, 80, 160];
    for form in [Form::SameNormaliser, Form::Centred] {
        let points: Vec<(f64, f64)> =
            sizes.iter().map(|&n| ((n as f64).ln(), error(n, form, form).ln())).collect();
        let count = points.len() as f64;
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
            / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
        println!(
            "{form:?}: slope {slope:.3}, errors {:?}",
            points.iter().map(|p| p.1.exp()).collect::<Vec<_>>()
        );
        assert!((slope + 1.0).abs() < 0.2, "{form:?}: {slope} {points:?}");
        assert!(points[3].1.exp() < 0.05);
    }
}

/// The printed formula is not about leaving a record out of the table: its error does not vanish.
#[test]
fn the_same_normaliser_does_not_predict_leaving_a_record_out() {
    let crossed = error(160, Form::SameNormaliser, Form::Centred);
    assert!(crossed > 5.0 * error(160, Form::Centred, Form::Centred), "{crossed}");
}

#[test]
fn elastic_stability_follows_from_the_prediction() {
    let records = records(80, 3);
    let influence = Influence::fit(problem(), &records).unwrap();
    for i in 0..8 {
        let (mean, most) = influence.elastic(&influence.predicted(i, Form::Centred));
        let (exact_mean, exact_most) = influence.elastic(&influence.exact(i, Form::Centred));
        assert!(mean > 0.0 && mean <= most && most < 0.2);
        assert!((mean / exact_mean - 1.0).abs() < 0.1 && (most / exact_most - 1.0).abs() < 0.1);
        assert!(length(&influence.exact(i, Form::Centred)) > 0.0);
    }
}

#[test]
fn what_has_no_influence_function_is_refused() {
    let records = records(20, 1);
    let hinge = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Hinge };
    let bounded = Problem::new(problem().objective(), Domain::Ball { radius: 1.0 }, 4.0).unwrap();
    for refused in [
        problem().without_ridge(),
        bounded.with_ridge(0.1).unwrap(),
        Problem::new(hinge, Domain::Whole, 4.0).unwrap().with_ridge(0.1).unwrap(),
    ] {
        assert!(Influence::fit(refused, &records).is_err());
    }
}
