//! The only map from our errors to Python's.

use pairdp_units::Hint;
use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, import_exception};

import_exception!(pairdp.exceptions, PrivacyBudgetError);

/// An exception to be: any of our errors becomes one by `?`, with its hint on a line of its own.
pub(crate) struct Refused(PyErr);

impl Refused {
    /// What Python has raised already.
    pub(crate) fn raised(error: PyErr) -> Self {
        Self(error)
    }
}

impl<E: Hint> From<E> for Refused {
    fn from(error: E) -> Self {
        let text = error.explained();
        Self(match error.code() {
            "over-budget" => PrivacyBudgetError::new_err(text),
            _ => PyValueError::new_err(text),
        })
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> Self {
        refused.0
    }
}

/// The same where an exception is wanted at once.
pub(crate) fn refused(error: impl Hint) -> PyErr {
    Refused::from(error).into()
}

/// A `ValueError` for a shape or type that Python handed over.
pub(crate) fn shape(message: &str) -> PyErr {
    PyValueError::new_err(message.to_owned())
}
