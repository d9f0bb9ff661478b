//! When somebody was last seen, and whether the event was seen then: one number for both.
//!
//! A time t between 0 and the public horizon h is 1 + t/h with an event, and the negative of that without one, which is called
//! *censored*. Beyond the horizon nothing is known: such a record is censored there. What is no such number counts as the nearest
//! one, so that everything below is a function of any two numbers.

/// The signed time of a record; NaN counts as censored at 0.
pub fn signed_time(time: f64, event: bool, horizon: f64) -> f64 {
    let share = time / horizon;
    if share > 1.0 {
        return -2.0;
    }
    let place = if share > 0.0 { 1.0 + share } else { 1.0 };
    if event && !share.is_nan() { place } else { -place }
}

/// The nearest signed time to any number.
fn read(target: f64) -> f64 {
    let size = target.abs();
    if size >= 1.0 {
        if size <= 2.0 { target } else { 2.0_f64.copysign(target) }
    } else if size < 1.0 {
        1.0_f64.copysign(target)
    } else {
        -1.0
    }
}

/// Whether the event was seen.
pub fn is_event(target: f64) -> bool {
    read(target) > 0.0
}

/// The time as a share of the horizon.
pub fn share(target: f64) -> f64 {
    read(target).abs() - 1.0
}

/// A whole number for each time and state, in the order of [`order`]; odd for the censored.
pub fn key(target: f64) -> u64 {
    let read = read(target);
    // Positive numbers are in the order of their bits, of which the first says the sign.
    (read.abs().to_bits() << 1) | u64::from(read < 0.0)
}

/// By time, at one time events first. Equal are two events, or two censored records, of one time.
pub fn order(first: f64, second: f64) -> std::cmp::Ordering {
    key(first).cmp(&key(second))
}

/// Whether it is known that the first failed before the second: it had its event while the other was still to be seen.
pub fn is_before(first: f64, second: f64) -> bool {
    is_event(first) && order(first, second).is_lt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_known_where_the_earlier_one_had_its_event() {
        let at = |time: f64, event: bool| signed_time(time, event, 10.0);
        for (first, second, known) in [
            (at(3.0, true), at(4.0, true), true),
            (at(3.0, true), at(4.0, false), true),
            (at(3.0, false), at(4.0, true), false),
            (at(4.0, true), at(3.0, false), false),
            // At one time the event comes first; two of a kind are no pair.
            (at(3.0, true), at(3.0, false), true),
            (at(3.0, true), at(3.0, true), false),
            (at(3.0, false), at(3.0, false), false),
            (at(0.0, true), at(0.0, false), true),
            // An event at the horizon is one, beyond it none.
            (at(10.0, true), at(11.0, true), true),
            (at(12.0, true), at(11.0, true), false),
        ] {
            assert_eq!(is_before(first, second), known, "{first} {second}");
            assert!(!(is_before(first, second) && is_before(second, first)));
        }
        assert_eq!((at(2.5, true), at(2.5, false), at(99.0, true)), (1.25, -1.25, -2.0));
    }

    /// Numbers that no reader makes have a place in the order as well, which depends on them alone.
    #[test]
    fn whatever_the_number_it_is_read_as_a_signed_time() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 0.3, 1e300] {
            assert!((0.0..=1.0).contains(&share(odd)) && read(read(odd)).to_bits() == read(odd).to_bits());
            assert!(!is_before(odd, odd));
        }
        assert!(!is_event(f64::NAN) && !is_event(signed_time(f64::NAN, true, 1.0)));
        assert!((signed_time(-3.0, true, 1.0) - 1.0).abs() < 1e-12);
    }
}
