//! The accountant against its reference tables, and what must hold for every event.

use crate::contour::{self, AGREEMENT};
use crate::discretise::Rounding;
use crate::moments::{Moments, Term};
use crate::pair::Pair;
use crate::pld::{Composed, Grid};
use crate::*;
use pairdp_units::{Budget, Delta, Epsilon, EpsilonBound};
use proptest::prelude::*;

mod cells;

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

/// The pair and the event of a row (pair, records, batch, steps); the multiplier is 1/shift.
fn read(row: &[&str], shift: f64) -> (Pair, Event) {
    let (records, batch, times) = (number(row[1]), number(row[2]), row[3].parse().unwrap());
    let rate = batch / records;
    let whole: u64 = row[1].parse().unwrap();
    let (pair, sampling, adjacency) = match row[0] {
        "symmetric" => (
            Pair::Symmetric { rate, shift },
            Sampling::FixedSize { batch: row[2].parse().unwrap(), records: whole },
            Adjacency::ReplaceOne,
        ),
        "remove" => {
            (Pair::Remove { rate, shift }, Sampling::PoissonRecords { rate }, Adjacency::AddRemoveOne)
        }
        "opposed" => (
            Pair::PlusMinus { rate, radius: shift },
            Sampling::PoissonRecords { rate },
            Adjacency::ReplaceOne,
        ),
        "pairs" => (
            Pair::PoissonPairs {
                partners: whole - 1,
                rate: batch / (records * (records - 1.0) / 2.0),
                radius: shift,
            },
            Sampling::PoissonPairs { records: whole, expected_pairs: batch },
            Adjacency::ReplaceOne,
        ),
        other => panic!("{other}"),
    };
    let release = Release::Gaussian { noise_multiplier: 1.0 / shift, sampling, times };
    (pair, Event::new(adjacency, release).unwrap())
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn fixed(batch: u64, records: u64, times: u64, noise_multiplier: f64) -> Event {
    Event::gaussian_steps(records, Some(batch), times, noise_multiplier).unwrap()
}

#[test]
fn profiles_agree_with_50_digits() {
    let mut count = 0;
    for row in rows(include_str!("../../../testdata/profile.csv")) {
        let v: Vec<f64> = row.iter().map(|cell| number(cell)).collect();
        let (rate, shift, epsilon) = (v[0], v[1], v[2]);
        let pairs = [
            (Pair::Symmetric { rate, shift }, v[3]),
            (Pair::Remove { rate, shift }, v[3]),
            (Pair::Add { rate, shift }, v[4]),
            (Pair::PlusMinus { rate, radius: shift }, v[5]),
            (Pair::PoissonPairs { partners: 1, rate, radius: shift }, v[5]),
        ];
        for (pair, want) in pairs {
            let got = profile::delta(pair, epsilon).unwrap();
            assert!((got - want).abs() <= 1e-12 * want + 1e-300, "{pair:?} at {epsilon}: {got} {want}");
            count += 1;
        }
        // At −ε by the symmetry H_α(P‖Q) = 1 − α + α·H_{1/α}(Q‖P).
        let mirrored = profile::delta(Pair::Symmetric { rate, shift }, -epsilon).unwrap();
        let want = -(-epsilon).exp_m1() + (-epsilon).exp() * v[3];
        assert!((mirrored - want).abs() <= 1e-12 * want, "{mirrored} {want}");
    }
    assert!(count >= 1500);
}

#[test]
fn contour_and_certificate_meet_the_composed_table() {
    let mut count = 0;
    for row in rows(include_str!("../../../testdata/composed.csv")) {
        let (pair, event) = read(&row, number(row[4]));
        let (target, want, lower) = (number(row[5]), number(row[6]), number(row[7]));
        assert!(lower <= want * (1.0 + 1e-12), "{row:?}");
        let steps: u64 = row[3].parse().unwrap();
        if pair.as_gaussian().is_none() && steps > 1 {
            let got = contour::epsilon(&[Term { pair, count: steps }], target, AGREEMENT).unwrap().epsilon;
            assert!((got / want - 1.0).abs() <= 1e-8, "{row:?}: contour {got}");
        }
        let answer = account(&event, delta(target)).unwrap();
        // One dominating pair per step, whatever else is known.
        let got = epsilon_for(&event, delta(target)).unwrap().0.get();
        assert!(
            answer.epsilon.get() <= got && answer.epsilon.get() >= lower * (1.0 - 1e-9),
            "{row:?}: {answer:?}"
        );
        assert!(got >= want * (1.0 - 1e-9), "{row:?}: {answer:?}");
        assert!(got <= want * (1.0 + 1e-3), "{row:?}: {answer:?}");
        // What is said to be attained is, and little is given away.
        assert!(answer.lower_bound <= lower * (1.0 + 1e-12), "{row:?}: {answer:?}");
        assert!(answer.lower_bound >= lower * (1.0 - 1.1e-5), "{row:?}: {answer:?}");
        count += 1;
    }
    assert!(count >= 62);
}

#[test]
fn calibrated_noise_meets_the_table_and_its_budget() {
    let mut count = 0;
    for row in rows(include_str!("../../../testdata/calibration.csv")) {
        let want = number(row[6]);
        let (pair, event) = read(&row, 1.0 / want);
        let budget = Budget::new(number(row[4]), number(row[5])).unwrap();
        let terms = [Term { pair, count: row[3].parse().unwrap() }];
        // The value engine inverts the table to 1e-6: at the table's noise it finds the budget's δ.
        let value = contour::delta(&terms, budget.epsilon.get()).unwrap();
        assert!((value.log_delta - budget.delta.get().ln()).abs() < 1e-6, "{row:?}: {value:?}");
        let unit = event.scaled(1.0 / want).unwrap();
        let factor = calibrate::noise_multiplier(&unit, budget).unwrap();
        assert!(factor >= want * (1.0 - 1e-7), "{row:?}: {factor} is too little noise");
        assert!(factor <= want * (1.0 + 3e-3), "{row:?}: {factor}");
        let (back, _) = epsilon_for(&unit.scaled(factor).unwrap(), budget.delta).unwrap();
        assert!(back.get() <= budget.epsilon.get(), "{row:?}: recomputed {back:?}");
        count += 1;
    }
    assert!(count >= 25);
}

#[test]
fn checkpoint_of_pair_sampling_holds() {
    let unit = fixed(2, 5000, 5000, 1.0);
    let factor = calibrate::noise_multiplier(&unit, Budget::new(1.0, 4e-8).unwrap()).unwrap();
    assert!((0.7108..=0.7112).contains(&factor), "{factor}");
    let answer = account(&unit.scaled(factor).unwrap(), delta(4e-8)).unwrap();
    assert!(answer.epsilon.get() <= 1.0 && answer.lower_bound < answer.epsilon.get());
    assert!(answer.lower_bound > 0.97, "{answer:?}");
    assert_eq!(answer.method, Method::PrivacyLoss);
}

#[test]
fn hidden_state_meets_the_table() {
    for row in rows(include_str!("../../../testdata/hidden_state.csv")) {
        let (c, shift, noise) = (number(row[1]), number(row[2]), number(row[4]));
        let reach = row[3].parse::<f64>().ok().map(|diameter| diameter / shift);
        let effective = hidden_state::effective_steps(row[0].parse().unwrap(), c, reach);
        let ratio = effective.sqrt() * shift / noise;
        let want = number(row[5]);
        assert!((ratio / want - 1.0).abs() <= 1e-9, "{row:?}: {ratio}");
    }
}

fn ridge_run() -> LastIterate {
    LastIterate {
        steps: 100_000,
        noise_multiplier: 25.0,
        step_size: 0.1,
        smoothness: 1.0,
        strong_convexity: 0.05,
        gradient_sensitivity: 0.02,
        diameter: None,
        output: Output::LastIterate,
    }
}

#[test]
fn hidden_state_refuses_what_it_does_not_cover() {
    let run = ridge_run();
    // c = 0.995: (Δ/σ)²(1+c)/(1−c) once c^T has vanished.
    let want = (1.995_f64 / 0.005).sqrt() / 25.0;
    assert!((run.ratio().unwrap() / want - 1.0).abs() < 1e-9);
    let averaged = LastIterate { output: Output::Average, ..run.clone() };
    assert!(matches!(averaged.ratio(), Err(AccountantError::Unsupported(_))));
    let long_steps = LastIterate { step_size: 2.1, ..run.clone() };
    assert!(matches!(long_steps.ratio(), Err(AccountantError::Unsupported(_))));
    let event = Event::new(Adjacency::ReplaceOne, Release::LastIterate(averaged)).unwrap();
    assert!(account(&event, delta(1e-6)).is_err());
    let event = Event::new(Adjacency::ReplaceOne, Release::LastIterate(run)).unwrap();
    let answer = account(&event, delta(1e-5)).unwrap();
    assert_eq!(answer.method, Method::Gaussian);
    assert!((answer.epsilon.get() - 3.382).abs() < 1e-3, "{answer:?}");
}

#[test]
fn wrong_pairs_are_pinned() {
    // Fixed-size samples: the ± pair of Poisson sampling claims 1.205 where an explicit adversary reaches 1.828.
    let target = 1e-5;
    let wrong = [Term { pair: Pair::PlusMinus { rate: 0.01, radius: 0.5 }, count: 1000 }];
    let wrong = contour::epsilon(&wrong, target, AGREEMENT).unwrap().epsilon;
    let answer = account(&fixed(10, 1000, 1000, 1.0), delta(target)).unwrap();
    assert!((wrong - 1.2052).abs() < 1e-3);
    assert!(answer.lower_bound > 1.828 && answer.epsilon.get() > 2.1989, "{answer:?}");
    // One direction alone is not a bound either.
    assert!(answer.epsilon.get() > answer.lower_bound * 1.1);
}

#[test]
fn corners_have_defined_answers() {
    let at = |event: &Event, target: f64| account(event, delta(target)).unwrap();
    let nothing = at(&fixed(2, 100, 0, 1.0), 1e-6);
    assert_eq!((nothing.epsilon.get(), nothing.lower_bound), (0.0, 0.0));
    // Everything sampled: the exact Gaussian curve.
    let all = at(&fixed(100, 100, 64, 8.0), 1e-6);
    assert_eq!(all.method, Method::Gaussian);
    assert!((all.epsilon.get() - gaussian::epsilon(delta(1e-6), 1.0).unwrap().get()).abs() < 1e-9);
    // No noise, hardly any noise, no δ.
    assert_eq!(at(&fixed(2, 100, 10, 0.0), 1e-6).epsilon, EpsilonBound::INFINITE);
    assert!(at(&fixed(2, 100, 10, 1e-3), 1e-6).epsilon.get() > 1e5);
    assert!(at(&fixed(2, 100, 10, 1e-200), 1e-6).epsilon.get() > 1e5);
    assert_eq!(at(&fixed(2, 100, 10, 1.0), 0.0).epsilon, EpsilonBound::INFINITE);
    // Two records; a huge multiplier; overflow-prone ε; tiny δ.
    assert!(at(&fixed(1, 2, 5, 2.0), 1e-6).epsilon.get() > 1.0);
    assert!(at(&fixed(2, 100, 10, 1e12), 1e-6).epsilon.get() < 1e-3);
    let large = at(&fixed(2, 10, 50, 0.05), 1e-6);
    assert!(large.epsilon.get() > 1000.0 && large.epsilon.get().is_finite(), "{large:?}");
    let tiny = at(&fixed(2, 1000, 1000, 2.0), 1e-200);
    assert!(tiny.epsilon.get() > tiny.lower_bound && tiny.epsilon.get() < 2000.0, "{tiny:?}");
    // δ at least q in one step: nothing to protect against.
    assert!(at(&fixed(1, 1000, 1, 0.5), 2e-3).epsilon.get() <= 0.0);
    assert!(at(&fixed(1, 1000, 1, 0.5), 1e-6).epsilon.get() > 0.0);
}

#[test]
fn unknown_events_are_refused() {
    let parse = |text: &str| serde_json::from_str::<Event>(text);
    let good = r#"{"version":1,"adjacency":"replace-one","release":{"kind":"gaussian","noise_multiplier":2.0,
        "sampling":{"kind":"fixed-size","batch":2,"records":100},"times":10}}"#;
    let event = parse(good).unwrap();
    assert_eq!(event, fixed(2, 100, 10, 2.0));
    assert_eq!(parse(&serde_json::to_string(&event).unwrap()).unwrap(), event);
    for (old, new) in [
        ("\"version\":1", "\"version\":2"),
        ("\"kind\":\"gaussian\"", "\"kind\":\"staircase\""),
        ("\"times\"", "\"repeat\""),
        ("fixed-size", "shuffle"),
        ("\"batch\":2", "\"batch\":101"),
        ("\"batch\":2", "\"batch\":0"),
        ("2.0", "-1.0"),
        ("\"replace-one\"", "\"zero-out\""),
    ] {
        assert!(parse(&good.replace(old, new)).is_err(), "{new}");
    }
    let unsupported = |sampling: Sampling, adjacency: Adjacency| {
        let release = Release::Gaussian { noise_multiplier: 1.0, sampling, times: 1 };
        let outcome = account(&Event::new(adjacency, release).unwrap(), delta(1e-6));
        assert!(matches!(outcome, Err(AccountantError::Unsupported(_))), "{outcome:?}");
    };
    unsupported(Sampling::FixedSize { batch: 2, records: 10 }, Adjacency::AddRemoveOne);
    unsupported(Sampling::OneIndex { records: 10 }, Adjacency::AddRemoveOne);
    unsupported(Sampling::PoissonPairs { records: 10, expected_pairs: 1.0 }, Adjacency::AddRemoveOne);
    let pure = Release::Pure { epsilon: 1.0, sampling: Sampling::PoissonRecords { rate: 0.1 }, times: 1 };
    assert!(account(&Event::new(Adjacency::ReplaceOne, pure).unwrap(), delta(1e-6)).is_err());
}

