//! Shares of records and pairs from which AUC, accuracy and Harrell's C follow, and how far one record, or one person, can move them.
//!
//! AUC is ½ + K/(p(1 − p)), up to a factor that is public: K is the mean over ordered pairs of a positive and a negative record of
//! ½, 0 or −½ as their scores are in order, tie or are not, and p the share of positives. Why not the share of pairs in order, from
//! which it follows as well: a record that changes its class moves K by half as much as one that changes its place, so that
//! with p scaled to the noise both together move no further than K alone.
//!
//! C is ½ + K/M in the same way, with K the mean over unordered pairs of ½, 0 or −½ where it is known who failed first, and M the share
//! of pairs of which it is.

use crate::known_pairs::KnownPairs;
use crate::strata::{self, Strata};
use crate::{ProblemError, Sensitivity};
use pairdp_units::directed::{down_by, up_by};

/// What is asked about scored records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// K, and a multiple of the share of positives.
    Ranking,
    /// The same, and the share of records whose score has the sign of their class.
    Classification,
    /// K of the pairs of which it is known who failed first, and a multiple of their share of all pairs.
    Survival,
}

/// The distance that a noise hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// ℓ1, for Laplace noise.
    Sum,
    /// ℓ2, for Gaussian noise.
    Euclid,
}

/// How far each computed share can be from the exact one: shares are at most 1, and four roundings make them.
const ERROR: f64 = 1.0 / (1_u64 << 51) as f64;

/// Scored records: each one's score, its target, and what it counts.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// Of each record.
    pub scores: &'a [f64],
    /// Above 0 for a positive record; a [signed time](pairdp_units::signed_time) for survival.
    pub targets: &'a [f64],
    /// In the same order.
    pub strata: &'a Strata,
    /// The score above which a record's class is taken to be positive; public.
    pub cut: f64,
}

impl Shares {
    /// How many shares.
    pub fn count(self) -> usize {
        match self {
            Self::Ranking | Self::Survival => 2,
            Self::Classification => 3,
        }
    }

    /// What the share of positives, or of pairs that are known, is multiplied by: ½, or √3/2.
    pub fn second_scale(norm: Norm) -> f64 {
        match norm {
            Norm::Sum => 0.5,
            Norm::Euclid => down_by(0.75_f64.sqrt(), 1.0),
        }
    }

    /// How far replacing one of n records, or persons, can move the computed shares: K and the scaled share of positives together
    /// by 1/n, and the share of right classes by as much. Who failed first can turn round for all pairs of a record: 2/n.
    ///
    /// # Guarantee
    /// Holds for every table and replacement, ties included: `proofs/private_evaluation.md`, `proofs/comparable_pairs.md`, for persons
    /// `proofs/persons.md`.
    ///
    /// # Errors
    /// [`ProblemError::TooFewRecords`] below two.
    pub fn sensitivity(self, norm: Norm, n: usize) -> Result<Sensitivity, ProblemError> {
        if n < 2 {
            return Err(ProblemError::TooFewRecords(n));
        }
        let exact = match (self, norm) {
            (Self::Ranking, _) => 1.0,
            (Self::Classification, Norm::Sum) | (Self::Survival, _) => 2.0,
            (Self::Classification, Norm::Euclid) => std::f64::consts::SQRT_2,
        };
        Ok(Sensitivity::new(up_by(exact / n as f64 + 2.0 * self.count() as f64 * ERROR, 4.0)))
    }

