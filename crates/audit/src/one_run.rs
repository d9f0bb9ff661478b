//! Many canaries in one run.
//!
//! m records are each put in as one of two opposites, by a fair coin; the attacker looks at everything that one run released
//! and guesses the coins of those he is surest about. No run is repeated, so this works where a run is expensive; it finds less than many runs
//! on two tables do.
//!
//! # Theorem
//! Let M take m coins, be (ε, δ)-private for changing one of them, and let an attacker who sees what M released make r guesses. With
//! W of them right and f(v) = P(Bin(r, e^ε/(1 + e^ε)) ≥ v),
//!
//! P(W ≥ v) ≤ f(v) + 2mδ·max over i in 1 … m of (f(v − i) − f(v))/i.
//!
//! So an ε for which the right side is at most 1 − confidence is refuted: the largest such ε is the bound. Changing a coin here exchanges one
//! record for another, which is what replace-one adjacency allows.
//!
//! # Reference
//! Steinke, Nasr and Jagielski (2023), *Privacy auditing with one (1) training run*, Theorem 5.2.

use crate::AuditError;
use crate::confidence::upper_tail;
use crate::report::{FALSE_ALARM, Verdict, check_confidence};
use crate::table_pair::Table;
use pairdp_noise::Source;
use pairdp_pairwise::{Objective, Problem};
use pairdp_release::{Checkpointer, Curator, Exchange, Mechanism, Plan, PublicIndices as _, run};
use pairdp_units::Budget;
use pairdp_units::directed::smaller;
use serde::Serialize;
use std::cmp::Ordering;

/// What one run with canaries showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneRun {
    /// ε of the claim.
    pub claimed_epsilon: f64,
    /// δ of the claim.
    pub delta: f64,
    /// ε is at least this.
    pub audited_lower_bound: f64,
    /// With this probability.
    pub confidence: f64,
    /// One.
    pub runs: usize,
    /// m.
    pub canaries: usize,
    /// r.
    pub guesses: usize,
    /// W.
    pub correct: usize,
    /// Whether the claim survived.
    pub verdict: Verdict,
}

/// The probability, at most, that v of r guesses about m coins are right if the mechanism is (ε, δ)-private.
pub fn p_value(m: usize, r: usize, v: usize, epsilon: f64, delta: f64) -> f64 {
    let right = 1.0 / (1.0 + (-epsilon).exp());
    let tail = |v: usize| upper_tail(v as u64, r as u64, right);
    let here = tail(v);
    let mut steepest = 0.0;
    // f(v − i) is 1 from i = v on, where the quotient falls.
    for i in 1..=v.min(m) {
        let quotient = (tail(v - i) - here) / i as f64;
        if quotient > steepest {
            steepest = quotient;
        }
    }
    smaller(1.0, here + 2.0 * m as f64 * delta * steepest)
}

/// The largest ε that v right guesses of r about m coins refute at level α.
pub fn lower_bound(m: usize, r: usize, v: usize, delta: f64, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 64.0);
    if p_value(m, r, v, low, delta) > alpha {
        return 0.0;
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if p_value(m, r, v, middle, delta) <= alpha { low = middle } else { high = middle }
    }
    low
}

/// Runs a plan once, over n records of which `canaries` are chosen by coins, one in the direction of each feature.
///
/// # Errors
/// [`AuditError`] where there is no such mechanism; metrics, whose canaries are not independent directions, are refused.
pub fn audit<S: Source>(
    problem: Problem,
    plan: Plan,
    (n, canaries): (usize, usize),
    claim: Budget,
    confidence: f64,
    coins: &mut impl Source,
    source: S,
) -> Result<OneRun, AuditError> {
    if matches!(problem.objective(), Objective::Metric { .. }) || n <= canaries || canaries == 0 {
        let range = "at least 1 and below the number of records, for rankers and pointwise models";
        return Err(AuditError::Range { what: "number of canaries", range, value: canaries as f64 });
    }
    check_confidence(confidence)?;
    let mechanism = Mechanism::calibrate(problem, plan, n, canaries, claim)?;
    let truth: Vec<bool> = (0..canaries).map(|_| coins.next_word() & 1 == 1).collect();
    let table = table(problem, n, &truth);
    let mut curator = Curator::open(table.records(problem.feature_bound())?, mechanism, source)?.traced();
    run(&mut curator, &mut Checkpointer::none())?;
    let scores = scores(curator.mechanism(), plan, n, canaries, curator.trace())?;
    let mut surest: Vec<usize> = (0..canaries).collect();
    surest.sort_by(|&a, &b| scores[b].abs().total_cmp(&scores[a].abs()));
    let guesses = canaries.div_ceil(2);
    let correct = surest[..guesses].iter().filter(|&&i| (scores[i] > 0.0) == truth[i]).count();
    let delta = claim.delta.get();
    let bound = |alpha: f64| lower_bound(canaries, guesses, correct, delta, alpha);
    let claimed_epsilon = claim.epsilon.get();
    let verdict = if bound(FALSE_ALARM) > claimed_epsilon { Verdict::Violated } else { Verdict::NotRefuted };
    let audited_lower_bound = bound(1.0 - confidence);
    Ok(OneRun {
        claimed_epsilon,
        delta,
        audited_lower_bound,
        confidence,
        runs: 1,
        canaries,
        guesses,
        correct,
        verdict,
    })
}

