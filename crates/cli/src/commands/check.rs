//! For the custodian alone: how a table and a schema fit, cell by cell. No noise, so nothing of it may be published.

use super::train::find_schema;
use crate::args::Check;
use crate::failure::Failure;
use crate::output::{Force, Kind, NOT_PRIVATE, Output, Taken};
use crate::printer::Printer;
use pairdp_data::{CellCounts, Encoding};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// What the name of its file has to end in, so that nobody takes it for something that may be released.
const ENDING: &str = ".not-private.txt";

pub(crate) fn run(arguments: &Check, printer: &Printer) -> Result<ExitCode, Failure> {
    let reads = Taken::none().and_table(&arguments.data, arguments.schema.as_deref());
    let out = arguments.out.as_deref().map(|path| place(path, &reads)).transpose()?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    let label = schema.label();
    let mut keep: Vec<String> = label.columns().map(str::to_owned).collect();
    let labels = keep.len();
    keep.extend(schema.person().map(|person| person.column.clone()));
    let survey = printer.surveying(&arguments.data, &Encoding::of(&schema), &keep)?;
    let mut columns = label.count_cells(&survey.kept[..labels], schema.style().decimal);
    if let (Some(person), Some(cells)) = (schema.person(), survey.kept.get(labels)) {
        let missing = cells.iter().filter(|cell| cell.is_empty()).count() as u64;
        columns.push(CellCounts { column: person.column.clone(), missing, ..CellCounts::default() });
    }
    columns.extend(survey.columns);
    let rows = survey.table.rows;
    let unreadable = survey.readable.iter().filter(|readable| !**readable).count();

    let text = format!("{NOT_PRIVATE}\n\n{}", table(&columns, rows, unreadable));
    if let Some(out) = out {
        let path = out.path().to_owned();
        out.write(text.as_bytes())?;
        let message = format!("wrote {}, which is NOT private: do not publish it", path.display());
        printer.result(&message, &json!({ "warning": NOT_PRIVATE, "check": path }));
        return Ok(ExitCode::SUCCESS);
    }
    let object = json!({ "warning": NOT_PRIVATE, "records": rows, "unreadable_records": unreadable, "columns": columns });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

fn place(path: &Path, reads: &Taken) -> Result<Output, Failure> {
    if !path.to_string_lossy().ends_with(ENDING) {
        return Err(Failure::refused(
            format!(
                "{}: a check of private records must not look like a file that may be released",
                path.display()
            ),
            format!("let its name end in {ENDING}"),
        ));
    }
    Output::new(path, Kind::Check, Force::Never, reads)
}

fn table(columns: &[CellCounts], rows: usize, unreadable: usize) -> String {
    let wide = columns.iter().map(|counts| counts.column.chars().count()).fold("column".len(), std::cmp::max);
    let mut text = format!(
        "  {:<wide$} {:>10} {:>10} {:>10} {:>10}\n",
        "column", "clipped", "unlisted", "missing", "unreadable"
    );
    for CellCounts { column, clipped, unlisted, missing, unreadable } in columns {
        let _ =
            writeln!(text, "  {column:<wide$} {clipped:>10} {unlisted:>10} {missing:>10} {unreadable:>10}");
    }
    let _ = writeln!(
        text,
        "\n  of {rows} records, {unreadable} have a feature that cannot be read\n\n\
         clipped: beyond the range, and counted as its end. unlisted: none of the categories or labels. missing: empty.\n\
         unreadable: not what the column holds. Ranges and categories are public knowledge: changing them because of\n\
         what this says about the records would leak it."
    );
    text
}
