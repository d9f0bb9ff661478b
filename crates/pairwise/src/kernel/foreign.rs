//! Scores that come from elsewhere, and charges that go back there: kernel `foreign/1`.
//!
//! A function that is not part of this code scores records, and adds up gradients of those scores, each scaled down to κ and times its
//! charge. What lies between is the certified part: scores are cut off, charges are those of every other score, and the sum
//! becomes the gradient of the risk.
//!
//! # Guarantee
//! If what comes back is within [`roundings`](super::relative_error) of Σ charge·v_i, where every v_i is a function of one record, its place and the
//! parameters and no longer than κ, then [`gradient`] is within the error bound of a sum that one record moves by no more than the
//! sensitivity says: `proofs/foreign_scores.md`. Nothing here can check that condition.

use super::blocks::Par;
use super::charges::{self, LARGEST_SCORE, Scaled};
use crate::{Objective, Problem};
use pairdp_units::directed::{down_by, up_by};

/// How strongly each record pulls, from its score: NaN counts as 0, and scores beyond ±2⁴⁰ are cut off there. Boxes of the logistic loss reach as
/// far, and know a score to 2⁻¹²: that is the score which counts, still a function of one record.
///
/// # Panics
/// For pairs in the order of time and distances, of which no foreign score is asked.
pub fn charges(problem: Problem, mut scores: Vec<f64>, targets: &[f64], par: Par) -> Vec<f64> {
    match problem.objective() {
        Objective::Pointwise { loss } => {
            let constants = problem.constants_within(0.0);
            for (score, target) in scores.iter_mut().zip(targets) {
                let target = loss.read_target(*target);
                *score = constants.cut_off(loss.slope(cut_off(*score), target));
            }
            scores
        }
        Objective::Ranking { loss, .. } if !charges::is_in_time(problem) => {
            let scale = Scaled::of(problem).margin_scale;
            scores.iter_mut().for_each(|score| *score = cut_off(scale * *score));
            charges::of_two_classes(&scores, targets, loss, LARGEST_SCORE, par)
        }
        Objective::Ranking { .. } | Objective::Metric { .. } => {
            unreachable!("foreign scores are of records and of pairs of two classes")
        }
    }
}

fn cut_off(score: f64) -> f64 {
    if score > LARGEST_SCORE {
        LARGEST_SCORE
    } else if score >= -LARGEST_SCORE {
        score
    } else if score < -LARGEST_SCORE {
        -LARGEST_SCORE
    } else {
        0.0
    }
}

/// The gradient of the risk over n records, from Σ charge·v_i; none if that is not finite, which no sum of bounded terms is. A sum that is
/// longer than any can be is scaled down to the longest, so that it fits the lattice: what it means is lost by then.
pub fn gradient(problem: Problem, mut sum: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    let scale = match problem.objective() {
        Objective::Pointwise { .. } => 1.0 / n as f64,
        _ => -Scaled::of(problem).gradient_scale / problem.pairs(n),
    };
    sum.iter_mut().for_each(|value| *value *= scale);
    let longest = up_by(problem.gradient_norm_bound(0.0, n), 4.0) + super::error_bound(problem, 0.0, n, 1);
    let largest =
        sum.iter().fold(0.0_f64, |largest, value| if value.abs() > largest { value.abs() } else { largest });
    if !sum.iter().all(|value| value.is_finite()) {
        return None;
    }
    // Of what is at most 1 in size no square overflows.
    let norm = if largest > 0.0 {
        largest * sum.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
    } else {
        0.0
    };
    if norm > longest {
        let factor = down_by(longest / norm, 4.0);
        sum.iter_mut().for_each(|value| *value *= factor);
    }
    Some(sum)
}
