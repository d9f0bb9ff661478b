//! Persons with several records: weighted kernels equal the definition, whatever the number of records, and no person moves what
//! is computed further than one of as many records would.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par, naive};
use pairdp_pairwise::knots::{Block, KnotSums, Layout, Spacing};
use pairdp_pairwise::moments::{self, Target, Weights};
use pairdp_pairwise::{
    Domain, MarginLoss, Objective, PerPerson, PointLoss, Problem, RankingForm, Records, Strata,
};

/// One person: rows, and which of them are positive.
type Person = Vec<(Vec<f64>, f64)>;

/// Uniform in [−1, 1].
fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn below(random: &mut Replay, most: u64) -> u64 {
    ((u128::from(random.next_word()) * u128::from(most)) >> 64).try_into().unwrap()
}

/// Every problem that can weigh records.
fn problems(radius: f64, kappa: f64) -> Vec<Problem> {
    let losses = [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared];
    let forms = [RankingForm::Indicator, RankingForm::Symmetric];
    let mut objectives: Vec<Objective> =
        losses.into_iter().flat_map(|loss| forms.map(|form| Objective::Ranking { form, loss })).collect();
    for loss in losses.into_iter().chain([MarginLoss::CappedLogistic, MarginLoss::QHinge { q: 1.5 }]) {
        objectives.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    objectives.push(Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } });
    let problem = |objective| Problem::new(objective, Domain::Ball { radius }, kappa).unwrap();
    objectives
        .into_iter()
        .map(|objective| problem(objective).with_persons(Some(PerPerson::Weights)))
        .collect()
}

/// A table of persons, rows of those with fewer records first; `shuffled` rows otherwise keep no order.
fn records(persons: &[Person], size: usize, kappa: f64) -> Records {
    let mut rows: Vec<(usize, &(Vec<f64>, f64))> =
        persons.iter().flat_map(|person| person.iter().map(|row| (person.len(), row))).collect();
    rows.sort_by_key(|(count, _)| *count);
    let counts: Vec<u32> = rows.iter().map(|(count, _)| u32::try_from(*count).unwrap()).collect();
    let columns = persons[0][0].0.len();
    let features = rows.iter().flat_map(|(_, (x, _))| x.iter().copied()).collect();
    let targets = rows.iter().map(|(_, (_, y))| *y).collect();
    let records = Records::with_targets(features, columns, targets, kappa).unwrap();
    records.weighed(Strata::of_persons(&counts, size))
}

