//! Reading whole files.

use crate::failure::Failure;
use pairdp_certificate::who_reads;
use pairdp_data::{DataError, read_whole};
use pairdp_model::{BaselineModel, Predictor, PrivateModel};
use pairdp_units::Hint;
use pairdp_verify::ModelDocument;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// No model is longer: the matrix of a metric of ten thousand features has fewer digits.
const LONGEST: u64 = 1 << 32;

/// Where a table's schema is unless told: `cohort.schema.toml` for `cohort.csv` as for `cohort.csv.gz`, for a folder `cohort` and for
/// `cohort/*.parquet`.
pub(crate) fn schema_beside(data: &Path) -> PathBuf {
    let pattern = data.file_name().is_some_and(|name| name.to_string_lossy().contains('*'));
    let data = data.parent().filter(|folder| pattern && !folder.as_os_str().is_empty()).unwrap_or(data);
    let packed = data.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let data = if packed { data.with_extension("") } else { data.to_owned() };
    data.with_extension("schema.toml")
}

/// Reads the file of a private model.
pub(crate) fn read_model(path: &Path) -> Result<PrivateModel, Failure> {
    let text = read_private(path)?;
    PrivateModel::from_json(&text).map_err(|error| unreadable(path, &text, &error))
}

/// Reads it as a verifier does: into types that the code which trains has no part in. The text is what was read.
pub(crate) fn read_certified(path: &Path) -> Result<(ModelDocument, String), Failure> {
    let text = read_private(path)?;
    let document = ModelDocument::from_json(&text).map_err(|error| unreadable(path, &text, &error))?;
    Ok((document, text))
}

fn read_private(path: &Path) -> Result<String, Failure> {
    let text = read_document(path)?;
    if BaselineModel::from_json(&text).is_ok() {
        return Err(Failure::coded(
            "model",
            format!("{}: the model was trained without privacy and has no certificate", path.display()),
            "give a file that `pairdp train` wrote",
        ));
    }
    Ok(text)
}

/// A model, private or not.
pub(crate) enum AnyModel {
    Private(Box<PrivateModel>),
    Baseline(Box<BaselineModel>),
}

/// Reads the file of any model.
pub(crate) fn read_any(path: &Path) -> Result<AnyModel, Failure> {
    let text = read_document(path)?;
    if let Ok(model) = BaselineModel::from_json(&text) {
        return Ok(AnyModel::Baseline(Box::new(model)));
    }
    let model = PrivateModel::from_json(&text).map_err(|error| unreadable(path, &text, &error))?;
    Ok(AnyModel::Private(Box::new(model)))
}

/// Reads what applies to rows from the file of any model that can score them here.
pub(crate) fn read_predictor(path: &Path) -> Result<Predictor, Failure> {
    let predictor = match read_any(path)? {
        AnyModel::Private(model) => model.predictor,
        AnyModel::Baseline(model) => model.predictor,
    };
    predictor.scores_here().map_err(|error| Failure::about(path, &error))?;
    Ok(predictor)
}

/// A model of another version is missing other fields; that says less than the version.
fn unreadable(path: &Path, text: &str, error: &impl Hint) -> Failure {
    let format = serde_json::from_str::<Document>(text).map(|document| document.format).unwrap_or_default();
    if format == PrivateModel::FORMAT {
        return Failure::about(path, error);
    }
    Failure::coded(
        "model",
        format!("{}: the format is `{format}`, expected `{}`", path.display(), PrivateModel::FORMAT),
        who_reads(&format),
    )
}

/// The text of a file that says it is a model.
fn read_document(path: &Path) -> Result<String, Failure> {
    let unread = |source| Failure::from(DataError::Io { path: path.to_owned(), source });
    // A device may never end: what does not begin like a document is not read on.
    let bytes = read_whole(path, LONGEST, |first| first == b'{').map_err(unread)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    let format = serde_json::from_str::<Document>(&text).map(|document| document.format).unwrap_or_default();
    if format.starts_with("pairdp-model/") || format.starts_with("pairdp-baseline/") {
        return Ok(text);
    }
    Err(Failure::coded(
        "model",
        format!("{}: not a pairdp model", path.display()),
        "give a file that `pairdp train` wrote",
    ))
}

/// What every document of ours begins with.
#[derive(Deserialize)]
pub(crate) struct Document {
    pub(crate) format: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_named_after_its_table() {
        for table in ["d/t.csv", "d/t.csv.gz", "d/t.parquet", "d/t.svm.GZ", "d/t", "d/t/*.csv"] {
            assert_eq!(schema_beside(Path::new(table)), Path::new("d/t.schema.toml"), "{table}");
        }
    }
}
