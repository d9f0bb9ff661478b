//! Integer noise with P(n) ∝ exp(−|n|/t): exactly.
//!
//! Every decision compares a uniform integer with an integer, so the law is the one printed here and not one near
//! it. This is what a claim of pure ε (δ = 0) needs. Logarithms of uniform floats, the textbook way, give a
//! law with holes that leak (Mironov, CCS 2012).
//!
//! # Guarantee
//! Given uniform words, each sample has P(n) = tanh(1/2t)·exp(−|n|/t). The one concession to 64-bit integers is that
//! values beyond ±2⁶³ saturate, which happens with probability below exp(−2¹⁷). Proof: `proofs/pure.md`.
//!
//! # Reference
//! Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), Algorithms 1 and 2.

#[cfg(test)]
mod tests;

use crate::source::Source;
use crate::{NoiseError, Scale};

/// The largest numerator and denominator: 16 times the largest scale.
const LARGEST: u64 = 16 << crate::scale::LARGEST_BITS;

/// t, the scale of discrete Laplace noise: any fraction up to 2⁴⁶ with terms up to 2⁵⁰.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaplaceScale {
    numerator: u64,
    denominator: u64,
}

impl LaplaceScale {
    /// t = `numerator`/`denominator`.
    ///
    /// # Errors
    /// [`NoiseError::LaplaceScale`] when t is 0 or above 2⁴⁶, or a term is above 2⁵⁰.
    pub fn from_ratio(numerator: u64, denominator: u64) -> Result<Self, NoiseError> {
        let terms = 1..=LARGEST;
        if terms.contains(&numerator)
            && terms.contains(&denominator)
            && numerator / denominator <= LARGEST / 16
        {
            Ok(Self { numerator, denominator })
        } else {
            Err(NoiseError::LaplaceScale { numerator, denominator })
        }
    }
}

impl From<Scale> for LaplaceScale {
    fn from(scale: Scale) -> Self {
        Self { numerator: scale.sixteenths(), denominator: 16 }
    }
}

/// Fills `out` with independent samples of the discrete Laplace law of scale t.
///
/// # Panics
/// If the process was forked and the operating system gives no new key (see [`Source::next_word`]).
pub fn fill_discrete_laplace<S: Source>(source: &mut S, scale: LaplaceScale, out: &mut [i64]) {
    source.begin();
    for sample in out {
        *sample = draw(source, scale);
    }
}

/// With t = a/b: ⌊X/b⌋ for X geometric with ratio exp(−1/a), and a sign; of the two zeros one is refused.
fn draw<S: Source>(source: &mut S, scale: LaplaceScale) -> i64 {
    loop {
        let magnitude = geometric(source, scale.numerator) / u128::from(scale.denominator);
        let negative = source.word() >> 63 == 1;
        if negative && magnitude == 0 {
            continue;
        }
        let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
        return if negative { -magnitude } else { magnitude };
    }
}

/// P(X) ∝ exp(−X/a): X = U + a·V with U uniform below a, kept with probability exp(−U/a), and V by trials of 1/e.
fn geometric<S: Source>(source: &mut S, a: u64) -> u128 {
    let remainder = loop {
        let uniform = below(source, a);
        if bernoulli_exp(source, uniform, a) {
            break uniform;
        }
    };
    let mut multiple = 0_u64;
    while bernoulli_exp(source, 1, 1) {
        multiple += 1;
    }
    u128::from(remainder) + u128::from(a) * u128::from(multiple)
}

/// True with probability exp(−γ), γ = `numerator`/`denominator` ≤ 1: the first k at which a trial of γ/k fails is odd.
///
/// A trial of γ/k is a trial of γ and one of 1/k.
fn bernoulli_exp<S: Source>(source: &mut S, numerator: u64, denominator: u64) -> bool {
    let mut k = 1;
    while below(source, denominator) < numerator && below(source, k) == 0 {
        k += 1;
    }
    k % 2 == 1
}

/// Uniform in 0 … `bound` − 1, exactly (Lemire 2019): the high half of word·bound, where the few words that would
/// make some results more frequent are refused.
fn below<S: Source>(source: &mut S, bound: u64) -> u64 {
    if bound == 1 {
        return 0;
    }
    loop {
        let product = u128::from(source.word()) * u128::from(bound);
        let low = crate::wide::low(product);
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return crate::wide::low(product >> 64);
        }
    }
}
