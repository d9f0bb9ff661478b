//! Reading whole files.

use crate::failure::Failure;
use pairdp_data::DataError;
use pairdp_learn::{BaselineModel, Predictor, PrivateModel};
use std::path::{Path, PathBuf};

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
    let text = read(path)?;
    if BaselineModel::from_json(&text).is_ok() {
        return Err(Failure::coded(
            "model",
            format!("{}: the model was trained without privacy and has no certificate", path.display()),
            "give a file that `pairdp train` wrote",
        ));
    }
    PrivateModel::from_json(&text).map_err(|error| Failure::about(path, &error))
}

/// Reads what applies to rows from the file of any model.
pub(crate) fn read_predictor(path: &Path) -> Result<Predictor, Failure> {
    let text = read(path)?;
    if let Ok(model) = BaselineModel::from_json(&text) {
        return Ok(model.predictor);
    }
    let model = PrivateModel::from_json(&text).map_err(|error| Failure::about(path, &error))?;
    Ok(model.predictor)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|source| Failure::from(DataError::Io { path: path.to_owned(), source }))
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
