//! Wang, Lei, Ying and Zhou (2024): entries 13 to 18.

use crate::{budget, delta, last_true, sampled_delta};
use pairdp_stability::paper_noise::{Standing, wang_at_beta, wang_best_beta};
use pairdp_units::directed::{larger, smaller};
use std::f64::consts::E;

/// The least ε at which some σ and β meet the conditions: `rate` is 1/n for records and 2/n for pairs, whatever T.
fn feasible_from(claimed: f64, rate: f64) -> f64 {
    let order = |epsilon: f64| 1.0 + (1.0 / claimed).ln() / epsilon;
    // Room over v = σ²/4G² ≥ 0.67, β → 0.
    let feasible = |epsilon: f64| {
        let lambda = order(epsilon);
        let room = |k: i32| {
            let v = 0.67 * 1.001_f64.powi(k);
            2.0 * v / 3.0 * (1.0 / (rate * lambda * (1.0 + v))).ln()
        };
        lambda - 1.0 <= (0..12_000).map(room).fold(0.0, larger)
    };
    last_true(0.01, 50.0, |epsilon| !feasible(epsilon))
}

/// Φ.
fn normal(x: f64) -> f64 {
    0.5 + 0.5 * x.signum() * delta(0.0, 2.0 * x.abs())
}

/// The largest value over thresholds of what an attack gains at ε = 1.
fn best_threshold(gain: impl Fn(f64) -> f64) -> f64 {
    (0..1000).map(|k| gain(0.01 * f64::from(k))).fold(0.0, larger)
}

/// An attack on linear losses: every record pulls one way, and in the neighbouring table one pulls the other way. Does the
/// largest of all noisy gradients exceed a threshold? P − e·P' is a lower bound on δ at ε = 1.
fn from_all_steps(rate: f64, steps: i32, ratio: f64) -> f64 {
    best_threshold(|c| {
        let (without, with) = (normal(c), (1.0 - rate) * normal(c) + rate * normal(c - ratio));
        (1.0 - with.powi(steps)) - E * (1.0 - without.powi(steps))
    })
}

/// The same for the average of the iterates alone, when the first step is long and the others are short: it is then the
/// first noisy gradient.
fn from_the_average(rate: f64, ratio: f64) -> f64 {
    best_threshold(|c| rate * (1.0 - normal(c - ratio)) + (1.0 - rate - E) * (1.0 - normal(c)))
}

/// The same for the average of the iterates alone when all steps are equally long: a draw at step t moves T − t of them. The
/// shifts of several draws are added up on a grid, rounded down.
fn from_an_even_average(rate: f64, steps: u32, ratio: f64) -> f64 {
    const CELL: f64 = 0.005;
    let noise = (1..=steps).map(|t| f64::from(steps - t).powi(2)).sum::<f64>().sqrt();
    let mut shifts = vec![0.0; 800];
    shifts[0] = 1.0;
    for t in 1..=steps {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let moved = (ratio * f64::from(steps - t) / noise / CELL) as usize;
        for k in (moved..shifts.len()).rev() {
            shifts[k] = (1.0 - rate) * shifts[k] + rate * shifts[k - moved];
        }
        for shift in shifts.iter_mut().take(moved) {
            *shift *= 1.0 - rate;
        }
    }
    best_threshold(|c| {
        let seen = |(k, p): (usize, &f64)| p * (1.0 - normal(c - k as f64 * CELL));
        shifts.iter().enumerate().map(seen).sum::<f64>() - E * (1.0 - normal(c))
    })
}

#[test]
fn erratum_13_the_side_conditions_decide_and_without_them_privacy_is_lost() {
    finds!("13", "n = 1000, δ = 1e-5, pairs: feasible from ε =", "{:.2}", feasible_from(1e-5, 2e-3), "1.12");
    finds!("13", "n = 5000, δ = 1/n², pairs: feasible from ε =", "{:.2}", feasible_from(4e-8, 4e-4), "0.71");
    for (pairwise, batch, sigma, seen, average) in
        [(false, 1_u32, "0.20", "0.18", "2.0e-4"), (true, 2, "0.40", "0.25", "3.0e-4")]
    {
        let at = |k: u32| {
            wang_at_beta(1.0, 1000, 5000, &budget(1.0, 4e-8), f64::from(k) * 1e-4, pairwise).unwrap().printed
        };
        let least = (1..10_000).map(at).reduce(|a, b| if b.sigma < a.sigma { b } else { a }).unwrap();
        assert!(matches!(least.standing, Standing::Refused(_)));
        let what = if pairwise { "pairs" } else { "records" };
        finds!("13", format!("conditions ignored, {what}: σ in G"), "{:.2}", least.sigma, sigma);
        let rate = f64::from(batch) / 5000.0;
        let found = from_all_steps(rate, 1000, 2.0 / least.sigma);
        finds!("13", format!("{what}, all steps seen: claimed δ = 4e-8, at least"), "{:.2}", found, seen);
        assert!(found <= sampled_delta(1.0, 5000, u64::from(batch), 1000, least.sigma / 2.0));
        let found = from_the_average(rate, 2.0 / least.sigma);
        finds!("13", format!("{what}, average of uneven steps seen: at least"), "{:.1e}", found, average);
        if !pairwise {
            let found = from_an_even_average(rate, 1000, 2.0 / least.sigma);
            finds!("13", "records, average of even steps seen: at least", "{:.1e}", found, "1.1e-9");
        }
    }
}

