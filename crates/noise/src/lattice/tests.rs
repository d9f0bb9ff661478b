use super::*;
use crate::{Replay, Secure};
use proptest::prelude::*;

#[test]
fn bits_fit_the_magnitude() {
    for (magnitude, bits) in
        [(0.0, 30), (1.0, 30), (65536.0, 30), (65537.0, 29), (2_f64.powi(30), 16), (5e-324, 30)]
    {
        assert_eq!(bits_for(magnitude), Ok(bits));
        assert!(magnitude * f64::from(1_u32 << bits) <= MAGNITUDE);
    }
    for refused in [2_f64.powi(30) * 1.0001, f64::INFINITY, f64::NAN, -1.0] {
        assert!(bits_for(refused).is_err());
    }
}

#[test]
fn bad_lattices_are_refused() {
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
        assert!(matches!(Lattice::new(sigma, 30), Err(NoiseError::Sigma(_))));
    }
    for bits in [0, 15, 31, 64] {
        assert_eq!(Lattice::new(1.0, bits), Err(NoiseError::Bits(bits)));
    }
}

#[test]
fn rounding_is_total() {
    let lattice = Lattice::new(0.3, 30).unwrap();
    assert_eq!(lattice.round(f64::NAN), 0);
    assert_eq!(lattice.round(f64::INFINITY), 1 << 46);
    assert_eq!(lattice.round(f64::NEG_INFINITY), -(1 << 46));
    assert_eq!(lattice.round(f64::MAX), 1 << 46);
    assert_eq!(lattice.round(0.3), 1 << 30);
    assert_eq!(Lattice::new(1e-290, 30).unwrap().round(f64::MAX), 1 << 46);
    let released = lattice.release(&[f64::NAN, f64::MAX, -0.3], &[i64::MAX, i64::MIN, 1 << 30]);
    assert!(released.iter().all(|value| value.is_finite()));
    assert_eq!(released[2].to_bits(), 0, "no negative zero: it would tell a sign");
}

#[test]
fn a_release_is_the_query_plus_noise() {
    let lattice = Lattice::new(2.5, 30).unwrap();
    let query = [0.0, 1.0, -123.456, 2.5e4];
    let noise = lattice.draw(&mut Secure::from_os().unwrap(), 4);
    for ((released, asked), noise) in lattice.release(&query, &noise).iter().zip(query).zip(noise) {
        let expected = asked + noise as f64 * lattice.step();
        assert!((released - expected).abs() <= lattice.step());
        assert!((released - asked).abs() < 2.5 * 16.0);
    }
}

proptest! {
    /// |k − q/g| ≤ 1/2 + 2⁻⁸, in integers: with q = a·2^i and g = b·2^j, 256·|k·b·2^j − a·2^i| ≤ 129·b·2^j.
    #[test]
    fn rounding_is_within_its_bound(
        sigma in 1.0..2.0_f64,
        near in -(1_i64 << 46)..1 << 46,
        part in 0.0..1.0_f64,
        bits in 16_u32..31,
    ) {
        let lattice = Lattice::new(sigma, bits).unwrap();
        let value = (near as f64 + part) * lattice.step();
        let ((a, i), (b, j)) = (parts(value), parts(lattice.step()));
        let unit = i.min(j);
        // Both fit 128 bits unless the value is tiny.
        prop_assume!(i - unit < 50 && j - unit < 20);
        let (a, b) = (a << (i - unit), b << (j - unit));
        if value.abs() <= MAGNITUDE * lattice.step() {
            prop_assert!(256 * (i128::from(lattice.round(value)) * b - a).abs() <= 129 * b);
        }
    }

    /// Neighbours move apart by no more than their distance and what `rounding_ratio` says.
    #[test]
    fn rounding_adds_no_more_than_its_ratio(
        values in proptest::collection::vec((-3e4..3e4_f64, -1.0..1.0_f64), 1..40),
        sigma in 0.1..10.0_f64,
        bits in 16_u32..31,
    ) {
        let lattice = Lattice::new(sigma, bits).unwrap();
        let norm = |differences: Vec<f64>| differences.iter().map(|x| x * x).sum::<f64>().sqrt();
        let steps = values.iter().map(|(a, b)| (lattice.round(*a) - lattice.round(a + b)) as f64);
        let apart = values.iter().map(|(a, b)| (a + b) - a);
        let bound = norm(apart.collect()) / sigma + rounding_ratio(values.len(), bits);
        prop_assert!(norm(steps.collect()) * lattice.step() / sigma <= bound * (1.0 + 1e-12));
    }
}

/// A float as (integer, exponent).
fn parts(x: f64) -> (i128, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    let magnitude = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    (if x < 0.0 { -magnitude } else { magnitude }, exponent.max(1) - 1075)
}

#[test]
fn ratios_are_rounded_up() {
    assert!(rounding_ratio(100, 30) >= 10.0 * (1.0 + 1.0 / 128.0) / f64::from(1 << 30));
    assert!(rounding_ratio(100, 30) < 10.1 / f64::from(1 << 30));
    assert!(rounding_ratio_l1(100, 30) >= 100.0 * (1.0 + 1.0 / 128.0) / f64::from(1 << 30));
    assert!(rounding_ratio(1, 16) > rounding_ratio(1, 17));
}

#[test]
fn drawing_uses_the_scale_of_the_lattice() {
    let lattice = Lattice::new(7.0, 20).unwrap();
    let noise = lattice.draw(&mut Replay::from_seed(3), 40_000);
    let variance = noise.iter().map(|n| (*n as f64).powi(2)).sum::<f64>() / 40_000.0;
    assert!((variance.sqrt() / f64::from(1 << 20) - 1.0).abs() < 0.02);
}

/// The quick rounding is the rounding of the standard library.
#[test]
fn rounding_is_to_nearest_with_ties_to_even() {
    let lattice = Lattice::new(65_536.0, 16).unwrap();
    let mut x = 0.5_f64;
    while x < 1e14 {
        for value in [x, -x, x + 0.5, x * 1.000_001, x + 0.25, (x / 2.0).floor() + 0.5] {
            #[expect(clippy::cast_possible_truncation, reason = "at most 2⁴⁶")]
            let expected = if value.abs() < MAGNITUDE {
                value.round_ties_even() as i64
            } else {
                value.signum() as i64 * (1 << 46)
            };
            assert_eq!(lattice.round(value), expected, "{value}");
        }
        x *= 1.7;
    }
    for (value, expected) in
        [(f64::NAN, 0), (f64::INFINITY, 1 << 46), (f64::NEG_INFINITY, -(1 << 46)), (-0.0, 0)]
    {
        assert_eq!(lattice.round(value), expected);
    }
}
