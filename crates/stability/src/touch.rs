//! Where a record occurs in a step's terms, and what replacing it changes there.

use crate::error::StabilityError;
use crate::geometry::Geometry;
use pairdp_units::directed::larger;

/// How much of one step's mean changes when a record is replaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Distance of the two means of touched terms, at one parameter.
    pub(crate) same: f64,
    /// The same at two parameters.
    pub(crate) apart: f64,
    /// The share of terms that are not touched.
    pub(crate) untouched: f64,
}

impl Touch {
    /// The record is in none of the step's terms.
    pub const NONE: Self = Self { same: 0.0, apart: 0.0, untouched: 1.0 };

    /// The record is in every term, once in each.
    pub fn every(geometry: &Geometry) -> Self {
        Self { same: geometry.replaced(), apart: geometry.replaced_apart(), untouched: 0.0 }
    }

    /// The record is in `count` of `terms` terms, once in each.
    pub fn share(geometry: &Geometry, count: f64, terms: f64) -> Self {
        Self::mixed(geometry, count, 0.0, terms)
    }

    /// Of `terms` terms the record is once in `once`, and in both places in `twice`.
    pub(crate) fn mixed(geometry: &Geometry, once: f64, twice: f64, terms: f64) -> Self {
        Self {
            same: (geometry.replaced() * once + geometry.replaced_twice() * twice) / terms * ROUND_UP,
            apart: (geometry.replaced_apart() * once + geometry.replaced_twice_apart() * twice) / terms
                * ROUND_UP,
            untouched: larger(terms - once - twice, 0.0) / terms * ROUND_UP,
        }
    }

    /// A full batch over all ordered pairs of n records: 2(n−1) of n(n−1) terms, in both orders.
    ///
    /// # Errors
    /// Fewer than two records.
    pub fn all_pairs(geometry: &Geometry, n_records: usize) -> Result<Self, StabilityError> {
        if n_records < 2 {
            return Err(StabilityError::TooFewRecords { given: n_records, least: 2 });
        }
        let n = n_records as f64;
        Ok(Self {
            same: geometry.both_orders() / n * ROUND_UP,
            apart: geometry.both_orders_apart() / n * ROUND_UP,
            untouched: (n - 2.0) / n * ROUND_UP,
        })
    }

    /// A full batch over n records, one term each.
    ///
    /// # Errors
    /// No records.
    pub fn all_records(geometry: &Geometry, n_records: usize) -> Result<Self, StabilityError> {
        if n_records == 0 {
            return Err(StabilityError::TooFewRecords { given: 0, least: 1 });
        }
        Ok(Self::share(geometry, 1.0, n_records as f64))
    }
}

/// Covers the handful of roundings in a sum, a product and a quotient of non-negative numbers.
const ROUND_UP: f64 = 1.0 + 8.0 * f64::EPSILON;
