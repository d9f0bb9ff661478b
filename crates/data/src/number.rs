//! Decimal numbers from bytes.

mod decimal;

use crate::error::CellProblem;
use decimal::{EXACT, MOST_PLACES, over_power};

/// Eight zeros.
const ZEROS: u64 = 0x3030_3030_3030_3030;
const POINT: u64 = (b'.' ^ b'0') as u64;

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
    let digits = f64::from(whole) * EXACT[places] + f64::from(fraction);
    Some((sign * digits / EXACT[places], point + 1 + places))
}

/// The digits from `at` on and how many they are; `None` if they are more than seven or the text ends too soon to say.
#[inline]
fn eight_digits(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    // A byte of `digits` is a digit's value, or more than 9; the sum then reaches the byte's highest bit.
    let digits = word ^ ZEROS;
    let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    if others == 0 {
        return None;
    }
    let count = others.trailing_zeros() / 8;
    // Zeros in front.
    let digits = if count == 0 { 0 } else { digits << (64 - 8 * count) };
    Some((joined(digits), count as usize))
}

/// The number of eight digits.
#[inline]
fn joined(digits: u64) -> u32 {
    // Neighbours: ones to tens, tens to hundreds, and both halves at once.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (low.wrapping_add(high) >> 32) as u32
}

/// The number between two places of a text, if it is digits with a point or without one; exact or rounded correctly, as from [`parse`].
///
/// Whoever knows where a cell ends can take the whole of it at once, whatever its digits are: there is nothing to guess but whether it
/// has a point, and columns are alike in that.
#[inline]
pub(crate) fn between(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let minus = usize::from(text[start] == b'-');
    let (start, sign) = (start + minus, [1.0, -1.0][minus]);
    let length = end.checked_sub(start)?;
    let (digits, places) = match length {
        1..=8 => {
            let (word, places) = without_point(word(text, start)? << (64 - 8 * length), 0)?;
            // A point alone is no number.
            if length == 1 && places.is_some() {
                return None;
            }
            (u64::from(joined(word)), places)
        }
        9..=16 => {
            let (first, last) = (word(text, start)? << (128 - 8 * length), word(text, end - 8)?);
            let (first, last, places) = match without_point(last, first >> 56)? {
                (last, Some(places)) => (only_digits(first)? << 8, last, Some(places)),
                (last, None) => {
                    let (first, places) = without_point(first, 0)?;
                    (first, last, places.map(|places| places + 8))
                }
            };
            (u64::from(joined(first)) * 100_000_000 + u64::from(joined(last)), places)
        }
        _ => return long(&text[start..end]).map(|value| sign * value),
    };
    Some(sign * over_power(digits, places))
}

/// The eight bytes from `at` on, each less a zero's.
#[inline]
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes) ^ ZEROS)
}

/// Eight digits, one of which may be a point: without it, moved up behind `before`, and with the digits after it; `None` for anything else.
#[inline]
fn without_point(word: u64, before: u64) -> Option<(u64, Option<usize>)> {
    let others = others(word);
    if others == 0 {
        return Some((word, None));
    }
    let at = others.trailing_zeros() & !7;
    if others & (others - 1) != 0 || (word >> at) & 0xff != POINT {
        return None;
    }
    let (front, back) = (word & ((1 << at) - 1), (word ^ POINT << at) & (u64::MAX << at));
    Some((front << 8 | back | before, Some(7 - at as usize / 8)))
}

/// The word itself, if it has digits only.
#[inline]
fn only_digits(word: u64) -> Option<u64> {
    (others(word) == 0).then_some(word)
}

/// The highest bit of each byte that is no digit's value.
#[inline]
fn others(word: u64) -> u64 {
    (((word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
}

/// A number of digits, with a point or without one and no sign, as far as its digits are a number of 64 bits. Not inlined: short cells
/// would carry what it takes.
#[inline(never)]
fn long(cell: &[u8]) -> Option<f64> {
    let point = cell.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&cell[..at], &cell[at + 1..]),
        None => (cell, &[][..]),
    };
    if whole.len() + fraction.len() == 0 || fraction.len() > MOST_PLACES {
        return None;
    }
    let digits = more_digits(more_digits(0, whole)?, fraction)?;
    Some(over_power(digits, point.map(|_| fraction.len())))
}

/// Digits put after those of `value`.
fn more_digits(mut value: u64, digits: &[u8]) -> Option<u64> {
    let (words, rest) = digits.as_chunks::<8>();
    for word in words {
        let eight = joined(only_digits(u64::from_le_bytes(*word) ^ ZEROS)?);
        value = value.checked_mul(100_000_000)?.checked_add(eight.into())?;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(value)
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
    let value = value as f64 / EXACT[places];
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
    let minus = usize::from(cell[0] == b'-');
    if let Some(value) = long(&cell[minus..]) {
        return Ok([1.0, -1.0][minus] * value);
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
        #![proptest_config(ProptestConfig::with_cases(100_000))]
        #[test]
        fn numbers_round_as_the_standard_library_s(text in r"-?[0-9]{0,17}\.?[0-9]{0,17}(e-?[0-9]{1,3})?") {
            let expected = text.parse::<f64>().ok().filter(|value| value.is_finite());
            let bits = |value: Option<f64>| value.map(f64::to_bits);
            prop_assert_eq!(bits(parse(text.as_bytes()).ok()), bits(expected));
        }

        /// Short and long, with what may stand around a cell, wherever it is in a text: as [`parse`], or left to it.
        #[test]
        fn a_whole_cell_reads_as_the_standard_library_s(
            before in "[,a-z0-9]{0,9}",
            cell in prop_oneof![
                r"[-+]?[0-9]{0,9}\.?[0-9]{0,9}",
                r"-?[0-9]{0,12}\.?[0-9]{0,12}",
                r"-?0{0,6}\.?0{0,6}[0-9]{10,24}",
                r"-?[0-9]{1,3}\.[0-9]{13,19}",
                r"[-+. 0-9einfa]{0,12}",
                r"-?[0-9]{1,17}e[-+]?[0-9]{1,3}",
                any::<f64>().prop_map(|value| value.to_string()),
                (-1e3..1e3_f64).prop_map(|value| value.to_string()),
                any::<u64>().prop_map(|bits| format!("{:e}", f64::from_bits(bits))),
            ],
            after in "[,\n]{1}[-.0-9]{0,20}",
        ) {
            let text = format!("{before}{cell}{after}");
            let found = between(text.as_bytes(), before.len(), before.len() + cell.len());
            let expected: Option<f64> = cell.parse().ok().filter(|value: &f64| value.is_finite());
            let bits = |value: Option<f64>| value.map(f64::to_bits);
            if found.is_some() {
                prop_assert_eq!(bits(found), bits(expected), "{}", cell);
            }
            // What is left is read by the standard library, with space around it.
            prop_assert_eq!(bits(parse(cell.as_bytes()).ok()), bits(cell.trim_ascii().parse().ok().filter(|v: &f64| v.is_finite())));
            let plain = cell.strip_prefix('-').unwrap_or(&cell);
            let short = (1..=16).contains(&plain.len()) && plain.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
            if short && expected.is_some() && after.len() > 16 {
                prop_assert!(found.is_some(), "{} was left", cell);
            }
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
