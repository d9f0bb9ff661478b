//! Dates as days since 1970-01-01, in the Gregorian calendar, which is taken to have held always.

use crate::error::CellProblem;

/// Years with four digits: what ISO 8601 texts without a sign can say.
pub(crate) const EARLIEST: i64 = days(1, 1, 1);
pub(crate) const LATEST: i64 = days(9999, 12, 31);

const SECONDS: i64 = 86_400;

/// Days from 1970-01-01 to a date (Hinnant, "chrono-compatible low-level date algorithms").
const fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the day that some have and others lack is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The date that is so many days after 1970-01-01, as `2024-02-29`; part of a day does not count.
pub fn date_text(days: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "of four-digit years, and cut off at them")]
    let days = (days.floor() as i64).clamp(EARLIEST, LATEST) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", of_year - (153 * from_march + 2) / 5 + 1)
}

/// A date, without a time.
pub(crate) fn parse_date(text: &str) -> Option<f64> {
    let mut digits = Digits(text.as_bytes());
    let day = digits.date()?;
    digits.0.is_empty().then_some(day as f64)
}

/// A cell that holds a date, `2024-02-29`, or a date with a time, which counts as its day: as it is written where no zone is, and as it is
/// in UTC where one is.
pub(crate) fn parse(cell: &[u8]) -> Result<f64, CellProblem> {
    let cell = cell.trim_ascii();
    match cell {
        b"" | b"NaT" | b"nan" | b"NaN" => Err(CellProblem::Missing),
        _ => day_of(cell).map(|day| day as f64).ok_or(CellProblem::NotADate),
    }
}

fn day_of(cell: &[u8]) -> Option<i64> {
    let mut digits = Digits(cell);
    let day = digits.date()?;
    if digits.0.is_empty() {
        return Some(day);
    }
    if !digits.skip(b'T') && !digits.skip(b' ') {
        return None;
    }
    let time = digits.time()?;
    let zone = digits.zone()?;
    digits.0.is_empty().then(|| (day * SECONDS + time - zone).div_euclid(SECONDS))
}

/// The day of a moment that is so many of a second's parts after 1970-01-01.
pub(crate) fn day_of_moment(moment: i64, parts_a_second: i64) -> f64 {
    moment.div_euclid(parts_a_second * SECONDS) as f64
}

/// What is left of a text that is read from its start.
struct Digits<'a>(&'a [u8]);

impl Digits<'_> {
    fn number(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let value = digits.iter().try_fold(0, |value, digit| {
            digit.is_ascii_digit().then(|| 10 * value + i64::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(value)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.0.first() == Some(&byte);
        if there {
            self.0 = &self.0[1..];
        }
        there
    }

    fn date(&mut self) -> Option<i64> {
        let year = self.number(4)?;
        let month = self.skip(b'-').then(|| self.number(2)).flatten()?;
        let day = self.skip(b'-').then(|| self.number(2)).flatten()?;
        let known = year >= 1 && (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        known.then(|| days(year, month, day))
    }

    /// Hours and minutes, and seconds with a fraction if they are there, in whole seconds.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number(2)?;
        let minute = self.skip(b':').then(|| self.number(2)).flatten()?;
        let second = if self.skip(b':') { self.number(2)? } else { 0 };
        if self.skip(b'.') {
            let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if length == 0 {
                return None;
            }
            self.0 = &self.0[length..];
        }
        // A leap second is the last of its day.
        let known = hour < 24 && minute < 60 && second <= 60;
        known.then(|| 3600 * hour + 60 * minute + second.min(59))
    }

    /// How many seconds the clock there is before that of UTC; 0 where no zone is named.
    fn zone(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.skip(b'Z') {
            return Some(0);
        }
        let sign = match self.0.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.number(2)?;
        let minutes = if self.0.is_empty() {
            0
        } else {
            self.skip(b':');
            self.number(2)?
        };
        (hours < 24 && minutes < 60).then(|| sign * (3600 * hours + 60 * minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2024-02-29", 19_782.0),
            ("0001-01-01", -719_162.0),
            ("9999-12-31", 2_932_896.0),
            (" 2024-02-29 ", 19_782.0),
            ("2024-02-29T23:59:60.25", 19_782.0),
            ("2024-02-29 00:00", 19_782.0),
            ("2024-02-29T00:30:00+02:00", 19_781.0),
            ("2024-02-29T23:30-0100", 19_783.0),
            ("2024-02-29 12:00:00Z", 19_782.0),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused_and_nothing_is_missing() {
        for text in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-32",
            "0000-01-01",
            "20240229",
            "2024-2-9",
            "29.02.2024",
            "02/29/2024",
            "2024-02-29T",
            "2024-02-29T25:00",
            "2024-02-29T12",
            "2024-02-29T12:00:00.",
            "2024-02-29T12:00+",
            "2024-02-29T12:00+2:00",
            "2024-02-29x",
            "+2024-02-29",
            "-2024-02-29",
            "19782",
            "inf",
            "２０２４-02-29",
            "2024-02-29T12:00Z0",
        ] {
            assert_eq!(parse(text.as_bytes()), Err(CellProblem::NotADate), "{text}");
        }
        assert_eq!(parse(b"\xff\xfe"), Err(CellProblem::NotADate));
        for text in ["", " ", "NaT", "nan"] {
            assert_eq!(parse(text.as_bytes()), Err(CellProblem::Missing), "{text}");
        }
        assert_eq!(parse_date("2024-02-29T00:00"), None);
    }

    /// The day after, counted by the calendar and not by the formula.
    #[test]
    fn every_day_of_ten_thousand_years_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for number in EARLIEST..=LATEST {
            let text = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!((parse_date(&text), date_text(number as f64)), (Some(number as f64), text));
            let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            let last = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
            (year, month, day) = match day < last {
                true => (year, month, day + 1),
                false if month < 12 => (year, month + 1, 1),
                false => (year + 1, 1, 1),
            };
        }
        assert_eq!(year, 10_000);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(cell in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&cell);
        }

        #[test]
        fn moments_fall_on_their_day(moment in any::<i64>(), parts in proptest::sample::select(vec![1_000_i64, 1_000_000, 1_000_000_000])) {
            // Days are whole and few enough to be exact, and moments are compared with the days' ends.
            let (day, length) = (day_of_moment(moment, parts), i128::from(parts) * 86_400);
            let days = i128::from(moment).div_euclid(length);
            prop_assert!(day.fract() == 0.0 && (day - days as f64).abs() < 0.5);
        }
    }
}