/// Canaries last, each at one end of its own axis; the others at 0 with the other label, where they pair with every canary and
/// say nothing themselves.
fn table(problem: Problem, n: usize, truth: &[bool]) -> Table {
    let columns = truth.len();
    let mut features = vec![0.0; n * columns];
    let mut targets = vec![-1.0; n];
    for (i, &side) in truth.iter().enumerate() {
        let row = n - columns + i;
        features[row * columns + i] = if side { 1.0 } else { -1.0 } * problem.feature_bound();
        targets[row] = 1.0;
    }
    Table { features, columns, targets, records_of_owner: Vec::new() }
}

/// How much the releases speak for the positive end of each axis.
fn scores(
    mechanism: &Mechanism,
    plan: Plan,
    n: usize,
    canaries: usize,
    trace: &[Exchange],
) -> Result<Vec<f64>, AuditError> {
    let mut scores = vec![0.0; canaries];
    let order = if plan.algorithm().has_order() { plan.order().permutation(n) } else { Vec::new() };
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &record)| place[record as usize] = k);
    for (t, Exchange { at, answer }) in trace.iter().enumerate() {
        for (i, score) in scores.iter_mut().enumerate() {
            *score += match mechanism {
                Mechanism::Gradients(m) => -answer[i] / m.release_at(Problem::norm(at))?.sigma.powi(2),
                Mechanism::Samples(_) => -answer[i],
                // A record moves its own step by 1 and later ones by the inverse of how many came before.
                Mechanism::Arrivals(_) => {
                    let (step, own) = (t + 1, place[n - canaries + i]);
                    let weight = match step.cmp(&own) {
                        Ordering::Less => 0.0,
                        Ordering::Equal => 1.0,
                        Ordering::Greater => 1.0 / step as f64,
                    };
                    -weight * answer[i]
                }
                Mechanism::Results(m) => (answer[i] - at[i]) / m.phases()[t].sigma.powi(2),
                Mechanism::Moments(m) => 0.5 * answer[i] + m.weights().mean * answer[canaries + i],
            };
        }
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without δ it is the tail of a binomial; the share of 1 in 2mδ is the steepest chord.
    #[test]
    fn p_values_by_hand() {
        // ε = 0, two guesses, both right: ¼. With δ: chords (¾ − ¼)/1 = ½ and (1 − ¼)/2 = 0.375.
        assert!((p_value(2, 2, 2, 0.0, 0.0) - 0.25).abs() < 1e-12);
        assert!((p_value(2, 2, 2, 0.0, 0.01) - (0.25 + 4.0 * 0.01 * 0.5)).abs() < 1e-12);
        assert!(p_value(10, 10, 0, 1.0, 0.0) >= 1.0);
    }

    /// All of 1000 right at 95 %: the known ln(p/(1 − p)) with p = 0.05^{1/1000}.
    #[test]
    fn all_right_gives_the_bound_of_randomised_response() {
        let p = 0.05_f64.powf(1e-3);
        let found = lower_bound(1000, 1000, 1000, 0.0, 0.05);
        assert!((found - (p / (1.0 - p)).ln()).abs() < 1e-4, "{found}");
        assert!(lower_bound(1000, 1000, 1000, 1e-5, 0.05) < found);
        assert!(lower_bound(1000, 1000, 500, 0.0, 0.05) <= 0.0);
    }
}
