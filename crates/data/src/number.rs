//! Decimal numbers from bytes.

use crate::error::CellProblem;

/// Ten to the power of the index, each exactly representable.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number at the start of `bytes`, if it is of the short plain kind, and its length.
///
/// With at most 15 digits both the digits and the power of ten are exact, so one division rounds correctly
/// (Clinger 1990). Everything else is for [`parse`]. Up to seven digits before the point and seven after it are
/// taken eight bytes at once: how many there are changes from cell to cell, and guessing it wrong would cost more
/// than the arithmetic.
#[inline]
pub(crate) fn scan(bytes: &[u8]) -> Option<(f64, usize)> {
    let start = usize::from(bytes.first() == Some(&b'-'));
    let sign = [1.0, -1.0][start];
    let Some((whole, count)) = eight_digits(bytes, start) else { return scan_slowly(bytes) };
    let point = start + count;
    if bytes[point] != b'.' {
        return if count == 0 { None } else { Some((sign * f64::from(whole), point)) };
    }
    let Some((fraction, places)) = eight_digits(bytes, point + 1) else { return scan_slowly(bytes) };
    if count + places == 0 {
        return None;
    }
    // Exact: below 10¹⁴.
    let digits = f64::from(whole) * POWERS[places] + f64::from(fraction);
    Some((sign * digits / POWERS[places], point + 1 + places))
}

/// The digits from `at` on and how many they are; `None` if they are more than seven or the text ends too soon to say.
#[inline]
fn eight_digits(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    // A byte of `digits` is a digit's value, or more than 9; the sum then reaches the byte's highest bit.
    let digits = word ^ 0x3030_3030_3030_3030;
    let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    if others == 0 {
        return None;
    }
    let count = others.trailing_zeros() / 8;
    // Zeros in front, then neighbours joined: ones to tens, tens to hundreds, and both halves at once.
    let digits = if count == 0 { 0 } else { digits << (64 - 8 * count) };
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    let value = (low.wrapping_add(high) >> 32) as u32;
    Some((value, count as usize))
}

/// The same, digit by digit.
fn scan_slowly(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut value, mut end) = digits(bytes, start, 0);
    let mut count = end - start;
    let mut places = 0;
    if bytes.get(end) == Some(&b'.') {
        let (all, after) = digits(bytes, end + 1, value);
        places = after - end - 1;
        value = all;
        count += places;
        end = after;
    }
    if count == 0 || count > 15 {
        return None;
    }
    let value = value as f64 / POWERS[places];
    Some((if negative { -value } else { value }, end))
}

/// The digits from `at` on, put after those of `value`; too many of them wrap, which the caller counts.
fn digits(bytes: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (value, at)
}

/// A whole cell as a finite number.
pub(crate) fn parse(cell: &[u8]) -> Result<f64, CellProblem> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(CellProblem::Missing);
    }
    if let Some((value, end)) = scan(cell)
        && end == cell.len()
    {
        return Ok(value);
    }
    let text = std::str::from_utf8(cell).map_err(|_| CellProblem::NotANumber)?;
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) if value.is_nan() => Err(CellProblem::Missing),
        Ok(_) => Err(CellProblem::NotFinite),
        Err(_) => Err(CellProblem::NotANumber),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_cells_have_defined_readings() {
        for (cell, expected) in [
            ("", Err(CellProblem::Missing)),
            (" \t", Err(CellProblem::Missing)),
            ("nan", Err(CellProblem::Missing)),
            ("NaN", Err(CellProblem::Missing)),
            ("-inf", Err(CellProblem::NotFinite)),
            ("1e999", Err(CellProblem::NotFinite)),
            ("-", Err(CellProblem::NotANumber)),
            (".", Err(CellProblem::NotANumber)),
            ("1 2", Err(CellProblem::NotANumber)),
            ("1,5", Err(CellProblem::NotANumber)),
            ("NA", Err(CellProblem::NotANumber)),
            (" +1.50 ", Ok(1.5)),
            ("-.5", Ok(-0.5)),
            ("7.", Ok(7.0)),
            ("1e-3", Ok(0.001)),
            ("123456789012345678901234567890", Ok(123_456_789_012_345_680_000_000_000_000.0)),
        ] {
            assert_eq!(parse(cell.as_bytes()), expected, "{cell}");
        }
        assert!(parse(b"\xff").is_err());
    }

    proptest! {
        #[test]
        fn numbers_round_as_the_standard_library_s(text in r"-?[0-9]{0,17}\.?[0-9]{0,17}(e-?[0-9]{1,3})?") {
            let expected = text.parse::<f64>().ok().filter(|value| value.is_finite());
            let bits = |value: Option<f64>| value.map(f64::to_bits);
            prop_assert_eq!(bits(parse(text.as_bytes()).ok()), bits(expected));
        }

        #[test]
        fn a_number_ends_where_it_ends(text in r"-?[0-9]{0,9}\.?[0-9]{0,9}", after in r"[,\n\r a-z:/;]{1}.{0,9}") {
            let expected = text.parse::<f64>().ok().map(|value| (value.to_bits(), text.len()));
            let read = scan(format!("{text}{after}").as_bytes()).map(|(value, end)| (value.to_bits(), end));
            if text.len() <= 15 {
                prop_assert_eq!(read, expected);
            } else {
                prop_assert!(read.is_none() || read == expected);
            }
        }
    }
}
