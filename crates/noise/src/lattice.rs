//! From a query in floating point to a release in floating point, by way of integers.
//!
//! A lattice has step g = σ·2^−bits. The query is divided by g and rounded to integers, noise of scale S = 2^bits
//! is added *exactly*, and the sum is multiplied by g. What comes out is a function of the integers alone, so its
//! low-order bits say nothing that the integers do not.
//!
//! Rounding moves neighbours apart by up to a step in each coordinate. That is counted, not assumed away:
//! [`rounding_ratio`] is what it adds to the sensitivity, in units of σ.
//!
//! # Guarantee
//! If ‖q(D) − q(D′)‖₂ ≤ Δ for neighbours D, D′, where q is the query as returned to us in `f64` with NaN read as 0,
//! then [`Lattice::release`] with noise from [`Lattice::draw`] is a post-processing of the continuous Gaussian
//! mechanism with ratio sensitivity/σ at most Δ/σ + [`rounding_ratio`], up to
//! [`LOG2_SAMPLE_DISTANCE`](crate::LOG2_SAMPLE_DISTANCE) a coordinate. Proof: `proofs/lattice.md`.
//! Every function of data here is total: no error, no panic and no branch reports on a record.
//!
//! # Reference
//! Casacuberta, Shoemate, Vadhan and Wagaman, "Widespread underestimation of sensitivity in differentially private
//! libraries" (CCS 2022), on why rounding belongs in the sensitivity.

#[cfg(test)]
mod tests;

use crate::discrete_laplace::fill_discrete_laplace;
use crate::euclidean::fill_euclidean;
use crate::source::Source;
use crate::ziggurat::fill_gaussian;
use crate::{NoiseError, Scale};
use pairdp_units::directed::up_by;
use pulp::{Arch, NullaryFnOnce};

/// The finest lattice: 2³⁰ steps to σ. Finer would gain nothing: the rounding is below 10⁻⁹ σ already.
pub const LARGEST_BITS: u32 = 30;
/// The coarsest lattice: 2¹⁶ steps to σ.
pub const SMALLEST_BITS: u32 = 16;
/// log₂ of the largest lattice coordinate of a query.
const MAGNITUDE_BITS: u32 = 46;
/// The largest lattice coordinate of a query.
const MAGNITUDE: f64 = (1_u64 << MAGNITUDE_BITS) as f64;
/// 1.5·2⁵², where floats are spaced by 1.
const ROUNDER: f64 = (3_u64 << 51) as f64;
/// Half the spacing of floats just below [`MAGNITUDE`]: how far a computed quotient may be from the true one.
const DIVISION_ERROR: f64 = 1.0 / 256.0;
/// Noise scales beyond these would make the step subnormal or the release infinite.
const SIGMA_LIMITS: std::ops::RangeInclusive<f64> = 1e-290..=1e290;

/// The number of lattice bits for a query whose coordinates are at most `magnitude_in_sigmas`·σ in absolute value:
/// as fine as fits, [`LARGEST_BITS`] for any answer up to 2¹⁶ σ.
///
/// # Errors
/// [`NoiseError::Magnitude`] when answers exceed 2³⁰ σ (or are not a number of at least 0): no lattice of at least
/// [`SMALLEST_BITS`] holds them.
pub fn bits_for(magnitude_in_sigmas: f64) -> Result<u32, NoiseError> {
    if magnitude_in_sigmas >= 0.0 {
        for bits in (SMALLEST_BITS..=LARGEST_BITS).rev() {
            if magnitude_in_sigmas <= f64::from(1_u32 << (MAGNITUDE_BITS - bits)) {
                return Ok(bits);
            }
        }
    }
    Err(NoiseError::Magnitude(magnitude_in_sigmas))
}

/// What rounding a query of `dimension` coordinates adds to its ℓ2 sensitivity, in units of σ, rounded up:
/// √d·(1 + 2⁻⁷)·2^−bits.
pub fn rounding_ratio(dimension: usize, bits: u32) -> f64 {
    let steps = (dimension as f64).sqrt() * (1.0 + 2.0 * DIVISION_ERROR);
    up_by(steps * (-f64::from(bits)).exp2(), 4.0)
}

/// What rounding a query of `dimension` coordinates adds to its ℓ1 sensitivity, in units of the noise scale, rounded
/// up: d·(1 + 2⁻⁷)·2^−bits.
pub fn rounding_ratio_l1(dimension: usize, bits: u32) -> f64 {
    let steps = dimension as f64 * (1.0 + 2.0 * DIVISION_ERROR);
    up_by(steps * (-f64::from(bits)).exp2(), 4.0)
}

/// A lattice of step σ·2^−bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice {
    step: f64,
    scale: Scale,
}

