//! Seconds since 1970 and back to a date. Times are for people: no guarantee rests on the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in whole seconds.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

/// Seconds since 1970 as `2026-03-21 14:05:09` in UTC.
pub fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970_u64, days);
    // A 400-year cycle has 146 097 days; years and months are then counted off one by one.
    year += 400 * (day / 146_097);
    day %= 146_097;
    while day >= year_length(year) {
        day -= year_length(year);
        year += 1;
    }
    let mut month = 1;
    for length in [31, year_length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02} {:02}:{:02}:{:02}", day + 1, rest / 3600, rest / 60 % 60, rest % 60)
}

fn year_length(year: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(leap)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn seconds_become_dates() {
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_774_101_909, "2026-03-21 14:05:09"),
            (4_107_542_399, "2100-02-28 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (1_798_761_599, "2026-12-31 23:59:59"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }
}
