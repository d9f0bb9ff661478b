//! Sensitivities against independent values, closed forms and each other.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use common::Draws;
use pairdp_stability::realised::{
    full_batch_pairs, halving_phases, history_path, localized_phases, one_pass, one_pass_online_factor,
    pair_path, record_path,
};
use pairdp_stability::{Geometry, Output, Rates, Regularity, StabilityError, Step, Touch};

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a / b - 1.0).abs() <= relative
}

fn lipschitz(regularity: Regularity) -> Geometry {
    Geometry::lipschitz(1.0, regularity).unwrap()
}

const JUMPS: Regularity = Regularity::Jumps;
const SMOOTH: Regularity = Regularity::Smooth { constant: 0.5 };

/// Sixty indices below 20 from a congruential generator.
fn sixty_indices() -> Vec<u32> {
    let mut state = 12345_u64;
    (0..60)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from((state >> 33) % 20).unwrap()
        })
        .collect()
}

#[test]
fn history_path_equals_an_independent_implementation() {
    // Values from a few lines of Python that follow the recurrence literally.
    let indices = sixty_indices();
    assert_eq!(indices[..6], [4, 3, 2, 1, 0, 10]);
    let path = |geometry: &Geometry, output| {
        history_path(geometry, &indices, 20, Rates::Constant(0.1), output).unwrap()
    };
    for (geometry, last, average, first_touched) in [
        (lipschitz(JUMPS), 2.798_605_357_173_934, 1.811_592_544_465_802_3, 2.271_675_999_864_438),
        (
            lipschitz(JUMPS).with_ridge(0.5).unwrap(),
            1.073_258_203_463_878_2,
            0.839_662_304_851_739_6,
            0.762_429_630_015_117_4,
        ),
        (lipschitz(SMOOTH), 2.259_584_724_102_695, 1.492_918_057_436_028_3, 1.441_711_680_659_918_4),
        (
            lipschitz(SMOOTH).with_ridge(0.5).unwrap(),
            0.709_279_225_633_479,
            0.608_594_047_939_005_2,
            0.335_852_067_480_449_5,
        ),
        (lipschitz(JUMPS).with_diameter(1.0).unwrap(), 1.0, 0.923_670_490_695_602_8, 1.0),
    ] {
        let ends = path(&geometry, Output::Last);
        assert!(close(ends.sensitivity(), last, 1e-12), "{} {last}", ends.sensitivity());
        assert!(close(ends.per_record()[1], first_touched, 1e-12));
        assert!(close(path(&geometry, Output::AverageWithStart).sensitivity(), average, 1e-12));
    }
}

#[test]
fn step_by_step_and_run_by_run_agree() {
    let mut draws = Draws::new(12);
    for round in 0..300 {
        let n = 2 + draws.below(30);
        let count = 1 + draws.below(300);
        let pairs = draws.pairs(n, count);
        let rate = draws.scale(0.01, 1.0);
        let rates = vec![rate; count];
        let regularity = [SMOOTH, JUMPS, Regularity::Hoelder { exponent: 0.3, constant: 1.0 }][round % 3];
        let ridge = if round % 2 == 0 { 0.0 } else { draws.scale(1e-3, 1.0) };
        let geometry = lipschitz(regularity).with_ridge(ridge).unwrap();
        for output in [Output::Last, Output::AverageWithStart, Output::Suffix(1 + draws.below(count))] {
            let steps = pair_path(&geometry, &pairs, n, Rates::Each(&rates), output).unwrap();
            let runs = pair_path(&geometry, &pairs, n, Rates::Constant(rate), output).unwrap();
            for (steps, runs) in steps.per_record().iter().zip(runs.per_record()) {
                assert!(*runs >= steps * (1.0 - 1e-10), "{runs} {steps}");
                assert!(*runs <= steps * 1.002 + 1e-12, "{runs} {steps}");
            }
        }
    }
}

