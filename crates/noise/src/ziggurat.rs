//! round(S·Z) for a continuous standard normal Z: the lazy exact ziggurat.
//!
//! The area under f(x) = exp(−x²/2), x ≥ 0, is covered by 512 layers of *exactly* equal area. One random word is
//! nine bits for a layer, 54 bits for a position along it and a sign. Most positions lie under the curve for
//! certain ([`Layer::certain`](tables::Layer)) and are accepted without looking further; the rest are a [`wedge`]
//! or the [`tail`] and are decided in 128-bit [`fixed_point`] arithmetic. x itself is never a number but an interval
//! whose later digits are drawn only if they matter: when the interval might straddle the edge between two
//! integers ([`rounding`]).
//!
//! Why not a floating-point ziggurat rounded at the end: its low-order bits are wrong, so that some integers come
//! too often and others never, which is the leak this crate exists to close. Why not an exact discrete Gaussian
//! (Canonne, Kamath and Steinke 2020): ten times slower, and its privacy curve is not the Gaussian one. Here
//! k + round(S·Z) = round(k + S·Z) for every integer k, so that a release is a post-processing of the continuous
//! Gaussian mechanism and the exact curve applies.
//!
//! # Guarantee
//! Each sample is within total variation 2⁻¹⁰⁰ of round(S·Z), independently of all others, given uniform words.
//! Proof: `proofs/ziggurat.md`. Integer arithmetic only.
//!
//! # Cost
//! One word and two multiplications for 99.2 % of samples. The time taken depends on the noise, hence draw a whole
//! vector before the query is evaluated.
//!
//! # Reference
//! Marsaglia and Tsang, "The ziggurat method for generating random variables" (2000); Karney, "Sampling exactly
//! from the normal distribution" (2016) for lazy digits.

mod fixed_point;
mod rounding;
#[rustfmt::skip]
mod tables;
mod tail;
mod wedge;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use crate::Scale;
use crate::source::Source;
pub(crate) use rounding::Point;
use tables::{LAYER_BITS, LAYERS, POSITION_BITS};

/// The bits of a position, aligned to the top of a word.
const POSITION_MASK: u64 = !0 << (64 - POSITION_BITS);

/// What one word proposes.
#[derive(Clone, Copy)]
struct Proposal {
    layer: usize,
    /// The leading 54 bits of where along the layer, aligned to the top.
    position: u64,
    negative: bool,
}

impl Proposal {
    #[inline]
    fn new(word: u64) -> Self {
        let layer = (word & ((1 << LAYER_BITS) - 1)) as usize;
        Self { layer, position: (word << 1) & POSITION_MASK, negative: word >> 63 == 1 }
    }
}

/// Fills `out` with independent samples of round(S·Z), Z standard normal.
///
/// Draws everything it needs before it returns and depends on no data: call it before the query is evaluated.
///
/// # Panics
/// If the process was forked and the operating system gives no new key (see [`Source::next_word`]).
pub fn fill_gaussian<S: Source>(source: &mut S, scale: Scale, out: &mut [i64]) {
    source.begin();
    let mut filled = 0;
    while filled < out.len() {
        // A loop over plain slices: the position in the stream stays out of memory.
        let quick = source.peek().iter().map_while(|word| draw_quick(*word, scale));
        let mut used = 0;
        for (sample, quick) in out[filled..].iter_mut().zip(quick) {
            *sample = quick;
            used += 1;
        }
        source.skip(used);
        filled += used;
        // The next word takes the long way, or the batch of words has ended.
        if let Some(sample) = out.get_mut(filled) {
            *sample = draw(source, scale);
            filled += 1;
        }
    }
}

/// The sample of a word that needs no others: 99 % of all.
#[inline]
fn draw_quick(word: u64, scale: Scale) -> Option<i64> {
    let proposal = Proposal::new(word);
    let layer = &LAYERS[proposal.layer];
    if proposal.position >= layer.certain {
        return None;
    }
    let magnitude = rounding::decided(layer.width, proposal.position, scale)?;
    Some(signed(magnitude, proposal.negative))
}

/// One sample, by whichever way it takes; the source must have been begun.
fn draw<S: Source>(source: &mut S, scale: Scale) -> i64 {
    loop {
        let word = source.word();
        if let Some(sample) = draw_quick(word, scale) {
            return sample;
        }
        if let Some((point, negative)) = examine(source, Proposal::new(word)) {
            return signed(point.round(source, scale), negative);
        }
    }
}

/// A sample of |Z| that has not been rounded yet, and whether Z is negative; the source must have been begun.
pub(crate) fn draw_point<S: Source>(source: &mut S) -> (Point, bool) {
    loop {
        let proposal = Proposal::new(source.word());
        if let Some(found) = examine(source, proposal) {
            return found;
        }
    }
}

/// The point that a proposal becomes, and its sign, if it lies under the curve.
fn examine<S: Source>(source: &mut S, proposal: Proposal) -> Option<(Point, bool)> {
    let layer = &LAYERS[proposal.layer];
    let point = if proposal.position < layer.certain {
        Point::on_layer(layer.width, proposal.position)
    } else if proposal.layer == 0 {
        tail::propose(source)?
    } else {
        wedge::examine(source, proposal)?
    };
    Some((point, proposal.negative))
}

/// `magnitude` (below 2⁵⁰) with a sign, without a branch that half of all samples would mispredict.
#[inline]
fn signed(magnitude: u64, negative: bool) -> i64 {
    let mask = -i64::from(negative);
    (magnitude.cast_signed() ^ mask) - mask
}
