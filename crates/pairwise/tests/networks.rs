//! Scores of one hidden layer: the kernel equals its definition, no neighbour moves it further than is claimed, bounds are reached, and
//! neither threads nor parts change a bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::parts::{self, Answer, Mismatch, Question, Share, Workspace};
use pairdp_pairwise::kernel::{self, BLOCK, Layers, Par, naive};
use pairdp_pairwise::{
    Activation, Domain, LossKind, MarginLoss, Network, Objective, PointLoss, Problem, ProblemError,
    RankingForm, Records, Score, clip_row,
};

fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn form(hidden: usize) -> Network {
    Network { activation: Activation::Tanh, hidden, linear: 0.5, spread: 1.0, seed: 7 }
}

fn objectives() -> Vec<Objective> {
    let mut all = Vec::new();
    for loss in LossKind::all().filter_map(|kind| kind.of_margins(1.4)) {
        for form in [RankingForm::Indicator, RankingForm::Symmetric, RankingForm::Comparable] {
            all.push(Objective::Ranking { form, loss });
        }
        all.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    for q in [1.5, 2.0] {
        all.push(Objective::Pointwise { loss: PointLoss::Residual { q, target_bound: 1.0 } });
    }
    all
}

fn problem(objective: Objective, kappa: f64, hidden: usize) -> Problem {
    let problem = Problem::new(objective, Domain::Ball { radius: 1e3 }, kappa).unwrap();
    problem.with_score(Score::Network(form(hidden))).unwrap()
}

fn is_in_time(objective: Objective) -> bool {
    matches!(objective, Objective::Ranking { form: RankingForm::Comparable, .. })
}

/// Rows of the unit ball and more, and targets or signed times.
fn table(random: &mut Replay, n: usize, d: usize, kappa: f64, in_time: bool) -> Records {
    let features = (0..n * d).map(|_| uniform(random)).collect();
    let mut target = || {
        let sign = uniform(random) + 0.2;
        if in_time {
            (1.0 + (uniform(random) * 9.0).abs().floor() / 9.0).copysign(sign)
        } else {
            sign.signum()
        }
    };
    let targets = (0..n).map(|_| target()).collect();
    Records::with_targets(features, d, targets, kappa).unwrap()
}

fn parameters(random: &mut Replay, form: Network, d: usize, scale: f64) -> Vec<f64> {
    let mut w: Vec<f64> = (0..form.parameters(d)).map(|_| uniform(random)).collect();
    w.iter_mut().take(d + form.hidden).for_each(|weight| *weight *= scale);
    w
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[test]
fn the_kernel_is_its_definition_for_every_loss() {
    let mut random = Replay::from_seed(1);
    for (n, d, hidden, kappa) in [(2, 1, 1, 1.0), (40, 3, 5, 0.7), (300, 9, 17, 2.0)] {
        for objective in objectives() {
            for scale in [0.0, 0.6, 6.0] {
                let problem = problem(objective, kappa, hidden);
                let records = table(&mut random, n, d, kappa, is_in_time(objective));
                let w = parameters(&mut random, form(hidden), d, scale);
                let expected = naive::gradient(problem, &records, &w);
                let found = kernel::gradient(problem, &records, &w, Par::Parallel);
                assert_eq!(found, kernel::gradient(problem, &records, &w, Par::Sequential));
                let off = distance(&expected, &found);
                let largest = problem.gradient_norm_bound(problem.norm_at(&w), n);
                // Powers rise from their corner so fast that two roundings of a score are two slopes.
                let rough = matches!(objective, Objective::Ranking { loss: MarginLoss::QHinge { .. }, .. })
                    || matches!(objective, Objective::Pointwise { loss: PointLoss::Residual { q, .. } } if q < 2.0);
                let most = if rough { 1e-5 } else { 1e-11 };
                assert!(off <= most * largest, "{problem:?} n = {n}: {off:e} of {largest:e}");
                let (expected, found) =
                    (naive::risk(problem, &records, &w), kernel::risk(problem, &records, &w, Par::Parallel));
                assert!((expected - found).abs() <= 1e-10 * (1.0 + expected.abs()), "{found} for {expected}");
            }
        }
    }
}

/// The definition with the very scores and clipped gradients of the kernel, summed without error, is within the stated bound.
#[test]
fn sums_are_within_the_stated_error() {
    let mut random = Replay::from_seed(2);
    let (n, d, hidden) = (2000, 6, 8);
    let objective = Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::Hinge) };
    let problem = problem(objective, 1.0, hidden);
    let records = table(&mut random, n, d, 1.0, false);
    // At u = 0 nothing is clipped and hidden units do not matter for δ: a sum of rows and of tanh.
    let mut w = parameters(&mut random, form(hidden), d, 0.0);
    w[..d].fill(0.3);
    let found = kernel::gradient(problem, &records, &w, Par::Parallel);
    let expected = naive::gradient(problem, &records, &w);
    let stated = kernel::error_bound(problem, problem.norm_at(&w), n, d);
    let off = distance(&found, &expected);
    assert!(off <= 2.0 * stated && stated < 1e-11, "{off:e} above {stated:e}");
}

