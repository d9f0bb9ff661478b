//! The bound against what is attained, against a naive twin, and its lemmas against searches.

use super::*;
use crate::{Event, Method, account, epsilon_for};
use pairdp_units::Delta;
use proptest::prelude::*;
use std::f64::consts::PI;

/// A step whose centres have squared distances `first` and `second` from c₀ and inner product `inner`, by brute force.
struct Plane {
    /// (mass under Q, likelihood ratio P/Q).
    outcomes: Vec<(f64, f64)>,
}

impl Plane {
    fn new(rate: f64, first: f64, second: f64, inner: f64, spacing: f64) -> Self {
        let along = if first > 0.0 { inner / first.sqrt() } else { second.sqrt() };
        let across = larger(second - along * along, 0.0).sqrt();
        let axis: Vec<f64> =
            (0..1000).map(|k| -8.5 + spacing * f64::from(k)).take_while(|x| *x < 8.5).collect();
        let mut outcomes = Vec::new();
        for x in &axis {
            for y in &axis {
                let density = (-0.5 * (x * x + y * y)).exp() * spacing * spacing / (2.0 * PI);
                let u = (first.sqrt() * x - 0.5 * first).exp();
                let v = (along * x + across * y - 0.5 * second).exp();
                let (p, q) = (1.0 - rate + rate * u, 1.0 - rate + rate * v);
                outcomes.push((density * q, p / q));
            }
        }
        Self { outcomes }
    }

    fn equilateral(rate: f64, shift: f64, spacing: f64) -> Self {
        let square = shift * shift;
        Self::new(rate, square, square, 0.5 * square, spacing)
    }

    /// H_α − (1 − α)₊.
    fn excess(&self, alpha: f64) -> f64 {
        let above: f64 = self.outcomes.iter().map(|(mass, z)| mass * larger(z - alpha, 0.0)).sum();
        above - larger(1.0 - alpha, 0.0)
    }

    /// (loss in cells, P-mass), each outcome split so that both its masses are kept.
    fn cells(&self, spacing: f64) -> Vec<(i32, f64)> {
        let mut cells = std::collections::BTreeMap::new();
        for (mass, z) in &self.outcomes {
            let place = z.ln() / spacing;
            let below = place.floor();
            let upper = (-(place - below) * spacing).exp_m1() / (-spacing).exp_m1();
            #[expect(clippy::cast_possible_truncation, reason = "small")]
            let index = below as i32;
            *cells.entry(index).or_insert(0.0) += mass * z * (1.0 - upper);
            *cells.entry(index + 1).or_insert(0.0) += mass * z * upper;
        }
        let total: f64 = cells.values().sum();
        cells.into_iter().map(|(index, mass)| (index, mass / total)).filter(|cell| cell.1 > 1e-14).collect()
    }
}

fn run(rate: f64, shift: f64, count: f64, delta: f64, known: f64, expected: f64) -> Run {
    let slowness = Slowness::new(rate, shift).unwrap();
    // Laws are of interest where no plan is, too.
    let slope = expected / (count * slowness.variance());
    let none = Plan { expected, slope, slowness, begin: (FIRST, 0.5) };
    let plan = Plan::new(expected, count, slowness).unwrap_or(none);
    Run::new(rate, shift, count, delta, known, plan).unwrap()
}

/// What the bound, equilateral triangles and the known pair say: (attained, new, old).
fn compared(batch: u64, records: u64, times: u64, noise: f64, target: f64) -> (f64, Option<f64>, f64) {
    let event = Event::gaussian_steps(records, Some(batch), times, noise).unwrap();
    let known = epsilon_for(&event, Delta::new(target).unwrap()).unwrap().0.get();
    let (rate, shift, count) = (batch as f64 / records as f64, 1.0 / noise, times as f64);
    let run = run(rate, shift, count, target, known, 0.9 * known);
    let mut kinks = Kinks::hockey_stick(run.frame);
    kinks.advance(&run.equilateral, count, 0.0).unwrap();
    (run.solve(&kinks).unwrap_or(0.0), epsilon(rate, shift, times, target, known), known)
}

