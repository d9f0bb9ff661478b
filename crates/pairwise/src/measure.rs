//! How good a ranking or a metric is, exactly.

use crate::kernel::{metric_distances, same_class};
use crate::known_pairs::KnownPairs;
use crate::strata;

/// Test rows whose distances to all others are computed together.
const ROWS_AT_ONCE: usize = 256;

/// The area under the ROC curve: the share of positive–negative pairs that are ranked correctly, ties counting
/// half. `None` when a class is empty. O(n log n).
pub fn auc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let Concordance { twice_right, positives, negatives } = Concordance::of(scores, positive);
    let pairs = positives as f64 * negatives as f64;
    (pairs > 0.0).then(|| twice_right as f64 / 2.0 / pairs)
}

/// Harrell's C: the share of pairs of which it is known who failed first, by their [signed times](pairdp_units::signed_time), in which
/// that record has the higher score, ties counting half. `None` when there is no such pair. `records` says how many records the person of
/// each has, if every person is to count alike. O(n log n).
pub fn concordance_index(scores: &[f64], times: &[f64], records: Option<&[u32]>) -> Option<f64> {
    let weight = |i: usize| records.map_or(1, |records| strata::ONE / u64::from(records[i].max(1)));
    let KnownPairs { balance, pairs } = KnownPairs::of(scores, times, weight);
    (pairs > 0).then(|| 0.5 + balance as f64 / pairs as f64 / 2.0)
}

/// How a score orders the pairs of a positive and a negative record, counted in whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concordance {
    /// Twice the number of pairs in the right order, a tie being half a pair.
    pub twice_right: u128,
    /// Positive records.
    pub positives: usize,
    /// Negative records.
    pub negatives: usize,
}

impl Concordance {
    /// Counts. Whether two records tie, and which comes first otherwise, depends on their two scores alone: −0 is 0, and what
    /// is not a number has a place in the order, too.
    pub fn of(scores: &[f64], positive: &[bool]) -> Self {
        let mut order: Vec<(f64, bool)> =
            scores.iter().map(|score| score + 0.0).zip(positive.iter().copied()).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut twice_right, mut positives, mut negatives) = (0_u128, 0, 0);
        for tie in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let up = tie.iter().filter(|(_, positive)| *positive).count();
            let down = tie.len() - up;
            twice_right += up as u128 * (2 * negatives as u128 + down as u128);
            positives += up;
            negatives += down;
        }
        Self { twice_right, positives, negatives }
    }
}

/// A point of the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// The share of negatives that score at least the threshold.
    pub false_positive_rate: f64,
    /// The share of positives that do.
    pub true_positive_rate: f64,
    /// The threshold; infinite at the first point, where nothing passes.
    pub threshold: f64,
}

/// The corners of the ROC curve, from (0, 0) to (1, 1), one for each distinct score. `None` when a class is empty.
pub fn roc(scores: &[f64], positive: &[bool]) -> Option<Vec<RocPoint>> {
    let mut order: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let positives = positive.iter().filter(|p| **p).count() as f64;
    let negatives = scores.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let mut points =
        vec![RocPoint { false_positive_rate: 0.0, true_positive_rate: 0.0, threshold: f64::INFINITY }];
    let (mut false_positives, mut true_positives) = (0.0, 0.0);
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    for tie in order.chunk_by(|a, b| a.0 == b.0) {
        let up = tie.iter().filter(|(_, p)| *p).count() as f64;
        true_positives += up;
        false_positives += tie.len() as f64 - up;
        points.push(RocPoint {
            false_positive_rate: false_positives / negatives,
            true_positive_rate: true_positives / positives,
            threshold: tie[0].0,
        });
    }
    Some(points)
}

/// The share of test rows whose class is the majority among their `k` nearest training rows under the squared
/// distance (x − y)ᵀW(x − y). Ties in distance go to the earlier training row, ties in the vote to the class of the
/// nearer neighbour.
pub fn neighbour_accuracy(
    train: (&[f64], &[f64]),
    test: (&[f64], &[f64]),
    columns: usize,
    metric: &[f64],
    k: usize,
) -> f64 {
    let (train_rows, train_classes) = train;
    let (test_rows, test_classes) = test;
    let mut correct = 0.0;
    for (rows, classes) in test_rows.chunks(ROWS_AT_ONCE * columns).zip(test_classes.chunks(ROWS_AT_ONCE)) {
        let distances = metric_distances(rows, train_rows, columns, metric);
        for (distances, class) in distances.chunks_exact(train_classes.len()).zip(classes) {
            if same_class(vote(distances, train_classes, k), *class) {
                correct += 1.0;
            }
        }
    }
    correct / test_classes.len() as f64
}

