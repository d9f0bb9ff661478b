//! How many of many are kept, when each is kept independently with a small probability.
//!
//! Drawing each of 10¹² pairs would take forever; drawing their number, a binomial, and then that many different pairs is
//! the same. The number must come from the binomial law itself, not from a Poisson or floating-point approximation of it:
//! amplification by sampling rests on it.
//!
//! # Guarantee
//! A draw is within 2⁻¹⁰⁰ of the binomial in total variation. The cumulative probabilities are computed in fixed point with
//! so many bits that their error is below 2⁻¹²⁰, and rounded to 128 bits; what lies beyond the table weighs less than
//! 2⁻¹¹⁰, and there are fewer than 2¹⁶ entries. Proof: `proofs/noisy_sgd.md`.

use crate::LearnError;
use num_bigint::BigUint;
use pairdp_noise::Source;

/// Cumulative probabilities of 0, 1, 2, … in units of 2⁻¹²⁸.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binomial {
    cumulative: Vec<u128>,
}

/// The weight of what the table leaves out is below 2^−this.
const TAIL_BITS: u64 = 112;

impl Binomial {
    /// The number of kept unordered pairs of `records` records, `expected` in the mean.
    ///
    /// # Errors
    /// [`LearnError::Plan`] if there are not that many pairs, or too many would be kept.
    pub(crate) fn of_pairs(records: u64, expected: f64) -> Result<Self, LearnError> {
        let pairs = records * (records - 1) / 2;
        if !(expected > 0.0 && expected <= 4096.0 && expected < pairs as f64) {
            let range = "above 0, at most 4096 and below the number of pairs";
            return Err(LearnError::Plan { what: "the expected number of pairs", range, value: expected });
        }
        // Bits of the fixed point: P(0) ≥ about e^{−2·expected} must keep 200 significant bits.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 4096")]
        let bits = 320 + 4 * expected.ceil() as u64;
        let one = BigUint::from(1_u32) << bits;
        let rate = scaled(expected, bits) / pairs;
        let keep_none = &one - &rate;
        let mut probability = power(keep_none.clone(), pairs, bits);
        let mut sum = probability.clone();
        let mut cumulative = vec![rounded(&sum, bits)];
        let tail = &one >> TAIL_BITS;
        let mut k = 0_u64;
        while k < pairs && &one - &sum > tail {
            // P(k + 1) = P(k)·(N − k)/(k + 1)·γ/(1 − γ).
            probability = probability * (pairs - k) * &rate / (&keep_none * (k + 1));
            sum += &probability;
            k += 1;
            cumulative.push(rounded(&sum, bits));
        }
        Ok(Self { cumulative })
    }

    /// The largest number that is ever drawn.
    pub(crate) fn largest(&self) -> f64 {
        self.cumulative.len() as f64
    }

    /// One draw.
    pub(crate) fn draw<S: Source>(&self, source: &mut S) -> usize {
        let uniform = u128::from(source.next_word()) << 64 | u128::from(source.next_word());
        self.cumulative.partition_point(|&below| below <= uniform).min(self.cumulative.len() - 1)
    }
}

/// A positive `f64`, exactly, in units of 2^−bits; bits below are dropped.
fn scaled(value: f64, bits: u64) -> BigUint {
    let raw = value.to_bits();
    let exponent = i64::try_from(raw >> 52 & 0x7ff).unwrap_or(0) - 1075;
    let mantissa = BigUint::from(raw & ((1 << 52) - 1) | 1 << 52);
    let shift = exponent + i64::try_from(bits).unwrap_or(i64::MAX);
    let size = shift.unsigned_abs();
    if shift >= 0 { mantissa << size } else { mantissa >> size }
}

/// xⁿ in fixed point, by squaring.
fn power(mut x: BigUint, mut n: u64, bits: u64) -> BigUint {
    let mut result = BigUint::from(1_u32) << bits;
    while n > 0 {
        if n & 1 == 1 {
            result = (result * &x) >> bits;
        }
        x = (&x * &x) >> bits;
        n >>= 1;
    }
    result
}

/// The top 128 bits of a number below 1; what rounds to 1 stays below it.
fn rounded(sum: &BigUint, bits: u64) -> u128 {
    u128::try_from(sum >> (bits - 128)).unwrap_or(u128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_noise::Replay;

    /// Exact binomials of 45 pairs by rational arithmetic in f64: they are good to 1e−14.
    #[test]
    fn probabilities_are_binomial() {
        let law = Binomial::of_pairs(10, 4.5).unwrap();
        let (mut term, mut sum) = (0.9_f64.powi(45), 0.0);
        for (k, cumulative) in law.cumulative.iter().enumerate().take(40) {
            sum += term;
            let found = *cumulative as f64 / 2.0_f64.powi(128);
            assert!((found - sum).abs() < 1e-13, "{k}: {found} {sum}");
            term *= (45.0 - k as f64) / (k as f64 + 1.0) / 9.0;
        }
    }

    /// In the limit of many pairs it is Poisson's law; N = 5·10¹¹ is as close as 10⁻⁹.
    #[test]
    fn many_pairs_are_nearly_poisson() {
        for expected in [0.5, 8.0, 200.0] {
            let law = Binomial::of_pairs(1_000_000, expected).unwrap();
            let (mut log, mut sum) = (-expected, 0.0);
            for (k, cumulative) in law.cumulative.iter().enumerate() {
                sum += f64::exp(log);
                assert!((*cumulative as f64 / 2.0_f64.powi(128) - sum).abs() < 1e-8, "{expected} {k}");
                log += (expected / (k as f64 + 1.0)).ln();
            }
            assert!(law.largest() < 40.0 + 3.0 * expected);
        }
    }

    /// 10⁵ draws with mean 8: the mean is off by more than 0.06 (6.7 standard errors) once in 10¹⁰ runs.
    #[test]
    fn draws_have_the_mean() {
        let law = Binomial::of_pairs(1000, 8.0).unwrap();
        let mut source = Replay::from_seed(4);
        let total: usize = (0..100_000).map(|_| law.draw(&mut source)).sum();
        assert!((total as f64 / 1e5 - 8.0).abs() < 0.06, "{total}");
    }

    #[test]
    fn impossible_means_are_refused() {
        for expected in [0.0, -1.0, f64::NAN, 45.0, 5000.0] {
            assert!(Binomial::of_pairs(10, expected).is_err());
        }
    }
}
