use super::run::root_run;
use super::*;
use crate::{NumericError, StabilityError};
use proptest::prelude::*;

fn smooth(constant: f64) -> Geometry {
    Geometry::lipschitz(1.0, Regularity::Smooth { constant }).unwrap()
}

fn jumps() -> Geometry {
    Geometry::lipschitz(1.0, Regularity::Jumps).unwrap()
}

#[test]
fn each_rule_is_used_where_it_holds_and_named() {
    let rule = |geometry: &Geometry, rate| Step::new(geometry, rate).unwrap().rule();
    assert_eq!(rule(&smooth(4.0), 0.5), Rule::Smooth);
    assert_eq!(rule(&smooth(4.0), 0.5_f64.next_up()), Rule::SmoothStepTooLong);
    let ridge = smooth(3.0).with_ridge(1.0).unwrap();
    assert_eq!(rule(&ridge, 0.499), Rule::StronglyConvex);
    assert_eq!(rule(&ridge, 0.501), Rule::SmoothStepTooLong);
    assert_eq!(rule(&jumps(), 1e6), Rule::NonSmooth);
    let hoelder = Geometry::lipschitz(1.0, Regularity::Hoelder { exponent: 0.5, constant: 1.0 }).unwrap();
    assert_eq!(rule(&hoelder, 0.1), Rule::Hoelder);
    assert!(Rule::SmoothStepTooLong > Rule::NonSmooth && Rule::NonSmooth > Rule::Smooth);
}

#[test]
fn steps_that_overshoot_or_are_no_numbers_are_refused() {
    let geometry = jumps().with_ridge(2.0).unwrap();
    assert!(Step::new(&geometry, 0.499).is_ok());
    assert_eq!(Step::new(&geometry, 0.6), Err(StabilityError::Overshoot { rate: 0.6, ridge: 2.0 }));
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Step::new(&geometry, rate), Err(StabilityError::Positive { .. })));
    }
}

#[test]
fn equal_runs_stay_equal_until_the_record_is_touched() {
    let error = NumericError { gradient: 1e-3, step: 1e-3, monotonicity: 1e-3 };
    let step = Step::new(&jumps().with_numeric_error(error).unwrap(), 0.1).unwrap();
    assert_eq!(step.after(0.0, Touch::NONE).to_bits(), 0);
    assert!(step.after(0.0, Touch::every(&jumps())) > 0.2 + 2e-3);
}

#[test]
fn numeric_errors_add_up() {
    let error = NumericError { gradient: 1e-3, step: 1e-4, monotonicity: 0.0 };
    let geometry = smooth(1.0).with_numeric_error(error).unwrap();
    let step = Step::new(&geometry, 0.5).unwrap();
    let after = step.after(1.0, Touch::NONE);
    assert!((1.0012..1.0012 + 1e-12).contains(&after));
    // A failure of monotonicity enters under the root: δ² + 2ηγ + (ηH)².
    let error = NumericError { monotonicity: 0.01, ..NumericError::default() };
    let step = Step::new(&jumps().with_numeric_error(error).unwrap(), 0.5).unwrap();
    assert!((step.after(1.0, Touch::NONE) - (1.0_f64 + 0.01 + 1.0).sqrt()).abs() < 1e-12);
}

#[test]
fn differences_at_one_parameter_are_enough() {
    // Without a bound at two parameters, D₂ = D + H, the form that needs none is never the larger.
    let unknown = Geometry::new(2.0, 4.0, 1.0, Regularity::Jumps).unwrap();
    let known = unknown.with_apart(2.0, 4.0).unwrap();
    let touch = |geometry: &Geometry| Touch::share(geometry, 1.0, 3.0);
    let step = Step::new(&unknown, 0.1).unwrap();
    let whole = ((0.7_f64 * 0.7 + 0.01).sqrt() + 0.2 / 3.0) * (1.0 + 1e-12);
    assert!(step.after(0.7, touch(&unknown)) <= whole);
    assert!(step.after(0.7, touch(&known)) < step.after(0.7, touch(&unknown)));
}

#[test]
fn a_hoelder_loss_with_a_ridge_needs_more_than_both_rules_put_together() {
    // One dimension, f(w) = |w|^{1+a}/(1+a), from δ so chosen that the untouched part is worst. Leaving the spread at its
    // value without a ridge would understate the step.
    let (a, rate, ridge): (f64, f64, f64) = (0.5, 1.0, 0.6);
    let constant = 2.0_f64.powf(1.0 - a);
    let geometry = Geometry::new(0.0, 0.0, 1e3, Regularity::Hoelder { exponent: a, constant })
        .unwrap()
        .with_ridge(ridge)
        .unwrap();
    let step = Step::new(&geometry, rate).unwrap();
    let plain = {
        let geometry = Geometry::new(0.0, 0.0, 1e3, Regularity::Hoelder { exponent: a, constant }).unwrap();
        Step::new(&geometry, rate).unwrap().variance()
    };
    let gradient = |w: f64| w.signum() * w.abs().powf(a);
    let mut exceeded = false;
    for k in 1..4000 {
        let half = f64::from(k) * 1e-3;
        let mapped = |w: f64| w - rate * (gradient(w) + ridge * w);
        let real = (mapped(half) - mapped(-half)).abs();
        let delta = 2.0 * half;
        assert!(real <= step.after(delta, Touch::NONE));
        exceeded |= real > (((1.0 - rate * ridge) * delta).powi(2) + plain).sqrt();
    }
    assert!(exceeded, "the naive combination of ridge and Hölder rule would have passed");
}

