use crate::args::Evaluate;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{LabelUse, Table};
use pairdp_pairwise::measure;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Evaluate, printer: &Printer) -> Result<ExitCode, Failure> {
    let model = files::read_model(&arguments.model)?;
    let label = model.ranker.label.as_ref().ok_or_else(|| {
        Failure::refused(
            format!("{}: the model does not say which column is the label", arguments.model.display()),
            "train it with `pairdp train`, from a file with a schema",
        )
    })?;
    let table = Table::read(&arguments.data, &model.ranker.encoding, LabelUse::Read(label))?;
    let auc = measure::auc(&model.ranker.scores(&table), &table.positive()).ok_or_else(|| {
        Failure::refused(
            format!("{}: AUC needs a record of each class", arguments.data.display()),
            "evaluate on a larger table",
        )
    })?;
    let text = format!("AUC {auc:.4} on {} records (chance 0.5)", table.rows);
    printer.result(&text, &json!({ "auc": auc, "records": table.rows }));
    Ok(ExitCode::SUCCESS)
}