fn random_person(random: &mut Replay, records: usize, columns: usize) -> Person {
    (0..records)
        .map(|_| {
            let x = (0..columns).map(|_| uniform(random)).collect();
            (x, if uniform(random) < 0.0 { 1.0 } else { -1.0 })
        })
        .collect()
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// Tables that the weights could break: one person with nearly all records, one class, equal scores, single records.
fn tables(random: &mut Replay, columns: usize) -> Vec<Vec<Person>> {
    let mixed = (0..30).map(|_| below(random, 5) + 1).collect::<Vec<u64>>();
    let mixed: Vec<Person> =
        mixed.into_iter().map(|m| random_person(random, usize::try_from(m).unwrap(), columns)).collect();
    let single: Vec<Person> = (0..40).map(|_| random_person(random, 1, columns)).collect();
    let mut crowd: Vec<Person> = (0..6).map(|_| random_person(random, 1, columns)).collect();
    crowd.push(random_person(random, 700, columns));
    let one_class: Vec<Person> =
        mixed.iter().map(|p| p.iter().map(|(x, _)| (x.clone(), 1.0)).collect()).collect();
    let equal: Vec<Person> =
        mixed.iter().map(|p| p.iter().map(|(_, y)| (vec![0.3; columns], *y)).collect()).collect();
    vec![mixed, single, crowd, one_class, equal]
}

#[test]
fn weighted_kernels_equal_the_definition() {
    let mut random = Replay::from_seed(31);
    for columns in [1, 3, 9] {
        for persons in tables(&mut random, columns) {
            let size = persons.len();
            let records = records(&persons, size, 2.0);
            for scale in [0.0, 0.7, 40.0] {
                for problem in problems(1e9, 2.0) {
                    let w: Vec<f64> = (0..columns).map(|_| scale * uniform(&mut random)).collect();
                    let expected = naive::gradient(problem, &records, &w);
                    let found = kernel::gradient(problem, &records, &w, Par::Parallel);
                    assert_eq!(found, kernel::gradient(problem, &records, &w, Par::Sequential));
                    let bound = kernel::error_bound(problem, Problem::norm(&w), size, columns);
                    let largest = problem.gradient_norm_bound(Problem::norm(&w), size);
                    let apart = distance(&found, &expected);
                    assert!(apart <= 2.0 * bound + 1e-13 * largest, "{problem:?}: {apart:e} of {bound:e}");
                }
            }
        }
    }
}

/// One person with 10⁵ equal records counts as one with one of them, but for what weights are rounded down by.
#[test]
fn equal_records_of_one_person_are_one_record() {
    let mut random = Replay::from_seed(32);
    let others: Vec<Person> = (0..5).map(|_| random_person(&mut random, 1, 2)).collect();
    let one = random_person(&mut random, 1, 2);
    for count in [2, 3, 7, 100_000] {
        let many: Person = vec![one[0].clone(); count];
        let table = |person: &Person| [&others[..], std::slice::from_ref(person)].concat();
        for problem in problems(10.0, 1.0) {
            let gradient = |person: &Person| {
                kernel::gradient(problem, &records(&table(person), 6, 1.0), &[0.4, -1.1], Par::Parallel)
            };
            let (single, crowd) = (gradient(&one), gradient(&many));
            let lost = count as f64 / 2.0_f64.powi(32) * problem.gradient_norm_bound(1.2, 6) * 4.0;
            let bound = lost + 2.0 * kernel::error_bound(problem, 1.2, 6, 2);
            assert!(distance(&single, &crowd) <= bound, "{problem:?} {count}");
        }
    }
}

/// With a record each, a pairwise gradient is that of records times (N − 1)/N, as pairs with oneself are counted and empty; sums
/// over records are the same to the last bit.
#[test]
fn persons_of_one_record_are_records() {
    let mut random = Replay::from_seed(33);
    let persons: Vec<Person> = (0..50).map(|_| random_person(&mut random, 1, 3)).collect();
    let rows = |index: usize| persons.iter().flat_map(move |person| person[0].0[index..=index].to_vec());
    assert_eq!(rows(0).count(), 50);
    let features = persons.iter().flat_map(|person| person[0].0.clone()).collect();
    let targets = persons.iter().map(|person| person[0].1).collect();
    let plain = Records::with_targets(features, 3, targets, 1.0).unwrap();
    let weighed = records(&persons, 50, 1.0);
    let w = [0.3, -0.8, 1.7];
    for problem in problems(5.0, 1.0) {
        let of_persons = kernel::gradient(problem, &weighed, &w, Par::Parallel);
        let of_records = kernel::gradient(problem.with_persons(None), &plain, &w, Par::Parallel);
        if matches!(problem.objective(), Objective::Pointwise { .. }) {
            assert_eq!(of_persons, of_records);
        } else {
            let scaled: Vec<f64> = of_records.iter().map(|value| value * 49.0 / 50.0).collect();
            assert!(distance(&of_persons, &scaled) <= 1e-14 * norm(&scaled));
        }
    }
    let weights = Weights::suggested(true);
    let query = |records| moments::query(weights, 1.0, Target::Sign, records, 50, Par::Parallel);
    assert_eq!(query(&weighed), query(&plain));
    let layout = Layout::new(Spacing::Coarse, (0..3).map(|at| Block::Number { at }).collect());
    let sums = |records: &Records| {
        let (rows, targets) = (records.features(), records.targets());
        KnotSums::new(&layout, rows, 3, targets, records.strata(), Par::Parallel)
            .query(&layout, true)
            .unwrap()
    };
    assert_eq!(sums(&weighed), sums(&plain));
}

/// The rows of persons may lie in any order: whole numbers add up to the same.
#[test]
fn the_order_of_rows_changes_no_bit() {
    let mut random = Replay::from_seed(34);
    let persons = tables(&mut random, 3).swap_remove(0);
    let mut other: Vec<Person> = persons.clone();
    other.reverse();
    other.iter_mut().for_each(|person| person.reverse());
    let (one, two) = (records(&persons, persons.len(), 1.0), records(&other, persons.len(), 1.0));
    let w = [2.0, -1.0, 0.25];
    for problem in problems(5.0, 1.0) {
        let gradient = |records| kernel::gradient(problem, records, &w, Par::Parallel);
        assert_eq!(gradient(&one), gradient(&two), "{problem:?}");
    }
}

/// What one person can do: any number of records, anywhere in the ball, with any labels.
fn adversary(random: &mut Replay, kappa: f64) -> Person {
    let records = usize::try_from(below(random, 5) + 1).unwrap();
    (0..records)
        .map(|_| {
            let angle = uniform(random) * std::f64::consts::PI;
            // Often where extremes are: on the sphere, along the parameters.
            let angle = if below(random, 2) == 0 { (angle * 2.0 / 3.0).round() * 1.5 } else { angle };
            let length = if below(random, 4) == 0 { kappa * uniform(random).abs() } else { kappa };
            (vec![length * angle.cos(), length * angle.sin()], if below(random, 2) == 0 { 1.0 } else { -1.0 })
        })
        .collect()
}

/// A search over whole tables, through the real kernels: exchanging a person never moves a gradient, moments or weights of
/// knots further than claimed, and comes near where a claim can be reached.
#[test]
fn no_person_moves_a_query_further_than_claimed() {
    let mut random = Replay::from_seed(35);
    let kappa = 1.3;
    for problem in problems(50.0, kappa) {
        let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
        for persons in [2_usize, 3, 6] {
            let mut most = 0.0;
            for _ in 0..400 {
                let w = [uniform(&mut random) * 3.0 * f64::from(u8::from(below(&mut random, 3) > 0)), 0.0];
                let shared: Vec<Person> = if below(&mut random, 2) == 0 {
                    vec![adversary(&mut random, kappa); persons - 1]
                } else {
                    (1..persons).map(|_| adversary(&mut random, kappa)).collect()
                };
                let (before, after) = (adversary(&mut random, kappa), adversary(&mut random, kappa));
                let gradient = |person: &Person| {
                    let table = [&shared[..], std::slice::from_ref(person)].concat();
                    kernel::gradient(problem, &records(&table, persons, kappa), &w, Par::Sequential)
                };
                let norm = Problem::norm(&w);
                let claimed = problem.gradient_sensitivity(norm, persons).unwrap().get()
                    + 2.0 * kernel::error_bound(problem, norm, persons, 2);
                let moved = distance(&gradient(&before), &gradient(&after)) / claimed;
                assert!(moved <= 1.0, "{problem:?} N = {persons}: {moved} of the claim");
                most = if moved > most { moved } else { most };
            }
            assert!(most > if pointwise { 0.7 } else { 0.3 }, "{problem:?} N = {persons}: only {most}");
        }
    }
    let weights = Weights::suggested(true);
    let layout = Layout::new(Spacing::Coarse, vec![Block::Number { at: 0 }, Block::Number { at: 1 }]);
    for _ in 0..2000 {
        let other = adversary(&mut random, 1.0);
        let (before, after) = (adversary(&mut random, 1.0), adversary(&mut random, 1.0));
        let table = |person: &Person| records(&[other.clone(), person.clone()], 2, 1.0);
        let query = |person| moments::query(weights, 1.0, Target::Sign, &table(person), 2, Par::Sequential);
        let claimed = moments::sensitivity(weights, 1.0, 2).unwrap().get();
        let error = moments::error_bound(weights, 1.0, 2);
        assert!(distance(&query(&before), &query(&after)) <= claimed + 2.0 * error);
        let knots = |person| {
            let records = table(person);
            let (rows, targets) = (records.features(), records.targets());
            KnotSums::new(&layout, rows, 2, targets, records.strata(), Par::Sequential)
                .query(&layout, false)
                .unwrap()
        };
        let claimed = pairdp_pairwise::knots::sensitivity(2, 0);
        assert!(distance(&knots(&before), &knots(&after)) <= claimed);
    }
}

/// A new person under a cap, which pushes none out or the last one.
#[test]
fn a_person_more_moves_a_query_no_further_than_claimed() {
    let mut random = Replay::from_seed(36);
    let kappa = 1.0;
    for problem in problems(50.0, kappa) {
        for _ in 0..200 {
            let cap = 3;
            let problem = problem.with_neighbours(pairdp_pairwise::Neighbours::AddRemoveOne { most: cap });
            let persons: Vec<Person> = (0..=cap).map(|_| adversary(&mut random, kappa)).collect();
            let w = [uniform(&mut random), 0.0];
            let gradient = |persons: &[Person]| {
                kernel::gradient(problem, &records(persons, cap, kappa), &w, Par::Sequential)
            };
            let norm = Problem::norm(&w);
            let claimed = problem.gradient_sensitivity(norm, cap).unwrap().get()
                + 2.0 * kernel::error_bound(problem, norm, cap, 2);
            let fewer = distance(&gradient(&persons[..2]), &gradient(&persons[..3]));
            let pushed = distance(&gradient(&persons[..3]), &gradient(&persons[1..4]));
            assert!(fewer <= claimed && pushed <= claimed, "{problem:?}: {fewer} {pushed} of {claimed}");
        }
    }
}

/// What would go wrong without weights: a person with 50 records moves a mean over records fifty times as far.
#[test]
fn records_that_all_count_as_one_break_the_claim() {
    let problem = problems(10.0, 1.0).swap_remove(6).with_persons(None);
    let person = |count: usize, y: f64| vec![(vec![1.0, 0.0], y); count];
    let gradient = |persons: &[Person]| {
        let rows: Vec<_> = persons.concat();
        let features = rows.iter().flat_map(|(x, _)| x.clone()).collect();
        let records =
            Records::with_targets(features, 2, rows.iter().map(|(_, y)| *y).collect(), 1.0).unwrap();
        kernel::gradient(problem, &records, &[0.0, 0.0], Par::Sequential)
    };
    let others: Vec<Person> = (0..9).map(|_| person(1, 1.0)).collect();
    let with = |last: Person| gradient(&[&others[..], &[last]].concat());
    let claimed = problem.gradient_sensitivity(0.0, 10).unwrap().get();
    assert!(distance(&with(person(1, 1.0)), &with(person(50, -1.0))) > 5.0 * claimed);
}

/// Why terms are rounded before they are weighed: half a step a *record* is more than half a step a person as soon as one person has
/// many equal records, whose roundings do not cancel.
#[test]
fn rounding_what_is_weighed_already_would_lose_more_than_is_allowed() {
    let (records, persons) = (100_000.0, 2.0);
    let weight = (2.0_f64.powi(32) / records).floor() / 2.0_f64.powi(32);
    let step = 2.0_f64.powi(-49);
    let (mut before, mut after) = (0.0, 0.0);
    for k in 1..100 {
        let term = f64::from(k) / 101.0;
        let exact = records * weight * term;
        let rounded = |value: f64| (value / step).round_ties_even() * step;
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        before = larger(before, (records * weight * rounded(term) - exact).abs());
        after = larger(after, (records * rounded(weight * term) - exact).abs());
    }
    let allowed = persons * step / 2.0;
    assert!(before <= allowed && after > 1000.0 * allowed, "{before:e} {after:e} {allowed:e}");
}

/// Why the cap is on persons: by rows, one person with many pushes out all others.
#[test]
fn a_cap_on_rows_would_break_the_claim() {
    let cap = 10;
    let problem = problems(10.0, 1.0).swap_remove(6).with_persons(None);
    let problem = problem.with_neighbours(pairdp_pairwise::Neighbours::AddRemoveOne { most: cap });
    let rows = |x: f64, y: f64, count: usize| vec![(vec![x, 0.0], y); count];
    let others = rows(1.0, 1.0, cap);
    let gradient = |rows: &[(Vec<f64>, f64)]| {
        let first: Vec<_> = rows.iter().take(cap).collect();
        let features = first.iter().flat_map(|(x, _)| x.clone()).collect();
        let targets = first.iter().map(|(_, y)| *y).collect();
        let records = Records::with_targets(features, 2, targets, 1.0).unwrap();
        kernel::gradient(problem, &records, &[0.0, 0.0], Par::Sequential)
    };
    let with = gradient(&[rows(1.0, -1.0, 50), others.clone()].concat());
    let claimed = problem.gradient_sensitivity(0.0, cap).unwrap().get();
    assert!(distance(&with, &gradient(&others)) > 5.0 * claimed);
}