#[test]
fn erratum_14_the_last_line_of_theorem_5_drops_a_factor_two() {
    // n = 5000, δ = 1/n²: what the theorem asks of pairs, and what the last line of its proof would.
    finds!("14", "with n/(2λ(…)): feasible from ε =", "{:.2}", feasible_from(4e-8, 4e-4), "0.71");
    finds!("14", "with n/(λ(…)): feasible from ε =", "{:.2}", feasible_from(4e-8, 2e-4), "0.50");
}

#[test]
fn erratum_15_the_existence_condition_of_remark_1_is_garbled() {
    let n = 1000.0_f64;
    let root = n.cbrt() - 1.0;
    let printed = 7.0 * root + 4.0 * n.ln() * n + 7.0 / (2.0 * n * root);
    finds!("15", "n = 1000: printed, ε ≥", "{:.0}", printed, "27694");
    let read = (7.0 * root + 4.0 * n * n.ln() + 7.0) / (2.0 * n * root);
    finds!("15", "n = 1000: as we read it, ε ≥", "{:.2}", read, "1.54");
    // T = n, δ = 1/n², records: the reading is sufficient, and not by far.
    let exists = |epsilon| wang_best_beta(1.0, 1000, 1000, &budget(epsilon, 1e-6), false).is_ok();
    assert!(exists(read));
    finds!(
        "15",
        "n = 1000: a β exists from ε =",
        "{:.2}",
        last_true(0.1, read, |epsilon| !exists(epsilon)),
        "0.93"
    );
}

#[test]
fn erratum_16_theorem_16_needs_shorter_steps() {
    // f = (L/2)(w − 1)², L = 2, from w = 0, no noise: both sides of Theorem 16(a).
    let sides = |rate: f64, steps: u32| {
        let (mut w, mut left) = (0.0, 0.0);
        for _ in 0..steps {
            left += rate * (w - 1.0_f64).powi(2);
            w -= rate * 2.0 * (w - 1.0);
        }
        (left, 0.5 + 3.0 * 2.0 * rate)
    };
    // η = 1 = min{2/L, 1}: w jumps between 0 and 2.
    finds!("16", "η = 2/L, t = 7: left", "{:.1}", sides(1.0, 7).0, "7.0");
    finds!("16", "η = 2/L, t = 7: right", "{:.1}", sides(1.0, 7).1, "6.5");
    assert!(sides(1.0, 6).0 <= sides(1.0, 6).1 && sides(1.0, 7).0 > sides(1.0, 7).1);
    finds!("16", "η = 1/(2L), t = 1000: left", "{:.2}", sides(0.25, 1000).0, "0.33");
    finds!("16", "η = 1/(2L), t = 1000: right", "{:.2}", sides(0.25, 1000).1, "2.00");
    assert!((1..1000).all(|t| sides(0.25, t).0 <= sides(0.25, t).1));
}

#[test]
fn erratum_17_the_constant_of_lemma_19_is_not_that_of_lemma_14() {
    // f' = sign(w)√|w|: α = ½, L = √2. How much one step with η = 1 can move w and −w apart, squared.
    let (alpha, smoothness) = (0.5_f64, 2.0_f64.sqrt());
    let slope = |w: f64| w.signum() * w.abs().sqrt();
    let most = (1..100_000)
        .map(|k| {
            let w = f64::from(k) * 1e-5;
            (2.0 * w - 2.0 * slope(w)).powi(2) - 4.0 * w * w
        })
        .fold(0.0, larger);
    let share = (1.0 - alpha) / (1.0 + alpha);
    let right = share * (2.0_f64.powf(-alpha) * smoothness).powf(2.0 / (1.0 - alpha));
    let printed = E * share * (2.0 - alpha).powi(2) * smoothness.powf(2.0 / (1.0 - alpha));
    finds!("17", "largest growth found", "{:.3}", most, "0.148");
    finds!("17", "M² of Lemma 14", "{:.3}", right, "0.333");
    finds!("17", "M² of Lemma 19", "{:.3}", printed, "8.155");
    assert!(most <= right);
    // The proof has η^{2/(α−1)} for η^{2/(1−α)}: short steps would move runs far apart.
    finds!("17", "η = 0.01: η^{2/(1−α)}", "{:.0e}", 0.01_f64.powf(2.0 / (1.0 - alpha)), "1e-8");
    finds!("17", "η = 0.01: η^{2/(α−1)}", "{:.0e}", 0.01_f64.powf(2.0 / (alpha - 1.0)), "1e8");
}

#[test]
fn erratum_18_the_self_bounding_constant_needs_a_slope_not_a_loss() {
    // α = 0 on |w| ≤ 0.1: f = w + 0.1 is non-negative there and convex, and its slope never changes, so L = 0.
    let f = |w: f64| w + 0.1;
    let slope = |w: f64| (f(w + 1e-3) - f(w - 1e-3)) / 2e-3;
    let slopes = (-99..=99).map(|k| slope(f64::from(k) * 1e-3));
    assert!((-100..=100).all(|k| f(f64::from(k) * 1e-3) >= 0.0));
    let (least, most) = slopes.fold((9.0, 0.0), |(least, most), s| (smaller(least, s), larger(most, s)));
    finds!("18", "largest slope", "{:.1}", most, "1.0");
    finds!("18", "M + L with M = f(0)", "{:.1}", f(0.0) + (most - least), "0.1");
    finds!("18", "M + L with M = ‖∂f(0)‖", "{:.1}", slope(0.0) + (most - least), "1.0");
}
