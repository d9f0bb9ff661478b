//! Learning without privacy, to compare with. A baseline is a type of its own and never carries a certificate.

pub use crate::release::walk::phase_result;

use crate::parts::RowLayout;
use crate::release::Descent;
use crate::release::walk::Walk;
use crate::{Algorithm, Average, BaselineModel, LearnError, Order, Plan, Predictor, Settings};
use pairdp_data::{Encoding, Label, Table};
use pairdp_pairwise::{Objective, Problem, Records};

/// How to descend without privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Along the mean over all pairs (or records).
    Gd,
    /// One pair, or record, a step (Bassily et al., Algorithm 1 for records).
    Sgd(Order),
    /// Each drawn record against all drawn before it (Yang et al., Algorithm 1).
    SgdHistory(Order),
}

/// Descends without noise, with the steps, step size and average of a plan. What it returns is not private.
///
/// # Errors
/// [`LearnError`] below two records, or for a history of single records.
pub fn descend(
    baseline: Baseline,
    problem: Problem,
    plan: Plan,
    records: &Records,
) -> Result<Vec<f64>, LearnError> {
    problem.gradient_sensitivity(0.0, records.len())?;
    let (n, steps) = (records.len(), plan.steps() as usize);
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let walk = match baseline {
        Baseline::Gd => Walk::FullBatch,
        Baseline::Sgd(order) if pointwise => Walk::Records(order.indices(n, steps)),
        Baseline::Sgd(order) => Walk::Pairs(order.pairs(n, steps)),
        Baseline::SgdHistory(_) if pointwise => return Err(LearnError::NoHistory),
        Baseline::SgdHistory(order) => Walk::History(order.indices(n, steps + 1)),
    };
    let descent = Descent::of(problem, plan);
    Ok(walk.run(&descent, records, &vec![0.0; problem.parameters(records.columns())]))
}

/// Descends without privacy: over all pairs until close to a minimum, or once through the table, unless the settings say
/// otherwise. The model is not private.
///
/// # Errors
/// [`LearnError`] when settings and table do not fit.
pub fn fit(
    method: Baseline,
    settings: &Settings,
    table: Table,
    encoding: Encoding,
    label: Option<Label>,
) -> Result<BaselineModel, LearnError> {
    const FULL_STEPS: u32 = 300;
    let settings = &Settings { algorithm: Some(Algorithm::NoisyGd), ..settings.clone() };
    let problem = settings.problem(table.columns)?;
    let (feature_bound, constant) = (settings.row_bound(table.columns), settings.constant(table.columns));
    let rows = table.rows;
    let longest = Plan::longest_step(problem, rows);
    let (steps, size, average) = match method {
        Baseline::Gd => (FULL_STEPS, longest, Average::Last),
        Baseline::Sgd(_) | Baseline::SgdHistory(_) => {
            (u32::try_from(rows).unwrap_or(u32::MAX), longest / (rows as f64).sqrt(), Average::SecondHalf)
        }
    };
    let plan = Plan::new(
        Algorithm::NoisyGd,
        settings.steps.unwrap_or(steps),
        settings.step_size.unwrap_or(size),
        settings.average.unwrap_or(average),
    )?;
    let records = RowLayout { problem, feature_bound, constant }.records(table)?;
    let parameters = descend(method, problem, plan, &records)?;
    let task = settings.task;
    Ok(BaselineModel::new(Predictor {
        task,
        encoding,
        label,
        feature_bound,
        constant,
        parameters,
        representation: None,
    }))
}
