//! The only map from our errors to Python's.

use pairdp_units::Hint;
use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, import_exception};

import_exception!(pairdp.exceptions, PrivacyBudgetError);

/// A `ValueError` with the hint on a line of its own.
#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(crate) fn refused(error: impl Hint) -> PyErr {
    PyValueError::new_err(error.explained())
}

/// A `PrivacyBudgetError`, likewise.
pub(crate) fn over_budget(error: &impl Hint) -> PyErr {
    PrivacyBudgetError::new_err(error.explained())
}

/// A `ValueError` for a shape or type that Python handed over.
pub(crate) fn shape(message: &str) -> PyErr {
    PyValueError::new_err(message.to_owned())
}
