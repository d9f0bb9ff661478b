use crate::args::Report;
use crate::commands::evaluate;
use crate::failure::Failure;
use crate::files;
use crate::output::{Force, Kind, Output, Role, Taken};
use crate::printer::Printer;
use crate::report::{Quality, render};
use crate::require_public::require_public;
use pairdp_data::LabelUse;
use pairdp_model::PrivateModel;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Report, printer: &Printer) -> Result<ExitCode, Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.model.with_extension("html"));
    let reads = Taken::none().and(&arguments.model, Role::Model);
    let reads = match &arguments.test {
        Some(test) => reads.and_table(test, arguments.schema.as_deref()),
        None => reads,
    };
    let place = Output::new(&out, Kind::Page, Force::Never, &reads)?;
    let (document, text) = files::read_certified(&arguments.model)?;
    let model = PrivateModel::from_json(&text).map_err(|error| Failure::about(&arguments.model, &error))?;
    if arguments.test.is_some() {
        model.predictor.scores_here().map_err(|error| Failure::about(&arguments.model, &error))?;
    }
    let quality = match &arguments.test {
        None => None,
        Some(test) => {
            let label = evaluate::label_of(&model.predictor, &arguments.model)?;
            require_public(test, arguments.schema.as_deref(), arguments.public)?;
            let table = printer
                .reading(test, &model.predictor.encoding, LabelUse::Read(label))?
                .require_pairs(test)?;
            Some(Quality::of(&model.predictor, &table, test)?)
        }
    };
    let render =
        || render(&arguments.model, (&document, &text), &model, quality.as_ref(), arguments.patience);
    let page = printer.waiting("computing the report", render)?;
    place.write(page.as_bytes())?;
    printer.result(&format!("wrote {}", out.display()), &json!({ "report": out, "test": arguments.test }));
    Ok(ExitCode::SUCCESS)
}