#[test]
fn a_path_does_not_depend_on_how_it_is_written() {
    // A pair of records is a record drawn at a step; both follow each record's own touches.
    let mut draws = Draws::new(13);
    let pairs = draws.pairs(9, 50);
    let firsts: Vec<u32> = pairs.iter().map(|pair| if pair.0 == 3 || pair.1 == 3 { 3 } else { 0 }).collect();
    for regularity in [SMOOTH, JUMPS] {
        let geometry = lipschitz(regularity);
        let both = pair_path(&geometry, &pairs, 9, Rates::Constant(0.1), Output::Average).unwrap();
        let one = record_path(&geometry, &firsts, 9, Rates::Constant(0.1), Output::Average).unwrap();
        assert!(close(both.per_record()[3], one.per_record()[3], 1e-14));
        assert!(both.per_record()[both.worst_record()] >= both.sensitivity());
    }
}

#[test]
fn one_pass_equals_the_largest_over_records() {
    let mut draws = Draws::new(14);
    for round in 0..200 {
        let n = 2 + draws.below(25);
        let rates: Vec<f64> = (1..n).map(|_| draws.scale(0.02, 1.0)).collect();
        let regularity = [SMOOTH, JUMPS, Regularity::Hoelder { exponent: 0.3, constant: 1.0 }][round % 3];
        let ridge = if round % 2 == 0 { 0.0 } else { draws.scale(1e-3, 0.9) };
        let geometry = lipschitz(regularity).with_ridge(ridge).unwrap();
        let (mut most, mut most_average) = (0.0, 0.0);
        for record in 1..=n {
            let (mut distance, mut sum) = (0.0, 0.0);
            for k in 1..n {
                let touch = match record.cmp(&(k + 1)) {
                    std::cmp::Ordering::Equal => Touch::every(&geometry),
                    std::cmp::Ordering::Less => Touch::share(&geometry, 1.0, k as f64),
                    std::cmp::Ordering::Greater => Touch::NONE,
                };
                distance = Step::new(&geometry, rates[k - 1]).unwrap().after(distance, touch);
                sum += distance;
            }
            if distance > most {
                most = distance;
            }
            if sum > most_average {
                most_average = sum;
            }
        }
        let last = one_pass(&geometry, n, Rates::Each(&rates), Output::Last).unwrap().sensitivity;
        assert!(close(last, most, 1e-12), "{last} {most}");
        let average = one_pass(&geometry, n, Rates::Each(&rates), Output::Average).unwrap().sensitivity;
        let total = average * (n - 1) as f64;
        assert!(total >= most_average * (1.0 - 1e-12));
        if regularity == SMOOTH {
            assert!(close(total, most_average, 1e-12), "{total} {most_average}");
        }
    }
}

#[test]
fn one_pass_closed_forms() {
    // Constant steps, smooth: ηD times a harmonic number.
    let n = 200;
    let harmonic: f64 = (1..n).map(|k| 1.0 / k as f64).sum();
    let bound = one_pass(&lipschitz(SMOOTH), n, Rates::Constant(0.3), Output::Last).unwrap();
    assert!(close(bound.sensitivity, 2.0 * 0.3 * harmonic, 1e-12));

    // Online: Σ s⁻² tends to π²/6.
    assert!(close(one_pass_online_factor(100_000), 1.28255, 1e-5));
    assert!(one_pass_online_factor(100_000) < std::f64::consts::PI / 6.0_f64.sqrt());
    assert!(close(one_pass_online_factor(2), 1.0, 1e-14));
}

