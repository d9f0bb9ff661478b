//! `pairdp calibrate`: probabilities by the labels of a public table.

use super::evaluate::label_of;
use crate::args::Calibrate;
use crate::failure::Failure;
use crate::files::{self, AnyModel};
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use crate::require_public::require_public;
use pairdp_data::LabelUse;
use pairdp_model::ModelError;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Calibrate, printer: &Printer) -> Result<ExitCode, Failure> {
    let Calibrate { model, data, schema, public, out } = arguments;
    let reads = Taken::none().and(model, Role::Model).and_table(data, schema.as_deref());
    let mut found = files::read_any(model)?;
    let kind = match &found {
        AnyModel::Private(_) => Kind::Model,
        AnyModel::Baseline(_) => Kind::Baseline,
    };
    let place = Output::new(out, kind, Force::Never, &reads)?;
    require_public(data, schema.as_deref(), *public)?;
    let predictor = match &mut found {
        AnyModel::Private(model) => &mut model.predictor,
        AnyModel::Baseline(model) => &mut model.predictor,
    };
    predictor.scores_here().map_err(|error| Failure::about(model, &error))?;
    let label = label_of(predictor, model)?;
    let table = printer.reading(data, &predictor.encoding, LabelUse::Read(label))?.require_pairs(data)?;
    *predictor = predictor.calibrated_on(&table)?;
    let cannot = |error: ModelError| Failure::about(out, &error);
    let text = match &found {
        AnyModel::Private(model) => model.to_json(),
        AnyModel::Baseline(model) => model.to_json(),
    };
    place.write(text.map_err(cannot)?.as_bytes())?;
    let message = format!(
        "wrote {}: probabilities by the labels of {} public records, which cost no budget and which no guarantee covers",
        out.display(),
        table.rows
    );
    printer.result(&message, &json!({ "model": out, "records": table.rows }));
    Ok(ExitCode::SUCCESS)
}
