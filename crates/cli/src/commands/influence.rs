use super::train::{check_label, find_schema};
use crate::args::Influence as Arguments;
use crate::failure::Failure;
use crate::output::{Force, Kind, Output, Taken};
use crate::printer::Printer;
use pairdp_audit::influence::{Form, Influence, length, relative_error};
use pairdp_data::{Encoding, LabelUse, Table};
use pairdp_learn::{DomainKind, Settings};
use pairdp_model::Task;
use pairdp_pairwise::Records;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

const WARNING: &str = "NOT private: derived from records without noise. Keep it inside";

pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    let reads = Taken::none().and_table(&arguments.data, arguments.schema.as_deref());
    let out = arguments.out.as_deref().map(|path| place(path, &reads)).transpose()?;
    let schema = find_schema(&arguments.data, arguments.schema.as_deref())?;
    check_label(Task::Ranking, &schema)?;
    if schema.person().is_some() {
        // What is left out would have to be a person; a record of many says little about them.
        return Err(Failure::refused(
            "the influence of persons with several records is not computed yet",
            "leave [person] out of a copy of the schema to see single records",
        ));
    }
    let encoding = Encoding::of(&schema);
    let table = Table::read(&arguments.data, &encoding, LabelUse::Read(schema.label()))?;
    let Table { features, columns, targets, .. } = table.require_pairs(&arguments.data)?;
    let settings =
        Settings { domain: Some(DomainKind::Whole), ridge: arguments.ridge, ..Settings::default() };
    let problem = settings.problem(columns)?;
    let records = Records::with_targets(features, columns, targets, problem.feature_bound())
        .map_err(|error| Failure::about(&arguments.data, &error))?;
    printer.progress(WARNING);
    let influence = Influence::fit(problem, &records)?;
    let moved: Vec<f64> =
        (0..records.len()).map(|i| length(&influence.predicted(i, Form::Centred))).collect();
    if let Some(out) = out {
        let rows: String = moved
            .iter()
            .enumerate()
            .fold(String::new(), |text, (i, moved)| text + &format!("{},{moved}\n", i + 1));
        out.write(format!("# {WARNING}\nrow,moved\n{rows}").as_bytes())?;
    }
    let mut order: Vec<usize> = (0..moved.len()).collect();
    order.sort_by(|&a, &b| moved[b].total_cmp(&moved[a]));
    let mut text = format!(
        "{WARNING}.\n\n{:>6} {:>12} {:>12} {:>12} {:>10} {:>12} {:>12}\n",
        "row", "moved by", "same norm.", "refitted", "error", "β mean", "β most"
    );
    let mut shown = Vec::new();
    for (k, &i) in order.iter().take(arguments.top).enumerate() {
        let predicted = influence.predicted(i, Form::Centred);
        let same = length(&influence.predicted(i, Form::SameNormaliser));
        let exact = (k < arguments.exact).then(|| influence.exact(i, Form::Centred));
        let error = exact.as_ref().map(|exact| relative_error(&predicted, exact));
        let (mean, most) = influence.elastic(&predicted);
        let optional = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.6}"));
        let refitted = exact.as_deref().map(length);
        let _ = writeln!(
            text,
            "{:>6} {:>12.6} {same:>12.6} {:>12} {:>10} {mean:>12.6} {most:>12.6}",
            i + 1,
            moved[i],
            optional(refitted),
            optional(error),
        );
        shown.push(json!({ "row": i + 1, "moved": moved[i], "same_normaliser": same, "refitted": refitted,
            "relative_error": error, "elastic_mean": mean, "elastic_most": most }));
    }
    text.push_str(
        "\nmoved by: how far the parameters are predicted to move when the row is left out; same norm.: the same when its pairs are\n\
         left out of the sum alone; refitted: how far they move when the ranker is fitted again. β: how much the loss of a pair changes.",
    );
    printer.result(&text, &json!({ "private": false, "warning": WARNING, "records": Value::Array(shown) }));
    Ok(ExitCode::SUCCESS)
}

/// A file that people may take for a release must not hold influences.
fn place(path: &Path, reads: &Taken) -> Result<Output, Failure> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return Err(Failure::refused(
            format!("{}: influences are not part of a model", path.display()),
            "name a .csv file of its own",
        ));
    }
    Output::new(path, Kind::Influence, Force::Never, reads)
}