#[test]
fn many_steps_cost_little_more_than_the_triangle() {
    for (batch, records, times, noise, target, within) in [
        (180, 9000, 4501, 2.46, 6e-7, 1.0125),
        (180, 9000, 20_000, 5.0, 6e-7, 1.012),
        (100, 10_000, 5000, 2.0, 1e-6, 1.011),
        (200, 1000, 4000, 10.0, 1e-6, 1.014),
        (100, 1000, 1000, 5.0, 1e-6, 1.035),
    ] {
        let (attained, found, known) = compared(batch, records, times, noise, target);
        let found = found.unwrap();
        assert!(found >= attained && found < known, "{attained} {found} {known}");
        assert!(found <= within * attained, "{batch} {records} {times}: {attained} {found} {known}");
    }
}

#[test]
fn accounts_are_by_triangles_and_budgets_are_not() {
    let event = Event::gaussian_steps(9000, Some(180), 4501, 2.46).unwrap();
    let delta = Delta::new(6e-7).unwrap();
    let answer = account(&event, delta).unwrap();
    assert_eq!(answer.method, Method::Triangles);
    assert!((2.7113..2.745).contains(&answer.epsilon.get()), "{answer:?}");
    let (booked, method) = epsilon_for(&event, delta).unwrap();
    assert_eq!(method, Method::PrivacyLoss);
    assert!((3.08..3.083).contains(&booked.get()), "{booked:?}");
    // One step, few steps, all records, other noise beside it: as before.
    for (batch, times) in [(Some(180), 1), (Some(180), 20), (None, 4501), (Some(9000), 100)] {
        let event = Event::gaussian_steps(9000, batch, times, 2.46).unwrap();
        let answer = account(&event, delta).unwrap();
        assert_eq!((answer.epsilon, answer.method), epsilon_for(&event, delta).unwrap());
    }
}

#[test]
fn nothing_attained_is_above_the_bound() {
    let mut helped = 0;
    for rate in [0.002, 0.02, 0.1, 0.4] {
        for shift in [0.1, 0.35, 0.8] {
            for (times, target) in [(40_u64, 1e-3), (300, 1e-5), (3000, 1e-8)] {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
                let batch = (rate * 10_000.0_f64).round() as u64;
                let event = Event::gaussian_steps(10_000, Some(batch), times, 1.0 / shift).unwrap();
                let answer = account(&event, Delta::new(target).unwrap()).unwrap();
                if answer.method != Method::Triangles {
                    continue;
                }
                helped += 1;
                let (attained, _, _) = compared(batch, 10_000, times, 1.0 / shift, target);
                let most = larger(attained, answer.lower_bound);
                assert!(answer.epsilon.get() >= most, "{rate} {shift} {times}: {answer:?} {attained}");
            }
        }
    }
    assert!(helped >= 8, "{helped}");
}

/// Value iteration as it is defined: dense sums over planar grids, the worst of some triangles at every node.
fn naive_delta(rate: f64, shift: f64, times: u32, epsilons: &[f64]) -> Vec<f64> {
    const SPACING: f64 = 0.005;
    const HALF: i32 = 800;
    let square = shift * shift;
    let mut pairs = Vec::new();
    for share in [0.0, 0.3, 1.0] {
        // Both arcs.
        pairs.push(Plane::new(rate, share * square, square, 0.5 * share * square, 0.1).cells(SPACING));
        pairs.push(Plane::new(rate, square, share * square, 0.5 * share * square, 0.1).cells(SPACING));
    }
    // V at l = e^{node·spacing} over l, which is linear in both directions far out.
    let place = |node: i32| f64::from(node) * SPACING;
    let mut values: Vec<f64> = (-HALF..=HALF).map(|node| larger(1.0 - (-place(node)).exp(), 0.0)).collect();
    let at = |values: &[f64], node: i32| {
        if node > HALF {
            1.0 - (-place(node)).exp()
        } else if node < -HALF {
            0.0
        } else {
            #[expect(clippy::cast_sign_loss, reason = "in range")]
            values[(node + HALF) as usize]
        }
    };
    for _ in 0..times {
        // E_Q[V(lz)]/l = E_P[V(lz)/(lz)].
        let of = |cells: &[(i32, f64)], node: i32| -> f64 {
            cells.iter().map(|(loss, mass)| mass * at(&values, node + loss)).sum()
        };
        values =
            (-HALF..=HALF).map(|node| pairs.iter().map(|cells| of(cells, node)).fold(0.0, larger)).collect();
    }
    #[expect(clippy::cast_possible_truncation, reason = "small")]
    epsilons.iter().map(|epsilon| at(&values, -(epsilon / SPACING).round() as i32)).collect()
}

