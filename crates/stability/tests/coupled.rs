//! Neighbouring tables, the same indices: real distances against claimed ones, thousands of times.
//!
//! Seeds are fixed, so a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod common;

use common::{Descent, Draws, LOSSES, Loss, Plan, Record, combine, distance};
use pairdp_stability::realised::{
    full_batch_pairs, full_batch_records, history_path, localized_phases, one_pass, pair_path, record_path,
};
use pairdp_stability::{Geometry, Output, Rates, Regularity, Rule};
use std::collections::BTreeMap;

/// What is claimed for each record.
type Claim = Box<dyn Fn(&Geometry, &[f64], usize, &Plan, Output) -> Vec<f64>>;

struct Case {
    descent: Descent,
    records: Vec<Record>,
    output: Output,
}

/// Random cases, and every third one an extreme: aligned records and a loss that adds shifts up.
fn draw_case(draws: &mut Draws, plan: impl Fn(&mut Draws, usize) -> Plan, constant_rate: bool) -> Case {
    let n = 3 + draws.below(8);
    let plan = plan(draws, n);
    let steps = plan.n_steps(n);
    let aligned = draws.below(3) == 0;
    let loss = if aligned {
        [Loss::Linear, Loss::Hinge, Loss::Logistic][draws.below(3)]
    } else {
        LOSSES[draws.below(5)]
    };
    let records = (0..n)
        .map(|k| match (aligned, loss) {
            (true, Loss::Linear) => Record { x: [1.0, 0.0, 0.0], label: 1.0 },
            // Negatives at one end; the replaced record will come from the other side.
            (true, _) => Record { x: [1.0, 0.0, 0.0], label: if k == 0 { 1.0 } else { -1.0 } },
            _ => draws.record(),
        })
        .collect();
    let rate = draws.scale(0.01, 2.0);
    let rates: Vec<f64> =
        (0..steps).map(|_| if constant_rate { rate } else { rate * draws.scale(0.3, 1.0) }).collect();
    // A ridge no larger than steps allow for losses with kinks.
    let ridge = if draws.below(2) == 0 { 0.0 } else { draws.scale(0.01, 1.0) / rate };
    let radius = if aligned { 1e3 } else { draws.scale(0.2, 20.0) };
    let output =
        [Output::Last, Output::Average, Output::AverageWithStart, Output::Suffix(1 + draws.below(steps))]
            [draws.below(4)];
    Case { descent: Descent { loss, plan, rates, ridge, radius }, records, output }
}

/// Runs cases; returns the largest ratio of real to claimed distance, over all and for each rule.
fn check(
    seed: u64,
    cases: usize,
    constant_rate: bool,
    pointwise: bool,
    plan: impl Fn(&mut Draws, usize) -> Plan,
    claim: &Claim,
) -> (f64, BTreeMap<Rule, f64>) {
    let mut draws = Draws::new(seed);
    let mut rules = BTreeMap::new();
    for number in 0..cases {
        let case = draw_case(&mut draws, &plan, constant_rate);
        let Descent { loss, plan, rates, ridge, radius } = &case.descent;
        let geometry = if pointwise { loss.record_geometry(*radius) } else { loss.pair_geometry(*radius) }
            .with_ridge(*ridge)
            .unwrap();
        let best =
            rules.entry(pairdp_stability::Step::new(&geometry, rates[0]).unwrap().rule()).or_insert(0.0);
        let claimed = claim(&geometry, rates, case.records.len(), plan, case.output);
        let here = combine(&case.descent.run(&case.records), case.output);
        for attempt in 0..5 {
            let r = if attempt == 0 { 0 } else { draws.below(case.records.len()) };
            let mut neighbour = case.records.clone();
            neighbour[r] = match attempt {
                0 | 1 => Record { x: [-1.0, 0.0, 0.0], label: -neighbour[r].label },
                2 => Record { x: neighbour[r].x.map(|v| -v), label: neighbour[r].label },
                _ => draws.record(),
            };
            let there = combine(&case.descent.run(&neighbour), case.output);
            let real = distance(&here, &there);
            assert!(
                real <= claimed[r] * (1.0 + 1e-9) + 1e-12,
                "case {number}: record {r} moved {real}, claimed {}: {:?}, {:?}",
                claimed[r],
                case.descent,
                case.output
            );
            // Ratios of numbers near the rounding of parameters say nothing.
            if claimed[r] > 1e-6 && real / claimed[r] > *best {
                *best = real / claimed[r];
            }
        }
    }
    assert!(rules.values().all(|&ratio| ratio > 0.4), "{rules:?}");
    let best = rules.values().fold(0.0, |best, &ratio| if ratio > best { ratio } else { best });
    (best, rules)
}

