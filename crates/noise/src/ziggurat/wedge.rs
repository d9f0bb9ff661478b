//! The part of a layer that the curve crosses.
//!
//! The point's height in the layer is drawn uniformly and compared with the curve. Fewer than one proposal in a
//! hundred comes here: what matters is that the comparison is right, not that it is fast.

use super::Proposal;
use super::fixed_point::{exp_negative, multiply_high};
use super::rounding::Point;
use super::tables::{HEIGHTS, LAYERS};
use crate::source::Source;

/// Accepts the proposal if a uniform height between F_i and F_{i+1} lies under exp(−x²/2).
pub(super) fn examine<S: Source>(source: &mut S, proposal: Proposal) -> Option<Point> {
    let mut point = Point::on_layer(LAYERS[proposal.layer].width, proposal.position);
    let x = point.offset(source); // units of 2⁻¹²⁰, below 4
    let half_square = multiply_high(x << 4, x << 4) >> 1;
    let (foot, top) = (HEIGHTS[proposal.layer], HEIGHTS[proposal.layer + 1]);
    let height = foot + multiply_high(uniform(source), top - foot);
    (height < exp_negative(half_square)).then_some(point)
}

/// 128 random digits.
pub(super) fn uniform<S: Source>(source: &mut S) -> u128 {
    u128::from(source.word()) << 64 | u128::from(source.word())
}
