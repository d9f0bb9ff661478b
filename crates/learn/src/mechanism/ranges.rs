//! Noisy counts that say where the values of each column are.

use crate::{Law, LearnError, Tighten};
use pairdp_certificate::Ranges;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// Bins of a column: 26 of either sign, each twice as wide as the one nearer to 0.
pub(crate) const BINS: usize = 52;

/// The release of counts of all columns' bins, once before training.
///
/// # Guarantee
/// The counts and what training releases satisfy the budget together: `proofs/ranges.md`.
pub(super) fn calibrate(
    Tighten { share, columns }: Tighten,
    records: usize,
    for_data: Budget,
) -> Result<Ranges, LearnError> {
    let whole = Law::Gaussian.ratio(for_data, 1.0)?;
    let ratio = down_by(whole * share.sqrt(), 4.0);
    // A replaced record leaves one bin of each column and enters another. Counts are exact.
    let sensitivity = up_by((2.0 * columns as f64).sqrt(), 2.0);
    let lattice_bits = lattice::bits_for(up_by(records as f64 * ratio / sensitivity, 8.0))?;
    let sigma = Law::Gaussian
        .scale(sensitivity, ratio, columns * BINS, lattice_bits)
        .ok_or(LearnError::DeltaTooSmall(for_data))?;
    Ok(Ranges { columns, bins: BINS, sensitivity, ratio, lattice_bits, sigma })
}

/// The lattice that counts and their noise live on.
pub(crate) fn lattice(ranges: &Ranges) -> Result<Lattice, LearnError> {
    Ok(Lattice::new(ranges.sigma, ranges.lattice_bits)?)
}
