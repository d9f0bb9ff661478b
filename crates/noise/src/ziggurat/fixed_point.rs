//! Numbers as 128-bit integers: the arithmetic of the accept tests.
//!
//! # Guarantee
//! |`exp_negative`(y)·2⁻¹²⁷ − exp(−y·2⁻¹²⁰)| < 2⁻¹²⁰ for y < 2¹²⁷; derived in `proofs/ziggurat.md`, and tested
//! against 256-bit arithmetic.

use super::tables::{EXPONENTIALS, INVERSE_LN_2, LN_2, RECIPROCALS};

const ONE: u128 = 1 << 127;

/// a·b/2¹²⁸, rounded down.
#[inline]
pub(super) fn multiply_high(a: u128, b: u128) -> u128 {
    let (a_low, a_high) = (a & u128::from(u64::MAX), a >> 64);
    let (b_low, b_high) = (b & u128::from(u64::MAX), b >> 64);
    let cross = a_high * b_low + ((a_low * b_low) >> 64);
    let middle = (cross & u128::from(u64::MAX)) + a_low * b_high;
    a_high * b_high + (cross >> 64) + (middle >> 64)
}

/// exp(−y): y in units of 2⁻¹²⁰ and below 128, the result in units of 2⁻¹²⁷.
///
/// y = k·ln 2 + j/128 + s with s < 1/128: a shift, a table and a series.
pub(super) fn exp_negative(y: u128) -> u128 {
    // The product is y/ln 2 in units of 2^-(56+63), at most two too low for being rounded down twice.
    let mut k = ((y >> 64) * u128::from(INVERSE_LN_2)) >> (56 + 63);
    while (k + 1) * LN_2 <= y {
        k += 1;
    }
    if k >= 127 {
        return 0;
    }
    let remainder = y - k * LN_2;
    let j = (remainder >> 113) as usize;
    let s = (remainder & ((1 << 113) - 1)) << 8; // in units of 2⁻¹²⁸
    // 1 − s(1 − s/2(1 − s/3(… (1 − s/16)))).
    let mut series = ONE;
    for reciprocal in RECIPROCALS.iter().rev() {
        series = ONE - multiply_high(*reciprocal, multiply_high(s, series));
    }
    series = ONE - multiply_high(s, series);
    (multiply_high(EXPONENTIALS[j], series) << 1) >> k
}
