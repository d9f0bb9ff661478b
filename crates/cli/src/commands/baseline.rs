use super::train::{check_label, find_schema};
use crate::args::Baseline;
use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Taken};
use crate::printer::Printer;
use pairdp_certificate::Order;
use pairdp_data::{Encoding, Schema};
use pairdp_learn::Settings;
use pairdp_learn::baseline::{self, Baseline as Method};
use pairdp_model::BaselineModel;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Baseline, printer: &Printer) -> Result<ExitCode, Failure> {
    let reads = Taken::none().and_table(&arguments.data, arguments.schema.as_deref());
    let out = Output::new(&arguments.out, Kind::Baseline, Force::Never, &reads)?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    let settings = arguments.tuning.settings_by(&schema)?;
    let order = Order { shuffle: settings.shuffle, seed: settings.order_seed.unwrap_or(0) };
    let method = match arguments.method.as_str() {
        "sgd" => Method::Sgd(order),
        "sgd-history" => Method::SgdHistory(order),
        _ => Method::Gd,
    };
    let model = train_file(&arguments.data, &schema, &settings, method, printer)?;
    let document = model.to_json().map_err(|error| Failure::about(&arguments.out, &error))?;
    out.write(document.as_bytes())?;
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
    printer: &Printer,
) -> Result<BaselineModel, Failure> {
    check_label(settings.task, schema)?;
    let encoding = Encoding::of(schema);
    let table = printer.reading(data, &encoding, schema.label_use())?.require_pairs(data)?;
    let label = Some(schema.label().clone());
    Ok(printer.waiting("descending", || baseline::fit(method, settings, table, encoding, label))?)
}