/// The share of rows whose class is the majority among their `k` nearest *other* rows, in Euclidean distance; ties as in
/// [`neighbour_accuracy`].
pub fn leave_one_out_accuracy(rows: &[f64], classes: &[f64], columns: usize, k: usize) -> f64 {
    let identity: Vec<f64> =
        (0..columns * columns).map(|i| if i % (columns + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let mut correct = 0.0;
    for (block, (some, own)) in
        rows.chunks(ROWS_AT_ONCE * columns).zip(classes.chunks(ROWS_AT_ONCE)).enumerate()
    {
        let mut distances = metric_distances(some, rows, columns, &identity);
        for (i, (distances, class)) in distances.chunks_exact_mut(classes.len()).zip(own).enumerate() {
            distances[block * ROWS_AT_ONCE + i] = f64::INFINITY;
            if same_class(vote(distances, classes, k), *class) {
                correct += 1.0;
            }
        }
    }
    correct / classes.len() as f64
}

/// The majority class of the k nearest.
fn vote(distances: &[f64], classes: &[f64], k: usize) -> f64 {
    let mut order: Vec<usize> = (0..distances.len()).collect();
    let nearer = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]).then(a.cmp(b));
    let k = k.clamp(1, order.len());
    order.select_nth_unstable_by(k - 1, nearer);
    order.truncate(k);
    order.sort_unstable_by(nearer);
    let votes = |class: f64| order.iter().filter(|i| same_class(classes[**i], class)).count();
    let most = order.iter().map(|i| votes(classes[*i])).max().unwrap_or(0);
    order.iter().map(|i| classes[*i]).find(|class| votes(*class) == most).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn auc_equals_counting_pairs(rows in proptest::collection::vec((-3i8..3, any::<bool>()), 0..40)) {
            let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let positive: Vec<bool> = rows.iter().map(|r| r.1).collect();
            let (mut sum, mut pairs) = (0.0, 0.0);
            for (s, _) in rows.iter().filter(|r| r.1) {
                for (t, _) in rows.iter().filter(|r| !r.1) {
                    pairs += 1.0;
                    sum += 0.5 * f64::from(i8::from(s > t) + i8::from(s >= t));
                }
            }
            let expected = (pairs > 0.0).then(|| sum / pairs);
            prop_assert_eq!(auc(&scores, &positive), expected);
            // The trapezoids under the ROC curve have the same area.
            let area = roc(&scores, &positive).map(|points| {
                points.windows(2).map(|p| {
                    (p[1].false_positive_rate - p[0].false_positive_rate) * (p[0].true_positive_rate + p[1].true_positive_rate) / 2.0
                }).sum::<f64>()
            });
            prop_assert_eq!(area.is_some(), expected.is_some());
            prop_assert!(area.is_none_or(|a| (a - expected.unwrap()).abs() < 1e-12));
        }
    }

    /// More rows than a block has, each beside a twin of its class.
    #[test]
    fn no_row_is_its_own_neighbour() {
        let rows: Vec<f64> = (0..600).map(|i| f64::from(i / 2) + 0.1 * f64::from(i % 2)).collect();
        let classes: Vec<f64> = (0..600).map(|i| f64::from(i / 2 % 3)).collect();
        assert!(leave_one_out_accuracy(&rows, &classes, 1, 1) > 0.999);
        // With a twin of another class, and no vote of its own, every row is wrong.
        let classes: Vec<f64> = (0..600).map(|i| f64::from(i % 2)).collect();
        assert!(leave_one_out_accuracy(&rows, &classes, 1, 1) < 0.001);
    }

    #[test]
    fn neighbours_vote() {
        let rows = [0.0, 0.1, 1.0, 1.1, 5.0];
        let classes = [0.0, 0.0, 1.0, 1.0, 2.0];
        let accuracy = |test: &[f64], expected: &[f64], k| {
            neighbour_accuracy((&rows, &classes), (test, expected), 1, &[1.0], k)
        };
        assert!(accuracy(&[0.04, 1.06, 4.9], &[0.0, 1.0, 2.0], 1) > 0.99);
        // Three neighbours of 4.9 are 5, 1.1 and 1: the majority is class 1.
        assert!(accuracy(&[4.9], &[1.0], 3) > 0.99);
        // A vote of one each goes to the nearest.
        assert!(accuracy(&[0.6], &[1.0], 2) > 0.99 && accuracy(&[0.5], &[0.0], 2) > 0.99);
    }
}
