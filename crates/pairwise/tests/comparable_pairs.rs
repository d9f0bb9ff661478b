//! Pairs of which it is known who failed first: the kernel against the definition, how far one record moves what it computes, and
//! what other problems it holds as special cases. `proofs/comparable_pairs.md`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par, naive};
use pairdp_pairwise::measure::{auc, concordance_index};
use pairdp_pairwise::{
    Domain, LossKind, MarginLoss, Norm, Objective, Problem, RankingForm, Records, Scored, Shares, Strata,
};
use pairdp_units::signed_time::signed_time;

fn problem(loss: MarginLoss, form: RankingForm) -> Problem {
    Problem::new(Objective::Ranking { form, loss }, Domain::Ball { radius: 1e6 }, 1.0).unwrap()
}

fn losses() -> Vec<MarginLoss> {
    LossKind::all().filter_map(|kind| kind.of_margins(1.4)).collect()
}

/// Uniform in [0, 1).
fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 53) as f64
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

fn compare(what: &str, loss: MarginLoss, rows: &[f64], times: &[f64], w: f64) {
    let problem = problem(loss, RankingForm::Comparable);
    let records = Records::with_targets(rows.to_vec(), 1, times.to_vec(), 1.0).unwrap();
    let (found, expected) = (
        kernel::gradient(problem, &records, &[w], Par::Sequential),
        naive::gradient(problem, &records, &[w]),
    );
    let largest = problem.gradient_norm_bound(w, times.len().max(2));
    let scale = norm(&expected) + 1e-3 * largest;
    assert!(difference(&found, &expected) <= 1e-11 * scale, "{what} {loss:?} n = {}", times.len());
    let stated = kernel::error_bound(problem, w, times.len().max(2), 1);
    assert!(difference(&found, &expected) <= 2.0 * stated + 1e-13 * scale, "{what} {loss:?}");
}

/// Every size up to 200, so that cuts fall on every place, and every sort of table.
#[test]
fn cutting_time_in_halves_finds_every_pair_once() {
    let mut random = Replay::from_seed(31);
    for n in 1..=200 {
        let rows: Vec<f64> = (0..n).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
        let spread: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
        let seen: Vec<bool> = (0..n).map(|_| uniform(&mut random) < 0.6).collect();
        let of = |time: &dyn Fn(usize) -> f64, event: &dyn Fn(usize) -> bool| -> Vec<f64> {
            (0..n).map(|i| signed_time(time(i), event(i), 1.0)).collect()
        };
        let tables = [
            ("no ties", of(&|i| spread[i], &|i| seen[i])),
            ("few times", of(&|i| (spread[i] * 5.0).floor() / 5.0, &|i| seen[i])),
            ("one time", of(&|_| 0.5, &|i| seen[i])),
            ("two times", of(&|i| f64::from(u8::from(seen[i])), &|i| spread[i] < 0.7)),
            ("a long run", of(&|i| if i * 8 < n { spread[i] } else { 0.9 }, &|i| seen[i])),
            ("all events", of(&|i| spread[i], &|_| true)),
            ("all censored", of(&|i| spread[i], &|_| false)),
            ("one event, first", of(&|i| i as f64 / 200.0, &|i| i == 0)),
            ("one event, last", of(&|i| i as f64 / 200.0, &|i| i + 1 == n)),
        ];
        let loss = losses()[n % losses().len()];
        for (what, times) in &tables {
            compare(what, loss, &rows, times, 1.7);
        }
        compare("equal scores", loss, &vec![0.4; n], &tables[0].1, 3.0);
    }
}

/// Where cuts are summed by boxes, counts and trees; scores spread over ten thousand.
#[test]
fn large_cuts_are_summed_by_the_kernels_of_two_classes() {
    let mut random = Replay::from_seed(32);
    let n = 3000;
    let rows: Vec<f64> = (0..n).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
    for ties in [1e9, 40.0] {
        let times: Vec<f64> = (0..n)
            .map(|_| {
                signed_time((uniform(&mut random) * ties).floor() / ties, uniform(&mut random) < 0.5, 1.0)
            })
            .collect();
        for loss in losses() {
            for w in [0.0, 2.0, 1e4] {
                compare("large", loss, &rows, &times, w);
            }
        }
    }
}

