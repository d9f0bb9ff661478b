//! Rounding to the safe side.
//!
//! IEEE operations round to nearest, so one operation is off by at most half a unit in the last place and the
//! true value lies between the two neighbours of the computed one. [`up`] and [`down`] step to a neighbour; they
//! bound the result of *one* operation. Longer formulas use [`up_by`] and [`down_by`] with an error count.

/// The next float above: an upper bound on the true result of one rounded operation.
pub fn up(x: f64) -> f64 {
    x.next_up()
}

/// The next float below: a lower bound on the true result of one rounded operation.
pub fn down(x: f64) -> f64 {
    x.next_down()
}

/// An upper bound on a non-negative value computed as `x` with relative error at most `ulps`·2⁻⁵².
pub fn up_by(x: f64, ulps: f64) -> f64 {
    up(x * (1.0 + (ulps + 1.0) * f64::EPSILON))
}

/// A lower bound on a non-negative value computed as `x` with relative error at most `ulps`·2⁻⁵².
pub fn down_by(x: f64, ulps: f64) -> f64 {
    down(x * (1.0 - (ulps + 1.0) * f64::EPSILON))
}

/// The larger of two floats; NaN if either is NaN (`f64::max` would drop it).
pub fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a > b {
        a
    } else {
        b
    }
}

/// The smaller of two floats; NaN if either is NaN (`f64::min` would drop it).
pub fn smaller(a: f64, b: f64) -> f64 {
    -larger(-a, -b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nan_is_never_swallowed() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
            assert!(larger(a, b).is_nan());
            assert!(smaller(a, b).is_nan());
        }
        assert_eq!((larger(1.0, 2.0), smaller(1.0, 2.0)), (2.0, 1.0));
    }

    proptest! {
        #[test]
        fn steps_go_outward(x in 1e-300..1e300_f64, ulps in 0.0..100.0_f64) {
            prop_assert!(up(x) > x && down(x) < x);
            prop_assert!(up_by(x, ulps) >= up(x) && down_by(x, ulps) <= down(x));
        }
    }
}
