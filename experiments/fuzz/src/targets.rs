//! The parsers, and what must hold of their answers.

use crate::seeds::{self, SCHEMA, SECRET};
use pairdp_data::{Encoding, LabelUse, Schema, Table, template};
use pairdp_model::PrivateModel;
use pairdp_verify::{ModelDocument, Patience, verify_with};
use std::path::Path;

/// A parser.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// The name of its input.
    pub(crate) file: &'static str,
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Whether it took the input; an error is a fault of the parser.
    pub(crate) run: fn(&Path) -> Result<bool, String>,
}

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "csv", file: "t.csv", seeds: seeds::csv, run: table },
    Target { name: "csv-gz", file: "t.csv.gz", seeds: seeds::csv_gz, run: table },
    Target { name: "libsvm", file: "t.svm", seeds: seeds::libsvm, run: table },
    Target { name: "parquet", file: "t.parquet", seeds: seeds::parquet, run: table },
    Target { name: "schema", file: "t.toml", seeds: seeds::schema, run: schema },
    Target { name: "model", file: "t.json", seeds: seeds::model, run: model },
];

fn table(path: &Path) -> Result<bool, String> {
    let schema = Schema::parse(SCHEMA)?;
    let encoding = Encoding::of(&schema);
    if let Ok(names) = Table::header(path) {
        // What a header says can be written down and read again.
        let distinct: std::collections::HashSet<&String> = names.iter().collect();
        if names.len() > 1 && distinct.len() == names.len() {
            // Whatever the names are: what is left to be filled in is all that is wrong with it.
            let delimiter = Table::delimiter(path).map_err(|error| error.to_string())?;
            let filled = template(names.iter().map(String::as_str), delimiter)
                .replacen("\"FILL IN\"", "\"yes\"", 1)
                .replacen("\"FILL IN\"", "\"no\"", 1)
                .replace("[nan, nan]", "[0, 1]");
            Schema::parse(&filled)?;
        }
    }
    match Table::read(path, &encoding, LabelUse::Read(schema.label())) {
        Ok(table) => {
            let shapes = table.features.len() == table.rows * encoding.dimension()
                && table.columns == encoding.dimension()
                && table.targets.len() == table.rows;
            let inside = |value: &f64| (-1.0..=1.0).contains(value);
            if !shapes {
                return Err("the table has another shape than it says".into());
            }
            if !table.features.iter().chain(&table.targets).all(inside) {
                return Err("the table has entries outside [−1, 1]".into());
            }
            Ok(true)
        }
        Err(error) if error.to_string().contains(SECRET) => Err("the message quotes a cell".into()),
        Err(_) => Ok(false),
    }
}

fn schema(path: &Path) -> Result<bool, String> {
    let Ok(schema) = Schema::read(path) else { return Ok(false) };
    let encoding = Encoding::of(&schema);
    encoding.check()?;
    if encoding.feature_names().len() == encoding.dimension() {
        Ok(true)
    } else {
        Err("names and entries differ in number".into())
    }
}

fn model(path: &Path) -> Result<bool, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if let Ok(document) = ModelDocument::from_json(&text) {
        // Whatever it says, a verifier answers, and soon.
        verify_with(&document, Patience::of_seconds(0.1));
    }
    let Ok(model) = PrivateModel::from_json(&text) else { return Ok(false) };
    if let Ok(table) = model.predictor.encoding.encode_matrix(&[0.5, 0.5], 2)
        && model.predictor.scores(&table).len() != 1
    {
        return Err("one row has another number of scores".into());
    }
    let again = model.to_json().map_err(|error| error.to_string())?;
    match PrivateModel::from_json(&again) {
        Ok(same) if same == model => Ok(true),
        _ => Err("a model that is written and read again is another".into()),
    }
}
