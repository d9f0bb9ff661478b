//! Gradients and risks over all pairs, without forming a pair.
//!
//! A ranking pair's gradient is −a·(x_i − x_j) with steepness a = −φ'(s_i − s_j), so the sum over all pairs is
//! −Σ c_i x_i, where the *charge* c_i adds up the steepness of record i's pairs (with a minus for negatives). One pass
//! over the table gives the scores, a one-dimensional sum gives all charges, a second pass gives the gradient:
//!
//! | slope | charges in | by |
//! |---|---|---|
//! | logistic | O(n) | moments in narrow boxes (`boxes`) |
//! | hinge | O(n) on spread scores, O(n log n) at worst | counting in sorted buckets (`counts`) |
//! | squared | O(n) | class counts and sums (`sums`) |
//! | q-hinge | O(n log n) | a tree of expansions (`tree`) |
//!
//! Pairs of which it is known who failed first are two classes again and again, in O(log n) rounds (`comparable`).
//! Scores of one hidden layer, and the pull-back through them, are products of two matrices (`network`). Scores of a function
//! elsewhere come in, and charges go out ([`foreign`]).
//! Metrics need all n² distances; `metric` forms them in tiles by matrix products.
//!
//! Sums over records add whole numbers (`exact`), so results depend neither on the number of threads nor on how a table is divided
//! into parts, which may lie on other machines ([`parts`]). [`naive`] is the definition, term by term.
//!
//! Loops over records take eight at a time, in registers that the machine is asked for (`lanes`): the same bits on every machine.
//!
//! # Guarantee
//! [`gradient`] is within [`error_bound`] of the exact sum over the *computed* steepnesses, each a function of its two
//! records and the parameters and cut off at the bound that the sensitivity uses: `proofs/kernels.md`.

pub mod blocks;
mod boxes;
mod charges;
mod comparable;
mod counts;
pub(crate) mod exact;
mod exponential;
pub mod foreign;
pub(crate) mod lanes;
mod metric;
pub mod naive;
mod network;
pub mod parts;
mod pointwise;
mod pull_back;
mod rows;
mod single;
mod sums;
mod tree;

use crate::{Objective, Problem, RankingForm, Records, Score};
use pairdp_units::directed::up_by;
use parts::{Share, Workspace};

pub use blocks::Par;
pub(crate) use charges::LARGEST_SCORE;
pub use metric::score_pairs as metric_distances;
pub use network::{BLOCK, Layers};
pub use rows::score;
pub(crate) use single::same_class;
pub use single::{pair_gradient, record_gradient};

/// The gradient of the mean loss at `parameters`, ridge excluded (it is public, and the caller's to add).
///
/// One class only, constant features and equal scores give what the definition gives; nothing is an error.
///
/// # Panics
/// If the number of parameters does not fit the records, or scores are computed elsewhere: a mistake of the caller.
pub fn gradient(problem: Problem, records: &Records, parameters: &[f64], par: Par) -> Vec<f64> {
    assert_eq!(parameters.len(), problem.parameters(records.columns()), "one parameter for each coordinate");
    assert!(
        problem.weighs() == records.strata().is_weighed() && (!problem.weighs() || can_weigh(problem)),
        "records of persons for a problem that weighs them"
    );
    match par {
        Par::Sequential => gradient_within(problem, records, parameters, par),
        // Once into the pool of threads: every entrance from outside takes as long as a small table.
        Par::Parallel => rayon::scope(|_| gradient_within(problem, records, parameters, par)),
    }
}

fn gradient_within(problem: Problem, records: &Records, parameters: &[f64], par: Par) -> Vec<f64> {
    if charges::is_in_time(problem) {
        return comparable::gradient(problem, records, parameters, par);
    }
    if let Objective::Ranking { loss, .. } = problem.objective()
        && charges::needs_tree(loss)
    {
        return charges::gradient_by_tree(problem, records, parameters, par);
    }
    let mut workspace = Workspace::of(records.take_room());
    let ask = |question: &_| parts::answer(problem, records, Share::WHOLE, question, &mut workspace, par);
    let gradient = parts::gradient(problem, records.size(), parameters, par, ask)
        .unwrap_or_else(|parts::Mismatch| unreachable!("a table answers questions about itself"));
    records.keep_room(workspace.into_room());
    gradient
}

