use super::*;
use proptest::prelude::*;

const BOTH: [Spacing; 2] = [Spacing::Coarse, Spacing::Fine];

fn layout(spacing: Spacing) -> Layout {
    let category = Block::Category { at: 1, width: 3 };
    Layout::new(spacing, vec![Block::Number { at: 0 }, category, Block::NumberOrMissing { at: 4 }])
}

fn vector(spacing: Spacing, row: &[f64]) -> Vec<f64> {
    let layout = layout(spacing);
    let target = if row[1] > 0.0 { 1.0 } else { -1.0 };
    KnotSums::new(&layout, row, row.len(), &[target], &Strata::plain(1), Par::Sequential)
        .query(&layout, false)
        .unwrap()
}

/// A cell at a knot, between two, beyond the range, no number; each category, none; missing or not.
fn row() -> impl Strategy<Value = Vec<f64>> {
    let number = || {
        prop_oneof![
            (0..Spacing::Fine.knots()).prop_map(|k| Spacing::Fine.positions()[k]),
            (0..Spacing::Coarse.knots()).prop_map(|k| Spacing::Coarse.positions()[k]),
            -1.2..1.2_f64,
            Just(f64::NAN),
            Just(-0.0),
            Just(f64::INFINITY)
        ]
    };
    (number(), 0..4_usize, number(), any::<bool>()).prop_map(|(a, category, b, missing)| {
        let mut row = vec![a, 0.0, 0.0, 0.0, b, f64::from(u8::from(missing))];
        if category < 3 {
            row[1 + category] = 1.0;
        }
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn no_record_moves_the_sums_further_than_claimed(a in row(), b in row()) {
        for spacing in BOTH {
            let (a, b) = (vector(spacing, &a), vector(spacing, &b));
            let apart = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            prop_assert!(apart <= sensitivity(2, 1));
            let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>();
            prop_assert!(apart <= sensitivity_l1(2, 1));
        }
    }

    #[test]
    fn weights_are_shares_that_keep_the_number(x in -1.0..1.0_f64) {
        for spacing in BOTH {
            let weights = vector(spacing, &[x, 0.0, 0.0, 0.0, 0.0, 1.0]);
            let own = &weights[..spacing.knots()];
            let at: f64 = own.iter().zip(spacing.positions()).map(|(weight, knot)| weight * knot).sum();
            prop_assert!((at - x).abs() < 1e-9);
            prop_assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            prop_assert!(weights.iter().all(|weight| *weight >= 0.0));
        }
    }

    /// One record more, where their number is released too.
    #[test]
    fn a_record_more_moves_no_further(a in row()) {
        let layout = layout(Spacing::Fine);
        let query = |targets: &[f64]| {
            KnotSums::new(&layout, &a, a.len(), targets, &Strata::plain(targets.len()), Par::Sequential)
                .query(&layout, true)
                .unwrap()
        };
        let (with, without) = (query(&[1.0]), query(&[]));
        let apart = with.iter().zip(&without).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        prop_assert!(apart <= sensitivity(2, 1));
        let apart = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).sum::<f64>();
        prop_assert!(apart <= sensitivity_l1(2, 1));
    }
}

/// Every record twice under one id is every record once.
#[test]
fn a_person_with_a_record_twice_has_it_once() {
    let blocks = vec![Block::Number { at: 0 }, Block::Category { at: 1, width: 2 }, Block::Times];
    let layout = Layout::new(Spacing::Fine, blocks);
    let rows = [[0.31, 1.0, 0.0], [-0.77, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let targets = [1.2, -1.7, 2.0];
    let plain = KnotSums::new(&layout, &rows.concat(), 3, &targets, &Strata::plain(3), Par::Sequential);
    let doubled: Vec<f64> = rows.iter().flat_map(|row| [*row, *row].concat()).collect();
    let both: Vec<f64> = targets.iter().flat_map(|target| [*target; 2]).collect();
    let strata = Strata::of_persons(&[2; 6], 3);
    let persons = KnotSums::new(&layout, &doubled, 3, &both, &strata, Par::Sequential);
    assert_eq!(plain.query(&layout, true).unwrap(), persons.query(&layout, true).unwrap());
}

/// A record's time and event count as a column of numbers, whatever the number is that stands for them.
#[test]
fn a_record_is_in_one_cell_of_time() {
    let knots = Spacing::Coarse.knots();
    let layout = Layout::new(Spacing::Coarse, vec![Block::Number { at: 0 }, Block::Times]);
    assert_eq!((layout.counts(), layout.times()), ((2, 0), Some(knots)));
    let sums = |row: f64, target: f64| {
        let sums = KnotSums::new(&layout, &[row], 1, &[target], &Strata::plain(1), Par::Sequential);
        sums.query(&layout, false).unwrap()
    };
    let (a, b) = (sums(-1.0, 1.0), sums(1.0, -2.0));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    assert!(apart <= sensitivity(2, 0) && apart > sensitivity(2, 0) * (1.0 - 1e-12), "{apart}");
    let cells = [
        (1.0, TIME_BINS),
        (-1.0, 0),
        (1.124, TIME_BINS),
        (1.125, TIME_BINS + 1),
        (-1.99, TIME_BINS - 1),
        (2.0, TIME_CELLS - 1),
        (-2.0, TIME_BINS - 1),
        (f64::NAN, 0),
        (9.0, TIME_CELLS - 1),
    ];
    for (target, cell) in cells {
        assert_eq!(time_cell(target), cell, "{target}");
        let own = sums(0.0, target);
        assert!(own[knots..knots + TIME_CELLS].iter().enumerate().all(|(k, v)| (*v > 0.5) == (k == cell)));
    }
}

/// The target of a regression counts as a column of numbers beside the label's own coordinate, and attains the bound.
#[test]
fn a_target_with_knots_moves_the_sums_as_a_column_does() {
    let layout = Layout::new(Spacing::Fine, vec![Block::Number { at: 0 }, Block::Target]);
    assert_eq!((layout.counts(), layout.target()), ((2, 0), Some(Spacing::Fine.knots())));
    let sums = |row: f64, target: f64| {
        let sums = KnotSums::new(&layout, &[row], 1, &[target], &Strata::plain(1), Par::Sequential);
        sums.query(&layout, false).unwrap()
    };
    let places = [-1.0, -0.99, -0.3, 0.0, 0.001, 0.5, 1.0, 7.0, f64::NAN];
    let all = || places.iter().flat_map(|x| places.map(|y| (*x, y)));
    let (mut most, mut most_l1) = (0.0, 0.0);
    for ((a, b), (c, d)) in all().flat_map(|one| all().map(move |other| (one, other))) {
        let (one, other) = (sums(a, b), sums(c, d));
        let off = || one.iter().zip(&other).map(|(x, y)| x - y);
        most = larger(most, off().map(|v| v * v).sum::<f64>().sqrt());
        most_l1 = larger(most_l1, off().map(f64::abs).sum());
    }
    assert!((most / sensitivity(2, 0) - 1.0).abs() < 1e-12, "{most}");
    assert!(most_l1 <= sensitivity_l1(2, 0) && most_l1 > 0.99 * sensitivity_l1(2, 0), "{most_l1}");
}

/// Two records at different knots, in different categories, one of them missing: the bound is attained.
#[test]
fn the_sensitivity_is_attained() {
    for spacing in BOTH {
        let a = vector(spacing, &[-1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        let b = vector(spacing, &[0.5, 0.0, 1.0, 0.0, 0.25, 0.0]);
        let apart = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let claimed = sensitivity(2, 1);
        assert!((apart / claimed - 1.0).abs() < 1e-12, "{apart} {claimed}");
    }
}

/// At, between, next to and beyond knots: the place is what a search finds.
#[test]
fn a_place_is_what_a_search_finds() {
    for spacing in BOTH {
        let knots = Knots::new(spacing);
        let at = &knots.at;
        let beside = at.iter().flat_map(|knot| [*knot, knot.next_up(), knot.next_down(), knot + 1e-3]);
        for x in beside.chain([-2.0, 2.0, f64::INFINITY, f64::NEG_INFINITY, -0.0]) {
            let inside = if x > 1.0 { 1.0 } else { larger(x, -1.0) };
            let found = at.partition_point(|knot| *knot <= inside).clamp(1, at.len() - 1) - 1;
            assert_eq!(knots.place(x).map(|(left, _)| left), Some(found), "{x}");
        }
        assert_eq!(knots.place(f64::NAN), None);
    }
}

#[test]
fn knots_increase_and_lie_where_columns_have_spikes() {
    for (spacing, stretch) in [(Spacing::Coarse, 1.0 / 16.0), (Spacing::Fine, 1.0 / 64.0)] {
        let knots = spacing.positions();
        assert!(knots.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((knots.len(), knots[0], knots[knots.len() - 1]), (spacing.knots(), -1.0, 1.0));
        for spike in [-1.0, 0.0, 1.0] {
            assert!(knots.contains(&spike));
            let near = knots.iter().filter(|knot| (*knot - spike).abs() <= stretch).count();
            assert_eq!(near, if spike == 0.0 { 15 } else { 8 });
        }
    }
}

#[test]
fn parts_add_up_in_any_order() {
    let rows: Vec<f64> = (0..3000).flat_map(|i| [f64::from(i % 97) / 48.0 - 1.0, f64::from(i % 2)]).collect();
    let targets: Vec<f64> = (0..3000).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let blocks = vec![Block::Number { at: 0 }, Block::Category { at: 1, width: 1 }];
    let layout = Layout::new(Spacing::Coarse, blocks);
    let plain = Strata::plain;
    let whole = KnotSums::new(&layout, &rows, 2, &targets, &plain(3000), Par::Parallel);
    let part = |range: std::ops::Range<usize>| {
        let own = &rows[2 * range.start..2 * range.end];
        KnotSums::new(&layout, own, 2, &targets[range.clone()], &plain(range.len()), Par::Sequential)
    };
    let mut sum = part(600..3000);
    sum.merge(&part(0..1)).unwrap();
    sum.merge(&part(1..600)).unwrap();
    assert_eq!(sum, whole);
    let query = whole.query(&layout, true).unwrap();
    assert_eq!(query[query.len() - 2..], [1000.0, 3000.0 * count_weight(1, 1)]);
    // A cap leaves out what is beyond it.
    assert_eq!(KnotSums::new(&layout, &rows, 2, &targets, &plain(600), Par::Parallel), part(0..600));
}