#[test]
fn gradients_are_derivatives_where_nothing_is_clipped() {
    let mut random = Replay::from_seed(3);
    let (n, d, hidden) = (30, 3, 4);
    for objective in [
        Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic },
        Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::Logistic) },
    ] {
        let problem = problem(objective, 1.0, hidden);
        let records = table(&mut random, n, d, 1.0, false);
        let w = parameters(&mut random, form(hidden), d, 0.2);
        let found = kernel::gradient(problem, &records, &w, Par::Sequential);
        for i in 0..w.len() {
            let at = |by: f64| {
                let mut w = w.clone();
                w[i] += by;
                kernel::risk(problem, &records, &w, Par::Sequential)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - found[i]).abs() < 1e-8, "{i}: {slope} for {}", found[i]);
        }
    }
}

/// Every kind of objective, hostile rows and parameters: the kernel moves by no more than Δ + 2τ.
#[test]
fn no_neighbour_moves_it_further_than_is_claimed() {
    let mut random = Replay::from_seed(4);
    let (d, hidden) = (2, 2);
    for objective in objectives() {
        let problem = problem(objective, 1.0, hidden);
        let mut most: f64 = 0.0;
        for _ in 0..1500 {
            let n = 2 + usize::try_from(random.next_word() % 6).unwrap();
            let scale = [0.0, 0.4, 1.0, 4.0][usize::try_from(random.next_word() % 4).unwrap()];
            let w: Vec<f64> = parameters(&mut random, form(hidden), d, scale)
                .into_iter()
                .map(|weight| if random.next_word().is_multiple_of(3) { weight * 10.0 } else { weight })
                .collect();
            let record = |random: &mut Replay| {
                let mut row = vec![uniform(random), uniform(random)];
                if random.next_word().is_multiple_of(2) {
                    row = vec![uniform(random).signum(), 0.0];
                }
                clip_row(&mut row, 1.0);
                let sign = uniform(random).signum();
                let time = (1.0 + (uniform(random).abs() * 3.0).floor() / 3.0).copysign(sign);
                (row, if is_in_time(objective) { time } else { sign })
            };
            let rows: Vec<_> = (0..n).map(|_| record(&mut random)).collect();
            let other = record(&mut random);
            let gradient = |rows: &[(Vec<f64>, f64)]| {
                let features = rows.iter().flat_map(|(row, _)| row.clone()).collect();
                let targets = rows.iter().map(|(_, target)| *target).collect();
                let records = Records::with_targets(features, d, targets, 1.0).unwrap();
                kernel::gradient(problem, &records, &w, Par::Sequential)
            };
            let mut neighbour = rows.clone();
            neighbour[0] = other;
            let moved = distance(&gradient(&rows), &gradient(&neighbour));
            let norm = problem.norm_at(&w);
            let allowed = problem.gradient_sensitivity(norm, n).unwrap().get()
                + 2.0 * kernel::error_bound(problem, norm, n, d);
            most = most.max_of(moved / allowed);
            assert!(moved <= allowed, "{problem:?}: {moved} of {allowed}");
        }
        assert!(most > 0.2, "{objective:?}: the search came no nearer than {most}");
    }
}

/// The larger of two, without dropping what is no number.
trait Largest {
    fn max_of(self, other: Self) -> Self;
}

impl Largest for f64 {
    fn max_of(self, other: f64) -> f64 {
        if other > self || other.is_nan() { other } else { self }
    }
}

