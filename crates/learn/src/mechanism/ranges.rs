//! Noisy counts that say where the values of each column are.

use crate::{Law, LearnError, Tighten};
use pairdp_noise::lattice::{self, Lattice};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};
use serde::{Deserialize, Serialize};

/// Bins of a column: 26 of either sign, each twice as wide as the one nearer to 0.
pub(crate) const BINS: usize = 52;

/// Counts of all columns' bins, released once before training.
///
/// # Guarantee
/// The counts and what training releases satisfy the budget together: `proofs/ranges.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Number of columns.
    pub columns: usize,
    /// Bins of each.
    pub bins: usize,
    /// How far one record can move the counts.
    pub sensitivity: f64,
    /// The ratio of the release.
    pub ratio: f64,
    /// Fineness of the lattice.
    pub lattice_bits: u32,
    /// Scale of the noise.
    pub sigma: f64,
}

impl Ranges {
    pub(super) fn calibrate(
        Tighten { share, columns }: Tighten,
        records: usize,
        for_data: Budget,
    ) -> Result<Self, LearnError> {
        let whole = Law::Gaussian.ratio(for_data, 1.0)?;
        let ratio = down_by(whole * share.sqrt(), 4.0);
        // A replaced record leaves one bin of each column and enters another. Counts are exact.
        let sensitivity = up_by((2.0 * columns as f64).sqrt(), 2.0);
        let lattice_bits = lattice::bits_for(up_by(records as f64 * ratio / sensitivity, 8.0))?;
        let sigma = Law::Gaussian
            .scale(sensitivity, ratio, columns * BINS, lattice_bits)
            .ok_or(LearnError::DeltaTooSmall(for_data))?;
        Ok(Self { columns, bins: BINS, sensitivity, ratio, lattice_bits, sigma })
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }
}
