//! From an encoded table to a model file: the one way for the command line and Python alike.

use crate::baseline::{Baseline, descend};
use crate::{
    Average, BaselineModel, Journal, LearnError, Plan, PlanKind, Predictor, Prepared, PrivateModel, Settings,
    Task, train_with,
};
use pairdp_data::{Encoding, Label, Table};
use pairdp_noise::Secure;
use pairdp_pairwise::{Problem, Records};

/// Trains a model for a task within what was prepared for the table's public size.
///
/// # Errors
/// [`LearnError`], which depends on public facts alone.
pub fn fit(
    task: Task,
    prepared: Prepared,
    table: Table,
    encoding: Encoding,
    label: Option<Label>,
    journal: &mut Journal<'_>,
) -> Result<PrivateModel, LearnError> {
    let Prepared { problem, plan, budget, as_printed } = prepared;
    let records = records(problem, table)?;
    let (parameters, certificate) =
        train_with(problem, plan, budget, records, Secure::from_os()?, journal)?.into_parts();
    let feature_bound = problem.feature_bound();
    let predictor = Predictor { task, encoding, label, feature_bound, parameters };
    let mut model = PrivateModel::new(predictor, plan, problem.ridge(), certificate);
    model.as_printed = as_printed;
    Ok(model)
}

/// Descends without privacy: over all pairs until close to a minimum, or once through the table, unless the settings say
/// otherwise. The model is not private.
///
/// # Errors
/// [`LearnError`] when settings and table do not fit.
pub fn fit_baseline(
    method: Baseline,
    settings: &Settings,
    table: Table,
    encoding: Encoding,
    label: Option<Label>,
) -> Result<BaselineModel, LearnError> {
    const FULL_STEPS: u32 = 300;
    let problem = settings.problem(table.columns)?;
    let rows = table.rows;
    let longest = Plan::longest_step(problem, rows);
    let (steps, size, average) = match method {
        Baseline::Gd => (FULL_STEPS, longest, Average::Last),
        Baseline::Sgd(_) | Baseline::SgdHistory(_) => {
            (u32::try_from(rows).unwrap_or(u32::MAX), longest / (rows as f64).sqrt(), Average::SecondHalf)
        }
    };
    let plan = Plan::new(
        PlanKind::NoisyGd,
        settings.steps.unwrap_or(steps),
        settings.step_size.unwrap_or(size),
        settings.average.unwrap_or(average),
    )?;
    let parameters = descend(method, problem, plan, &records(problem, table)?)?;
    let (task, feature_bound) = (settings.task, problem.feature_bound());
    Ok(BaselineModel::new(Predictor { task, encoding, label, feature_bound, parameters }))
}

fn records(problem: Problem, table: Table) -> Result<Records, LearnError> {
    Ok(Records::with_targets(table.features, table.columns, table.targets, problem.feature_bound())?)
}
