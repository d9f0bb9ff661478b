//! The definition, term by term: O(n₊n₋) time. The oracle for every faster kernel.

use crate::{Problem, Records};
use pairdp_units::directed::{smaller, up_by};

/// The gradient of the pairwise risk at `parameters`.
///
/// Computed from the *computed* scores and steepnesses, the latter cut off at the bound that the sensitivity uses:
/// what remains between this result and the query that the sensitivity is about is the rounding of sums, which
/// [`error_bound`] bounds. One class only gives a zero gradient.
pub fn ranking_gradient(problem: Problem, records: &Records, parameters: &[f64]) -> Vec<f64> {
    let charges = charges(problem, records, parameters);
    let n = records.len() as f64;
    let mut gradient = vec![0.0; records.columns()];
    for (row, charge) in records.rows().zip(&charges) {
        for (sum, x) in gradient.iter_mut().zip(row) {
            *sum -= charge * x;
        }
    }
    for value in &mut gradient {
        *value /= n * (n - 1.0);
    }
    gradient
}

/// c_i = Σ steepness of the pairs of record i, negative for negative records.
fn charges(problem: Problem, records: &Records, parameters: &[f64]) -> Vec<f64> {
    let scores = records.scores(parameters);
    let ceiling = problem.steepness_bound(Problem::norm(parameters));
    let positive = records.positive();
    let mut charges = vec![0.0; scores.len()];
    for i in (0..scores.len()).filter(|&i| positive[i]) {
        for j in (0..scores.len()).filter(|&j| !positive[j]) {
            let steepness = smaller(problem.loss().steepness(scores[i] - scores[j]), ceiling);
            charges[i] += steepness;
            charges[j] -= steepness;
        }
    }
    charges
}

/// How far, in Euclidean norm, [`ranking_gradient`] can be from the exact sum over the computed steepnesses.
///
/// A sum of N floats has error at most (N−1)·2⁻⁵³·Σ|terms| in any order (first order; the second is covered by
/// using 2⁻⁵² for the unit). Charges are sums of up to n terms, the gradient is a sum of n products, Σ|c_i| is
/// at most 2·n²/4·c, and every row has norm at most κ: together (2n + 4)·2⁻⁵³·κ·c·n/(2(n−1)).
pub fn error_bound(problem: Problem, norm: f64, n: usize) -> f64 {
    let n = n as f64;
    let terms = (2.0 * n + 4.0) * f64::EPSILON;
    up_by(terms * problem.feature_bound() * problem.steepness_bound(norm) * n / (2.0 * (n - 1.0)), 8.0)
}
