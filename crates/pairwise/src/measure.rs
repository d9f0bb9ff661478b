//! How good a ranking is.

/// The area under the ROC curve: the share of positive–negative pairs that are ranked correctly, ties counting
/// half. `None` when a class is empty. O(n log n).
pub fn auc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let mut order: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let positives = positive.iter().filter(|p| **p).count() as f64;
    let negatives = scores.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let (mut correct, mut negatives_below) = (0.0, 0.0);
    // −0 and 0 are equal scores although their order is total, so ties are found by ==.
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    for tie in order.chunk_by(|a, b| a.0 == b.0) {
        let up = tie.iter().filter(|(_, p)| *p).count() as f64;
        let down = tie.len() as f64 - up;
        correct += up * (negatives_below + 0.5 * down);
        negatives_below += down;
    }
    Some(correct / (positives * negatives))
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
        }
    }
}