#[test]
fn bound_is_above_the_naive_value_iteration() {
    let (rate, shift, times) = (0.1, 0.3, 600);
    let epsilons = [0.2, 0.8, 1.6, 2.4];
    let naive = naive_delta(rate, shift, times, &epsilons);
    let run = run(rate, shift, f64::from(times), 1e-2, 4.0, 1.6);
    let found = run.kinks().unwrap();
    let all = |law: &Law| {
        let mut kinks = Kinks::hockey_stick(run.frame);
        kinks.advance(law, f64::from(times), 0.0).unwrap();
        kinks
    };
    let (equilateral, symmetric) = (all(&run.equilateral), all(&run.symmetric));
    for (epsilon, naive) in epsilons.iter().zip(&naive) {
        let [found, low, high] = [&found, &equilateral, &symmetric].map(|kinks| kinks.delta(*epsilon));
        // The twin's own grid adds a little, and its list of triangles leaves little out.
        assert!(found > 1.01 * *naive && found < high, "{epsilon}: {naive} {found} {high}");
        assert!(low < 1.01 * naive && *naive < 0.99 * high, "{epsilon}: {low} {naive} {high}");
    }
    // For one step the equilateral triangle is far from the worst.
    let one = naive_delta(rate, shift, 1, &[0.05])[0];
    let mut kinks = Kinks::hockey_stick(run.frame);
    kinks.advance(&run.equilateral, 1.0, 0.0).unwrap();
    assert!(kinks.delta(0.05) < 0.9 * one);
}

/// Where numbers would vanish, overflow or take minutes, the known bound stands.
#[test]
fn extremes_are_left_to_the_known_bound() {
    assert!(epsilon(0.02, 0.4, 4501, 6e-7, 3.09).is_some());
    for (rate, shift, count, delta, known) in [
        (0.02, 0.4, 4501, 1e-300, 12.0),
        (0.02, 0.4, 4501, 6e-7, 1e-9),
        (0.02, 1e-7, u64::MAX, 1e-6, 1.0),
        (0.02, 1e-9, 1 << 40, 1e-6, 1.0),
        (0.999, 0.5, 1000, 1e-6, 80.0),
        (2.6448e-5, 1.2942, 36, 3.347e-10, 0.1),
    ] {
        assert_eq!(epsilon(rate, shift, count, delta, known), None, "{rate} {shift} {count}");
    }
}

#[test]
fn stages_are_those_of_the_theorem() {
    let (rate, shift, count) = (0.05, 0.3, 500.0);
    let run = run(rate, shift, count, 1e-5, 2.2, 1.6);
    // Symmetric steps, then as many equilateral ones as there were steps before, each time on a slow majorant.
    let (mut done, _) = run.plan.begin;
    let mut kinks = Kinks::hockey_stick(run.frame);
    kinks.advance(&run.symmetric, done, 0.0).unwrap();
    while done < count {
        let power = run.plan.slope + MARGIN / (done * run.plan.slowness.variance()).sqrt();
        let times = if count - done < 1.3 * done { count - done } else { done };
        kinks.slow_down(power).unwrap();
        kinks
            .advance(&run.equilateral, times, run.plan.slowness.counted_twice(power, MOST).unwrap())
            .unwrap();
        done += times;
    }
    let found = run.kinks().unwrap();
    for epsilon in [0.3, 1.0, 1.6, 2.2] {
        let (want, got) = (kinks.delta(epsilon), found.delta(epsilon));
        assert!((got / want - 1.0).abs() < 1e-12, "{epsilon}: {got} {want}");
    }
}

