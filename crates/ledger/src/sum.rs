//! Sums that do not depend on the order of adding.
//!
//! Floats round, so a + b + c depends on the order, and a ledger whose total depends on who came first cannot be
//! audited. Here every number becomes a whole multiple of 2^−BITS, rounded up, and whole numbers add exactly.

/// A sum of numbers of at least 0 in units of 2^−BITS. Anything else, NaN included, makes it infinite for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Sum<const BITS: i32>(u128);

/// Ratios squared and ε: steps of 10⁻²⁴, up to 10¹⁴.
pub(crate) type Amount = Sum<80>;
/// δ and distances: steps of 10⁻³⁸, up to 4.
pub(crate) type Probability = Sum<126>;

impl<const BITS: i32> Sum<BITS> {
    const INFINITE: u128 = u128::MAX;

    /// `value` in whole units, rounded up.
    fn units(value: f64) -> u128 {
        let scaled = (value * f64::powi(2.0, BITS)).ceil();
        // 2¹²⁷ is far beyond anything that could fit a grant; `as` is exact below it.
        if scaled >= 0.0 && scaled < f64::powi(2.0, 127) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
            let units = scaled as u128;
            units
        } else {
            Self::INFINITE
        }
    }

    /// Adds a number.
    pub(crate) fn add(&mut self, value: f64) {
        self.0 = self.0.saturating_add(Self::units(value));
    }

    /// Takes back exactly what [`Sum::add`] added for the same number; what became infinite stays so.
    pub(crate) fn take_back(&mut self, value: f64) {
        if self.0 != Self::INFINITE {
            self.0 = self.0.checked_sub(Self::units(value)).unwrap_or(Self::INFINITE);
        }
    }

    /// Whether nothing was ever added.
    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, rounded up.
    pub(crate) fn get(self) -> f64 {
        match self.0 {
            0 => 0.0,
            Self::INFINITE => f64::INFINITY,
            units => {
                let near = units as f64;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole and in range"
                )]
                let covers = near as u128 >= units;
                if covers { near * f64::powi(2.0, -BITS) } else { near.next_up() * f64::powi(2.0, -BITS) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nonsense_is_infinite_and_stays_so() {
        for bad in [f64::NAN, -1.0, f64::INFINITY, 1e300] {
            let mut sum = Amount::default();
            sum.add(bad);
            sum.take_back(bad);
            assert!(sum.get().is_infinite(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_free_however_small() {
        let (mut amount, mut probability) = (Amount::default(), Probability::default());
        amount.add(1e-30);
        probability.add(1e-50);
        assert!(amount.get() > 0.0 && probability.get() > 0.0);
        amount.add(1.0 / 3.0);
        assert!(amount.get() > 1.0 / 3.0);
    }

    proptest! {
        #[test]
        fn order_is_irrelevant_and_nothing_is_lost(mut values in prop::collection::vec(0.0..10.0_f64, 1..40)) {
            let total = |values: &[f64]| {
                let mut sum = Amount::default();
                values.iter().for_each(|v| sum.add(*v));
                sum
            };
            let forward = total(&values);
            prop_assert!(forward.get() >= values.iter().sum::<f64>() * (1.0 - 1e-14));
            prop_assert!(forward.get() <= values.iter().sum::<f64>() * (1.0 + 1e-14) + 1e-22);
            values.reverse();
            prop_assert_eq!(forward, total(&values));
            values.sort_by(f64::total_cmp);
            prop_assert_eq!(forward, total(&values));
            let (last, rest) = values.split_last().unwrap();
            let mut less = forward;
            less.take_back(*last);
            prop_assert_eq!(less, total(rest));
        }
    }
}