/// Early and late, all with events: positives and negatives of a ranker, to the last bit.
#[test]
fn two_times_are_two_classes() {
    let mut random = Replay::from_seed(33);
    let rows: Vec<f64> = (0..400).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
    let early: Vec<bool> = (0..400).map(|_| uniform(&mut random) < 0.3).collect();
    let times = early.iter().map(|early| signed_time(if *early { 1.0 } else { 2.0 }, true, 3.0)).collect();
    let in_time = Records::with_targets(rows.clone(), 1, times, 1.0).unwrap();
    let ranked = Records::new(rows, 1, early, 1.0).unwrap();
    for loss in losses() {
        let gradient =
            |form, records: &Records| kernel::gradient(problem(loss, form), records, &[0.9], Par::Sequential);
        let (found, expected) =
            (gradient(RankingForm::Comparable, &in_time), gradient(RankingForm::Indicator, &ranked));
        assert!(difference(&found, &expected) <= 1e-15 * norm(&expected), "{loss:?}");
    }
}

/// Turning time round, and scores, changes nothing where everybody had an event.
#[test]
fn time_reversed_is_scores_reversed() {
    let mut random = Replay::from_seed(34);
    let rows: Vec<f64> = (0..500).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
    let shares: Vec<f64> = (0..500).map(|_| (uniform(&mut random) * 64.0).floor() / 64.0).collect();
    let records = |rows: Vec<f64>, share: &dyn Fn(f64) -> f64| {
        let times = shares.iter().map(|t| signed_time(share(*t), true, 1.0)).collect();
        Records::with_targets(rows, 1, times, 1.0).unwrap()
    };
    let forth = records(rows.clone(), &|t| t);
    let back = records(rows.iter().map(|x| -x).collect(), &|t| 1.0 - t);
    for loss in losses() {
        let at = |records: &Records| {
            kernel::gradient(problem(loss, RankingForm::Comparable), records, &[1.3], Par::Sequential)
        };
        assert!(difference(&at(&forth), &at(&back)) < 1e-13 * (1.0 + norm(&at(&forth))), "{loss:?}");
    }
}

/// With events only, and no ties, C is (Kendall's τ + 1)/2; with two times it is the AUC.
#[test]
fn the_index_is_what_it_should_be_in_known_cases() {
    let mut random = Replay::from_seed(35);
    for n in [2, 3, 10, 77] {
        let scores: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
        let shares: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
        let times: Vec<f64> = shares.iter().map(|t| signed_time(*t, true, 1.0)).collect();
        let mut tau = 0.0;
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            tau -= (scores[i] - scores[j]).signum() * (shares[i] - shares[j]).signum();
        }
        let tau = tau / (n * (n - 1) / 2) as f64;
        assert!((concordance_index(&scores, &times, None).unwrap() - f64::midpoint(tau, 1.0)).abs() < 1e-12);
        let positive: Vec<bool> = shares.iter().map(|t| *t < 0.4).collect();
        let two: Vec<f64> =
            positive.iter().map(|p| signed_time(if *p { 0.2 } else { 0.6 }, true, 1.0)).collect();
        match (concordance_index(&scores, &two, None), auc(&scores, &positive)) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-14),
            (found, expected) => assert_eq!(found, expected),
        }
    }
    assert_eq!(concordance_index(&[1.0, 2.0], &[-1.5, -1.2], None), None);
}