#[test]
fn only_majorants_are_slow_and_they_are_majorants() {
    let run = run(0.05, 0.4, 200.0, 1e-5, 2.0, 1.5);
    let frame = run.frame;
    let rise = ((frame.tilt + 0.5) * frame.spacing).exp();
    // What is moved inside from the left may be steep.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    let ends = (1.0 / (frame.tilt * frame.spacing)) as usize + 3;
    for (steps, power) in [(0.0, 30.0), (16.0, 20.0), (64.0, 12.0)] {
        let mut kinks = Kinks::hockey_stick(frame);
        if steps > 0.0 {
            kinks.advance(&run.symmetric, steps, 0.0).unwrap();
        }
        let steepest = |kinks: &Kinks| {
            let inside = &kinks.weights()[ends..kinks.weights().len() - 2];
            let logs = inside.windows(2).map(|pair| (pair[1] / pair[0] / rise).ln().abs());
            logs.fold(0.0, larger) / frame.spacing
        };
        let (before, deltas) = (steepest(&kinks), [0.01, 0.3, 1.0].map(|epsilon| kinks.delta(epsilon)));
        kinks.slow_down(power).unwrap();
        // The spread moves what is left of the ends; between them the density is slow.
        let after = steepest(&kinks);
        assert!(before.is_nan() || before > power, "{before} was slow already");
        assert!(after <= 1.001 * power, "{after} {power}");
        for (delta, epsilon) in deltas.into_iter().zip([0.01, 0.3, 1.0]) {
            assert!(kinks.delta(epsilon) >= delta, "{epsilon}");
        }
    }
    assert!(Kinks::hockey_stick(frame).slow_down(0.4).is_err());
}

#[test]
fn equilateral_mixture_is_the_planar_pair() {
    for (rate, shift, expected) in [(0.02, 0.4, 0.05), (0.3, 0.9, 5.0)] {
        let run = run(rate, shift, 100.0, 1e-5, 2.0 * expected, expected);
        let mut kinks = Kinks::hockey_stick(run.frame);
        kinks.advance(&run.equilateral, 1.0, 0.0).unwrap();
        let plane = Plane::equilateral(rate, shift, 0.05);
        for loss in [0.0, 0.3, 1.0, 2.0] {
            let epsilon = loss * rate * shift;
            let (found, naive) = (kinks.delta(epsilon), plane.excess(epsilon.exp()));
            assert!(found > naive * (1.0 - 1e-4) && found < naive * (1.0 + 5e-3), "{loss}: {found} {naive}");
        }
    }
}

#[test]
fn slowness_is_where_removal_tells_more() {
    // At orders above about a quarter of n/m, removing a record has the larger power divergence.
    let slowness = Slowness::new(0.02, 1.0 / 2.46).unwrap();
    let few = slowness.counted_twice(9.0, MOST).unwrap();
    assert!(few < 2e-3, "{few}");
    let many = slowness.counted_twice(16.0, MOST).unwrap();
    assert!((0.02..0.04).contains(&many), "{many}");
    assert!(slowness.counted_twice(0.5, MOST).is_none() && slowness.counted_twice(1e4, MOST).is_none());
    assert!(
        slowness.counted_twice(f64::NAN, MOST).is_none()
            && slowness.counted_twice(f64::INFINITY, MOST).is_none()
    );
    assert!((slowness.variance() / 7.435e-5 - 1.0).abs() < 0.02, "{}", slowness.variance());
}

