//! Yang, Lei, Lyu and Ying (2021): entries 1 to 5, 24 and 27.

use crate::{Draws, budget, delta, last_true, ln_binomial_tail};
use pairdp_stability::bounds::{Setting, optimisation, totals};
use pairdp_stability::paper_noise::{Standing, xue_output, xue_phase, yang_output};
use pairdp_stability::realised::history_path;
use pairdp_stability::{Geometry, Output, Rates, Regularity};
use std::f64::consts::E;

/// What stands in the brackets of (5) and (9): T + 3T² ln²(eT) l²/n².
fn bracket(t: f64, n: f64, l: f64) -> f64 {
    t + 3.0 * (t * (1.0 + t.ln()) * l / n).powi(2)
}

#[test]
fn erratum_01_theorem_4_loses_the_factor_e_of_its_proof_and_is_private_nevertheless() {
    let (n, t, delta) = (1000, 10_000, 1e-5_f64);
    let setting = Setting::new(1.0, 1.0, t, n).unwrap();
    let printed = yang_output(&setting, &budget(1.0, delta));
    // The proof: σ² = 2 ln(2.5/δ)Δ²/ε² with Δ² from (9), η = G = ε = 1.
    let drift = 4.0 * E * bracket(1e4, 1e3, (2.0 / delta).ln());
    let proved = 2.0 * (2.5 / delta).ln() * drift;
    finds!("1", "σ² of the proof over σ² of (5)", "{:.3}", proved / printed.sigma.powi(2), "2.718");
    // It is private by another proof (`paper_noise::yang_output`), because real drifts are far smaller.
    assert_eq!(printed.standing, Standing::Holds);
    let mut draws = Draws(1);
    let indices: Vec<u32> = (0..t).map(|_| draws.below(1000)).collect();
    let geometry = Geometry::lipschitz(1.0, Regularity::Jumps).unwrap();
    let path = history_path(&geometry, &indices, n, Rates::Constant(1.0), Output::AverageWithStart).unwrap();
    let calibrated_to = printed.sigma / (2.0 * (2.5 / delta).ln()).sqrt();
    finds!("1", "Δ of (5), in 2ηG", "{:.0}", calibrated_to / 2.0, "2161");
    finds!("1", "Δ of one drawn path, in 2ηG", "{:.0}", path.sensitivity() / 2.0, "83");
}

#[test]
fn erratum_02_the_constant_three_of_equation_9_is_nine() {
    let ratio = |a: f64, l: f64| ((a + l + (a * l).sqrt()) / (a * l)).powi(2);
    finds!("2", "a = l = 1", "{:.2}", ratio(1.0, 1.0), "9.00");
    finds!("2", "a = 1, l = 2", "{:.2}", ratio(1.0, 2.0), "4.87");
    finds!("2", "a = 1, l = ln(2e5)", "{:.2}", ratio(1.0, 2e5_f64.ln()), "1.87");
    finds!("2", "a = 1: 3 is enough from l =", "{:.2}", last_true(1.0, 9.0, |l| ratio(1.0, l) > 3.0), "4.15");
    for k in 0..400 {
        let (a, l) = (1.0 + f64::from(k % 20), 1.0 + f64::from(k / 20));
        assert!(ratio(a, l) <= 9.0);
    }
}

#[test]
fn erratum_03_the_chernoff_bound_is_inverted_with_a_root_of_two_missing() {
    for (n, t, failure, tail, times, corrected) in
        [(1e3, 1e6, 5e-7_f64, "1.5e-5", "30", "6.9e-9"), (5e3, 25e6, 5e-9, "2.1e-6", "425", "9.8e-11")]
    {
        let (mean, l) = ((t + 1.0) / n, (1.0 / failure).ln());
        let exact = |bound: f64| ln_binomial_tail(t + 1.0, n, bound.floor()).exp();
        let printed = exact(mean + l + (mean * l).sqrt());
        finds!("3", format!("n = {n}: P(X > μ + l + √(μl))"), "{:.1e}", printed, tail);
        finds!("3", format!("n = {n}: over γ"), "{:.0}", printed / failure, times);
        let right = exact(mean + l + (2.0 * mean * l).sqrt());
        finds!("3", format!("n = {n}: P(X > μ + l + √(2μl))"), "{:.1e}", right, corrected);
        assert!(right < failure);
    }
}

#[test]
fn erratum_04_equation_9_needs_as_many_steps_as_records() {
    let (n, t, l) = (1e4_f64, 100.0_f64, 2e5_f64.ln());
    let three = t + (1.0 + t.ln()).powi(2) * (t / n + l + (t * l / n).sqrt()).powi(2);
    finds!("4", "(3) in 4eη²G²", "{:.0}", three, "5061");
    finds!("4", "(9) in 4eη²G²", "{:.0}", bracket(t, n, l), "101");
    let standing = |t| yang_output(&Setting::new(1.0, 1.0, t, 10_000).unwrap(), &budget(1.0, 1e-5)).standing;
    assert!(matches!(standing(100), Standing::Unproven(_)));
    assert_eq!(standing(20_000), Standing::Holds);
    // w_{T+1} is not part of the average: the last index drawn cannot matter.
    let geometry = Geometry::lipschitz(1.0, Regularity::Jumps).unwrap();
    let drift = |indices: &[u32]| {
        history_path(&geometry, indices, 9, Rates::Constant(1.0), Output::AverageWithStart)
            .unwrap()
            .per_record()[8]
    };
    assert!(drift(&[0, 1, 2, 3]) == 0.0 && drift(&[0, 1, 2, 8]) > 0.0);
}