#[test]
fn pure_releases_compose_like_randomised_response() {
    let pure = |epsilon: f64, times: u64| {
        let release = Release::Pure { epsilon, sampling: Sampling::None, times };
        Event::new(Adjacency::ReplaceOne, release).unwrap()
    };
    assert!((account(&pure(0.5, 4), Delta::PURE).unwrap().epsilon.get() - 2.0).abs() < 1e-12);
    // Exact binomial δ(ε) of k-fold randomised response (Kairouz, Oh and Viswanath 2015).
    let (epsilon0, k) = (0.1_f64, 100_u32);
    let (p, target) = (epsilon0.exp() / (1.0 + epsilon0.exp()), 1.3_f64);
    let mut exact = 0.0;
    let mut binomial = (1.0 - p).powi(k.cast_signed());
    for hits in 0..=k {
        let loss = epsilon0 * (2.0 * f64::from(hits) - f64::from(k));
        exact += binomial * -(target - loss).exp_m1().min_zero();
        binomial *= f64::from(k - hits) / f64::from(hits + 1) * p / (1.0 - p);
    }
    let (bound, _) = delta_for(&pure(epsilon0, u64::from(k)), Epsilon::new(target).unwrap()).unwrap();
    assert!(bound >= exact && bound <= exact * 1.001, "{bound} {exact}");
    // On a sample of one in a hundred, log(1 + (e − 1)/100).
    let sampling = Sampling::FixedSize { batch: 1, records: 100 };
    let release = Release::Pure { epsilon: 1.0, sampling, times: 1 };
    let amplified = account(&Event::new(Adjacency::ReplaceOne, release).unwrap(), Delta::PURE).unwrap();
    assert!((amplified.epsilon.get() - (0.01 * 1_f64.exp_m1()).ln_1p()).abs() < 1e-12);
}

