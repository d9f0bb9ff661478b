//! From an encoded table to a model file: the one way for the command line and Python alike.

use crate::baseline::{Baseline, descend};
use crate::parts::{Form, Found};
use crate::ranges::tighten;
use crate::train::train_parts;
use crate::{
    Average, BaselineModel, Journal, LearnError, Mechanism, Plan, PlanKind, Predictor, Prepared,
    PrivateModel, Settings, Task, Trained, train_with,
};
use pairdp_data::{Encoding, Label, Table};
use pairdp_noise::{Secure, Source};
use pairdp_pairwise::{Neighbours, Problem, Records, clip_row};

/// What is learned from.
pub enum Rows {
    /// A table in memory.
    Here(Table),
    /// Parts of one elsewhere.
    Parts(Found),
}

impl From<Table> for Rows {
    fn from(table: Table) -> Self {
        Self::Here(table)
    }
}

impl From<Found> for Rows {
    fn from(found: Found) -> Self {
        Self::Parts(found)
    }
}

/// Trains a model for a task within what was prepared for the table's public size.
///
/// # Errors
/// [`LearnError`], which depends on public facts alone.
pub fn fit(
    task: Task,
    prepared: Prepared,
    rows: impl Into<Rows>,
    encoding: Encoding,
    label: Option<Label>,
    journal: &mut Journal<'_>,
) -> Result<PrivateModel, LearnError> {
    let public = encoding;
    let mut encoding = public.clone();
    let (mut parameters, mut certificate) =
        trained(&prepared, rows.into(), &mut encoding, Secure::from_os()?, journal)?.into_parts();
    certificate.public_ranges = certificate.ranges.map(|_| public.ranges());
    let Prepared { problem, feature_bound, constant, columns, plan, because, as_printed, .. } = prepared;
    if constant == 0.0 && plan.algorithm() == PlanKind::Moments {
        // Without an intercept the one that was solved for is left out.
        parameters.truncate(columns);
    }
    let predictor = Predictor { task, encoding, label, feature_bound, constant, parameters };
    let mut model = PrivateModel::new(predictor, plan, problem.ridge(), certificate);
    (model.because, model.as_printed) = (because, as_printed);
    Ok(model)
}

/// Asks a curator of the rows all that the plan asks. Tighter ranges, if they are looked for, replace those of the encoding.
pub(crate) fn trained<S: Source>(
    prepared: &Prepared,
    rows: Rows,
    encoding: &mut Encoding,
    mut source: S,
    journal: &mut Journal<'_>,
) -> Result<Trained<S::Claim>, LearnError> {
    let Prepared { problem, feature_bound, constant, columns, plan, budget, .. } = *prepared;
    let mut table = match rows {
        Rows::Here(table) => table,
        Rows::Parts(_) if plan.tighten().is_some() => {
            return Err(LearnError::OnePlace("the search for ranges"));
        }
        Rows::Parts(found) => {
            let constant = if columns > encoding.dimension() { constant } else { 0.0 };
            let parts = found.formed(Form { problem, feature_bound, constant }, columns)?;
            return train_parts(problem, plan, budget, parts, source, journal);
        }
    };
    if plan.tighten().is_some() {
        // An interrupted run would count again.
        if journal.keeps() {
            return Err(LearnError::NoProof("checkpoints of a run that looks for ranges"));
        }
        let (size, width) = (problem.size(table.rows), table.columns);
        if problem.neighbours() != Neighbours::ReplaceOne && table.rows > size {
            table.features.truncate(size * width);
            table.targets.truncate(size);
            table.rows = size;
        }
        let mechanism = Mechanism::calibrate(problem, plan, table.rows, columns, budget)?;
        if let Some(ranges) = mechanism.ranges() {
            *encoding = tighten(&mut table, encoding, &ranges, &mut source)?;
        }
    }
    let in_records = if columns > table.columns { constant } else { 0.0 };
    let records = records(problem, table, feature_bound, in_records)?;
    train_with(problem, plan, budget, records, source, journal)
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
    let settings = &Settings { algorithm: Some(PlanKind::NoisyGd), ..settings.clone() };
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
        PlanKind::NoisyGd,
        settings.steps.unwrap_or(steps),
        settings.step_size.unwrap_or(size),
        settings.average.unwrap_or(average),
    )?;
    let parameters = descend(method, problem, plan, &records(problem, table, feature_bound, constant)?)?;
    let task = settings.task;
    Ok(BaselineModel::new(Predictor { task, encoding, label, feature_bound, constant, parameters }))
}

/// Rows scaled down to the bound, each followed by the constant if there is one.
pub(crate) fn records(
    problem: Problem,
    table: Table,
    bound: f64,
    constant: f64,
) -> Result<Records, LearnError> {
    let Table { mut features, mut columns, targets, .. } = table;
    if constant != 0.0 {
        let mut rows = Vec::with_capacity(features.len() + targets.len());
        for row in features.chunks_exact_mut(columns) {
            clip_row(row, bound);
            rows.extend_from_slice(row);
            rows.push(constant);
        }
        (features, columns) = (rows, columns + 1);
    }
    Ok(Records::with_targets(features, columns, targets, problem.feature_bound())?)
}
