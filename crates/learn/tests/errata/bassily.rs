//! Bassily, Feldman, Guzmán and Talwar (2020): entries 19 and 20.

use crate::{budget, ln_binomial_tail, sampled_delta};
use pairdp_accountant::{Event, account, calibrate, epsilon_for};
use pairdp_stability::paper_noise::bassily_sgd;
use pairdp_units::Delta;
use std::f64::consts::LN_10;

#[test]
fn erratum_19_the_probability_of_theorem_3_2_is_too_optimistic() {
    // T = n²: by their Lemma 3.1 the bound needs no record drawn more than m/n + √m/2 times, m = T − 1.
    let (n, m) = (100.0_f64, 9999.0_f64);
    let drawn_more = |bound: f64| n * ln_binomial_tail(m, n, bound.floor()).exp();
    finds!("19", "n = 100: claimed failure n·e^{-n/2}", "{:.1e}", n * (-n / 2.0).exp(), "1.9e-20");
    finds!("19", "n = 100: failure by Lemma 3.1", "{:.1e}", drawn_more(m / n + m.sqrt() / 2.0), "1.6e-4");
    // With the linear term counted once, 2m/n + √m draws are allowed and the claim is true here.
    let once = drawn_more(2.0 * m / n + m.sqrt());
    finds!("19", "n = 100: failure with the sharper lemma", "{:.1e}", once, "2.3e-57");
    assert!(once < n * (-n / 2.0).exp());
    // T = n = 2000, average, linear loss: if the first 94 draws are the same record, the average drifts by more than the
    // bound 4Lη(√m + m/n).
    let t = 2000.0_f64;
    let drift: f64 = (1..=94).map(|s| 2.0 * (t - f64::from(s)) / t).sum();
    let bound = 4.0 * ((t - 1.0).sqrt() + (t - 1.0) / t);
    finds!("19", "T = n = 2000: drift in Lη", "{:.1}", drift, "183.5");
    finds!("19", "T = n = 2000: bound in Lη", "{:.1}", bound, "182.8");
    assert!(drift > bound);
    finds!("19", "log₁₀ of its probability", "{:.1}", -94.0 * t.log10(), "-310.3");
    finds!("19", "log₁₀ of the claimed failure", "{:.1}", t.log10() - t / 2.0 / LN_10, "-431.0");
}

#[test]
fn erratum_20_noisy_sgd_of_bassily_is_correct_for_epsilon_up_to_one() {
    let exact = |n: u64, epsilon, claimed| {
        let multiplier = bassily_sgd(1.0, &budget(epsilon, claimed)).sigma / 2.0;
        sampled_delta(epsilon, n, 1, n * n - 1, multiplier)
    };
    for (n, small, large, double) in [
        (10, "3.5e-8", "5.0e-5", "8.92e-7"),
        (100, "3.8e-8", "5.8e-5", "1.02e-6"),
        (300, "3.9e-8", "5.9e-5", "1.06e-6"),
    ] {
        finds!("20", format!("n = {n}, ε = 1, claimed δ = 1e-6"), "{:.1e}", exact(n, 1.0, 1e-6), small);
        finds!("20", format!("n = {n}, ε = 1, claimed δ = 1e-3"), "{:.1e}", exact(n, 1.0, 1e-3), large);
        finds!("20", format!("n = {n}, ε = 2, claimed δ = 1e-6"), "{:.2e}", exact(n, 2.0, 1e-6), double);
    }
    // The theorem stops at ε = 1 with reason: at 2 one pair per step does not confirm it, though all steps together do, and at 4 some
    // neighbours refute it.
    for (epsilon, attained) in [(2.0, "1.75"), (4.0, "4.35")] {
        let multiplier = bassily_sgd(1.0, &budget(epsilon, 1e-6)).sigma / 2.0;
        let event = Event::gaussian_steps(100, Some(1), 9999, multiplier).unwrap();
        let (booked, _) = epsilon_for(&event, Delta::new(1e-6).unwrap()).unwrap();
        assert!(booked.get() > epsilon);
        let answer = account(&event, Delta::new(1e-6).unwrap()).unwrap();
        assert_eq!(answer.epsilon.get() < epsilon, attained == "1.75", "{answer:?}");
        finds!("20", format!("claimed ε = {epsilon}, attained"), "{:.2}", answer.lower_bound, attained);
    }
    finds!("20", "σ/(2L), printed", "{:.2}", bassily_sgd(1.0, &budget(1.0, 1e-6)).sigma / 2.0, "5.26");
    let unit = Event::gaussian_steps(100, Some(1), 9999, 1.0).unwrap();
    let needed = calibrate::noise_multiplier(&unit, budget(1.0, 1e-6)).unwrap();
    finds!("20", "σ/(2L), needed", "{:.2}", needed, "4.62");
}