/// The mean loss at `parameters`, ridge excluded.
///
/// # Panics
/// As [`gradient`].
pub fn risk(problem: Problem, records: &Records, parameters: &[f64], par: Par) -> f64 {
    assert_eq!(parameters.len(), problem.parameters(records.columns()), "one parameter for each coordinate");
    match problem.objective() {
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            comparable::risk(problem, records, parameters, par)
        }
        Objective::Ranking { .. } => charges::risk(problem, records, parameters, par),
        Objective::Metric { loss } => metric::risk(loss, records, parameters, par),
        Objective::Pointwise { loss } => pointwise::risk(problem, loss, records, parameters, par),
    }
}

/// Whether [`gradient`] computes every slope at the score that a record has, for all parameters of norm at most `norm`. Scores
/// of rankers are cut off at 2⁴⁰; beyond, two scores that are cut off have the margin 0, and the computed slope is no longer
/// that of a convex loss. Sensitivities of gradients do not need it to be, those of whole descents do.
pub fn keeps_scores(problem: Problem, norm: f64) -> bool {
    match problem.objective() {
        Objective::Ranking { .. } => {
            charges::Scaled::of(problem).reach(problem, norm) < charges::LARGEST_SCORE
        }
        Objective::Metric { .. } | Objective::Pointwise { .. } => true,
    }
}

/// The names of the kernels, as certificates state them.
pub fn name(problem: Problem) -> &'static str {
    match (problem.objective(), problem.weighs()) {
        _ if matches!(problem.score(), Score::Foreign(_)) => "foreign/1",
        _ if !problem.score().is_linear() => "network/1",
        (Objective::Ranking { form: RankingForm::Comparable, .. }, _) => "comparable/1",
        (Objective::Ranking { .. }, false) => "charges/2",
        (Objective::Ranking { .. }, true) => "charges/3",
        (Objective::Metric { .. }, _) => "tiles/2",
        (Objective::Pointwise { .. }, false) => "rows/2",
        (Objective::Pointwise { .. }, true) => "rows/3",
    }
}

/// Whether records of persons can be weighed: what is summed in floating point over records, as tiles and trees are, has an
/// error that grows with their number, which is secret then.
pub fn can_weigh(problem: Problem) -> bool {
    match problem.objective() {
        // Blocks are summed in floating point.
        _ if !problem.score().is_linear() => false,
        Objective::Ranking { loss, .. } => !charges::needs_tree(loss) && !charges::is_in_time(problem),
        Objective::Metric { .. } => false,
        Objective::Pointwise { .. } => true,
    }
}

/// How far, in Euclidean norm, [`gradient`] can be from the exact sum, for any table of n records or persons, of `columns` features
/// and parameters of norm at most `norm`: the largest gradient times [`relative_error`].
pub fn error_bound(problem: Problem, norm: f64, n: usize, columns: usize) -> f64 {
    up_by(problem.gradient_norm_bound(norm, n) * relative_error(problem, n, columns), 2.0)
}

/// How far, in Euclidean norm, [`gradient`] can move when records change places, beyond [`error_bound`]. Scores are functions of
/// one record; distances of pairs are computed in tiles, where the order of summation may depend on the place, and a smooth
/// slope follows them: `proofs/add_remove.md`. A slope that jumps could jump.
pub fn position_error(problem: Problem, norm: f64, columns: usize) -> f64 {
    match problem.objective() {
        Objective::Metric { loss } => metric::position_error(loss, problem.feature_bound(), norm, columns),
        Objective::Ranking { .. } | Objective::Pointwise { .. } => 0.0,
    }
}

/// The error of a kernel relative to the sum of the absolute values of its terms: `proofs/kernels.md`.
pub fn relative_error(problem: Problem, n: usize, columns: usize) -> f64 {
    let roundings = match problem.objective() {
        Objective::Ranking { .. } => charges::roundings(problem, n, columns),
        Objective::Metric { .. } => metric::roundings(n, columns),
        Objective::Pointwise { .. } => pointwise::roundings(problem, columns),
    };
    roundings * f64::EPSILON
}