/// One record out of the extreme of the proof, first with an event and then last: all of its pairs turn round at once, through the
/// kernel, for tables of several sizes and parameters.
#[test]
fn the_bound_is_attained_by_a_record_that_turns_its_pairs_round() {
    for n in [2, 5, 300] {
        for reach in [0.0, 0.1, 1.0, 5.0, 20.0] {
            for loss in [MarginLoss::Logistic, MarginLoss::Hinge] {
                let problem = problem(loss, RankingForm::Comparable);
                let mut furthest = 0.0;
                let steps = if n > 5 { 200 } else { 2000 };
                for step in 0..=steps {
                    let angle = f64::from(step) / f64::from(steps) * std::f64::consts::FRAC_PI_2;
                    let (sine, cosine) = angle.sin_cos();
                    let others: Vec<f64> = (1..n).flat_map(|_| [0.0, -1.0]).collect();
                    let times = |own: f64| -> Vec<f64> {
                        let others = (1..n).map(|k| signed_time(0.25 + k as f64 / (4 * n) as f64, true, 1.0));
                        [own].into_iter().chain(others).collect()
                    };
                    let gradient = |row: [f64; 2], own: f64| {
                        let rows = [row.to_vec(), others.clone()].concat();
                        let records = Records::with_targets(rows, 2, times(own), 1.0).unwrap();
                        kernel::gradient(problem, &records, &[reach, 0.0], Par::Sequential)
                    };
                    let first = gradient([-sine, cosine], signed_time(0.0, true, 1.0));
                    let last = gradient([sine, cosine], signed_time(1.0, false, 1.0));
                    let moved = difference(&first, &last);
                    furthest = if moved > furthest { moved } else { furthest };
                }
                let claimed = problem.gradient_sensitivity(reach, n).unwrap().get();
                assert!(furthest <= claimed * (1.0 + 1e-9), "{loss:?} n = {n}, R = {reach}");
                assert!(furthest >= 0.99 * claimed, "{loss:?} n = {n}, R = {reach}: {}", furthest / claimed);
            }
        }
    }
}

/// A hill-climbing adversary over whole tables of up to five records in three dimensions, with ties of times and scores, through the
/// kernel: nothing exceeds the bound.
#[test]
fn no_table_and_no_neighbour_exceed_the_bound() {
    const D: usize = 3;
    const GENES: usize = 6 * (D + 1);
    let mut random = Replay::from_seed(36);
    for loss in losses() {
        for reach in [0.0, 0.1, 1.0, 5.0, 20.0] {
            let problem = problem(loss, RankingForm::Comparable);
            let n = 2 + usize::try_from(random.next_word() % 4).unwrap();
            let claimed = problem.gradient_sensitivity(reach, n).unwrap().get();
            let measure = |genes: &[f64]| {
                let record = |k: usize| {
                    let own = &genes[k * (D + 1)..(k + 1) * (D + 1)];
                    let mut row = own[..D].to_vec();
                    pairdp_pairwise::clip_row(&mut row, 1.0);
                    (row, (1.0 + (own[D].abs() * 5.0).floor() / 8.0).copysign(own[D]))
                };
                let gradient = |first: usize| {
                    let chosen: Vec<_> = [first].into_iter().chain(1..n).map(record).collect();
                    let rows = chosen.iter().flat_map(|(row, _)| row.clone()).collect();
                    let times = chosen.iter().map(|(_, time)| *time).collect();
                    let records = Records::with_targets(rows, D, times, 1.0).unwrap();
                    kernel::gradient(problem, &records, &[reach, 0.0, 0.0], Par::Sequential)
                };
                difference(&gradient(0), &gradient(5)) / claimed
            };
            let mut best = 0.0;
            for _ in 0..6 {
                let mut genes: Vec<f64> = (0..GENES).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
                let (mut value, mut size) = (measure(&genes), 0.6);
                for round in 0..500 {
                    let mut next = genes.clone();
                    for gene in &mut next {
                        match uniform(&mut random) {
                            dice if dice > 0.95 => *gene = 2.0 * uniform(&mut random) - 1.0,
                            dice if dice > 0.6 => *gene += size * (2.0 * uniform(&mut random) - 1.0),
                            _ => {}
                        }
                    }
                    let found = measure(&next);
                    if found > value {
                        (genes, value) = (next, found);
                    } else if round % 25 == 24 {
                        size *= 0.8;
                    }
                }
                best = if value > best { value } else { best };
            }
            assert!(best <= 1.000_001, "{loss:?} at {reach}: {best}");
            assert!(best > 0.6, "{loss:?} at {reach}: the search reached {best} only");
        }
    }
}