trait MinZero {
    fn min_zero(self) -> f64;
}

impl MinZero for f64 {
    fn min_zero(self) -> f64 {
        if self < 0.0 { self } else { 0.0 }
    }
}

#[test]
fn disjoint_parts_cost_as_much_as_the_worst() {
    let gaussian =
        |noise_multiplier: f64| Release::Gaussian { noise_multiplier, sampling: Sampling::None, times: 1 };
    let of = |release: Release| {
        account(&Event::new(Adjacency::ReplaceOne, release).unwrap(), delta(1e-6)).unwrap()
    };
    let alone = of(gaussian(2.0)).epsilon.get();
    let parts = of(Release::Disjoint { parts: vec![gaussian(2.0), gaussian(3.0), gaussian(4.0)] });
    assert!((parts.epsilon.get() - alone).abs() < 1e-12);
    let sequence = of(Release::Sequence {
        parts: vec![gaussian(5.0), Release::Disjoint { parts: vec![gaussian(2.0), gaussian(3.0)] }],
    });
    let want = gaussian::epsilon(delta(1e-6), (0.25_f64 + 0.04).sqrt()).unwrap().get();
    assert!((sequence.epsilon.get() - want).abs() < 1e-9);
}

#[test]
fn steps_and_trade_off_are_on_the_safe_side() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let one = fixed(2, 1000, 1, 1.0);
    let times = calibrate::steps(&one, budget).unwrap();
    let at = |times: u64| epsilon_for(&one.repeated(times).unwrap(), budget.delta).unwrap().0.get();
    assert!(times > 100 && at(times) <= 1.0 && at(times + 1) > 1.0, "{times}");
    // Plain Gaussian noise: Φ(Φ⁻¹(1 − α) − μ).
    let event = Event::gaussian_steps(10, None, 1, 1.0).unwrap();
    let curve = calibrate::trade_off(&event, &[0.0, 0.158_655_253_931_457, 0.5, 1.0]).unwrap();
    assert!(curve[0].false_negative > 0.99 && curve[3].false_negative <= 0.0);
    assert!(curve[1].false_negative <= 0.5 && curve[1].false_negative > 0.49, "{curve:?}");
    assert!(curve[2].false_negative <= 0.158_656 && curve[2].false_negative > 0.15, "{curve:?}");
}

