//! The numbers of `docs/errata.md`: one test for each entry, named by its number.
//!
//! Every test prints what it finds and asserts the printed digits, so the document says what the code computes:
//! `cargo test -p pairdp-learn --test errata -- --nocapture` lists them all. Nothing is drawn at random except from fixed
//! seeds.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

/// Prints a number and asserts its digits.
macro_rules! finds {
    ($row:literal, $what:expr, $format:literal, $value:expr, $expected:expr) => {{
        let (what, text) = ($what.to_string(), format!($format, $value));
        println!("#{}  {what}: {text}", $row);
        assert_eq!(text, $expected, "#{}: {what}", $row);
    }};
}

mod bassily;
mod kang;
mod wang;
mod xue;
mod yang;

use pairdp_accountant::{Event, delta_for, gaussian};
use pairdp_units::{Budget, Epsilon};

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(epsilon, delta).unwrap()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The exact δ at ε of Gaussian noise with a given ratio of sensitivity to noise.
fn delta(epsilon: f64, ratio: f64) -> f64 {
    gaussian::delta(epsilon, ratio).unwrap()
}

/// A certified bound on δ at ε of `steps` noisy queries, each on `batch` of `records` drawn uniformly.
fn sampled_delta(epsilon: f64, records: u64, batch: u64, steps: u64, multiplier: f64) -> f64 {
    let event = Event::gaussian_steps(records, Some(batch), steps, multiplier).unwrap();
    delta_for(&event, Epsilon::new(epsilon).unwrap()).unwrap().0
}

/// The ε from which on `holds` is false, between two where it is true and false.
fn last_true(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    assert!(holds(low) && !holds(high));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// ln P(X > `bound`) for X ~ Bin(trials, 1/n), summed exactly.
fn ln_binomial_tail(trials: f64, n: f64, bound: f64) -> f64 {
    let odds = -(n - 1.0).ln();
    let mut log = trials * (-1.0 / n).ln_1p();
    let mut k = 0.0;
    while k <= bound {
        log += ((trials - k) / (k + 1.0)).ln() + odds;
        k += 1.0;
    }
    // `log` is ln P(X = k) for the first k beyond the bound; what follows falls geometrically.
    let (first, mut sum, mut term) = (log, 0.0, 1.0);
    while term > 1e-18 * sum {
        sum += term;
        term *= (trials - k) / (k + 1.0) / (n - 1.0);
        k += 1.0;
    }
    first + sum.ln()
}

/// Uniform numbers in [0, 1) from a seed.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
        let k = (self.next() * f64::from(n)) as u32;
        k
    }
}
