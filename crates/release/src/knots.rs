//! Where columns lie, released before training.
//!
//! The release has its part of the budget and a noise that is fixed before any record is read. What follows from it is a public map
//! of single rows into the unit ball, so that training has the same sensitivity whatever was released.

use crate::Law as _;
use crate::{LearnError, PublicFacts};
use pairdp_certificate::{KnotPlan, NoiseKind, Stage, StageNoise};
use pairdp_noise::lattice;
use pairdp_pairwise::{Neighbours, knots};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// The noise for the knots of a plan, if it has any.
///
/// # Guarantee
/// This release and what training releases satisfy the budget together: `proofs/representation.md`.
pub(crate) fn calibrate(public: &PublicFacts, for_data: Budget) -> Result<Option<Stage>, LearnError> {
    let Some(plan) = public.plan.representation() else { return Ok(None) };
    let law = public.plan.law();
    if law == NoiseKind::Euclidean {
        return Err(LearnError::NoProof("a representation with Euclidean noise"));
    }
    let KnotPlan { share, numbers, categories, coordinates } = plan;
    let ratio = down_by(law.ratio(for_data, 1.0)? * law.part(share), 4.0);
    let counts_records = public.problem.neighbours() != Neighbours::ReplaceOne;
    // In the norm of the law.
    let sensitivity = match law {
        NoiseKind::Laplace => knots::sensitivity_l1(numbers, categories),
        NoiseKind::Gaussian | NoiseKind::Euclidean => knots::sensitivity(numbers, categories),
    };
    let error = knots::error_bound(public.records, coordinates);
    let distance = up_by(sensitivity + 2.0 * law.reach(coordinates) * error, 2.0);
    let largest = knots::largest_weight(numbers, categories, counts_records);
    let lattice_bits = lattice::bits_for(up_by(public.records as f64 * largest * ratio / distance, 8.0))?;
    let left = down_by(ratio - law.rounding(coordinates, lattice_bits), 2.0);
    let sigma = up_by(distance / left, 4.0);
    if !(left > 0.0 && sigma.is_finite()) {
        return Err(LearnError::DeltaTooSmall(public.budget));
    }
    let noise = StageNoise { sensitivity, error, ratio, lattice_bits, sigma };
    Ok(Some(Stage::Knots { numbers, categories, coordinates, counts_records, noise }))
}
