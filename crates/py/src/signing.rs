//! Keys and signatures, as texts of their files.

use crate::gateway::{EnterCore as _, Refused};
use pairdp_signature::SecretKey;
use pyo3::prelude::*;

/// The texts of a new key's two files, and the digits of the public one.
#[pyfunction]
pub(crate) fn new_key(py: Python<'_>) -> PyResult<(String, String, String)> {
    py.enter_core(|| {
        let key = SecretKey::new()?;
        Ok((key.to_text().to_string(), key.public().to_text(), key.public().digits()))
    })
}

/// The text of a signature's file.
#[pyfunction]
pub(crate) fn sign(py: Python<'_>, key: &str, file: &[u8]) -> PyResult<String> {
    if !file.starts_with(b"{") {
        return Err(Refused::value("this is no model file").into());
    }
    py.enter_core(|| Ok(SecretKey::from_text(key)?.sign(file).to_json()))
}
