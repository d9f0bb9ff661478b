//! Quantiles of the number of times a record is drawn.

use crate::error::StabilityError;

/// The least k with P(Bin(trials, probability) > k) ≤ failure, or one more where rounding is in doubt.
///
/// The tail is summed from its small end, so that failures far below 2⁻⁵³ are resolved.
///
/// # Cost
/// O(trials·probability + √trials).
///
/// # Errors
/// A probability or failure outside (0, 1).
pub fn binomial_quantile(trials: usize, probability: f64, failure: f64) -> Result<usize, StabilityError> {
    for (name, value) in [("probability", probability), ("γ", failure)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(StabilityError::Range { name, value, low: 0.0, high: 1.0 });
        }
    }
    let m = trials as f64;
    let mean = m * probability;
    let ratio = (probability / (1.0 - probability)).ln();
    // Logarithms of the probabilities of 0, 1, … until they are negligible beyond the mean.
    let negligible = failure.ln() - 60.0;
    let mut logs = vec![m * (-probability).ln_1p()];
    for k in 0..trials {
        let last = logs[k];
        if k as f64 > mean && last < negligible {
            break;
        }
        let k = k as f64;
        logs.push(last + ((m - k) / (k + 1.0)).ln() + ratio);
    }
    // Rounding of a sum of logarithms: relative error of a probability below 1e-9 for all sizes that fit memory. What
    // was cut off falls geometrically and is below failure·e⁻⁵⁰.
    let allowed = failure * (1.0 - 1e-6);
    let mut tail = failure * 1e-20;
    for (k, log) in logs.iter().enumerate().rev() {
        let next = tail + log.exp();
        // `next` is P(X ≥ k).
        if next > allowed {
            return Ok(k);
        }
        tail = next;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_quantiles_by_hand() {
        // Bin(2, ½): P(X > 1) = ¼, P(X > 0) = ¾.
        assert_eq!(binomial_quantile(2, 0.5, 0.3).unwrap(), 1);
        assert_eq!(binomial_quantile(2, 0.5, 0.8).unwrap(), 0);
        assert_eq!(binomial_quantile(2, 0.5, 0.2).unwrap(), 2);
        assert!(binomial_quantile(2, 0.5, f64::NAN).is_err());
    }

    #[test]
    fn the_printed_chernoff_bound_of_yang_fails_where_the_errata_say() {
        // n = 1000, T = 10⁶, γ = 5e-7: the printed μ + l + √(μl) is exceeded with probability 1.5e-5, 30 times γ.
        let (mu, failure) = (1000.0_f64, 5e-7_f64);
        let l = (1.0 / failure).ln();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let printed = (mu + l + (mu * l).sqrt()).floor() as usize;
        let at = |gamma| binomial_quantile(1_000_000, 1e-3, gamma).unwrap();
        assert!(at(failure) > printed);
        assert!(at(1.6e-5) <= printed && at(1.4e-5) > printed - 1);
        let corrected = mu + l + (2.0 * mu * l).sqrt();
        assert!((at(failure) as f64) < corrected);
    }
}