#[test]
fn phases_partition_the_table_and_have_closed_forms() {
    for n in 2..500 {
        let phases = halving_phases(n, 0.8).unwrap();
        assert_eq!(phases.iter().map(|phase| phase.n_records).sum::<usize>(), n);
        assert!(phases.iter().all(|phase| phase.n_records >= 2 && phase.n_steps == phase.n_records));
    }
    let phases = halving_phases(64, 0.8).unwrap();
    for phase in phases {
        let of = |regularity| {
            let (n, rates) = (phase.n_records, Rates::Constant(phase.rate));
            full_batch_pairs(&lipschitz(regularity), n, phase.n_steps, rates, Output::Average).unwrap()
        };
        let (smooth, jumps) = (of(SMOOTH), of(JUMPS));
        let m = phase.n_records as f64;
        let expected = 4.0 * phase.rate * (m + 1.0) / (2.0 * m);
        assert!(close(smooth.sensitivity, expected, 1e-12));
        let roots: f64 = (1..=phase.n_records).map(|t| (t as f64).sqrt()).sum();
        assert!(jumps.sensitivity <= expected + 2.0 * phase.rate / m * roots);
    }

    let phases = localized_phases(1000, 0.8).unwrap();
    assert!(phases.iter().map(|phase| phase.n_records).sum::<usize>() <= 1000);
    for phase in phases {
        assert_eq!(phase.n_steps, phase.n_records - 1);
        let pairs: Vec<(u32, u32)> = (0..).zip(1..).take(phase.n_steps).collect();
        let of = |regularity| {
            let rates = Rates::Constant(phase.rate);
            pair_path(&lipschitz(regularity), &pairs, phase.n_records, rates, Output::Last)
                .unwrap()
                .sensitivity()
        };
        let (smooth, jumps) = (of(SMOOTH), of(JUMPS));
        // Two touches, or one where a phase has a single step.
        let touches = if phase.n_records > 2 { 2.0 } else { 1.0 };
        assert!(close(smooth, touches * 2.0 * phase.rate, 1e-12));
        let m = phase.n_records as f64;
        assert!(jumps <= 2.0 * phase.rate * m.sqrt() + 4.0 * phase.rate);
    }
}

/// Seven epochs of disjoint pairs touch a record seven times.
#[test]
fn matchings_have_closed_forms() {
    let (n, epochs, rate) = (40, 7, 0.1);
    let pairs: Vec<(u32, u32)> = (0..epochs).flat_map(|_| (0..20).map(|k| (2 * k, 2 * k + 1))).collect();
    let of = |geometry: &Geometry| {
        pair_path(geometry, &pairs, n, Rates::Constant(rate), Output::Last).unwrap().sensitivity()
    };
    assert!(close(of(&lipschitz(SMOOTH)), 2.0 * rate * 7.0, 1e-12));
    // All other steps add their roots, at most.
    let jumps = of(&lipschitz(JUMPS));
    assert!(jumps > 2.0 * rate * 7.0 && jumps <= 2.0 * rate * (140.0_f64.sqrt() + 7.0) * 1.002, "{jumps}");
    // A ridge helps.
    assert!(of(&lipschitz(SMOOTH).with_ridge(0.5).unwrap()) < 2.0 * rate * 7.0);
}

#[test]
fn full_batch_closed_forms() {
    let pairs = |geometry: &Geometry, output| {
        full_batch_pairs(geometry, 50, 30, Rates::Constant(0.1), output).unwrap().sensitivity
    };
    assert!(close(pairs(&lipschitz(SMOOTH), Output::Last), 4.0 * 0.1 * 30.0 / 50.0, 1e-12));
    assert!(close(pairs(&lipschitz(SMOOTH), Output::Average), 4.0 * 0.1 * 15.5 / 50.0, 1e-12));
    assert!(close(pairs(&lipschitz(SMOOTH), Output::AverageWithStart), 4.0 * 0.1 * 15.0 / 50.0, 1e-12));
    assert!(close(pairs(&lipschitz(SMOOTH), Output::Suffix(10)), 4.0 * 0.1 * 25.5 / 50.0, 1e-12));
    let closed = 2.0 * 0.1 * (1.0 - 2.0 / 50.0) * 30.0_f64.sqrt() + 4.0 * 0.1 * 30.0 / 50.0;
    let jumps = pairs(&lipschitz(JUMPS), Output::Last);
    assert!(jumps <= closed && jumps > 0.5 * closed);
}

