//! Shares of records and pairs from which AUC and accuracy follow, and how far one record can move them.

use crate::measure::Concordance;
use crate::{ProblemError, Sensitivity};
use pairdp_units::directed::up_by;

/// What is asked about scored records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// The share of ordered pairs that are a positive record scored above a negative one, ties counting half; and the share
    /// of positive records.
    Ranking,
    /// The same, and the share of records whose score has the sign of their class.
    Classification,
}

/// How far each computed share can be from the exact one: shares are at most 1, and three roundings make them.
const ERROR: f64 = 1.0 / (1_u64 << 51) as f64;

impl Shares {
    /// How many shares.
    pub fn count(self) -> usize {
        match self {
            Self::Ranking => 2,
            Self::Classification => 3,
        }
    }

    /// How far replacing one of n records can move the computed shares, in ℓ2 norm. Each moves by at most 1/n.
    ///
    /// # Guarantee
    /// Holds for every table and replacement, ties included: `proofs/private_evaluation.md`.
    ///
    /// # Errors
    /// [`ProblemError::TooFewRecords`] below two records.
    pub fn sensitivity(self, n: usize) -> Result<Sensitivity, ProblemError> {
        if n < 2 {
            return Err(ProblemError::TooFewRecords(n));
        }
        let each = up_by(1.0 / n as f64 + 2.0 * ERROR, 2.0);
        Ok(Sensitivity::new(up_by((self.count() as f64).sqrt() * each, 2.0)))
    }

    /// The shares, each within [0, 1]. Total: whatever the scores are, and for one class only.
    pub fn of(self, scores: &[f64], positive: &[bool]) -> Vec<f64> {
        let counted = Concordance::of(scores, positive);
        let n = scores.len() as u128;
        let twice_pairs = 2 * n * n.saturating_sub(1);
        let share = |part: u128, all: u128| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let mut shares = vec![share(counted.twice_right, twice_pairs), share(counted.positives as u128, n)];
        if self == Self::Classification {
            let right = scores.iter().zip(positive).filter(|(score, positive)| (**score > 0.0) == **positive);
            shares.push(share(right.count() as u128, n));
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record: one of three scores, so that ties are frequent, and a class.
    fn table(mut code: usize, n: usize) -> (Vec<f64>, Vec<bool>) {
        let mut records = (Vec::new(), Vec::new());
        for _ in 0..n {
            records.0.push((code % 3) as f64 - 1.0);
            records.1.push((code / 3).is_multiple_of(2));
            code /= 6;
        }
        records
    }

    /// All tables of up to five records, and all replacements: no share moves by more than 1/n, all can do so at once, and
    /// nothing smaller would hold.
    #[test]
    fn no_neighbour_is_further_away_than_claimed() {
        for n in 2..=5_usize {
            let mut furthest = 0.0_f64;
            for code in 0..6_usize.pow(u32::try_from(n).unwrap()) {
                let (scores, positive) = table(code, n);
                let before = Shares::Classification.of(&scores, &positive);
                for (place, other) in (0..n).flat_map(|place| (0..6).map(move |other| (place, other))) {
                    let (mut scores, mut positive) = (scores.clone(), positive.clone());
                    let (score, class) = table(other, 1);
                    (scores[place], positive[place]) = (score[0], class[0]);
                    let after = Shares::Classification.of(&scores, &positive);
                    let apart: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).collect();
                    assert!(apart.iter().all(|apart| *apart <= 1.0 / n as f64 + 2.0 * ERROR), "{apart:?}");
                    let length = apart.iter().map(|apart| apart * apart).sum::<f64>().sqrt();
                    furthest = if length > furthest { length } else { furthest };
                }
            }
            let claimed = Shares::Classification.sensitivity(n).unwrap().get();
            assert!(
                furthest <= claimed && furthest > claimed * (1.0 - 1e-12),
                "n = {n}: {furthest} of {claimed}"
            );
        }
        assert!(Shares::Ranking.sensitivity(1).is_err());
    }

    /// Scores that are no numbers have a place in the order that no third record can change.
    #[test]
    fn odd_scores_are_counted_like_others() {
        let positive = [true, false, true, false];
        let odd = Shares::Ranking.of(&[f64::NAN, f64::NAN, -0.0, 0.0], &positive);
        let even = Shares::Ranking.of(&[9.0, 9.0, 1.0, 1.0], &positive);
        assert_eq!(odd, even);
        assert_eq!(Shares::Classification.of(&[1.0, 2.0], &[true, true]), [0.0, 1.0, 1.0]);
    }
}