impl Lattice {
    /// A lattice for noise of scale `sigma`, 2^`bits` steps fine.
    ///
    /// # Errors
    /// [`NoiseError::Sigma`] when `sigma` is not between 10⁻²⁹⁰ and 10²⁹⁰; [`NoiseError::Bits`] outside 16 … 30.
    pub fn new(sigma: f64, bits: u32) -> Result<Self, NoiseError> {
        if !SIGMA_LIMITS.contains(&sigma) {
            return Err(NoiseError::Sigma(sigma));
        }
        if !(SMALLEST_BITS..=LARGEST_BITS).contains(&bits) {
            return Err(NoiseError::Bits(bits));
        }
        // Exact: a division by a power of two, far from the subnormal numbers.
        Ok(Self { step: sigma / f64::from(1_u32 << bits), scale: Scale::power_of_two(bits)? })
    }

    /// g, the distance between neighbouring lattice points.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// S, the noise scale in steps.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Gaussian noise for a query of `dimension` coordinates. Draw it before the query is evaluated, so that the time
    /// it takes says nothing about the data.
    pub fn draw<S: Source>(&self, source: &mut S, dimension: usize) -> Vec<i64> {
        let mut noise = vec![0; dimension];
        fill_gaussian(source, self.scale, &mut noise);
        noise
    }

    /// [`Lattice::draw`] into memory of the caller's, for many queries at once.
    pub fn fill<S: Source>(&self, source: &mut S, noise: &mut [i64]) {
        fill_gaussian(source, self.scale, noise);
    }

    /// Discrete Laplace noise, independent in each coordinate, of scale b = σ: pure ε = (ℓ1 sensitivity)/b +
    /// [`rounding_ratio_l1`], exactly (`proofs/pure.md`).
    pub fn draw_laplace<S: Source>(&self, source: &mut S, dimension: usize) -> Vec<i64> {
        let mut noise = vec![0; dimension];
        fill_discrete_laplace(source, self.scale.into(), &mut noise);
        noise
    }

    /// One vector with density ∝ exp(−‖z‖₂/σ): ε = (ℓ2 sensitivity)/σ + [`rounding_ratio`], with a δ that
    /// [`euclidean_samples`](crate::euclidean_samples) counts (`proofs/pure.md`).
    pub fn draw_euclidean<S: Source>(&self, source: &mut S, dimension: usize) -> Vec<i64> {
        let mut noise = vec![0; dimension];
        fill_euclidean(source, self.scale, &mut noise);
        noise
    }

    /// The nearest lattice point, in steps: |result − value/g| ≤ 1/2 + 2⁻⁸ for values up to 2⁴⁶ g, beyond which it is
    /// clamped; 0 for NaN.
    #[inline(always)]
    pub fn round(&self, value: f64) -> i64 {
        let quotient = value / self.step;
        let inside = if quotient > MAGNITUDE {
            MAGNITUDE
        } else if quotient >= -MAGNITUDE {
            quotient
        } else if quotient < -MAGNITUDE {
            -MAGNITUDE
        } else {
            0.0
        };
        // Numbers near 1.5·2⁵² are whole, and their last bits count: adding it rounds to nearest, ties to even, and the
        // difference of the bit patterns is the whole number. Without a call or a branch, so that loops vectorise.
        (inside + ROUNDER).to_bits().cast_signed().wrapping_sub(ROUNDER.to_bits().cast_signed())
    }

    /// The query rounded to the lattice, plus `noise` steps, in the query's units.
    ///
    /// # Panics
    /// If `query` and `noise` have different lengths (a mistake of the caller, not of a record).
    pub fn release(&self, query: &[f64], noise: &[i64]) -> Vec<f64> {
        let mut out = query.to_vec();
        self.release_in_place(&mut out, noise);
        out
    }

    /// [`Lattice::release`], the release taking the place of the query.
    ///
    /// # Panics
    /// As [`Lattice::release`].
    pub fn release_in_place(&self, query: &mut [f64], noise: &[i64]) {
        assert_eq!(query.len(), noise.len(), "one noise value for each coordinate");
        Arch::new().dispatch(AddNoise { lattice: self, query, noise });
    }

    /// (point + noise)·g: the integer sum is exact, the rest is post-processing.
    #[inline(always)]
    fn scale_back(&self, point: i64, noise: i64) -> f64 {
        point.saturating_add(noise) as f64 * self.step
    }
}

/// A release, in the widest registers that the machine has: the same operations on every one of them.
struct AddNoise<'a> {
    lattice: &'a Lattice,
    query: &'a mut [f64],
    noise: &'a [i64],
}

impl NullaryFnOnce for AddNoise<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let lattice = *self.lattice;
        for (value, noise) in self.query.iter_mut().zip(self.noise) {
            *value = lattice.scale_back(lattice.round(*value), *noise);
        }
    }
}
