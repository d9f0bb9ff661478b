//! Whole numbers over powers of ten, rounded once.

/// Ten to the power of the index, each exactly representable.
pub(super) const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
/// The most digits after the point that are read here.
pub(super) const MOST_PLACES: usize = EXACT.len() - 1;
/// Whole numbers below it are the last bits of the doubles from it on, which are one apart.
const WHOLE: u64 = 1 << 52;

/// `digits` over ten to the power of `places`, rounded to the nearest number, and to even where two are as near.
///
/// With exact operands one division rounds correctly (Clinger 1990). Longer digits, as programs write that print numbers so that
/// they can be read back, are multiplied by a truncated reciprocal instead, which settles the rounding of every number of up to 64 bits
/// over a power up to 10²⁷ (Lemire 2021, Mushtak and Lemire 2023).
#[inline]
pub(super) fn over_power(digits: u64, places: Option<usize>) -> f64 {
    if digits < WHOLE {
        // Not a conversion: processors let one wait for what its register held before, which is the last cell's quotient.
        let start = WHOLE as f64;
        let whole = f64::from_bits(start.to_bits() | digits) - start;
        return places.map_or(whole, |places| whole / EXACT[places]);
    }
    match places {
        None | Some(0) => digits as f64,
        Some(places) => by_reciprocal(digits, places),
    }
}

/// The first 128 bits of 1 / 5ᵖ, the last one rounded up, for each p from 0 on.
const RECIPROCALS: [u128; EXACT.len()] = {
    let mut all = [0; EXACT.len()];
    let (mut places, mut five) = (1, 5_u64);
    while places < all.len() {
        // Long division of a power of two: the first bit of the quotient is 1.
        let mut rest = five.next_power_of_two() - five;
        let (mut quotient, mut bits) = (1_u128, 1);
        while bits < 128 {
            rest *= 2;
            quotient *= 2;
            if rest >= five {
                rest -= five;
                quotient += 1;
            }
            bits += 1;
        }
        all[places] = quotient + 1;
        five *= 5;
        places += 1;
    }
    all
};

/// The quotient of a number from 2⁵² on and a power of ten from 10 on: Lemire's algorithm without the cases that these cannot meet
/// (powers beyond 10²⁷, results that are subnormal or infinite).
#[inline(never)]
fn by_reciprocal(digits: u64, places: usize) -> f64 {
    /// Bits of a product that are kept, and those below them: where all of those are ones, a carry may reach the kept ones.
    const KEPT: u32 = 55;
    const UNSURE: u64 = u64::MAX >> KEPT;
    /// Only where the divisor is small can a quotient be halfway between two numbers.
    const MOST_PLACES_OF_TIES: usize = 4;
    let zeros = digits.leading_zeros();
    let scaled = u128::from(digits << zeros);
    let reciprocal = RECIPROCALS[places];
    let mut product = scaled * (reciprocal >> 64);
    if (product >> 64) as u64 & UNSURE == UNSURE {
        product += (scaled * (reciprocal & u128::from(u64::MAX))) >> 64;
    }
    let (high, low) = ((product >> 64) as u64, product & u128::from(u64::MAX));
    let carried = high >> 63;
    let shift = carried + 64 - u64::from(KEPT);
    let mut mantissa = high >> shift;
    if low <= 1 && places <= MOST_PLACES_OF_TIES && mantissa & 3 == 1 && mantissa << shift == high {
        mantissa &= !1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    // How many bits 10ᵖ takes.
    let divisor = (places as u64 * 217_706) >> 16;
    let exponent = 1023 + 63 + carried - u64::from(zeros) - divisor - 1;
    // A mantissa that was rounded up to 2⁵³ carries into the exponent, as it should.
    f64::from_bits((exponent << 52) + (mantissa - (1 << 52)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(digits: u64, places: usize) {
        let expected: f64 = format!("{digits}e-{places}").parse().unwrap();
        assert_eq!(over_power(digits, Some(places)).to_bits(), expected.to_bits(), "{digits}e-{places}");
    }

    #[test]
    fn quotients_next_to_ties_round_as_the_standard_library_s() {
        for (exponent, places) in (0..).zip(0..=MOST_PLACES) {
            for digits in [
                WHOLE - 1,
                WHOLE,
                WHOLE + 1,
                2 * WHOLE,
                2 * WHOLE + 1,
                2 * WHOLE + 3,
                u64::MAX,
                u64::MAX - 1,
                1 << 63,
            ] {
                same(digits, places);
            }
            // Halves of the last place, as far as digits can say them, and their neighbours.
            let power = 10_u128.pow(exponent);
            for odd in 0..2_000_u128 {
                for bits in 1..12 {
                    let half = ((1_u128 << 53) + 2 * odd + 1) * power;
                    let digits = half >> bits;
                    for near in [digits.saturating_sub(1), digits, digits + 1] {
                        u64::try_from(near).into_iter().for_each(|near| same(near, places));
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn quotients_round_as_the_standard_library_s(digits: u64, fewer in 0_u32..64, places in 0..=MOST_PLACES) {
            same(digits >> fewer, places);
        }
    }
}
