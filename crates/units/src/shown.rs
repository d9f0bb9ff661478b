//! Numbers of a guarantee as people read them.
//!
//! A few digits are enough, but they must not promise more than is true: an upper bound is shown as itself or as something
//! larger, a lower bound as itself or as something smaller, and neither in another order of magnitude.

/// Significant digits beyond which a number is rounded, and to how many.
const EXACT: usize = 6;
const ROUNDED: i32 = 5;
const DECIMALS: usize = 4;

/// An upper bound, such as ε or δ: never smaller than it is.
///
/// ```
/// use pairdp_units::shown;
/// assert_eq!(shown::up(1e-12), "1e-12");
/// assert_eq!(shown::up(0.3), "0.3");
/// assert_eq!(shown::up(0.300_000_001), "0.30001");
/// ```
pub fn up(value: f64) -> String {
    rounded(value, 1, |shown| shown >= value)
}

/// A lower bound: never larger than it is.
///
/// ```
/// use pairdp_units::shown;
/// assert_eq!(shown::down(0.299_999_999), "0.29999");
/// ```
pub fn down(value: f64) -> String {
    rounded(value, -1, |shown| shown <= value)
}

fn rounded(value: f64, step: i64, holds: impl Fn(f64) -> bool) -> String {
    if !value.is_finite() || value <= 0.0 {
        return if value == f64::INFINITY { "∞".into() } else { value.to_string() };
    }
    let shortest = format!("{value:e}");
    let digits = shortest.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count();
    if digits <= EXACT {
        return laid_out(value);
    }
    let nearest = format!("{value:.DECIMALS$e}");
    let parts = nearest.split_once('e').and_then(|(mantissa, exponent)| {
        Some((mantissa.replace('.', "").parse::<i64>().ok()?, exponent.parse::<i32>().ok()?))
    });
    // The number itself promises nothing false either.
    let Some((mantissa, exponent)) = parts else { return laid_out(value) };
    [mantissa, mantissa + step]
        .into_iter()
        .filter_map(|mantissa| format!("{mantissa}e{}", exponent - (ROUNDED - 1)).parse().ok())
        .find(|candidate: &f64| candidate.is_finite() && holds(*candidate))
        .map_or_else(|| laid_out(value), laid_out)
}

/// A number as somebody gave it, with all its digits but without a long row of zeros: what a message quotes.
///
/// ```
/// use pairdp_units::shown;
/// assert_eq!(shown::as_given(-1.0), "-1");
/// assert_eq!(shown::as_given(1e300), "1e300");
/// assert_eq!(shown::as_given(250_000.0), "250000");
/// ```
pub fn as_given(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || (1e-5..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// Without a long row of zeros.
fn laid_out(value: f64) -> String {
    if (1e-3..1e6).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_few_digits_and_no_row_of_zeros() {
        for (value, above, below) in [
            (0.0, "0", "0"),
            (1.0, "1", "1"),
            (0.5, "0.5", "0.5"),
            (1e-6, "1e-6", "1e-6"),
            (1e-12, "1e-12", "1e-12"),
            (0.001, "0.001", "0.001"),
            (1.0 / 3.0, "0.33334", "0.33333"),
            (2.0 / 3.0, "0.66667", "0.66666"),
            (0.999_999_9, "1", "0.9999"),
            (123_456.789, "123460", "123450"),
            (3e300, "3e300", "3e300"),
            (f64::MAX, "1.7976931348623157e308", "1.7976e308"),
            (5e-324, "5e-324", "5e-324"),
            (f64::INFINITY, "∞", "∞"),
        ] {
            assert_eq!((up(value).as_str(), down(value).as_str()), (above, below));
        }
    }

    #[test]
    fn issue_18_18_a_refused_number_is_quoted_in_a_few_letters() {
        for (value, text) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (0.5, "0.5"),
            (1e300, "1e300"),
            (-1e300, "-1e300"),
            (1e-300, "1e-300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(as_given(value), text);
        }
    }

    proptest! {
        #[test]
        fn bounds_are_never_shown_as_more_than_is_true(value in 1e-300..1e300_f64) {
            let read = |text: String| text.parse::<f64>().unwrap();
            let (above, below) = (read(up(value)), read(down(value)));
            prop_assert!(below <= value && value <= above);
            prop_assert!(above <= value * 1.0002 && below >= value / 1.0002);
        }
    }
}
