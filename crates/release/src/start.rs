//! Where descents start.

use pairdp_model::public_normals;
use pairdp_pairwise::{Network, Problem, Score};

/// Where a descent starts, from public facts: at scores of 0.
pub fn start_of(problem: Problem, columns: usize) -> Vec<f64> {
    match problem.score() {
        // Where a foreign score starts is for its code to say.
        Score::Linear | Score::Foreign(_) => vec![0.0; problem.parameters(columns)],
        Score::Network(form) => start(form, columns),
    }
}

/// Where a network starts: at scores of 0, with W and b from a public seed, so that the first gradients tell units apart.
fn start(network: Network, columns: usize) -> Vec<f64> {
    let mut normal = public_normals(network.seed);
    let mut start = vec![0.0; columns + network.hidden];
    start.extend((0..network.hidden).map(|_| 0.5 * network.spread * normal()));
    start.extend((0..network.hidden * columns).map(|_| network.spread * normal()));
    start
}