#[test]
fn doubt_is_no_bound() {
    for (rate, shift, delta, known) in [
        (0.02, 0.4, 0.0, 3.0),
        (0.02, f64::NAN, 1e-6, 3.0),
        (1.0, 0.4, 1e-6, 3.0),
        (0.0, 0.4, 1e-6, 3.0),
        (0.02, 5.0, 1e-6, 3.0),
        (0.02, 0.4, 1e-6, f64::INFINITY),
        (0.02, 0.4, 1e-6, 0.0),
        (0.02, 0.4, 1e-6, 1e-9),
        (1e-12, 1e-9, 1e-6, 1e-3),
        (0.02, 0.4, 1e-300, 40.0),
    ] {
        let found = epsilon(rate, shift, 4501, delta, known);
        assert!(found.is_none_or(|value| value < known), "{rate} {shift} {delta} {known}: {found:?}");
    }
    assert_eq!(epsilon(0.02, 0.4, 32, 1e-6, 1.0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn corners_that_move_apart_tell_more(
        log_rate in -4.0..-0.4_f64, shift in 0.3..1.5_f64, reach in 0.55..0.95_f64, part in 0.05..0.95_f64, log_alpha in -1.5..1.5_f64,
    ) {
        // c₁ and c₁′ are `shift` apart, c₀ somewhere in the lens.
        let rate = log_rate.exp();
        let (square, step) = (shift * shift, 0.03 * shift * shift);
        let second = (reach * shift).powi(2);
        let least = (shift - reach * shift).powi(2);
        let first = least + part * (square - step - least);
        let alpha = (log_alpha * rate * shift).exp();
        let at = |first: f64, second: f64, inner: f64| Plane::new(rate, first, second, inner, 0.08).excess(alpha);
        let inner = 0.5 * (first + second - square);
        let (here, doubt) = (at(first, second, inner), 3e-5 * rate);
        // Lemma 2: farther from the line through both, and both farther from each other.
        prop_assert!(at(first + step, second + step, inner + step) >= here - doubt);
        if inner + step < (first * second).sqrt() {
            prop_assert!(at(first, second, inner + step) <= here + doubt);
        }
        // Lemma 3: along the edge.
        let moved = at(first + step, second, inner + 0.5 * step) - here;
        prop_assert!(if alpha > 1.0 { moved >= -doubt } else { moved <= doubt }, "{moved}");
    }

    #[test]
    fn no_triangle_beats_the_equilateral_one_for_slow_kinks(
        log_rate in -4.0..-1.0_f64, shift in 0.2..0.8_f64, share in 0.0..0.9_f64, steep in 0.1..0.8_f64,
        turns in prop::collection::vec(prop::bool::ANY, 24), shape in 0..3,
    ) {
        let rate = log_rate.exp();
        let power = 0.6 + steep / rate;
        let twice = Slowness::new(rate, shift).unwrap().counted_twice(power, MOST);
        prop_assume!(twice.is_some());
        let square = shift * shift;
        let arc = Plane::new(rate, share * square, square, 0.5 * share * square, 0.1);
        let equal = Plane::equilateral(rate, shift, 0.1);
        // Densities of kinks that vary as fast as they may, upwards or downwards.
        let far = (rate * (4.0 * shift).exp_m1()).ln_1p();
        let spacing = far / 60.0;
        let mut log = 0.0;
        let (mut of_arc, mut of_equal) = (0.0, 0.0);
        for node in -60..=60_i32 {
            let x = f64::from(node) * spacing;
            let weight = (log - 0.5 * x).exp() * spacing;
            of_arc += weight * arc.excess(x.exp());
            of_equal += weight * equal.excess(x.exp());
            #[expect(clippy::cast_sign_loss, reason = "in range")]
            let up = match shape { 0 => false, 1 => node < 0, _ => turns[((node + 60) / 5) as usize % 24] };
            log += if up { power } else { -power } * spacing;
        }
        // η′ is at least η.
        prop_assert!(of_arc <= of_equal * (1.001 + twice.unwrap()), "{} {twice:?}", of_arc / of_equal);
    }
}