/// The least ε at which noise √(2 ln(1.25/δ))/ε for `slack` times the true sensitivity is too small.
fn classical_fails_from(delta_claimed: f64, slack: f64) -> f64 {
    let factor = slack * (2.0 * (1.25 / delta_claimed).ln()).sqrt();
    last_true(1.0, 1e3, |epsilon| delta(epsilon, epsilon / factor) <= delta_claimed)
}

#[test]
fn erratum_05_the_classical_gaussian_formula_is_false_for_large_epsilon() {
    let classical = |epsilon: f64| delta(epsilon, epsilon / (2.0 * (1.25 / 1e-5_f64).ln()).sqrt());
    finds!("5", "δ = 1e-5, ε = 10: exact δ", "{:.1e}", classical(10.0), "2.3e-5");
    finds!("5", "δ = 1e-5, ε = 20: exact δ", "{:.1e}", classical(20.0), "1.5e-3");
    for (claimed, from) in [(1e-2, "6.77"), (1e-3, "7.46"), (1e-5, "8.42"), (1e-6, "8.78"), (1e-8, "9.37")] {
        finds!(
            "5",
            format!("δ = {claimed:e}: false from ε ="),
            "{:.2}",
            classical_fails_from(claimed, 1.0),
            from
        );
    }
    // Xue's Algorithms 3 and 1 claim 4/3 and 2 times the sensitivity they need.
    for (claimed, phased, output) in [(1e-2, "16.7", "49.7"), (1e-5, "30.3", "106.6")] {
        finds!(
            "5",
            format!("δ = {claimed:e}: Xue 3 false from ε ="),
            "{:.1}",
            classical_fails_from(claimed, 4.0 / 3.0),
            phased
        );
        finds!(
            "5",
            format!("δ = {claimed:e}: Xue 1 false from ε ="),
            "{:.1}",
            classical_fails_from(claimed, 2.0),
            output
        );
    }
    for epsilon in [1.01, 10.0] {
        let setting = Setting::new(1.0, 0.1, 2000, 1000).unwrap();
        let b = budget(epsilon, 1e-5);
        for printed in [yang_output(&setting, &b), xue_output(1.0, 0.1, 1000, &b), xue_phase(1.0, 0.1, &b)] {
            assert!(matches!(printed.standing, Standing::Refused(_)));
        }
    }
}

#[test]
fn erratum_24_last_terms_and_rates_of_theorems_2_and_5() {
    // The stability term, in units of c₁η⌈ln n⌉: printed, and what (9) gives.
    let (n, t, logs) = (100.0_f64, 1e4_f64, (1.0 + 1e4_f64.ln()) * 120.0_f64.ln());
    finds!("24", "√T + √(3T ln ln)/n", "{:.0}", t.sqrt() + (3.0 * t * logs).sqrt() / n, "112");
    finds!("24", "√T + √3·T ln ln/n", "{:.0}", t.sqrt() + 3.0_f64.sqrt() * t * logs / n, "8567");
    // Corollary 3: T = n², η = n^{-3/2} and complexities 1/√t. A rate 1/n would fall a hundredfold.
    let risk = |n: usize| {
        let setting = Setting::new(1.0, (n as f64).powf(-1.5), n * n, n).unwrap();
        let extra = totals::Yang {
            diameter: 1.0,
            largest_loss: 1.0,
            mean_complexity: 2.0 / n as f64,
            failure: 0.05,
            noise: None,
        };
        totals::yang(&setting, &extra)
    };
    let fall = risk(10_000) / risk(1_000_000);
    finds!("24", "bound at n = 1e4 over bound at n = 1e6", "{:.1}", fall, "4.9");
    // Corollary 4: d × d matrices carry d² coordinates of noise.
    finds!(
        "24",
        "noise on 20 × 20 parameters, in σ",
        "{:.1}",
        optimisation::output_gaussian(1.0, 400.0, 1.0),
        "20.0"
    );
    finds!("24", "√d", "{:.1}", 20.0_f64.sqrt(), "4.5");
}

#[test]
fn erratum_27_drawing_with_replacement_meets_a_record_with_itself() {
    // Hinge AUC on five records; index pairs (i₂, i₁) as the first step draws them.
    let records = [(0.3, 1.0), (-0.2, -1.0), (0.9, 1.0), (0.1, -1.0), (-0.7, 1.0)];
    let slope = |w: f64, (x, y): (f64, f64), (x2, y2): (f64, f64)| {
        if y > y2 && w * (x - x2) < 1.0 { -(x - x2) } else { 0.0 }
    };
    let sum = |own: bool| {
        let mut sum = 0.0;
        for (i, &one) in records.iter().enumerate() {
            for (j, &other) in records.iter().enumerate() {
                sum += if i != j || own { slope(0.2, one, other) } else { 0.0 };
            }
        }
        sum
    };
    let (drawn, risk) = (sum(true) / 25.0, sum(false) / 20.0);
    finds!("27", "expected step over gradient of the risk, n = 5", "{:.2}", drawn / risk, "0.80");
}
