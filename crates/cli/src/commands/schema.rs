use crate::args::{Schema as Arguments, SchemaCheck, SchemaCommand, SchemaInit};
use crate::failure::Failure;
use crate::files;
use crate::output::{self, Force, Output, Role, Taken};
use crate::printer::Printer;
use pairdp_data::{Column, Encoding, IdKind, Kind, Label, LabelKind, Missing, Schema, Table, template};
use serde_json::json;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<ExitCode, Failure> {
    match &arguments.command {
        SchemaCommand::Init(arguments) => init(arguments, printer),
        SchemaCommand::Check(arguments) => check(arguments, printer),
    }
}

fn init(arguments: &SchemaInit, printer: &Printer) -> Result<ExitCode, Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| files::schema_beside(&arguments.data));
    let reads = Taken::none().and(&arguments.data, Role::Table);
    let place = Output::new(&out, output::Kind::Schema, Force::Never, &reads)?;
    let header = Table::header(&arguments.data)?;
    let mut seen = HashSet::new();
    if let Some(twice) = header.iter().find(|name| !seen.insert(name.as_str())) {
        let (path, column) = (arguments.data.clone(), twice.clone());
        return Err(pairdp_data::DataError::DuplicateColumn { path, column }.into());
    }
    let delimiter = Table::delimiter(&arguments.data)?;
    place.write(template(header.iter().map(String::as_str), delimiter).as_bytes())?;
    let text = format!(
        "wrote {} from the names of {} columns\n\
         fill in what is publicly known, then: pairdp schema check {}",
        out.display(),
        header.len(),
        arguments.data.display(),
    );
    printer.result(&text, &json!({ "schema": out, "columns": header }));
    Ok(ExitCode::SUCCESS)
}

fn check(arguments: &SchemaCheck, printer: &Printer) -> Result<ExitCode, Failure> {
    let path = arguments.schema.clone().unwrap_or_else(|| files::schema_beside(&arguments.data));
    let schema = Schema::read(&path)?;
    let encoding = Encoding::of(&schema);
    let header = Table::check(&arguments.data, &encoding, schema.label_use())?;

    let names: HashSet<&str> = header.iter().map(String::as_str).collect();
    let listed = schema.columns().iter().map(|column| column.name.as_str());
    let known: HashSet<&str> = listed
        .chain(schema.ignored().iter().map(String::as_str))
        .chain(schema.label().columns())
        .chain(schema.person().map(|person| person.column.as_str()))
        .collect();
    let unlisted: Vec<&String> = header.iter().filter(|name| !known.contains(name.as_str())).collect();
    let gone = schema.ignored().iter().filter(|name| !header.is_empty() && !names.contains(name.as_str()));
    let gone: Vec<&String> = gone.collect();

    let mut text = format!("{} fits {}\n\n", path.display(), arguments.data.display());
    let _ = writeln!(text, "  {}  {}", pad(&schema.label().column), label(schema.label()));
    if let Some(person) = schema.person() {
        let by = match person.kind {
            IdKind::Text => "as text",
            IdKind::Integer => "as whole numbers",
        };
        let _ = writeln!(text, "  {}  whose record it is, compared {by}", pad(&person.column));
    }
    for column in schema.columns() {
        let _ = writeln!(text, "  {}  {}", pad(&column.name), feature(column));
    }
    let _ = writeln!(
        text,
        "\n  a record becomes {} numbers; records are {}",
        encoding.dimension(),
        if schema.private() { "private" } else { "public" },
    );
    for name in &unlisted {
        let _ =
            writeln!(text, "warning: column `{name}` is not used: the schema neither lists nor ignores it");
    }
    for name in &gone {
        let _ = writeln!(
            text,
            "warning: the schema ignores a column `{name}`, and the table has none of that name"
        );
    }
    let columns: Vec<_> = schema
        .columns()
        .iter()
        .map(|column| json!({ "name": column.name, "entries": column.width() }))
        .collect();
    let object = json!({
        "schema": path, "label": schema.label(), "person": schema.person(), "columns": columns, "dimension": encoding.dimension(),
        "features": encoding.feature_names(), "private": schema.private(), "unlisted": unlisted, "absent": gone,
    });
    printer.result(&text, &object);
    Ok(ExitCode::SUCCESS)
}

fn pad(name: &str) -> String {
    format!("{name:<20}")
}

fn label(label: &Label) -> String {
    match &label.kind {
        LabelKind::Binary { positive, negative } => {
            format!("the label: `{positive}` ranks above `{negative}`")
        }
        LabelKind::OneAgainstOthers { positive } => format!("the label: `{positive}` ranks above all else"),
        LabelKind::Classes(classes) => format!("the label: one of {} classes", classes.len()),
        LabelKind::Range([low, high]) => format!("the label: a number, {low} to {high} mapped to −1 to 1"),
        LabelKind::Times(times) => format!(
            "the label: when each was last seen, up to {}; `{}` says whether its event was seen then (`{}`) or not (`{}`)",
            times.horizon, times.event, times.occurred, times.censored
        ),
    }
}

fn feature(column: &Column) -> String {
    let kind = match &column.kind {
        Kind::Range([low, high]) => {
            let what = if column.date { "a date" } else { "a number" };
            format!("{what}, {} to {} mapped to −1 to 1", column.text_of(*low), column.text_of(*high))
        }
        Kind::Categories(values) if column.other => {
            format!("{} categories and one for all others: {} entries", values.len(), column.width())
        }
        Kind::Categories(values) => {
            format!("{} categories: {} entries, all 0 for others", values.len(), column.width())
        }
    };
    match &column.missing {
        None => format!("{kind}; empty cells are refused"),
        Some(Missing::Number(value)) => format!("{kind}; an empty cell counts as {}", column.text_of(*value)),
        Some(Missing::Own) => format!("{kind}; an empty cell has an entry of its own"),
        Some(Missing::Category(value)) => format!("{kind}; an empty cell counts as `{value}`"),
    }
}