/// One positive at −κe among negatives at κe: its flip moves pairs by c·2κ/n. At v alone, where scores are linear.
#[test]
fn the_bound_on_pairs_is_reached() {
    let (n, d, hidden) = (6, 1, 1);
    for (loss, c) in [(MarginLoss::CappedLogistic, 0.5), (MarginLoss::Hinge, 1.0)] {
        let objective = Objective::Ranking { form: RankingForm::Indicator, loss };
        let problem = problem(objective, 1.0, hidden);
        // W so large that tanh is ±1 with the sign of x: then the gradient of a score is (αx, βa), of norm 1.
        let w = [vec![1.0], vec![1.0], vec![0.0], vec![1e3]].concat();
        let gradient = |first: f64| {
            let features = [vec![-1.0], vec![1.0; n - 1]].concat();
            let targets = [vec![first], vec![-1.0; n - 1]].concat();
            let records = Records::with_targets(features, d, targets, 1.0).unwrap();
            kernel::gradient(problem, &records, &w, Par::Sequential)
        };
        let moved = distance(&gradient(1.0), &gradient(-1.0));
        let claimed = problem.gradient_sensitivity(problem.norm_at(&w), n).unwrap().get();
        assert!((claimed - 2.0 * c / n as f64).abs() < 1e-12);
        assert!(moved > 0.999 * claimed && moved <= claimed * (1.0 + 1e-9), "{loss:?}: {moved} of {claimed}");
    }
}

/// Losses of records: a free score lets the steepest slopes meet opposite gradients. Bounds by n·Δ/κ: 2σ(B), 1 where capped.
#[test]
fn the_bound_on_records_is_that_of_free_scores() {
    let sigma = |b: f64| 1.0 / (1.0 + (-b).exp());
    for b in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
        let point = |loss| problem(Objective::Pointwise { loss: PointLoss::Margin(loss) }, 1.0, 2);
        let free = point(MarginLoss::Logistic).constants_within(b).symmetric_difference;
        assert!((free - 2.0 * sigma(b)).abs() < 1e-9, "{b}: {free}");
        let capped = point(MarginLoss::CappedLogistic).constants_within(b).symmetric_difference;
        assert!((capped - 1.0).abs() < 1e-9);
        let in_time = |loss| problem(Objective::Ranking { form: RankingForm::Comparable, loss }, 1.0, 2);
        let turned = in_time(MarginLoss::Logistic).constants_within(b).symmetric_difference;
        assert!((turned - 4.0 * sigma(b)).abs() < 1e-9, "{b}: {turned}");
        let capped = in_time(MarginLoss::CappedLogistic).constants_within(b).symmetric_difference;
        assert!((capped - 2.0).abs() < 1e-9);
        let pairs =
            problem(Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic }, 1.0, 2);
        assert!((pairs.constants_within(b).symmetric_difference - 2.0 * sigma(2.0 * b)).abs() < 1e-9);
    }
}

/// A table of free scores and vectors: nothing links a record's score to its vector.
#[derive(Clone)]
struct Free {
    score: f64,
    vector: [f64; 2],
    target: f64,
}

