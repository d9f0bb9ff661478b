//! The laws of the noise, and what each pays for.
//!
//! All are scaled alike: `scale` is σ of a Gaussian, b of Laplace noise, and the length parameter of Euclidean noise, whose
//! density falls like exp(−‖z‖/scale). A release's *ratio* is its sensitivity over the scale, in the norm that the law is
//! calibrated to; what ratios may add up to is the law's to say.

use crate::LearnError;
use pairdp_accountant::{AccountantError, gaussian};
use pairdp_certificate::NoiseKind;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_noise::{Source, euclidean_samples};
use pairdp_units::directed::{down_by, up_by};
use pairdp_units::{Budget, Delta};

/// What a law of the noise gives and takes.
pub trait Law: Sized {
    /// The law that gives the least noise, in root mean square, for so many releases of so many coordinates.
    ///
    /// # Errors
    /// [`LearnError`] when no law fits the budget.
    fn quietest(budget: Budget, releases: f64, coordinates: usize) -> Result<Self, LearnError>;

    /// The largest ratio that each of `releases` adaptive releases may have.
    ///
    /// # Errors
    /// [`LearnError`] for a Gaussian with δ = 0, or when no ratio fits.
    fn ratio(self, budget: Budget, releases: f64) -> Result<f64, LearnError>;

    /// Which part of a ratio a share of the budget is: budgets are ratios squared where those compose by their squares.
    fn part(self, share: f64) -> f64;

    /// What an ℓ2 distance of 1 is, at most, in the law's own norm: ℓ1 for Laplace.
    fn reach(self, coordinates: usize) -> f64;

    /// Root mean square length of the noise, in units of the scale.
    fn spread(self, coordinates: usize) -> f64;

    /// What rounding a query to the lattice adds to a ratio.
    fn rounding(self, coordinates: usize, bits: u32) -> f64;

    /// As many approximate samples as one release holds; an exact law holds none.
    fn samples(self, coordinates: usize) -> f64;

    /// Noise for one release.
    fn draw<S: Source>(self, lattice: &Lattice, source: &mut S, coordinates: usize) -> Vec<i64>;

    /// The scale for queries of ℓ2 sensitivity `sensitivity` at a ratio, lattice rounding included; `None` if the rounding
    /// alone uses up the ratio.
    fn scale(self, sensitivity: f64, ratio: f64, coordinates: usize, bits: u32) -> Option<f64>;

    /// Refuses δ = 0 where the law cannot give it.
    ///
    /// # Errors
    /// [`LearnError::Accountant`].
    fn check(self, budget: Budget) -> Result<(), LearnError>;
}

impl Law for NoiseKind {
    fn quietest(budget: Budget, releases: f64, coordinates: usize) -> Result<Self, LearnError> {
        if budget.delta == Delta::PURE {
            return Ok(Self::Laplace);
        }
        let mut best = (f64::INFINITY, Self::Gaussian);
        for law in Self::ALL {
            let noise = law.reach(coordinates) * law.spread(coordinates) / law.ratio(budget, releases)?;
            if noise < best.0 {
                best = (noise, law);
            }
        }
        Ok(best.1)
    }

    fn ratio(self, budget: Budget, releases: f64) -> Result<f64, LearnError> {
        Ok(match self {
            Self::Gaussian => down_by(gaussian::largest_ratio(budget)? / releases.sqrt(), 4.0),
            Self::Laplace | Self::Euclidean => down_by(budget.epsilon.get() / releases, 2.0),
        })
    }

    fn part(self, share: f64) -> f64 {
        match self {
            Self::Gaussian => share.sqrt(),
            Self::Laplace | Self::Euclidean => share,
        }
    }

    fn reach(self, coordinates: usize) -> f64 {
        match self {
            Self::Gaussian | Self::Euclidean => 1.0,
            Self::Laplace => up_by((coordinates as f64).sqrt(), 2.0),
        }
    }

    fn spread(self, coordinates: usize) -> f64 {
        let p = coordinates as f64;
        match self {
            Self::Gaussian => p.sqrt(),
            Self::Laplace => (2.0 * p).sqrt(),
            Self::Euclidean => (p * (p + 1.0)).sqrt(),
        }
    }

    fn rounding(self, coordinates: usize, bits: u32) -> f64 {
        match self {
            Self::Gaussian | Self::Euclidean => lattice::rounding_ratio(coordinates, bits),
            Self::Laplace => lattice::rounding_ratio_l1(coordinates, bits),
        }
    }

    fn samples(self, coordinates: usize) -> f64 {
        match self {
            Self::Gaussian => coordinates as f64,
            Self::Laplace => 0.0,
            Self::Euclidean => euclidean_samples(coordinates),
        }
    }

    fn draw<S: Source>(self, lattice: &Lattice, source: &mut S, coordinates: usize) -> Vec<i64> {
        match self {
            Self::Gaussian => lattice.draw(source, coordinates),
            Self::Laplace => lattice.draw_laplace(source, coordinates),
            Self::Euclidean => lattice.draw_euclidean(source, coordinates),
        }
    }

    fn scale(self, sensitivity: f64, ratio: f64, coordinates: usize, bits: u32) -> Option<f64> {
        let left = down_by(ratio - self.rounding(coordinates, bits), 2.0);
        let scale = up_by(self.reach(coordinates) * sensitivity / left, 4.0);
        (left > 0.0 && scale.is_finite() && scale > 0.0).then_some(scale)
    }

    fn check(self, budget: Budget) -> Result<(), LearnError> {
        if budget.delta == Delta::PURE && self != Self::Laplace {
            return Err(AccountantError::PureGaussian.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Euclidean noise wins while d + 1 < (ε/μ)²: up to d = 16 at (1, 1e−6), as theory says.
    #[test]
    fn the_quietest_law_is_chosen_by_size() {
        let budget = Budget::new(1.0, 1e-6).unwrap();
        assert_eq!(NoiseKind::quietest(budget, 1.0, 16).unwrap(), NoiseKind::Euclidean);
        assert_eq!(NoiseKind::quietest(budget, 1.0, 17).unwrap(), NoiseKind::Gaussian);
        assert_eq!(NoiseKind::quietest(budget, 100.0, 16).unwrap(), NoiseKind::Gaussian);
        let pure = Budget::new(1.0, 0.0).unwrap();
        assert_eq!(NoiseKind::quietest(pure, 1.0, 50).unwrap(), NoiseKind::Laplace);
    }

    #[test]
    fn only_laplace_gives_pure_privacy() {
        let pure = Budget::new(1.0, 0.0).unwrap();
        assert!(NoiseKind::Laplace.check(pure).is_ok());
        assert!(NoiseKind::Gaussian.check(pure).is_err() && NoiseKind::Euclidean.check(pure).is_err());
    }
}
