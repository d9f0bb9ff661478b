//! From runs to a lower bound on ε and a verdict.
//!
//! Two bounds are computed, each at half of the allowed error:
//!
//! - *threshold*: half of the runs are set aside to learn a linear test, to choose among the tests and to set a threshold. On the other
//!   half the chosen test's rates are bounded by Clopper and Pearson's intervals: ε ≥ ln((TPR − δ)/FPR) for any
//!   (ε, δ)-private mechanism (Jagielski, Ullman and Oprea 2020), with no assumption.
//! - *accuracy*: the likelihood ratio needs no choice, so all runs count. How often its sign is right is bounded from below, and within
//!   the mechanism's [`Family`] that gives ε (Nasr et al. 2023 for Gaussian noise). Where tests are learned, their sign on the
//!   half that was not learned from takes its place.
//!
//! # Guarantee
//! With probability at least the stated confidence, the mechanism's ε at δ is not below `audited_lower_bound`, under the assumptions
//! that the bounds name. The verdict is `violated` only if the same bounds at a confidence of 1 − 10⁻⁶ exceed the claim.

use crate::confidence::{at_least, at_most, log_ratio};
use crate::linear::Linear;
use crate::runs::Run;
use crate::{AuditError, Family};
use pairdp_units::directed::{larger, smaller};
use pairdp_units::{Budget, Delta};
use serde::Serialize;

/// A claim is called violated with at most this probability if it is true.
pub const FALSE_ALARM: f64 = 1e-6;

/// What the numbers of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// A log-likelihood ratio, a second statistic, and more to learn from.
    Likelihood,
    /// Anything: all is learned.
    Unknown,
}

/// One lower bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// How it was found.
    pub method: &'static str,
    /// Which test of the runs' numbers it is about.
    pub test: &'static str,
    /// What it rests on.
    pub assumption: &'static str,
    /// ε is at least this.
    pub lower_bound: f64,
}

/// Whether a claim survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The runs do not contradict the claim.
    NotRefuted,
    /// They do.
    Violated,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// ε of the claim.
    pub claimed_epsilon: f64,
    /// δ of the claim.
    pub delta: f64,
    /// The largest of the bounds.
    pub audited_lower_bound: f64,
    /// What the best attacker on the worst neighbours would reach with as many runs, on average, if the claim is exact; none
    /// where nothing is known about the mechanism.
    pub attainable: Option<f64>,
    /// The probability with which the bounds hold.
    pub confidence: f64,
    /// Runs made.
    pub runs: usize,
    /// Whether the claim survived.
    pub verdict: Verdict,
    /// The bounds.
    pub bounds: Vec<Bound>,
}

/// Bounds ε by runs. `best_accuracy` is that of the worst neighbours under the claim, where it is known.
///
/// # Errors
/// [`AuditError`] when the accountant has no answer, or for a confidence outside (0, 1).
pub fn report(
    runs: &[Run],
    numbers: Numbers,
    family: &Family,
    claim: Budget,
    best_accuracy: Option<f64>,
    confidence: f64,
) -> Result<Report, AuditError> {
    check_confidence(confidence)?;
    let evidence = Evidence::gather(runs, numbers, claim.delta);
    let bounds = evidence.bounds(family, claim.delta, 1.0 - confidence)?;
    let strict = evidence.bounds(family, claim.delta, FALSE_ALARM)?;
    let most = |bounds: &[Bound]| bounds.iter().fold(0.0, |most, bound| larger(most, bound.lower_bound));
    let claimed = claim.epsilon.get();
    let attainable = match best_accuracy {
        Some(accuracy) => {
            Some(smaller(evidence.attainable(family, claim, accuracy, 1.0 - confidence)?, claimed))
        }
        None => None,
    };
    Ok(Report {
        claimed_epsilon: claimed,
        delta: claim.delta.get(),
        audited_lower_bound: most(&bounds),
        attainable,
        confidence,
        runs: runs.len(),
        verdict: if most(&strict) > claimed { Verdict::Violated } else { Verdict::NotRefuted },
        bounds,
    })
}

/// Refuses what is no probability.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), AuditError> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(AuditError::Range { what: "confidence", range: "between 0 and 1", value: confidence })
}

/// Counts from which bounds at any level follow.
struct Evidence {
    /// (successes, trials) of the chosen test where it should fire, and where it should not.
    threshold: [(u64, u64); 2],
    test: &'static str,
    /// Right guesses and guesses.
    accuracy: (u64, u64),
    accuracy_test: &'static str,
}

/// A score of runs.
type Score<'a> = Box<dyn Fn(&Run) -> f64 + 'a>;