    /// The shares. Total: whatever the scores are, and for one class only.
    pub fn of(self, norm: Norm, scored: Scored<'_>) -> Vec<f64> {
        let Scored { scores, targets, strata, cut } = scored;
        let whole = strata.weights();
        let weight = |i: usize| whole.get(i).copied().unwrap_or(1);
        let one = if strata.is_weighed() { u128::from(strata::ONE) } else { 1 };
        let n = strata.size() as u128;
        let pairs = if strata.is_weighed() { n * n } else { n * n.saturating_sub(1) };
        let quotient = |part: f64, all: u128| if all == 0 { 0.0 } else { part / all as f64 };
        let total = |chosen: &dyn Fn(usize) -> bool| {
            let weights = (0..scores.len()).filter(|i| chosen(*i)).map(|i| u128::from(weight(i)));
            quotient(weights.sum::<u128>() as f64, n * one)
        };
        if self == Self::Survival {
            // Unordered pairs are half of all ordered ones; the products of two weights have twice the bits.
            let KnownPairs { balance, pairs: known } = KnownPairs::of(scores, targets, weight);
            let share = |sum: i128, times: f64| quotient(times * sum as f64 / one as f64, pairs * one);
            return vec![share(balance, 1.0), share(known, 2.0) * Self::second_scale(norm)];
        }
        let positive = |i: usize| targets[i] > 0.0;
        let concordance = balance(scores, targets, weight);
        let positives = total(&positive);
        let mut shares = vec![
            // Twice K in whole numbers; the products of two weights have twice the bits.
            quotient(concordance as f64 / one as f64, 2 * pairs * one),
            positives * Self::second_scale(norm),
        ];
        if self == Self::Classification {
            shares.push(total(&|i| (scores[i] > cut) == positive(i)));
        }
        shares
    }
}