/// n·‖q − q'‖ for replacing the first record by the last one.
fn moved(objective: Objective, table: &[Free]) -> f64 {
    let n = table.len() - 1;
    let query = |first: &Free| {
        let all: Vec<&Free> = std::iter::once(first).chain(&table[1..n]).collect();
        let mut sum = [0.0; 2];
        let mut add = |weight: f64, free: &Free| (0..2).for_each(|k| sum[k] += weight * free.vector[k]);
        match objective {
            Objective::Pointwise { loss } => {
                all.iter().for_each(|one| add(loss.slope(one.score, loss.read_target(one.target)), one));
                sum
            }
            Objective::Ranking { form, loss } => {
                for (i, a) in all.iter().enumerate() {
                    for (_, b) in all.iter().enumerate().filter(|(j, _)| *j != i) {
                        let scale = match form {
                            RankingForm::Indicator => f64::from(u8::from(a.target > 0.0 && b.target < 0.0)),
                            RankingForm::Symmetric => a.target - b.target,
                            // Events alone, by the rank that the target is.
                            RankingForm::Comparable => f64::from(u8::from(a.target < b.target)),
                        };
                        let pull = scale * loss.steepness(scale * (a.score - b.score)) / (n as f64 - 1.0);
                        if scale != 0.0 {
                            add(-pull, a);
                            add(pull, b);
                        }
                    }
                }
                sum
            }
            Objective::Metric { .. } => sum,
        }
    };
    let (a, b) = (query(&table[0]), query(&table[n]));
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Climbs from many starts over scores within ±B, vectors of the unit ball and labels: no table exceeds a constant, and some come
/// within a thousandth.
#[test]
fn searched_tables_reach_the_constants_and_exceed_none() {
    let mut random = Replay::from_seed(8);
    let mut cases = Vec::new();
    for form in [RankingForm::Indicator, RankingForm::Symmetric, RankingForm::Comparable] {
        for loss in [MarginLoss::Logistic, MarginLoss::CappedLogistic, MarginLoss::Hinge, MarginLoss::Squared]
        {
            cases.push(Objective::Ranking { form, loss });
        }
    }
    for loss in [MarginLoss::Logistic, MarginLoss::CappedLogistic] {
        cases.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    cases.push(Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } });
    for objective in cases {
        for bound in [0.0, 0.5, 1.0, 2.0] {
            let claimed = problem(objective, 1.0, 2).constants_within(bound).symmetric_difference;
            let mut best: f64 = 0.0;
            for start in 0..40_u64 {
                let n = 3 + start % 2;
                let target = |random: &mut Replay| match objective {
                    _ if is_in_time(objective) => (uniform(random) * 3.0).round(),
                    _ => uniform(random).signum(),
                };
                let change = |free: &mut Free, random: &mut Replay, reach: f64| {
                    free.score += bound * reach * uniform(random);
                    if free.score.abs() > bound {
                        free.score = bound.copysign(free.score);
                    }
                    if random.next_word().is_multiple_of(4) {
                        free.score = bound * uniform(random).signum();
                    }
                    (0..2).for_each(|k| free.vector[k] += reach * uniform(random));
                    let length = free.vector[0].hypot(free.vector[1]);
                    if length > 1.0 || random.next_word().is_multiple_of(4) && length > 0.0 {
                        free.vector = free.vector.map(|v| v / length);
                    }
                    if random.next_word().is_multiple_of(8) {
                        free.target = target(random);
                    }
                };
                let mut table: Vec<Free> = (0..=n)
                    .map(|_| {
                        let mut free = Free { score: 0.0, vector: [0.0; 2], target: target(&mut random) };
                        change(&mut free, &mut random, 2.0);
                        free
                    })
                    .collect();
                let mut value = moved(objective, &table);
                for step in 0..4000 {
                    let mut other = table.clone();
                    let one = usize::try_from(random.next_word() % (n + 1)).unwrap();
                    change(&mut other[one], &mut random, 1.0 / (1.0 + f64::from(step) / 100.0));
                    let found = moved(objective, &other);
                    if found >= value {
                        (table, value) = (other, found);
                    }
                }
                best = best.max_of(value);
                if best > 0.999 * claimed {
                    break;
                }
            }
            assert!(best <= claimed * (1.0 + 1e-9), "{objective:?} at {bound}: {best} above {claimed}");
            assert!(best > 0.999 * claimed, "{objective:?} at {bound}: {best} of {claimed}");
        }
    }
}

/// Scores keep within the bound that the sensitivity takes for granted.
#[test]
fn scores_are_bounded_by_what_they_grow_with() {
    let mut random = Replay::from_seed(5);
    for _ in 0..2000 {
        let (d, hidden) = (3, 4);
        let kappa = 0.5 + uniform(&mut random).abs();
        let w: Vec<f64> = parameters(&mut random, form(hidden), d, 3.0).iter().map(|w| w * 4.0).collect();
        let mut row: Vec<f64> = (0..d).map(|_| 3.0 * uniform(&mut random)).collect();
        clip_row(&mut row, kappa);
        let score = Layers::new(form(hidden), kappa, &w).score(&row);
        let norm = Problem::norm(&w[..d + hidden]);
        assert!(score.abs() <= kappa * norm * (1.0 + 1e-12), "{score} beyond {}", kappa * norm);
    }
}

/// The gradient from the answers of parts that end after so many rows.
fn in_parts(problem: Problem, records: &Records, w: &[f64], ends: &[u32]) -> Vec<f64> {
    let mut start = 0;
    let mut held: Vec<(Records, Workspace)> = ends
        .iter()
        .map(|end| {
            let rows: Vec<u32> = (start..*end).collect();
            start = *end;
            (records.select(&rows), Workspace::default())
        })
        .collect();
    let ask = |question: &Question| -> Result<Answer, Mismatch> {
        let mut merged: Option<Answer> = None;
        for (part, workspace) in held.iter_mut().rev() {
            let answer = parts::answer(problem, part, Share::WHOLE, question, workspace, Par::Sequential)?;
            match &mut merged {
                Some(merged) => merged.merge(answer)?,
                None => merged = Some(answer),
            }
        }
        merged.ok_or(Mismatch)
    };
    parts::gradient(problem, records.len(), w, Par::Sequential, ask).unwrap()
}

