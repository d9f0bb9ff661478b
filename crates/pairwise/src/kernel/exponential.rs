//! An exponential that the compiler can run in vector registers.

/// log₂ e, and ln 2 in two parts: the first has few enough bits for exact products with small whole numbers.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding and subtracting it rounds to a whole number.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Below this e^x is 0 for every purpose here.
const LOWEST: f64 = -700.0;

/// e^x for x ≤ 0, to 10⁻¹⁴ of its value; 0 below −700. Slopes are *defined* by it, so its error is no error of theirs.
///
/// x = k·ln 2 + r with |r| ≤ ½ ln 2, and e^r from its series, whose remainder at degree 11 is below 10⁻¹⁴.
#[inline(always)]
pub(super) fn exp_of_negative(x: f64) -> f64 {
    let x = if x < LOWEST { LOWEST } else { x };
    let shifted = x * LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    // 1/j! for j = 0 … 11, combined in pairs.
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5_040.0));
    let high = (1.0 / 40_320.0 + r * (1.0 / 362_880.0)) + r2 * (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0));
    let series = low + r4 * (middle + r4 * high);
    // The low bits of the shifted sum are k: put it into the exponent.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let value = series * power;
    if x > LOWEST { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 0.003_5;
            let expected = x.exp();
            let found = exp_of_negative(x);
            assert!((found - expected).abs() <= 1e-14 * expected, "{x}: {found:e} for {expected:e}");
        }
        assert!(exp_of_negative(-1e9) <= 0.0 && exp_of_negative(f64::NEG_INFINITY) <= 0.0);
        assert!((exp_of_negative(0.0) - 1.0).abs() <= 0.0);
    }
}
