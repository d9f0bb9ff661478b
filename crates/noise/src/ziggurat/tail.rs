//! Beyond the last layer: x > R.
//!
//! The part of the base layer right of R has exactly the area of strips of width w and heights h₀, h₀/2, h₀/4, …
//! that cover the tail, because R·w ≥ ln 2 makes the curve at least halve from strip to strip. The number of
//! leading zeros of a random word chooses a strip; a point of it is accepted if it lies under the curve.

use super::fixed_point::{exp_negative, multiply_high};
use super::rounding::Point;
use super::tables::{LN_2, STRIP_HEIGHT, STRIP_WIDTH, TAIL_START};
use super::wedge::uniform;
use crate::source::Source;

/// The last strip, which also takes the words that are all zeros.
const LAST_STRIP: u32 = 63;

/// Proposes a point of the tail: with R + t in strip j, accepts if U·c·2^−j < f(R + t)/f(R) = exp(−Rt − t²/2).
pub(super) fn propose<S: Source>(source: &mut S) -> Option<Point> {
    let strip = u128::from(source.word().leading_zeros().min(LAST_STRIP));
    let start = (strip * u128::from(STRIP_WIDTH)) << 60;
    let mut point = Point::on_strip(TAIL_START + start, STRIP_WIDTH, source.word());
    let t = start + point.offset(source); // units of 2⁻¹²⁰, below 12
    let exponent = multiply_high(TAIL_START << 4, t << 4) + (multiply_high(t << 4, t << 4) >> 1);
    // Both sides times 2^j, so that small probabilities keep their digits; the exponent stays positive by R·w ≥ ln 2.
    let height = multiply_high(uniform(source), STRIP_HEIGHT);
    (height < exp_negative(exponent.saturating_sub(strip * LN_2))).then_some(point)
}
