//! The √T of the bounds for losses with jumps is real: measured drift against theory and against our own bounds.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use common::Draws;
use pairdp_stability::lower_bound::{
    gradient_descent, history_descent, pair_descent, pairwise_gradient_descent, stochastic_descent,
};
use pairdp_stability::realised::{
    full_batch_pairs, full_batch_records, history_path, pair_path, record_path,
};
use pairdp_stability::{Geometry, Output, Rates, Regularity};

const RATE: f64 = 0.01;

fn geometry() -> Geometry {
    Geometry::lipschitz(1.0, Regularity::Jumps).unwrap()
}

#[test]
fn full_batch_drift_has_the_values_of_another_program() {
    for (n, t, last, average) in [
        (50, 50, 0.06834, 0.03812),
        (50, 800, 0.30574, 0.17218),
        (20, 800, 0.45896, 0.24184),
        (200, 800, 0.2801, 0.16153),
    ] {
        let drift = gradient_descent(n, t, RATE).unwrap();
        assert!((drift.last / last - 1.0).abs() < 5e-4, "{n} {t}: {drift:?}");
        assert!((drift.average_before / average - 1.0).abs() < 5e-4, "{n} {t}: {drift:?}");
        let scale = RATE * ((t as f64).sqrt() + t as f64 / n as f64);
        assert!((0.67..0.88).contains(&(drift.last / scale)));
        assert!((0.35..0.51).contains(&(drift.average_before / scale)));
        let bound =
            full_batch_records(&geometry(), n, t, Rates::Constant(RATE), Output::Last).unwrap().sensitivity;
        assert!(drift.last <= bound);
    }
}

#[test]
fn drift_grows_like_the_root_of_the_steps() {
    // With n so large that the linear term is small.
    let growth = gradient_descent(100_000, 800, RATE).unwrap().last
        / gradient_descent(100_000, 200, RATE).unwrap().last;
    assert!((growth / 2.0 - 1.0).abs() < 0.05, "{growth}");
}

#[test]
fn pairwise_full_batches_drift_as_much() {
    for (n, t) in [(50, 200), (20, 800)] {
        let drift = pairwise_gradient_descent(n, t, RATE).unwrap();
        for (real, output) in
            [(drift.last, Output::Last), (drift.average_with_start, Output::AverageWithStart)]
        {
            let bound =
                full_batch_pairs(&geometry(), n, t, Rates::Constant(RATE), output).unwrap().sensitivity;
            assert!(real <= bound && real > 0.2 * bound, "{real} {bound}");
        }
    }
}

#[test]
fn stochastic_drift_stays_below_its_own_path() {
    let mut draws = Draws::new(31);
    let (mut most, mut sum, rounds) = ([0.0_f64; 6], 0.0, 20);
    for _ in 0..rounds {
        let (n, t) = (50, 200);
        let rates = Rates::Constant(RATE);
        let indices = draws.indices(n, t);
        let pairs = draws.pairs(n, t);
        let drifts = [
            stochastic_descent(n, &indices, RATE).unwrap(),
            pair_descent(n, &pairs, RATE).unwrap(),
            history_descent(n, &indices, RATE).unwrap(),
        ];
        sum += drifts[0].last;
        for (k, output) in [Output::Last, Output::AverageWithStart].into_iter().enumerate() {
            let bounds = [
                record_path(&geometry(), &indices, n, rates, output).unwrap().per_record()[0],
                pair_path(&geometry(), &pairs, n, rates, output).unwrap().per_record()[0],
                history_path(&geometry(), &indices, n, rates, output).unwrap().per_record()[0],
            ];
            for (m, (drift, bound)) in drifts.iter().zip(bounds).enumerate() {
                let real = if k == 0 { drift.last } else { drift.average_with_start };
                assert!(real <= bound, "{real} {bound}");
                if bound > 0.0 && real / bound > most[2 * m + k] {
                    most[2 * m + k] = real / bound;
                }
            }
        }
    }
    // The mean of the last iterate, beside min(1, T/n)η√T + ηT/n.
    let ratio = sum / f64::from(rounds) / (RATE * (200.0_f64.sqrt() + 4.0));
    assert!((0.6..0.8).contains(&ratio), "{ratio}");
    assert!(most.iter().all(|&ratio| ratio > 0.2), "{most:?}");
    assert!((0.31..0.6).contains(&most[4]), "{most:?}");
}

#[test]
fn nonsense_is_refused() {
    assert!(gradient_descent(1, 10, RATE).is_err());
    assert!(gradient_descent(10, 0, RATE).is_err());
    assert!(gradient_descent(10, 10, f64::NAN).is_err());
    assert!(history_descent(10, &[0], RATE).is_err());
}
