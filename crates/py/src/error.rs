//! The only map from our errors to Python's.

use pairdp_units::Hint;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// A `ValueError` with the hint on a line of its own.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(crate) fn refused(error: impl Hint) -> PyErr {
    match error.hint() {
        Some(hint) => PyValueError::new_err(format!("{error}\nhint: {hint}")),
        None => PyValueError::new_err(error.to_string()),
    }
}

/// A `ValueError` for a shape or type that Python handed over.
pub(crate) fn shape(message: &str) -> PyErr {
    PyValueError::new_err(message.to_owned())
}
