//! Sums without rounding: each term is rounded to a whole multiple of a public step, once and on its own, and whole numbers
//! are added. The total is the same for any order, any number of threads and any division of the table into parts.

use crate::strata;

/// A term at the largest value is this many bits long.
const BITS: i32 = 49;
/// So many terms are added in 64 bits, with one to spare, before they go to totals of 128.
pub(crate) const FEW: usize = 1 << 13;

/// Whole multiples of a power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    step: f64,
    /// 1.5·2⁵² steps: numbers around it are one step apart, so that adding it rounds, and the last bits of the sum are
    /// the whole number.
    magic: f64,
}

impl Grid {
    /// For terms of absolute value at most `largest`, give or take a few roundings: the step is between 2⁻⁴⁹ and 2⁻⁴⁸ of it.
    pub(crate) fn for_terms(largest: f64) -> Self {
        // Beyond numbers that anybody means, every term counts as 0: no sum of private numbers at all.
        if largest.is_nan() || largest >= 1e300 {
            return Self { step: 0.0, magic: f64::INFINITY };
        }
        let exponent = if largest > 1e-290 { largest.log2().ceil() } else { -960.0 };
        #[expect(clippy::cast_possible_truncation, reason = "between -960 and 1000")]
        let mut step = 2.0_f64.powi(exponent as i32 - BITS);
        // The logarithm may be off by a rounding.
        if largest > step * 2.0_f64.powi(BITS) {
            step *= 2.0;
        }
        Self { step, magic: step * 1.5 * 2.0_f64.powi(52) }
    }

    /// The nearest whole number of steps, plus [`Self::offset`].
    #[inline(always)]
    pub(crate) fn shifted(self, value: f64) -> i64 {
        (value + self.magic).to_bits().cast_signed()
    }

    /// What rounds a number that is added to it.
    #[inline(always)]
    pub(crate) fn magic(self) -> f64 {
        self.magic
    }

    /// What [`Self::shifted`] adds.
    #[inline(always)]
    pub(crate) fn offset(self) -> i64 {
        self.magic.to_bits().cast_signed()
    }

    /// The nearest whole number of steps.
    #[inline(always)]
    pub(crate) fn whole(self, value: f64) -> i64 {
        self.shifted(value).wrapping_sub(self.offset())
    }

    /// A total of whole weights times whole numbers, as a number.
    pub(crate) fn weighed(self, total: i128) -> f64 {
        total as f64 * strata::unit() * self.step
    }
}

/// Finer whole multiples, for the few numbers that are sums already: 80 bits, so that their own roundings are what counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fine {
    step: f64,
    inverse: f64,
}

impl Fine {
    /// For numbers of absolute value at most `largest`.
    pub(crate) fn for_terms(largest: f64) -> Self {
        let grid = Grid::for_terms(largest);
        let step = grid.step * 2.0_f64.powi(BITS - 80);
        Self { step, inverse: if step > 0.0 { 1.0 / step } else { 0.0 } }
    }

    /// The nearest whole number of steps.
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of some 80 bits")]
    pub(crate) fn whole(self, value: f64) -> i128 {
        (value * self.inverse).round_ties_even() as i128
    }

    /// A total as a number.
    pub(crate) fn value(self, total: i128) -> f64 {
        total as f64 * self.step
    }
}

/// Moves sums of a few terms, all of one whole weight, to the totals.
pub(crate) fn flush(totals: &mut [i128], sums: &mut [i64], weight: u64) {
    let weight = i128::from(weight);
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total += i128::from(std::mem::take(sum)) * weight;
    }
}

/// Adds up totals. Wrapping, as nothing can be lost by it: totals that fit come out right whatever happened on the way.
pub(crate) fn add(totals: &mut [i128], others: &[i128]) {
    for (total, other) in totals.iter_mut().zip(others) {
        *total = total.wrapping_add(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_term_is_off_by_half_a_step(largest in 1e-200..1e200_f64, share in -1.0..1.0_f64) {
            let grid = Grid::for_terms(largest);
            let value = share * largest;
            let error = (grid.whole(value) as f64 * grid.step - value).abs();
            prop_assert!(error <= 0.5 * grid.step);
            prop_assert!(grid.step <= largest * 2.0_f64.powi(1 - BITS) && largest <= grid.step * 2.0_f64.powi(BITS));
        }
    }

    #[test]
    fn extremes_do_no_harm() {
        for largest in [0.0, 1e-320, f64::MIN_POSITIVE] {
            let grid = Grid::for_terms(largest);
            assert_eq!((grid.whole(0.0), grid.whole(largest) >= 0), (0, true));
        }
        for largest in [f64::INFINITY, f64::NAN, 1e305] {
            let grid = Grid::for_terms(largest);
            assert_eq!((grid.whole(-1e308), grid.whole(1.0), Fine::for_terms(largest).whole(1.0)), (0, 0, 0));
        }
    }
}
