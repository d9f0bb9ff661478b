//! From an interval to an integer: round(S·x) with only as many digits of x as it takes.
//!
//! 54 digits of a position determine x to about 2⁻⁵¹ and round(S·x) with it, except with probability S·2⁻⁵¹ when an
//! edge between two integers is that near. Then 128 further digits are drawn and the product is taken exactly.

use super::POSITION_MASK;
use super::tables::POSITION_BITS;
use crate::Scale;
use crate::source::Source;
use crate::wide;

/// An accepted x = base + width·u, where u in [0, 1) is known to its leading digits.
pub(crate) struct Point {
    /// In units of 2⁻¹²⁰.
    base: u128,
    /// In units of 2⁻⁶⁰.
    width: u64,
    /// The first 54 digits of u, aligned to the top.
    position: u64,
    /// The 64 digits after them, if an accept test has drawn them.
    more: Option<u64>,
}

/// round(S·x) for x = width·u, if the 54 known digits of u determine it.
///
/// With `x` = ⌊width·position·2⁻⁶⁴⌋ the true x, in units of 2⁻⁶⁰, lies between `x` and `x` + 1 + 2⁹, because the unknown
/// digits are worth less than width·2⁻⁵⁴ < 2⁹. The test leaves one more unit of room.
#[inline]
pub(super) fn decided(width: u64, position: u64, scale: Scale) -> Option<u64> {
    const UNKNOWN: u64 = (1 << (63 - POSITION_BITS)) + 2;
    let sixteenths = scale.sixteenths();
    let x = (u128::from(width) * u128::from(position)) >> 64;
    // S·x + 1/2 in units of 2⁻⁶⁴.
    let product = x * u128::from(sixteenths) + (1 << 63);
    let (integer, fraction) = (wide::low(product >> 64), wide::low(product));
    let (_, straddles) = fraction.overflowing_add(sixteenths * UNKNOWN);
    if straddles { None } else { Some(integer) }
}

impl Point {
    /// A point of a layer, which starts at 0.
    pub(super) fn on_layer(width: u64, position: u64) -> Self {
        Self { base: 0, width, position, more: None }
    }

    /// A point of the strip that starts at `base`.
    pub(super) fn on_strip(base: u128, width: u64, position: u64) -> Self {
        Self { base, width, position: position & POSITION_MASK, more: None }
    }

    /// Draws the next 64 digits and returns width·u in units of 2⁻¹²⁰, rounded down, from all 118 known ones.
    pub(super) fn offset<S: Source>(&mut self, source: &mut S) -> u128 {
        let more = source.word();
        self.more = Some(more);
        let digits = u128::from(self.position) << 64 | u128::from(more) << (64 - POSITION_BITS);
        let low = u128::from(self.width) * (digits & u128::from(u64::MAX));
        // width·digits has 2^-(60+128) as its unit.
        (u128::from(self.width) * (digits >> 64) + (low >> 64)) >> 4
    }

    /// x in units of 2⁻²⁵², from 182 digits of u: exact but for the digits that were never drawn.
    #[inline]
    pub(crate) fn extend<S: Source>(self, source: &mut S) -> [u64; 4] {
        const SPARE: u32 = 64 - POSITION_BITS;
        let more = self.more.unwrap_or_else(|| source.word());
        let last = source.word();
        let digits =
            [last << SPARE, last >> POSITION_BITS | more << SPARE, more >> POSITION_BITS | self.position];
        let mut x = [0; 4];
        wide::multiply(&digits, &[self.width], &mut x);
        // From units of 2⁻¹²⁰ to 2⁻²⁵²: two limbs and four bits.
        let base = [0, 0, wide::low(self.base << 4), wide::low(self.base >> 60)];
        wide::add(&mut x, &base);
        x
    }

    /// round(S·x), drawing the digits it takes.
    #[cold]
    #[inline(never)]
    pub(super) fn round<S: Source>(self, source: &mut S, scale: Scale) -> u64 {
        let mut product = [0; 5];
        wide::multiply(&self.extend(source), &[scale.sixteenths()], &mut product);
        // Units of 2⁻²⁵⁶: the integer part is the last limb, one half the top bit of the one before.
        wide::add(&mut product, &[0, 0, 0, 1 << 63]);
        product[4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replay;
    use num_bigint::BigUint;

    /// Digits past the 118th decide once in 2⁶⁰ samples; here each of them is looked at.
    #[test]
    fn points_are_written_out_exactly() {
        let mut source = Replay::from_seed(1);
        for round in 0..2000 {
            let (base, width) = (u128::from(source.next_word()) << 59, source.next_word() >> 1);
            let position = source.next_word() & POSITION_MASK;
            let mut point = Point::on_strip(base, width, position);
            let mut digits = Replay::from_seed(round);
            let (more, last) = (digits.next_word(), digits.next_word());
            let u = (((BigUint::from(position >> 10) << 64) + more) << 64) + last; // units of 2⁻¹⁸²
            let x = (BigUint::from(base) << 132) + ((&u * width) << 10);
            let mut digits = Replay::from_seed(round);
            if round % 2 == 0 {
                let offset = point.offset(&mut digits);
                assert_eq!(BigUint::from(offset), ((u >> 64) * width) >> (60 + 118 - 120));
            }
            let limbs = point.extend(&mut digits);
            assert_eq!(limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb), x);
            let scale = Scale::from_sixteenths((source.next_word() >> 14) + 1).unwrap();
            let mut digits = Replay::from_seed(round);
            let rounded = Point::on_strip(base, width, position).round(&mut digits, scale);
            let half = BigUint::from(1_u8) << 255;
            assert_eq!(BigUint::from(rounded), (x * scale.sixteenths() + half) >> 256);
        }
    }
}