fn rates_of(rates: &[f64]) -> Rates<'_> {
    if rates.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits()) {
        Rates::Constant(rates[0])
    } else {
        Rates::Each(rates)
    }
}

fn history_plan(draws: &mut Draws, n: usize) -> Plan {
    let count = 2 + draws.below(3 * n);
    Plan::History(draws.indices(n, count))
}

fn pairs_plan(draws: &mut Draws, n: usize) -> Plan {
    let count = 1 + draws.below(3 * n);
    Plan::Pairs(draws.pairs(n, count))
}

fn records_plan(draws: &mut Draws, n: usize) -> Plan {
    let count = 1 + draws.below(3 * n);
    Plan::Records(draws.indices(n, count))
}

#[test]
fn history_descent_never_exceeds_its_claim() {
    for constant in [true, false] {
        let claim: Claim = Box::new(|geometry, rates, n, plan, output| {
            let Plan::History(indices) = plan else { unreachable!() };
            history_path(geometry, indices, n, rates_of(rates), output).unwrap().per_record().to_vec()
        });
        let (best, rules) = check(1, 4000, constant, false, history_plan, &claim);
        assert!(best > 0.999, "{best}");
        assert_eq!(rules.len(), 5);
    }
}

#[test]
fn pair_descent_never_exceeds_its_claim() {
    for constant in [true, false] {
        let claim: Claim = Box::new(|geometry, rates, n, plan, output| {
            let Plan::Pairs(pairs) = plan else { unreachable!() };
            pair_path(geometry, pairs, n, rates_of(rates), output).unwrap().per_record().to_vec()
        });
        let (best, rules) = check(2, 4000, constant, false, pairs_plan, &claim);
        assert!(best > 0.999, "{best}");
        assert_eq!(rules.len(), 5);
    }
}

#[test]
fn record_descent_never_exceeds_its_claim() {
    for constant in [true, false] {
        let claim: Claim = Box::new(|geometry, rates, n, plan, output| {
            let Plan::Records(indices) = plan else { unreachable!() };
            record_path(geometry, indices, n, rates_of(rates), output).unwrap().per_record().to_vec()
        });
        let (best, rules) = check(3, 4000, constant, true, records_plan, &claim);
        assert!(best > 0.999, "{best}");
        assert!(rules.len() >= 4);
    }
}

#[test]
fn matching_epochs_never_exceed_their_claim() {
    let claim: Claim = Box::new(|geometry, rates, n, plan, output| {
        let Plan::Pairs(pairs) = plan else { unreachable!() };
        pair_path(geometry, pairs, n, rates_of(rates), output).unwrap().per_record().to_vec()
    });
    let plan = |draws: &mut Draws, n: usize| {
        let epochs = 1 + draws.below(5);
        Plan::Pairs(draws.matchings(n, epochs))
    };
    for constant in [true, false] {
        let (best, _) = check(4, 4000, constant, false, plan, &claim);
        assert!(best > 0.9, "{best}");
    }
}

#[test]
fn full_batches_never_exceed_their_claim() {
    let pairs: Claim = Box::new(|geometry, rates, n, _, output| {
        vec![full_batch_pairs(geometry, n, rates.len(), rates_of(rates), output).unwrap().sensitivity; n]
    });
    let records: Claim = Box::new(|geometry, rates, n, _, output| {
        vec![full_batch_records(geometry, n, rates.len(), rates_of(rates), output).unwrap().sensitivity; n]
    });
    for constant in [true, false] {
        let plan = |draws: &mut Draws, _: usize| Plan::AllPairs(1 + draws.below(12));
        let (best, rules) = check(5, 2000, constant, false, plan, &pairs);
        assert!(best > 0.999, "{best}");
        assert_eq!(rules.len(), 5);
        let plan = |draws: &mut Draws, _: usize| Plan::AllRecords(1 + draws.below(20));
        let (best, _) = check(6, 2000, constant, true, plan, &records);
        assert!(best > 0.999, "{best}");
    }
}

#[test]
fn one_pass_never_exceeds_its_claim() {
    let claim: Claim = Box::new(|geometry, rates, n, _, output| {
        vec![one_pass(geometry, n, rates_of(rates), output).unwrap().sensitivity; n]
    });
    for constant in [true, false] {
        let (best, rules) = check(7, 4000, constant, false, |_, _| Plan::OnePass, &claim);
        assert!(best > 0.999, "{best}");
        assert_eq!(rules.len(), 5);
    }
}

