//! Descents without noise. What they return is private data.

use crate::{Descent, Iterates, Plan, PublicIndices as _};
use pairdp_certificate::{Algorithm, Order, Phase};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Constants, Objective, Problem, RankingForm, Records};
use pairdp_units::signed_time;

/// A descent over a table, or over a part of it.
pub enum Walk {
    /// Along the mean over all pairs (or records).
    FullBatch,
    /// Each record of a sequence against all before it.
    History(Vec<u32>),
    /// One pair after the other.
    Pairs(Vec<(u32, u32)>),
    /// One record after the other.
    Records(Vec<u32>),
}

impl Walk {
    /// The descent of an algorithm over a whole part of n records.
    pub(crate) fn of(algorithm: Algorithm, problem: Problem, order: Order, n: usize, steps: u32) -> Self {
        let steps = steps as usize;
        let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
        match algorithm {
            Algorithm::OutputSgd if pointwise => Self::Records(order.indices(n, steps)),
            Algorithm::OutputSgd => Self::History(order.indices(n, steps + 1)),
            Algorithm::OfflinePair => Self::History(order.permutation(n)),
            Algorithm::MatchingSgd => Self::Pairs(order.pairs(n, steps)),
            Algorithm::LocalizedSgd => Self::Pairs((1..).zip(0..).take(steps).collect()),
            _ => Self::FullBatch,
        }
    }

    /// Runs it from given parameters.
    pub fn run(&self, descent: &Descent, records: &Records, start: &[f64]) -> Vec<f64> {
        let problem = descent.problem;
        let constants = problem.constants();
        let mut t = 0;
        let gradient = |w: &[f64]| {
            let mut gradient = vec![0.0; w.len()];
            match self {
                Self::FullBatch => gradient = kernel::gradient(problem, records, w, Par::Parallel),
                Self::Records(order) => {
                    let index = order[t] as usize;
                    kernel::record_gradient(problem, &constants, records, index, w, &mut gradient);
                }
                Self::Pairs(pairs) => {
                    let pair = (pairs[t].0 as usize, pairs[t].1 as usize);
                    pair_term(problem, &constants, records, pair, w, &mut gradient);
                }
                Self::History(order) => {
                    gradient = mean_against(problem, &constants, records, order[t + 1], &order[..=t], w);
                }
            }
            t += 1;
            Ok::<_, std::convert::Infallible>(gradient)
        };
        let Ok(result) = descend(descent, start, gradient);
        result
    }
}

/// w ← Π(w − η·(gradient + λw)), so many times, without noise.
pub(crate) fn descend<X>(
    descent: &Descent,
    start: &[f64],
    mut gradient: impl FnMut(&[f64]) -> Result<Vec<f64>, X>,
) -> Result<Vec<f64>, X> {
    let mut iterates = Iterates::from(start);
    for _ in 0..descent.steps {
        let slope = gradient(iterates.current())?;
        iterates.step(descent, &slope);
    }
    Ok(iterates.finish(descent))
}

/// The public numbers of a phase.
pub(crate) fn phase_descent(problem: Problem, plan: Plan, phase: &Phase) -> Descent {
    Descent {
        problem,
        steps: phase.steps,
        step_size: phase.step_size,
        average: plan.average(),
        momentum: 0.0,
    }
}

/// What one phase of a plan computes on its part of the table, before noise is added. What it returns is private data; it is
/// public as code so that anybody can run it on neighbouring tables and see how far apart the results are.
pub fn phase_result(problem: Problem, plan: Plan, phase: &Phase, part: &Records, start: &[f64]) -> Vec<f64> {
    let walk = Walk::of(plan.algorithm(), problem, plan.order(), part.len(), phase.steps);
    walk.run(&phase_descent(problem, plan, phase), part, start)
}

/// The gradient of a pair, in the order that counts: the indicator form has a loss for a positive before a negative record
/// only, and times for the order in which it is known who failed first, so taking both orders together doubles the signal and
/// leaves D_sym = D_pair. Other losses have the same gradient in both orders.
#[inline]
pub(crate) fn pair_term(
    problem: Problem,
    constants: &Constants,
    records: &Records,
    (i, j): (usize, usize),
    w: &[f64],
    out: &mut [f64],
) {
    let targets = records.targets();
    let turned = match problem.objective() {
        Objective::Ranking { form: RankingForm::Indicator, .. } => targets[i] < 0.0,
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            signed_time::is_before(targets[j], targets[i])
        }
        _ => false,
    };
    let pair = if turned { (j, i) } else { (i, j) };
    kernel::pair_gradient(problem, constants, records, pair, w, out);
}

/// The mean gradient of a record's pairs with others, in a fixed order.
pub(crate) fn mean_against(
    problem: Problem,
    constants: &Constants,
    records: &Records,
    new: u32,
    others: &[u32],
    w: &[f64],
) -> Vec<f64> {
    let mut sum = vec![0.0; w.len()];
    let mut term = vec![0.0; w.len()];
    for &other in others {
        pair_term(problem, constants, records, (new as usize, other as usize), w, &mut term);
        sum.iter_mut().zip(&term).for_each(|(sum, value)| *sum += value);
    }
    let count = others.len() as f64;
    sum.iter_mut().for_each(|value| *value /= count);
    sum
}
