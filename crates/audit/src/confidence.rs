//! What counts of successes say about a probability, exactly.
//!
//! # Guarantee
//! [`at_least`] returns a number below the true probability in all but a share α of experiments, whatever that probability is
//! (Clopper and Pearson 1934); [`at_most`] is its mirror image. Rounding goes outward: tails are computed to about 10⁻⁹ of
//! themselves, and a tail counts as small enough only below α(1 − 10⁻⁶).

use pairdp_units::directed::{larger, smaller};

/// A lower bound on the probability of a success, from `successes` in `trials`, that is wrong with probability at most α.
pub fn at_least(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes == 0 || trials == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return 0.0;
    }
    let allowed = alpha * (1.0 - 1e-6);
    let (mut low, mut high) = (0.0, smaller(successes as f64 / trials as f64, 1.0));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if upper_tail(successes, trials, middle) <= allowed { low = middle } else { high = middle }
    }
    low
}

/// An upper bound on it, that is wrong with probability at most α.
pub fn at_most(successes: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - at_least(trials.saturating_sub(successes), trials, alpha)
}

/// P(Bin(trials, p) ≥ successes).
pub fn upper_tail(successes: u64, trials: u64, p: f64) -> f64 {
    if successes == 0 {
        return 1.0;
    }
    if successes > trials {
        return 0.0;
    }
    incomplete_beta(p, successes as f64, (trials - successes) as f64 + 1.0)
}

/// I_x(a, b), the regularised incomplete beta function, by its continued fraction on the side where that converges fast.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * continued_fraction(x, a, b) / a
    } else {
        1.0 - front.exp() * continued_fraction(1.0 - x, b, a) / b
    }
}

/// Evaluated from the front by the method of Lentz.
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guarded = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / guarded(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    // About √(a + b) terms are needed.
    for m in 1..100_000 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / guarded(1.0 + term * d);
            c = guarded(1.0 + term / c);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Φ(x).
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The x with Φ(x) = p, from below.
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || p <= 0.0 || p >= 1.0 {
        return if p >= 1.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle: f64 = 0.5 * (low + high);
        if normal_cdf(middle) <= p { low = middle } else { high = middle }
    }
    low
}

/// ln of a ratio of probabilities, at least 0, and 0 where there is nothing to say.
pub(crate) fn log_ratio(above: f64, below: f64) -> f64 {
    if above > 0.0 && below > 0.0 { larger((above / below).ln(), 0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums of probabilities.
    #[test]
    fn tails_are_binomial() {
        for (n, p) in [(10_u64, 0.3_f64), (200, 0.02), (1000, 0.5), (1000, 0.97)] {
            let log = |k: u64| {
                libm::lgamma(n as f64 + 1.0)
                    - libm::lgamma(k as f64 + 1.0)
                    - libm::lgamma((n - k) as f64 + 1.0)
                    + k as f64 * p.ln()
                    + (n - k) as f64 * (1.0 - p).ln()
            };
            for k in [0, 1, n / 4, n / 2, n - 3, n] {
                let sum: f64 = (k..=n).map(|k| log(k).exp()).sum();
                let found = upper_tail(k, n, p);
                assert!((found - sum).abs() <= 1e-9 * sum + 1e-13, "{n} {p} {k}: {found} {sum}");
            }
        }
    }

    /// Bounds of the literature: 0 of n has the upper bound 1 − α^{1/n}; 8 of 10 at 97.5 % is 0.4439.
    #[test]
    fn known_bounds() {
        assert!((at_most(0, 100, 0.05) - (1.0 - 0.05_f64.powf(0.01))).abs() < 1e-6);
        assert!((at_least(8, 10, 0.025) - 0.4439).abs() < 1e-4);
        assert!(at_least(0, 10, 0.05) <= 0.0 && at_most(10, 10, 0.05) >= 1.0);
    }

    /// The share of wrong bounds is at most α, for every probability: summed up exactly, not simulated.
    #[test]
    fn bounds_are_wrong_no_more_often_than_allowed() {
        let (n, alpha) = (40_u64, 0.05);
        for step in 1..40 {
            let p = f64::from(step) / 40.0;
            let wrong: f64 = (0..=n)
                .filter(|&k| at_least(k, n, alpha) > p)
                .map(|k| upper_tail(k, n, p) - upper_tail(k + 1, n, p))
                .sum();
            assert!(wrong <= alpha, "{p}: {wrong}");
        }
    }

    #[test]
    fn quantiles_invert_the_normal_law() {
        for x in [-6.0, -1.5, 0.0, 0.3, 2.0] {
            assert!((normal_quantile(normal_cdf(x)) - x).abs() < 1e-9);
        }
    }
}
