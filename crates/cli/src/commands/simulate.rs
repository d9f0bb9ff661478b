use crate::args::Simulate;
use crate::failure::Failure;
use crate::files;
use crate::output::{Kind, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_data::simulate;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Simulate, printer: &Printer) -> Result<ExitCode, Failure> {
    let schema = files::schema_beside(&arguments.out);
    if arguments.out.extension().is_none_or(|ending| ending != "csv") {
        return Err(Failure::refused(
            format!("{}: a simulated cohort is a CSV file", arguments.out.display()),
            "let its name end in .csv",
        ));
    }
    let table = Output::new(&arguments.out, Kind::Table, arguments.force.into(), &Taken::none())?;
    let rules = Output::new(
        &schema,
        Kind::Schema,
        arguments.force.into(),
        &Taken::none().and(table.path(), Role::Result),
    )?;
    table.write(simulate::cohort(arguments.records, arguments.seed).csv.as_bytes())?;
    rules.write(simulate::SCHEMA.as_bytes())?;
    let optimal = simulate::optimal_auc();
    let text = format!(
        "wrote {} ({} simulated stays) and {}\nno model can rank this population better than AUC {optimal:.3}",
        arguments.out.display(),
        arguments.records,
        schema.display(),
    );
    let object = json!({
        "data": arguments.out, "schema": schema, "records": arguments.records, "optimal_auc": optimal,
    });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}