/// The weight of all pairs of a positive and a negative record in the right order, less that of pairs in the wrong one. Whether two
/// records tie, and which comes first otherwise, depends on their two scores alone: −0 is 0, and what is not a number has a
/// place in the order, too.
fn balance(scores: &[f64], targets: &[f64], weight: impl Fn(usize) -> u64) -> i128 {
    let mut order: Vec<(f64, bool, u64)> = scores
        .iter()
        .zip(targets)
        .enumerate()
        .map(|(i, (score, target))| (score + 0.0, *target > 0.0, weight(i)))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let class = |entries: &[(f64, bool, u64)], wanted: bool| -> i128 {
        entries
            .iter()
            .filter(|(_, positive, _)| *positive == wanted)
            .map(|(.., weight)| i128::from(*weight))
            .sum()
    };
    let negatives = class(&order, false);
    let (mut below, mut balance) = (0, 0);
    for tie in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let (up, down) = (class(tie, true), class(tie, false));
        balance += up * (below - (negatives - below - down));
        below += down;
    }
    balance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record: one of three scores, so that ties are frequent, and a class.
    fn table(mut code: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut records = (Vec::new(), Vec::new());
        for _ in 0..n {
            records.0.push((code % 3) as f64 - 1.0);
            records.1.push(if (code / 3).is_multiple_of(2) { 1.0 } else { -1.0 });
            code /= 6;
        }
        records
    }

    fn shares(shares: Shares, norm: Norm, (scores, targets): &(Vec<f64>, Vec<f64>)) -> Vec<f64> {
        shares.of(norm, Scored { scores, targets, strata: &Strata::plain(scores.len()), cut: 0.0 })
    }

    fn apart(norm: Norm, a: &[f64], b: &[f64]) -> f64 {
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        match norm {
            Norm::Sum => apart.sum(),
            Norm::Euclid => apart.map(|apart| apart * apart).sum::<f64>().sqrt(),
        }
    }

    /// All tables of up to four records, and all replacements: the shares never move further than claimed, and nothing smaller
    /// would hold.
    #[test]
    fn no_neighbour_is_further_away_than_claimed() {
        for (asked, norm) in [Shares::Ranking, Shares::Classification]
            .into_iter()
            .flat_map(|asked| [Norm::Sum, Norm::Euclid].map(|norm| (asked, norm)))
        {
            for n in 2..=4_usize {
                let mut furthest = 0.0_f64;
                for code in 0..6_usize.pow(u32::try_from(n).unwrap()) {
                    let before = table(code, n);
                    for (place, other) in (0..n).flat_map(|place| (0..6).map(move |other| (place, other))) {
                        let mut after = before.clone();
                        let (score, class) = table(other, 1);
                        (after.0[place], after.1[place]) = (score[0], class[0]);
                        let moved = apart(norm, &shares(asked, norm, &before), &shares(asked, norm, &after));
                        furthest = if moved > furthest { moved } else { furthest };
                    }
                }
                let claimed = asked.sensitivity(norm, n).unwrap().get();
                assert!(
                    furthest <= claimed && furthest > claimed * (1.0 - 1e-12),
                    "{asked:?} {norm:?} n = {n}: {furthest} of {claimed}"
                );
            }
        }
        assert!(Shares::Ranking.sensitivity(Norm::Sum, 1).is_err());
    }

    /// Persons of up to two records, all tables of two of them and all replacements of one.
    #[test]
    fn no_person_moves_them_further_than_claimed() {
        let persons: Vec<(Vec<f64>, Vec<f64>)> =
            (0..6).map(|code| table(code, 1)).chain((0..36).map(|code| table(code, 2))).collect();
        let joined = |a: &(Vec<f64>, Vec<f64>), b: &(Vec<f64>, Vec<f64>)| {
            let (a, b) = if a.0.len() <= b.0.len() { (a, b) } else { (b, a) };
            let counts: Vec<u32> =
                [a, b].iter().flat_map(|p| vec![u32::try_from(p.0.len()).unwrap(); p.0.len()]).collect();
            let (scores, positive) = ([&a.0[..], &b.0].concat(), [&a.1[..], &b.1].concat());
            (scores, positive, Strata::of_persons(&counts, 2))
        };
        for norm in [Norm::Sum, Norm::Euclid] {
            let mut furthest = 0.0;
            for other in &persons {
                let all: Vec<Vec<f64>> = persons
                    .iter()
                    .map(|person| {
                        let (scores, positive, strata) = joined(person, other);
                        let scored =
                            Scored { scores: &scores, targets: &positive, strata: &strata, cut: 0.0 };
                        Shares::Classification.of(norm, scored)
                    })
                    .collect();
                for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                    let moved = apart(norm, a, b);
                    furthest = if moved > furthest { moved } else { furthest };
                }
            }
            let claimed = Shares::Classification.sensitivity(norm, 2).unwrap().get();
            assert!(furthest <= claimed && furthest > 0.8 * claimed, "{norm:?}: {furthest} of {claimed}");
        }
    }

    /// Scores that are no numbers have a place in the order that no third record can change.
    #[test]
    fn odd_scores_are_counted_like_others() {
        let positive = vec![1.0, -1.0, 1.0, -1.0];
        let of = |scores: [f64; 4]| shares(Shares::Ranking, Norm::Sum, &(scores.to_vec(), positive.clone()));
        assert_eq!(of([f64::NAN, f64::NAN, -0.0, 0.0]), of([9.0, 9.0, 1.0, 1.0]));
        let one_class = shares(Shares::Classification, Norm::Sum, &(vec![1.0, 2.0], vec![1.0, 1.0]));
        assert_eq!(one_class, [0.0, 0.5, 1.0]);
    }

    /// ½ + K(n − 1)/(n·p(1 − p)) is the AUC that is counted pair by pair.
    #[test]
    fn auc_follows_from_them() {
        for code in [5, 77, 901, 5000, 7000] {
            let table = table(code, 5);
            let Some(expected) =
                crate::measure::auc(&table.0, &table.1.iter().map(|t| *t > 0.0).collect::<Vec<_>>())
            else {
                continue;
            };
            let found = shares(Shares::Ranking, Norm::Sum, &table);
            let (k, p) = (found[0], 2.0 * found[1]);
            let auc = 0.5 + k * 4.0 / (5.0 * p * (1.0 - p));
            assert!((auc - expected).abs() < 1e-14, "{auc} for {expected}");
        }
    }
}