#[test]
fn phases_never_exceed_their_claim() {
    // One phase of each kind: later phases start from what was released.
    let descent: Claim = Box::new(|geometry, rates, n, _, output| {
        vec![full_batch_pairs(geometry, n, n, Rates::Constant(rates[0]), output).unwrap().sensitivity; n]
    });
    let (best, _) = check(8, 2000, true, false, |_, n| Plan::AllPairs(n), &descent);
    assert!(best > 0.999, "{best}");

    let local: Claim = Box::new(|geometry, rates, n, _, output| {
        let phase = localized_phases(2 * n, 4.0 * rates[0]).unwrap()[0];
        assert_eq!((phase.n_records, phase.n_steps), (n, n - 1));
        let pairs: Vec<(u32, u32)> = (0..).zip(1..).take(phase.n_steps).collect();
        vec![pair_path(geometry, &pairs, n, Rates::Constant(rates[0]), output).unwrap().sensitivity(); n]
    });
    let neighbours = |_: &mut Draws, n: usize| {
        let n = u32::try_from(n).unwrap();
        Plan::Pairs((1..n).map(|k| (k, k - 1)).collect())
    };
    let (best, _) = check(9, 4000, true, false, neighbours, &local);
    assert!(best > 0.4, "{best}");
}

#[test]
fn a_ridge_on_a_linear_loss_attains_the_contraction() {
    let (rate, ridge, n) = (0.3, 0.4, 6);
    let geometry = Loss::Linear.pair_geometry(1e6).with_ridge(ridge).unwrap();
    let descent =
        Descent { loss: Loss::Linear, plan: Plan::AllPairs(40), rates: vec![rate; 40], ridge, radius: 1e6 };
    let ones = vec![Record { x: [1.0, 0.0, 0.0], label: 1.0 }; n];
    let mut other = ones.clone();
    other[2].label = -1.0;
    for output in [Output::Last, Output::Average, Output::AverageWithStart, Output::Suffix(7)] {
        let real = distance(&combine(&descent.run(&ones), output), &combine(&descent.run(&other), output));
        let bound = full_batch_pairs(&geometry, n, 40, Rates::Constant(rate), output).unwrap();
        assert_eq!(bound.rule, Rule::StronglyConvex);
        assert!(real <= bound.sensitivity && real > bound.sensitivity * (1.0 - 1e-12));
    }
    let closed = 4.0 / (ridge * 6.0) * (1.0 - (1.0 - rate * ridge).powi(40));
    let last = full_batch_pairs(&geometry, n, 40, Rates::Constant(rate), Output::Last).unwrap();
    assert!((last.sensitivity / closed - 1.0).abs() < 1e-12);
}

#[test]
fn a_smoothness_constant_that_is_too_small_makes_the_smooth_rule_false() {
    // Why step sizes are checked and the fall-back is loud. Pairs pull both ways, so that 0 is a minimum with curvature ⅛;
    // at η = 50 it repels, and a tiny difference grows fivefold at each step.
    let (n, steps, rate, radius) = (200, 4, 50.0, 1e3);
    let records: Vec<Record> = (0..n)
        .map(|k| Record {
            x: [if k % 2 == 0 { 1.0 } else { -1.0 }, 0.0, 0.0],
            label: if k % 4 < 2 { 1.0 } else { -1.0 },
        })
        .collect();
    let mut other = records.clone();
    other[0].x = [-1.0, 0.0, 0.0];
    let loss = Loss::Logistic;
    let descent = Descent { loss, plan: Plan::AllPairs(steps), rates: vec![rate; steps], ridge: 0.0, radius };
    let real = distance(
        &combine(&descent.run(&records), Output::Last),
        &combine(&descent.run(&other), Output::Last),
    );
    let claim = |constant| {
        let geometry = Geometry::new(2.0, 2.0, 2.0, Regularity::Smooth { constant }).unwrap();
        full_batch_pairs(&geometry, n, steps, Rates::Constant(rate), Output::Last).unwrap()
    };
    let (wrong, right) = (claim(0.03), claim(0.26));
    assert_eq!((wrong.rule, right.rule), (Rule::Smooth, Rule::SmoothStepTooLong));
    assert!(real > 1.5 * wrong.sensitivity, "{real} {}", wrong.sensitivity);
    assert!(real <= right.sensitivity);
}