#[test]
fn discretisations_bracket_the_value() {
    for (pair, count, target) in [
        (Pair::Symmetric { rate: 0.01, shift: 1.0 }, 100, 1e-6),
        (Pair::PlusMinus { rate: 0.05, radius: 0.5 }, 50, 1e-5),
        (Pair::Remove { rate: 0.1, shift: 1.0 }, 20, 1e-6),
        (Pair::Add { rate: 0.1, shift: 1.0 }, 20, 1e-6),
    ] {
        let terms = [Term { pair, count }];
        let value = contour::epsilon(&terms, target, AGREEMENT).unwrap();
        let tilt = Moments::new(&terms, 1e-5 * target, 0.0).unwrap().saddle(value.epsilon, value.tilt);
        let mut previous = (0.0, 1.0);
        for fineness in [1.0, 4.0] {
            let mut grid = Grid::new(&terms, value.epsilon, target, tilt, 1e-3).unwrap();
            grid.spacing /= fineness;
            let up = Composed::new(&terms, tilt, value.epsilon, grid).unwrap().delta(value.epsilon);
            grid.rounding = Rounding::Down;
            let down = Composed::new(&terms, tilt, value.epsilon, grid).unwrap().delta(value.epsilon);
            assert!(down < target && target < up, "{pair:?}: {down} {target} {up}");
            assert!(down > previous.0 && up < previous.1, "{pair:?}: a finer grid is no tighter");
            previous = (down, up);
        }
        assert!(previous.1 < target * 1.01 && previous.0 > target * 0.5, "{pair:?} {previous:?}");
    }
}

