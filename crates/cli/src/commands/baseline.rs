use super::train::{check_label, find_schema};
use crate::args::Baseline;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{Encoding, LabelUse, Schema, Table};
use pairdp_learn::baseline::{self, Baseline as Method};
use pairdp_learn::{Average, BaselineModel, Order, Plan, PlanKind, Predictor, Settings};
use pairdp_pairwise::Records;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Steps over all pairs that come close to a minimum.
const FULL_STEPS: u32 = 300;

pub(crate) fn run(arguments: &Baseline, printer: &Printer) -> Result<ExitCode, Failure> {
    files::check_writable(&arguments.out)?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    let settings = arguments.tuning.settings();
    let order = Order { shuffle: settings.shuffle, seed: settings.order_seed.unwrap_or(0) };
    let method = match arguments.method.as_str() {
        "sgd" => Method::Sgd(order),
        "sgd-history" => Method::SgdHistory(order),
        _ => Method::Gd,
    };
    let model = train_file(&arguments.data, &schema, &settings, method)?;
    files::write(&arguments.out, &model.to_json().map_err(|error| Failure::about(&arguments.out, &error))?)?;
    let text = format!("wrote {}, which is NOT private: keep it inside", arguments.out.display());
    printer.result(&text, &json!({ "model": arguments.out, "private": false, "method": arguments.method }));
    Ok(ExitCode::SUCCESS)
}

/// Reads a table and descends without noise; also what the demonstration calls.
pub(crate) fn train_file(
    data: &Path,
    schema: &Schema,
    settings: &Settings,
    method: Method,
) -> Result<BaselineModel, Failure> {
    check_label(settings.task, schema)?;
    let encoding = Encoding::of(schema);
    let problem = settings.problem(encoding.dimension())?;
    let table = Table::read(data, &encoding, LabelUse::Read(schema.label()))?.require_pairs(data)?;
    let longest = Plan::longest_step(problem, table.rows);
    let (steps, size) = match method {
        Method::Gd => (FULL_STEPS, longest),
        _ => (u32::try_from(table.rows).unwrap_or(u32::MAX), longest / (table.rows as f64).sqrt()),
    };
    let plan = Plan::new(
        PlanKind::NoisyGd,
        settings.steps.unwrap_or(steps),
        settings.step_size.unwrap_or(size),
        settings.average.unwrap_or(if method == Method::Gd { Average::Last } else { Average::SecondHalf }),
    )?;
    let records =
        Records::with_targets(table.features, table.columns, table.targets, problem.feature_bound())?;
    let parameters = baseline::descend(method, problem, plan, &records)?;
    Ok(BaselineModel::new(Predictor {
        task: settings.task,
        encoding,
        label: Some(schema.label().clone()),
        feature_bound: problem.feature_bound(),
        parameters,
    }))
}