#[test]
fn nonsense_is_refused() {
    let geometry = lipschitz(JUMPS);
    let rate = Rates::Constant(0.1);
    let last = Output::Last;
    assert!(matches!(
        history_path(&geometry, &[0, 5], 5, rate, last),
        Err(StabilityError::Index { index: 5, n_records: 5 })
    ));
    assert!(matches!(history_path(&geometry, &[0], 5, rate, last), Err(StabilityError::TooFewSteps { .. })));
    assert!(matches!(
        pair_path(&geometry, &[(0, 1), (2, 2)], 5, rate, last),
        Err(StabilityError::SelfPair { index: 2, step: 1 })
    ));
    assert!(matches!(
        pair_path(&geometry, &[(0, 1)], 5, Rates::Each(&[0.1, 0.1]), last),
        Err(StabilityError::Rates { given: 2, steps: 1 })
    ));
    assert!(matches!(
        record_path(&geometry, &[0, 1], 5, rate, Output::Suffix(3)),
        Err(StabilityError::Suffix { suffix: 3, steps: 2 })
    ));
    assert!(record_path(&geometry, &[], 5, rate, last).is_err());
    assert!(one_pass(&geometry, 1, rate, last).is_err());
    assert!(full_batch_pairs(&geometry, 1, 3, rate, last).is_err());
    let huge = Geometry::lipschitz(1e308, JUMPS).err();
    assert!(huge.is_some());
    let large = Geometry::lipschitz(1e300, JUMPS).unwrap();
    assert!(matches!(
        record_path(&large, &[0; 100], 1, Rates::Constant(1e10), last),
        Err(StabilityError::Overflow)
    ));
}

#[test]
fn a_stored_geometry_is_checked_when_read() {
    let geometry = lipschitz(Regularity::Hoelder { exponent: 0.5, constant: 2.0 }).with_ridge(0.1).unwrap();
    let text = serde_json::to_string(&geometry).unwrap();
    assert_eq!(serde_json::from_str::<Geometry>(&text).unwrap(), geometry);
    let bounded = geometry.with_diameter(3.0).unwrap();
    let text = serde_json::to_string(&bounded).unwrap();
    assert_eq!(serde_json::from_str::<Geometry>(&text).unwrap(), bounded);
    for (from, to) in
        [("\"ridge\":0.1", "\"ridge\":-0.1"), ("\"exponent\":0.5", "\"exponent\":1.0"), ("3.0", "0.0")]
    {
        assert!(text.contains(from), "{text}");
        assert!(serde_json::from_str::<Geometry>(&text.replace(from, to)).is_err());
    }
    assert!(Geometry::new(2.0, 2.0, 2.0, JUMPS).unwrap().with_apart(1.9, 2.0).is_err());
    assert!(Geometry::new(f64::INFINITY, 2.0, 2.0, JUMPS).is_err());
    assert!(lipschitz(JUMPS).with_diameter(f64::NAN).is_err());
    assert!(lipschitz(JUMPS).with_ridge(f64::NAN).is_err());
}

#[test]
fn a_record_paired_with_itself_moves_twice_as_far() {
    // The loss (s + s′)w, s = ±1: one place changes a term by 2, both by 4.
    let indices = [0, 0, 1, 0, 0, 0];
    let geometry = Geometry::new(2.0, 4.0, 0.0, Regularity::Smooth { constant: 0.0 }).unwrap();
    assert!(close(geometry.replaced_twice(), 4.0, 1e-15));
    let run = |sign: f64| {
        let s = [sign, 1.0];
        let mut w = 0.0;
        for t in 1..indices.len() {
            let mean = (0..t).map(|k| s[indices[t]] + s[indices[k]]).sum::<f64>() / t as f64;
            w -= 0.1 * mean;
        }
        w
    };
    let real: f64 = (run(1.0) - run(-1.0)).abs();
    let drawn: Vec<u32> = indices.iter().map(|&k| u32::try_from(k).unwrap()).collect();
    let claim = |geometry: &Geometry| {
        history_path(geometry, &drawn, 2, Rates::Constant(0.1), Output::Last).unwrap().per_record()[0]
    };
    assert!(close(claim(&geometry), real, 1e-12), "{} {real}", claim(&geometry));
    // Counting such pairs like others would not cover it.
    assert!(claim(&geometry.with_self_pairs(2.0, 2.0).unwrap()) < 0.7 * real);
}