#[test]
fn results_are_capped() {
    let step = Step::new(&jumps().with_diameter(0.25).unwrap(), 0.2).unwrap();
    assert!((step.after(0.0, Touch::every(&jumps())) - 0.25).abs() < 1e-15);
    let run = step.untouched(0.2, 10);
    assert!(run.end <= 0.25 && run.sum <= 2.5 * (1.0 + 1e-15));
}

proptest! {
    #[test]
    fn a_run_is_the_steps_it_stands_for(
        distance in 1e-3..10.0_f64, rate in 1e-3..0.5_f64, shrink in 0.0..1.0_f64, count in 1_usize..400, kind in 0_usize..3,
        exponent in 0.0..0.95_f64, noisy in 0_usize..2,
    ) {
        let regularity = [
            Regularity::Smooth { constant: 1.0 },
            Regularity::Jumps,
            Regularity::Hoelder { exponent, constant: 1.3 },
        ][kind];
        let ridge = if shrink < 0.3 { 0.0 } else { (shrink - 0.3).powi(3) / rate };
        let error = if noisy == 1 {
            NumericError { gradient: 1e-5, step: 1e-7, monotonicity: 1e-6 }
        } else {
            NumericError::default()
        };
        let geometry = Geometry::lipschitz(0.7, regularity).unwrap().with_ridge(ridge).unwrap().with_numeric_error(error).unwrap();
        let step = Step::new(&geometry, rate).unwrap();
        let (mut d, mut sum) = (distance, 0.0);
        for _ in 0..count {
            d = step.after(d, Touch::NONE);
            sum += d;
        }
        let run = step.untouched(distance, count);
        // The loop itself rounds up at every step.
        prop_assert!(run.end >= d * (1.0 - 1e-11) && run.sum >= sum * (1.0 - 1e-11));
        // Numeric errors are carried beside the root, which costs a little more.
        let slack = if noisy == 1 { 1.2 } else { 1.0 };
        prop_assert!(run.end <= d * slack * (1.0 + 1e-11), "{} {}", run.end, d);
        prop_assert!(run.sum <= sum * slack * 1.004, "{} {}", run.sum, sum);
    }

    #[test]
    fn distances_grow_with_distances(
        a in 0.0..5.0_f64, b in 0.0..5.0_f64, rate in 1e-3..0.9_f64, once in 0_u32..5, kind in 0_usize..3,
    ) {
        let regularity = [
            Regularity::Smooth { constant: 1.0 },
            Regularity::Jumps,
            Regularity::Hoelder { exponent: 0.4, constant: 1.3 },
        ][kind];
        let geometry = Geometry::lipschitz(0.7, regularity).unwrap().with_ridge(0.9).unwrap();
        let step = Step::new(&geometry, rate).unwrap();
        let touch = Touch::share(&geometry, f64::from(once), 5.0);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        prop_assert!(step.after(low, touch) <= step.after(high, touch));
    }

    #[test]
    fn geometric_sums_are_sums(c in 0.0..1.0_f64, near in 0_u32..50, m in 1_u32..200) {
        let c = if near < 25 { c } else { 1.0 - 2.0_f64.powi(-near.cast_signed()) };
        let direct: f64 = (0..m).map(|k| c.powi(k.cast_signed())).sum();
        let closed = geometric(c, f64::from(m));
        prop_assert!(closed >= direct * (1.0 - 1e-13) && closed <= direct * (1.0 + 1e-12), "{closed} {direct}");
    }
}

#[test]
fn long_runs_of_roots_lose_little() {
    for (start, contraction) in
        [(0.0_f64, 1.0_f64), (1.0, 1.0), (30.0, 0.999), (30.0, 0.9), (0.01, 0.99), (3.0, 0.3)]
    {
        let (mut square, mut sum) = (start * start, 0.0);
        for _ in 0..100_000 {
            square = contraction * contraction * square + 1e-2;
            sum += square.sqrt();
        }
        let run = root_run(start, contraction, 1e-2, 100_000);
        assert!(
            run.sum >= sum * (1.0 - 1e-10) && run.sum <= sum * 1.002,
            "{start} {contraction}: {} {sum}",
            run.sum
        );
        assert!((run.end / square.sqrt() - 1.0).abs() < 1e-9);
    }
}