#[test]
fn parts_of_whole_blocks_and_threads_change_no_bit() {
    let mut random = Replay::from_seed(6);
    let (n, d, hidden) = (8 * BLOCK + 77, 5, 6);
    for objective in [
        Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic },
        Objective::Ranking { form: RankingForm::Symmetric, loss: MarginLoss::Hinge },
        Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Squared },
        Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) },
        Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } },
    ] {
        let problem = problem(objective, 1.0, hidden);
        let records = table(&mut random, n, d, 1.0, false);
        let w = parameters(&mut random, form(hidden), d, 2.0);
        let whole = kernel::gradient(problem, &records, &w, Par::Sequential);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| kernel::gradient(problem, &records, &w, Par::Parallel));
            assert_eq!(found, whole, "{threads} threads");
        }
        let (b, n) = (u32::try_from(BLOCK).unwrap(), u32::try_from(n).unwrap());
        for ends in [vec![n], vec![3 * b, n], vec![b, 2 * b, 3 * b, 4 * b, 5 * b, 8 * b, n]] {
            assert_eq!(in_parts(problem, &records, &w, &ends), whole, "{ends:?}");
        }
        // Another order of sums: other bits, within the stated error.
        let other = in_parts(problem, &records, &w, &[255, n]);
        let stated = kernel::error_bound(problem, problem.norm_at(&w), records.len(), d);
        assert!(other != whole && distance(&other, &whole) <= 2.0 * stated);
    }
}

#[test]
fn zeros_at_the_end_of_a_block_change_nothing() {
    let mut random = Replay::from_seed(7);
    let (d, hidden) = (4, 3);
    let objective = Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } };
    let problem = problem(objective, 1.0, hidden);
    let short = table(&mut random, 200, d, 1.0, false);
    let mut w = parameters(&mut random, form(hidden), d, 1.0);
    // Without an offset a row of zeros has the score 0 and, at the target 0, no slope.
    w[d + hidden..d + 2 * hidden].fill(0.0);
    let padded = Records::with_targets(
        [short.features(), &[0.0; 56 * 4]].concat(),
        d,
        [short.targets(), &[0.0; 56]].concat(),
        1.0,
    );
    let (short, padded) = (
        kernel::gradient(problem, &short, &w, Par::Sequential),
        kernel::gradient(problem, &padded.unwrap(), &w, Par::Sequential),
    );
    for (a, b) in short.iter().zip(padded) {
        assert!((a * 200.0 - b * 256.0).abs() <= 1e-13, "{a} {b}");
    }
}

#[test]
fn numbers_that_make_no_network_are_refused() {
    let objective = Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::Logistic) };
    let plain = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let good = form(3);
    for bad in [
        Network { hidden: 0, ..good },
        Network { linear: 0.0, ..good },
        Network { linear: 1.0, ..good },
        Network { linear: f64::NAN, ..good },
        Network { spread: 0.0, ..good },
        Network { spread: f64::INFINITY, ..good },
    ] {
        let refused = plain.with_score(Score::Network(bad)).unwrap_err();
        assert!(matches!(refused, ProblemError::Range { .. }), "{refused}");
    }
    let metric = Problem::new(
        Objective::Metric { loss: pairdp_pairwise::MetricLoss::Logistic },
        Domain::PsdBall { radius: 1.0 },
        1.0,
    );
    assert_eq!(metric.unwrap().with_score(Score::Network(good)), Err(ProblemError::NetworkOfDistances));
    assert!(good.fits(1000) && !good.fits(10_000_000));
    let written = serde_json::to_string(&plain.with_score(Score::Network(good)).unwrap()).unwrap();
    assert!(written.contains("\"network\"") && written.contains("\"tanh\""), "{written}");
    let back: Problem = serde_json::from_str(&written).unwrap();
    assert_eq!(back.score(), Score::Network(good));
    assert!(serde_json::from_str::<Problem>(&written.replace("\"hidden\":3", "\"hidden\":0")).is_err());
}