#[test]
fn renyi_is_a_looser_second_opinion() {
    let terms = [Term { pair: Pair::Symmetric { rate: 0.01, shift: 1.0 }, count: 1000 }];
    let renyi = |terms: &[Term], target| rdp::epsilon(&rdp::moments(terms, target).unwrap(), target);
    let bound = renyi(&terms, 1e-5);
    assert!((2.1989..2.45).contains(&bound.epsilon), "{bound:?}");
    // The plain version at a tiny sampling rate is 37 times too large; the truncated one is not.
    let rare = [Term { pair: Pair::Symmetric { rate: 2e-6, shift: 1.0 }, count: 1_000_000 }];
    assert!(renyi(&rare, 1e-12).epsilon < 0.0213);
}

/// A weight and the centre of a unit normal in the plane.
type Centre = (f64, [f64; 2]);

/// Densities of planar mixtures on a grid: H_α by summation, from the definition.
fn planar_divergence(first: &[Centre], second: &[Centre], alpha: f64) -> f64 {
    let spacing = 0.1;
    let density = |mixture: &[Centre], x: f64, y: f64| -> f64 {
        mixture.iter().map(|(w, c)| w * (-0.5 * ((x - c[0]).powi(2) + (y - c[1]).powi(2))).exp()).sum()
    };
    let mut sum = 0.0;
    for i in -80..=80 {
        for j in -80..=80 {
            let (x, y) = (spacing * f64::from(i), spacing * f64::from(j));
            let gap = density(first, x, y) - alpha * density(second, x, y);
            if gap > 0.0 {
                sum += gap;
            }
        }
    }
    sum * spacing * spacing / (2.0 * std::f64::consts::PI)
}

