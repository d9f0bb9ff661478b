//! A gradient asked of parts of a table is that of the whole table to the last bit: for every division into parts, every
//! order of merging, and however often a part is asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::parts::{self, Answer, Mismatch, Question, Share, Workspace};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, MarginLoss, MetricLoss, Objective, PointLoss, Problem, RankingForm, Records};

fn problems() -> Vec<Problem> {
    let mut objectives = Vec::new();
    for loss in [MarginLoss::Logistic, MarginLoss::Hinge, MarginLoss::Squared] {
        for form in [RankingForm::Indicator, RankingForm::Symmetric] {
            objectives.push(Objective::Ranking { form, loss });
        }
    }
    for loss in [MarginLoss::Logistic, MarginLoss::CappedLogistic, MarginLoss::QHinge { q: 1.3 }] {
        objectives.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    objectives.push(Objective::Pointwise { loss: PointLoss::Residual { q: 1.5, target_bound: 1.0 } });
    for loss in [MetricLoss::Hinge, MetricLoss::Logistic] {
        objectives.push(Objective::Metric { loss });
    }
    let problem = |objective| Problem::new(objective, Domain::Ball { radius: 1e4 }, 1.5).unwrap();
    objectives.into_iter().map(problem).collect()
}

fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Where a table of n rows is cut.
fn cuts(random: &mut Replay, n: usize, pieces: usize) -> Vec<std::ops::Range<usize>> {
    let mut at: Vec<usize> = (1..pieces)
        .map(|_| usize::try_from(random.next_word() % (n as u64 + 1)).unwrap())
        .chain([0, n])
        .collect();
    at.sort_unstable();
    at.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Asks every piece, some of them twice, and merges the answers in a random order.
fn ask_all(
    random: &mut Replay,
    problem: Problem,
    pieces: &[(Records, Share)],
    question: &Question,
) -> Result<Answer, Mismatch> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, usize::try_from(random.next_word() % (last as u64 + 1)).unwrap());
    }
    let mut merged: Option<Answer> = None;
    for piece in order {
        let (records, share) = &pieces[piece];
        let par = if random.next_word().is_multiple_of(2) { Par::Parallel } else { Par::Sequential };
        let mut workspace = Workspace::default();
        let mut answer = parts::answer(problem, records, *share, question, &mut workspace, par)?;
        if random.next_word().is_multiple_of(2) {
            let again = parts::answer(problem, records, *share, question, &mut workspace, par)?;
            assert!(again == answer, "a part that is asked again says something else");
        }
        if let Some(before) = merged {
            answer.merge(before)?;
        }
        merged = Some(answer);
    }
    merged.ok_or(Mismatch)
}

#[test]
fn every_division_gives_the_same_bits() {
    let mut random = Replay::from_seed(11);
    for (n, d) in [(2, 1), (97, 3), (1200, 5)] {
        let features: Vec<f64> = (0..n * d).map(|_| uniform(&mut random)).collect();
        let targets: Vec<f64> =
            (0..n).map(|_| if uniform(&mut random) < -0.3 { 1.0 } else { -1.0 }).collect();
        let whole = Records::with_targets(features.clone(), d, targets.clone(), 1.5).unwrap();
        for problem in problems() {
            // Scores near 0, and so large that boxes are counted one by one.
            for scale in [0.0, 0.9, 300.0] {
                let w: Vec<f64> = (0..problem.parameters(d)).map(|_| scale * uniform(&mut random)).collect();
                let expected = kernel::gradient(problem, &whole, &w, Par::Parallel);
                for count in [1, 2, 7, 20] {
                    let metric = matches!(problem.objective(), Objective::Metric { .. });
                    let pieces: Vec<(Records, Share)> = if metric {
                        // Every part has the whole table and forms its share of tiles.
                        let copy =
                            || Records::with_targets(features.clone(), d, targets.clone(), 1.5).unwrap();
                        (0..count).map(|index| (copy(), Share { index, of: count })).collect()
                    } else {
                        let piece = |rows: std::ops::Range<usize>| {
                            let cells = features[rows.start * d..rows.end * d].to_vec();
                            let records = Records::with_targets(cells, d, targets[rows].to_vec(), 1.5);
                            (records.unwrap(), Share::WHOLE)
                        };
                        cuts(&mut random, n, count).into_iter().map(piece).collect()
                    };
                    let ask = |question: &_| ask_all(&mut random, problem, &pieces, question);
                    let found = parts::gradient(problem, n, &w, Par::Sequential, ask).unwrap();
                    assert_eq!(found, expected, "{problem:?} in {count} parts");
                }
            }
        }
    }
}

#[test]
fn answers_that_do_not_belong_together_are_refused() {
    let all = problems();
    let (ranking, metric) = (all[0], *all.last().unwrap());
    let records = Records::with_targets(vec![0.1, 0.4, -0.2], 1, vec![1.0, -1.0, 1.0], 1.5).unwrap();
    let answers = |problem: Problem, w: f64| {
        let mut seen = Vec::new();
        let mut workspace = Workspace::default();
        let ask = |question: &Question| {
            let answer =
                parts::answer(problem, &records, Share::WHOLE, question, &mut workspace, Par::Sequential)?;
            // Another problem's question is no question for this one.
            let other = if problem == ranking { metric } else { ranking };
            let asked =
                parts::answer(other, &records, Share::WHOLE, question, &mut workspace, Par::Sequential);
            assert!(asked.is_err());
            seen.push(answer.clone());
            Ok::<_, Mismatch>(answer)
        };
        parts::gradient(problem, 3, &[w], Par::Sequential, ask).unwrap();
        seen
    };
    let (of_ranking, of_metric) = (answers(ranking, 0.5), answers(metric, 0.5));
    assert_eq!((of_ranking.len(), of_metric.len()), (2, 2));
    for a in &of_ranking {
        for b in &of_metric {
            let mut merged = a.clone();
            if merged.merge(b.clone()).is_ok() {
                // Both are sums of rows of one column.
                assert!(a == &of_ranking[1] && b == &of_metric[1]);
            }
        }
    }
    let wrong = |_: &Question| Ok::<_, Mismatch>(of_metric[1].clone());
    assert!(parts::gradient(ranking, 3, &[0.5], Par::Sequential, wrong).is_err());
    let tree = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::QHinge { q: 1.5 } };
    let tree = Problem::new(tree, Domain::Ball { radius: 1.0 }, 1.5).unwrap();
    assert!(!parts::can_ask(tree) && parts::can_ask(ranking) && parts::can_ask(metric));
}
