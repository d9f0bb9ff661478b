use crate::args::Predict;
use crate::failure::Failure;
use crate::files;
use crate::printer::Printer;
use pairdp_data::{LabelUse, Table};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Predict, printer: &Printer) -> Result<ExitCode, Failure> {
    let model = files::read_model(&arguments.model)?;
    let table = Table::read(&arguments.data, &model.ranker.encoding, LabelUse::Ignore)?;
    let mut text = String::from("score\n");
    for score in model.ranker.scores(&table) {
        let _ = writeln!(text, "{score}");
    }
    match &arguments.out {
        None => Printer::data(&text),
        Some(path) => {
            files::check_writable(path)?;
            files::write(path, &text)?;
            let message = format!(
                "wrote {} ({} scores, higher means more likely positive)",
                path.display(),
                table.rows
            );
            printer.result(&message, &json!({ "scores": path, "records": table.rows }));
        }
    }
    Ok(ExitCode::SUCCESS)
}