/// Two points of the plane.
type Two = ([f64; 2], [f64; 2]);

/// A point of the disc of the given radius.
fn disc(radius: f64) -> impl Strategy<Value = [f64; 2]> {
    (0.0..1.0_f64, 0.0..std::f64::consts::TAU).prop_map(move |(r, a)| {
        let r = radius * r.sqrt();
        [r * a.cos(), r * a.sin()]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn fixed_size_samples_never_exceed_the_symmetric_pair(
        rate in 0.02..0.9_f64, others in prop::collection::vec(disc(1.0), 3), mine in prop::collection::vec(disc(1.0), 2),
        theirs in prop::collection::vec(disc(1.0), 2), epsilon in -1.0..1.5_f64,
    ) {
        // M₀, M₁, M₁′: mixtures with centres in the unit disc, so at most 2 apart.
        let mix = |with: &[[f64; 2]]| -> Vec<Centre> {
            let absent = others.iter().map(|c| ((1.0 - rate) / 3.0, *c));
            absent.chain(with.iter().map(|c| (rate / 2.0, *c))).collect()
        };
        let attained = planar_divergence(&mix(&mine), &mix(&theirs), epsilon.exp());
        let bound = profile::delta(Pair::Symmetric { rate, shift: 2.0 }, epsilon).unwrap();
        prop_assert!(attained <= bound + 1e-6, "{attained} {bound}");
    }

    #[test]
    fn poisson_mixtures_never_exceed_the_opposed_pair(
        rate in 0.02..0.5_f64, centres in prop::collection::vec((disc(0.8), disc(0.8)), 3), epsilon in -1.0..1.5_f64,
    ) {
        // Bin(2, rate) kept pairs, each of norm at most 0.8.
        let weights = [(1.0 - rate).powi(2), 2.0 * rate * (1.0 - rate), rate.powi(2)];
        let mix = |pick: fn(&Two) -> [f64; 2]| -> Vec<Centre> {
            (0..3).map(|k| (weights[k], pick(&centres[k]).map(|x| x * k as f64))).collect()
        };
        let attained = planar_divergence(&mix(|c| c.0), &mix(|c| c.1), epsilon.exp());
        let bound = profile::delta(Pair::PoissonPairs { partners: 2, rate, radius: 0.8 }, epsilon).unwrap();
        prop_assert!(attained <= bound + 1e-6, "{attained} {bound}");
    }

    #[test]
    fn epsilon_is_monotone(
        records in 20_u64..2000, times in 2_u64..3000, multiplier in 0.7..6.0_f64, log_delta in -30.0..-7.0_f64,
    ) {
        let at = |batch: u64, times: u64, multiplier: f64, target: f64| {
            epsilon_for(&fixed(batch, records, times, multiplier), delta(target)).unwrap().0.get()
        };
        let target = log_delta.exp();
        let here = at(2, times, multiplier, target);
        prop_assert!(here >= 0.0 && here.is_finite());
        prop_assert!(at(2, 2 * times, multiplier, target) >= here * (1.0 - 1e-3));
        prop_assert!(at(4, times, multiplier, target) >= here * (1.0 - 1e-3));
        prop_assert!(at(2, times, 1.2 * multiplier, target) <= here * (1.0 + 1e-3));
        prop_assert!(at(2, times, multiplier, 3.0 * target) <= here * (1.0 + 1e-3));
        // Dominance between pairs.
        let rate = 2.0 / records as f64;
        let value = |pair: Pair| contour::epsilon(&[Term { pair, count: times }], target, 1e-8).map(|v| v.epsilon);
        for pair in [Pair::Remove { rate, shift: 1.0 / multiplier }, Pair::PlusMinus { rate, radius: 0.5 / multiplier }] {
            if let Ok(smaller) = value(pair) {
                prop_assert!(smaller <= here * (1.0 + 1e-6), "{pair:?} {smaller} {here}");
            }
        }
    }

    #[test]
    fn order_and_splitting_change_nothing(
        first in 1_u64..500, second in 1_u64..500, multiplier in 0.8..4.0_f64, other in 1.0..4.0_f64,
    ) {
        let step = |times: u64| Release::Gaussian {
            noise_multiplier: multiplier, sampling: Sampling::FixedSize { batch: 2, records: 200 }, times,
        };
        let rest = Release::Gaussian { noise_multiplier: 4.0 * other, sampling: Sampling::None, times: 3 };
        let of = |parts: Vec<Release>| {
            let event = Event::new(Adjacency::ReplaceOne, Release::Sequence { parts }).unwrap();
            epsilon_for(&event, delta(1e-6)).unwrap().0
        };
        let whole = of(vec![step(first + second), rest.clone()]);
        prop_assert_eq!(whole, of(vec![rest.clone(), step(first + second)]));
        prop_assert_eq!(whole, of(vec![step(second), rest, step(first)]));
    }

    #[test]
    fn heterogeneous_composition_is_the_product_of_its_parts(
        rate in 0.005..0.2_f64, shift in 0.2..1.5_f64, radius in 0.1..1.0_f64, times in 5_u64..200, gaussian in 0.05..0.5_f64,
    ) {
        let terms = [
            Term { pair: Pair::Symmetric { rate, shift }, count: times },
            Term { pair: Pair::PlusMinus { rate, radius }, count: 2 * times },
            Term { pair: Pair::Gaussian { shift: gaussian }, count: 1 },
        ];
        // log M adds up, and the certificate agrees with the contour that uses the sum.
        let together = Moments::new(&terms, 1e-20, 0.0).unwrap().cumulants(3.0).value;
        let apart: f64 = terms.iter().map(|t| Moments::new(&[*t], 1e-20, 0.0).unwrap().cumulants(3.0).value).sum();
        prop_assert!((together - apart).abs() <= 1e-13 * apart);
        let value = contour::epsilon(&terms, 1e-6, 1e-9).unwrap().epsilon;
        let moments = rdp::moments(&terms, 1e-6).unwrap();
        let first = rdp::epsilon(&moments, 1e-6);
        let bound = composition::certificate(&terms, 1e-6, &moments, first).unwrap();
        prop_assert!(bound >= value * (1.0 - 1e-9) && bound <= value * (1.0 + 2e-3), "{value} {bound}");
    }

    #[test]
    fn certificate_bounds_the_contour(
        log_rate in -6.0..-0.3_f64, shift in 0.05..2.5_f64, log_times in 1.0..12.0_f64, log_delta in -28.0..-9.0_f64,
    ) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
        let count = log_times.exp() as u64 + 1;
        let terms = [Term { pair: Pair::Symmetric { rate: log_rate.exp(), shift }, count }];
        let bound = composition::epsilon(&terms, delta(log_delta.exp())).unwrap().value;
        prop_assert!(bound >= 0.0);
        if let Ok(value) = contour::epsilon(&terms, log_delta.exp(), 1e-7) {
            prop_assert!(bound >= value.epsilon * (1.0 - 1e-6), "{bound} {value:?}");
            // Where ε is in the hundreds the grid is as fine as memory allows.
            let excess = if value.epsilon < 50.0 { 5e-3 } else { 3e-2 };
            prop_assert!(bound <= value.epsilon * (1.0 + excess) + 1e-9, "{bound} {value:?}");
        }
    }

    #[test]
    fn masses_are_those_of_distributions(log_rate in -9.0..-0.1_f64, shift in 0.02..3.0_f64, spacing in 0.01..0.2_f64) {
        let rate = log_rate.exp();
        for pair in [
            Pair::Symmetric { rate, shift }, Pair::Remove { rate, shift }, Pair::Add { rate, shift },
            Pair::PlusMinus { rate, radius: 0.5 * shift }, Pair::Gaussian { shift },
            Pair::PoissonPairs { partners: 50, rate: 0.05 * rate, radius: 0.5 * shift },
        ] {
            let losses = discretise::discretise(pair, grid(spacing, 1e-18)).unwrap();
            let total: f64 = losses.finite.iter().map(|one| one.1).sum::<f64>() + losses.infinite;
            prop_assert!((total - 1.0).abs() < 1e-12, "{pair:?}: P has mass {total}");
            let reversed: f64 = losses.finite.iter().map(|(index, m)| m * (-spacing * index).exp()).sum();
            prop_assert!((reversed - 1.0).abs() < 1e-9, "{pair:?}: Q has mass {reversed}");
        }
    }
}

/// A grid as a certificate's, but for the spacing.
fn grid(spacing: f64, tail: f64) -> Grid {
    Grid { spacing, tail, target: 1e-6, share: 1.0, widening: pld::WIDENING, rounding: Rounding::Up }
}

/// δ at ε of one step over pairs that are kept independently, by adding up densities on a fine grid.
fn added_up(partners: u64, rate: f64, radius: f64, epsilon: f64) -> f64 {
    let mut weights = vec![(partners as f64 * (-rate).ln_1p()).exp()];
    for k in 0..12 {
        let last = weights[weights.len() - 1];
        weights.push(last * (partners as f64 - f64::from(k)) / (f64::from(k) + 1.0) * rate / (1.0 - rate));
    }
    let density = |x: f64| libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
    let step = 1e-3;
    let mut sum = 0.0;
    for i in -20_000..60_000 {
        let x = f64::from(i) * step;
        let mixture = |sign: f64| -> f64 {
            weights.iter().enumerate().map(|(k, w)| w * density(x - sign * k as f64 * radius)).sum()
        };
        sum += pairdp_units::directed::larger(mixture(1.0) - epsilon.exp() * mixture(-1.0), 0.0) * step;
    }
    sum
}

/// Among very many terms some are so far away that their factors overflow; a δ that is not a number passed for one below any target,
/// and ε was 0.
#[test]
fn one_step_over_many_rare_pairs_has_its_delta() {
    for (records, expected, multiplier) in [(80_u64, 0.5, 0.7496), (500, 0.5, 0.3), (80, 2.0, 0.35)] {
        let n = records as f64;
        let rate = expected / (n * (n - 1.0) / 2.0);
        let pair = Pair::PoissonPairs { partners: records - 1, rate, radius: 1.0 / multiplier };
        for epsilon in [0.1, 1.0, 3.0] {
            let (found, naive) = (
                profile::delta(pair, epsilon).unwrap(),
                added_up(records - 1, rate, 1.0 / multiplier, epsilon),
            );
            assert!((found / naive - 1.0).abs() < 1e-5, "{found} {naive}");
            let back = profile::epsilon(pair, found).unwrap();
            assert!((back / epsilon - 1.0).abs() < 1e-6, "{back} {epsilon}");
        }
    }
}

/// Where δ hardly falls with ε, noise is found by δ: forty times as much was taken.
#[test]
fn noise_for_few_steps_over_rare_pairs_is_not_far_too_large() {
    let sampling = Sampling::PoissonPairs { records: 500, expected_pairs: 0.5 };
    let release = Release::Gaussian { noise_multiplier: 1.0, sampling, times: 2 };
    let event = Event::new(Adjacency::ReplaceOne, release).unwrap();
    let noise = |epsilon| calibrate::noise_multiplier(&event, Budget::new(epsilon, 1e-3).unwrap()).unwrap();
    let (strict, loose) = (noise(0.1), noise(1.0));
    assert!(loose < strict && strict < 1.5 * loose, "{strict} {loose}");
}