impl Evidence {
    fn gather(runs: &[Run], numbers: Numbers, delta: Delta) -> Self {
        let quarter = runs.len() / 4;
        let (learning, rest) = runs.split_at(quarter);
        let (choosing, testing) = rest.split_at(quarter);
        let from = if numbers == Numbers::Likelihood { 2 } else { 0 };
        let linear = Linear::learn(learning, from);
        let mut tests: Vec<(&'static str, Score)> =
            vec![("a learned linear test", Box::new(|run: &Run| linear.score(run, from)))];
        if numbers == Numbers::Likelihood {
            tests.insert(0, ("the likelihood ratio", Box::new(|run: &Run| run.numbers[0])));
            tests.push(("repetition of noise", Box::new(|run: &Run| run.numbers[1])));
        }
        let mut best: Option<(f64, usize, Cut)> = None;
        for (k, (_, score)) in tests.iter().enumerate() {
            let (estimate, cut) = choose(choosing, score, testing.len(), delta);
            if best.as_ref().is_none_or(|(most, ..)| estimate > *most) {
                best = Some((estimate, k, cut));
            }
        }
        let (test, threshold) = best.map_or(("none", [(0, 0); 2]), |(_, k, cut)| {
            (tests[k].0, cut.count(testing.iter().map(|run| (run.first, tests[k].1(run)))))
        });
        let guessed = |runs: &[Run], score: &Score| {
            let right = runs.iter().filter(|run| if run.first { score(run) > 0.0 } else { score(run) < 0.0 });
            (right.count() as u64, runs.len() as u64)
        };
        let (accuracy, accuracy_test) = match numbers {
            Numbers::Likelihood => (guessed(runs, &tests[0].1), tests[0].0),
            Numbers::Unknown => (guessed(rest, &tests[0].1), tests[0].0),
        };
        Self { threshold, test, accuracy, accuracy_test }
    }

    fn bounds(&self, family: &Family, delta: Delta, alpha: f64) -> Result<Vec<Bound>, AuditError> {
        let [fired, fired_wrongly] = self.threshold;
        // Half of the error for each bound, and of the first half for each rate.
        let hits = at_least(fired.0, fired.1, alpha / 4.0);
        let misses =
            if fired_wrongly.1 > 0 { at_most(fired_wrongly.0, fired_wrongly.1, alpha / 4.0) } else { 1.0 };
        let right = at_least(self.accuracy.0, self.accuracy.1, alpha / 2.0);
        Ok(vec![
            Bound {
                method: "threshold",
                test: self.test,
                assumption: Family::Any.assumption(),
                lower_bound: log_ratio(hits - delta.get(), misses),
            },
            Bound {
                method: "accuracy",
                test: self.accuracy_test,
                assumption: family.assumption(),
                lower_bound: family.epsilon(right, delta)?,
            },
        ])
    }

    /// The bounds for an attacker whose counts are what they are on average.
    fn attainable(
        &self,
        family: &Family,
        claim: Budget,
        accuracy: f64,
        alpha: f64,
    ) -> Result<f64, AuditError> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let average = |share: f64, trials: u64| ((share * trials as f64) as u64, trials);
        let half = u64::midpoint(self.threshold[0].1, self.threshold[1].1);
        let threshold = match family {
            // Laplace noise: beyond the further table half of the nearer one's releases lie, and e^−ε of that of the other's.
            Family::Any => [average(0.5, half), average(0.5 * (-claim.epsilon.get()).exp(), half)],
            _ => [(0, half); 2],
        };
        let accuracy = average(accuracy, self.accuracy.1);
        let bounds = Self { threshold, accuracy, ..*self }.bounds(family, claim.delta, alpha)?;
        Ok(bounds.iter().fold(0.0, |most, bound| larger(most, bound.lower_bound)))
    }
}

/// When a test fires, and for which table it should.
#[derive(Debug, Clone, Copy)]
struct Cut {
    threshold: f64,
    above: bool,
    for_first: bool,
}

impl Cut {
    /// (fired, runs) of the table it should fire for, then of the other.
    fn count(self, scores: impl Iterator<Item = (bool, f64)>) -> [(u64, u64); 2] {
        let mut counts = [(0, 0); 2];
        for (first, score) in scores {
            let count = &mut counts[usize::from(first != self.for_first)];
            count.0 += u64::from(if self.above { score > self.threshold } else { score < self.threshold });
            count.1 += 1;
        }
        counts
    }
}

/// The cut that promises the largest bound on `trials` other runs.
fn choose(runs: &[Run], score: &Score, trials: usize, delta: Delta) -> (f64, Cut) {
    const CUTS: usize = 200;
    let mut scores: Vec<(bool, f64)> = runs.iter().map(|run| (run.first, score(run))).collect();
    scores.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut best = (0.0, Cut { threshold: 0.0, above: true, for_first: true });
    let stride = (scores.len() / CUTS).max(1);
    for pair in scores.windows(2).step_by(stride) {
        let threshold = f64::midpoint(pair[0].1, pair[1].1);
        for (above, for_first) in [(true, true), (true, false), (false, true), (false, false)] {
            let cut = Cut { threshold, above, for_first };
            let [fired, wrongly] = cut.count(scores.iter().copied());
            // Three standard errors either way stand for the exact intervals.
            let trials = trials as f64 / 2.0;
            let margin = |p: f64| 3.0 * (p * (1.0 - p) / trials).sqrt() + 4.0 / trials;
            let rate = |(fired, of): (u64, u64)| fired as f64 / larger(of as f64, 1.0);
            let (hits, misses) = (rate(fired), rate(wrongly));
            let promise = log_ratio(hits - margin(hits) - delta.get(), misses + margin(misses));
            if promise > best.0 {
                best = (promise, cut);
            }
        }
    }
    best
}
