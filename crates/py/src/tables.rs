//! Tables as Python hands them over, and the schemas that say how they are read.

use crate::gateway::{EnterCore as _, Refused};
use numpy::ndarray::s;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pairdp_data::{BadCell, Cells, Encoding, Label, Schema, Table, TextStyle};
use pairdp_model::Task;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::path::PathBuf;

/// A matrix of numbers, or a list of columns.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Matrix(PyReadonlyArray2<'py, f64>),
    Columns(Vec<Column<'py>>),
}

/// Numbers, NaN where nothing is; or texts, `None` where nothing is.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<Option<String>>),
}

impl Column<'_> {
    fn cells(&self) -> Result<Cells, Refused> {
        Ok(match self {
            Self::Numbers(cells) => {
                let cells = cells.as_slice().map_err(|_| Refused::value("a column must be contiguous"))?;
                Cells::Numbers(cells.to_vec())
            }
            Self::Texts(cells) => Cells::Texts(cells.clone()),
        })
    }
}

impl Rows<'_> {
    /// Encodes them by public rules. Refusals say in which row only if that is public.
    pub(crate) fn encode(&self, encoding: &Encoding, secret: bool) -> Result<Table, Refused> {
        match self {
            Self::Matrix(rows) => {
                let columns = rows.shape()[1];
                // `as_slice` alone would give a matrix that lies column by column as if it were one of rows.
                let encoded = match rows.as_slice() {
                    Ok(cells) if rows.is_c_contiguous() => encoding.encode_matrix(cells, columns),
                    // Column by column, as pandas keeps them, or a part of another matrix.
                    _ => {
                        let cells = rows.as_array();
                        encoding.encode_copied(cells.nrows(), columns, |first, out| {
                            let some = cells.slice(s![first..first + out.len() / columns, ..]);
                            for (index, column) in some.columns().into_iter().enumerate() {
                                let to = out[index..].iter_mut().step_by(columns);
                                to.zip(column).for_each(|(to, cell)| *to = *cell);
                            }
                        })
                    }
                };
                encoded.map_err(Refused::value)
            }
            Self::Columns(columns) => {
                let columns = columns.iter().map(Column::cells).collect::<Result<Vec<_>, _>>()?;
                let lengths = columns.iter().map(Cells::len);
                if columns.len() != encoding.columns().len()
                    || lengths.min() != columns.iter().map(Cells::len).max()
                {
                    return Err(Refused::value("X must have the model's columns, all of one length"));
                }
                encoding.encode_cells(&columns).map_err(|bad| {
                    let place = if secret { String::new() } else { format!(", row {}", bad.row) };
                    refused(&bad, &format!("X: column `{}`{place}", bad.column))
                })
            }
        }
    }
}

/// Labels as targets.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn read_targets<'py>(
    py: Python<'py>,
    label: &str,
    cells: Column<'py>,
    secret: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (label, cells) = (read::<Label>(label)?, cells.cells()?);
    let targets = py.enter_core(|| {
        label.read_cells(&cells).map_err(|bad| {
            refused(&bad, &if secret { "y".to_owned() } else { format!("y, row {}", bad.row) })
        })
    })?;
    Ok(PyArray1::from_vec(py, targets))
}

/// Times, and whether events were seen then, as targets.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
pub(crate) fn read_times<'py>(
    py: Python<'py>,
    label: &str,
    times: Column<'py>,
    events: Column<'py>,
    secret: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (label, times, events) = (read::<Label>(label)?, times.cells()?, events.cells()?);
    if times.len() != events.len() {
        return Err(Refused::value("y must have as many times as events").into());
    }
    let targets = py.enter_core(|| {
        label.read_times(&times, &events).map_err(|bad| {
            refused(&bad, &if secret { "y".to_owned() } else { format!("y, row {}", bad.row) })
        })
    })?;
    Ok(PyArray1::from_vec(py, targets))
}

fn refused(bad: &BadCell, place: &str) -> Refused {
    Refused::value(format!("{place}: {}\nhint: {}", bad.what, bad.what.hint()))
}

/// A schema file, or the JSON text of the same, as a JSON object: what columns and label are, and the form of tables that it
/// reads.
#[pyfunction]
#[pyo3(signature = (path, text))]
pub(crate) fn read_schema(py: Python<'_>, path: Option<PathBuf>, text: Option<&str>) -> PyResult<String> {
    py.enter_core(|| {
        let schema = match (path, text) {
            (Some(path), _) => Schema::read(&path)?,
            (None, text) => {
                let read = Schema::parse_json(text.unwrap_or_default());
                read.map_err(|what| Refused::value(format!("schema: {what}")))?
            }
        };
        let (encoding, style) = (Encoding::of(&schema), schema.style());
        let form = encoding.form(schema.label(), schema.person()).map_err(Refused::value)?;
        Ok(json!({ "columns": schema.columns(), "label": schema.label(), "person": schema.person(), "private": schema.private(),
            "ignore": schema.ignored(), "text": (style != TextStyle::default()).then_some(style), "form": form })
        .to_string())
    })
}

/// Refuses a label that a task cannot be learned from.
#[pyfunction]
pub(crate) fn check_label(label: &str, task: &str) -> PyResult<()> {
    let (label, task): (Label, Task) = (read(label)?, read(&json!(task).to_string())?);
    let needs = |wanted| format!("{} needs {wanted} under [label] in the schema", task.name());
    Ok(task.check_label(&label.kind).map_err(|wanted| Refused::value(needs(wanted)))?)
}

/// How rows are read, and the label, from their JSON texts.
pub(crate) fn described(encoding: &str, label: Option<&str>) -> Result<(Encoding, Option<Label>), Refused> {
    let encoding: Encoding = read(encoding)?;
    encoding.check().map_err(Refused::value)?;
    Ok((encoding, label.map(read).transpose()?))
}

/// A description, or what is wrong with it; not where in a text that nobody wrote.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    let value: serde_json::Result<serde_json::Value> = serde_json::from_str(text);
    value.and_then(serde_json::from_value).map_err(|error| Refused::value(error.to_string()))
}