/// One record more or less in a cut decides whether its pairs are added up one by one or by a tree: all others must not notice. 129 events
/// of which each is at the corner of the hinge with 128 later records, and the same with one of them censored before.
#[test]
fn how_a_cut_is_added_up_is_no_record_s_secret() {
    for q in [1.001, 1.01, 1.2, 1.5, 1.9] {
        let problem = problem(MarginLoss::QHinge { q }, RankingForm::Comparable);
        let gradient = |first: f64| {
            let rows = [vec![0.5; 129], vec![2.0_f64.powi(-55); 128]].concat();
            let times =
                [vec![first], vec![signed_time(0.1, true, 1.0); 128], vec![signed_time(0.9, true, 1.0); 128]];
            let records = Records::with_targets(rows, 1, times.concat(), 1.0).unwrap();
            kernel::gradient(problem, &records, &[2.0], Par::Sequential)
        };
        let (more, fewer) = (gradient(signed_time(0.1, true, 1.0)), gradient(signed_time(0.05, false, 1.0)));
        let claimed = problem.gradient_sensitivity(2.0, 257).unwrap().get();
        let moved = difference(&more, &fewer);
        assert!(moved <= claimed, "q = {q}: {moved} of {claimed}");
    }
}

/// The shares of which C is made: all tables of two and three records with three times, both states and three scores. Nothing moves
/// further than claimed, and nothing smaller would hold.
#[test]
fn no_neighbour_moves_the_shares_further_than_claimed() {
    let records: Vec<(f64, f64)> = [1.0, 1.5, 2.0, -1.0, -1.5, -2.0]
        .into_iter()
        .flat_map(|time| [-1.0, 0.0, 1.0].map(|score| (score, time)))
        .collect();
    for norm in [Norm::Sum, Norm::Euclid] {
        for n in [2, 3_usize] {
            let shares = |table: &[(f64, f64)]| {
                let (scores, targets): (Vec<f64>, Vec<f64>) = table.iter().copied().unzip();
                let strata = Strata::plain(n);
                Shares::Survival
                    .of(norm, Scored { scores: &scores, targets: &targets, strata: &strata, cut: 0.0 })
            };
            let mut furthest = 0.0;
            for code in 0..records.len().pow(u32::try_from(n).unwrap() - 1) {
                let others: Vec<(f64, f64)> = (0..n - 1)
                    .map(|k| records[code / records.len().pow(u32::try_from(k).unwrap()) % records.len()])
                    .collect();
                let all: Vec<Vec<f64>> =
                    records.iter().map(|own| shares(&[&[*own], &others[..]].concat())).collect();
                for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
                    let moved = match norm {
                        Norm::Sum => apart.sum(),
                        Norm::Euclid => apart.map(|v| v * v).sum::<f64>().sqrt(),
                    };
                    furthest = if moved > furthest { moved } else { furthest };
                }
            }
            let claimed = Shares::Survival.sensitivity(norm, n).unwrap().get();
            assert!(furthest <= claimed, "{norm:?} {n}: {furthest} of {claimed}");
            assert!(furthest > claimed * (1.0 - 1e-12), "{norm:?} {n}: {furthest} of {claimed}");
        }
    }
}

/// ½ + K/M is C, and persons of one record each are records, but for pairs that a person forms alone.
#[test]
fn the_index_follows_from_the_shares() {
    let mut random = Replay::from_seed(37);
    for n in [5, 40] {
        let scores: Vec<f64> = (0..n).map(|_| (uniform(&mut random) * 6.0).floor()).collect();
        let targets: Vec<f64> = (0..n)
            .map(|_| signed_time((uniform(&mut random) * 9.0).floor(), uniform(&mut random) < 0.6, 9.0))
            .collect();
        let expected = concordance_index(&scores, &targets, None).unwrap();
        let of = |strata: &Strata| {
            let shares = Shares::Survival
                .of(Norm::Sum, Scored { scores: &scores, targets: &targets, strata, cut: 0.0 });
            0.5 + shares[0] / (shares[1] / Shares::second_scale(Norm::Sum))
        };
        assert!((of(&Strata::plain(n)) - expected).abs() < 1e-13);
        assert!((of(&Strata::of_persons(&vec![1; n], n)) - expected).abs() < 1e-13);
    }
}
