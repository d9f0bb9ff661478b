//! Training that can be repeated to the last bit, for tests: parameters without a certificate, and no way to one.

use crate::fit::trained;
use crate::{Journal, LearnError, Prepared, Rows};
use pairdp_data::Encoding;
use pairdp_noise::Replay;

/// The parameters that [`fit`](crate::fit()) would find with noise from a seed, which anybody can repeat: for tests, and for nothing that is
/// published.
///
/// # Errors
/// As [`fit`](crate::fit()).
pub fn rehearse(
    prepared: &Prepared,
    rows: impl Into<Rows>,
    encoding: &Encoding,
    seed: u64,
    journal: &mut Journal<'_>,
) -> Result<Vec<f64>, LearnError> {
    let source = Replay::from_seed(seed);
    let trained = trained(prepared, rows.into(), &mut encoding.clone(), source, journal)?;
    Ok(trained.parameters().to_vec())
}
