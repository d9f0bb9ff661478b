//! One noisy result of a descent without noise.

use super::Common;
use crate::{LearnError, Plan};
use pairdp_accountant::gaussian;
use pairdp_noise::lattice::{self, Lattice};
use pairdp_pairwise::{Constants, Domain, Objective, Problem, Regularity, kernel};
use pairdp_stability::{Geometry, NumericError, Output as Kept, Rates, realised};
use pairdp_units::Budget;
use pairdp_units::directed::{down_by, up_by};

/// The result of T steps of descent over all pairs, released once with noise for how far one record can move it.
///
/// # Guarantee
/// The release satisfies the budget under replace-one adjacency: `proofs/output_gd.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    common: Common,
    plan: Plan,
    sensitivity: f64,
    ratio: f64,
    lattice_bits: u32,
    sigma: f64,
}

impl Output {
    /// The noise for the result of a plan.
    ///
    /// # Errors
    /// [`LearnError`] when the problem has no proved sensitivity here, a number is out of range or no noise level fits;
    /// only public facts decide.
    pub fn calibrate(
        problem: Problem,
        records: usize,
        features: usize,
        plan: Plan,
        budget: Budget,
    ) -> Result<Self, LearnError> {
        let (common, for_data) = Common::new(problem, records, features, 1.0, budget)?;
        let sensitivity = path_sensitivity(problem, records, features, plan)?;
        let ratio = gaussian::largest_ratio(for_data)?;
        let lattice_bits = lattice::bits_for(up_by(problem.domain().radius() * ratio / sensitivity, 4.0))?;
        let rounding = lattice::rounding_ratio(common.parameters(), lattice_bits);
        let left = down_by(ratio - rounding, 2.0);
        let sigma = up_by(sensitivity / left, 2.0);
        if !(left > 0.0 && sigma.is_finite()) {
            return Err(LearnError::DeltaTooSmall(budget));
        }
        Ok(Self { common, plan, sensitivity, ratio, lattice_bits, sigma })
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
    }

    pub(crate) fn lattice(&self) -> Result<Lattice, LearnError> {
        Ok(Lattice::new(self.sigma, self.lattice_bits)?)
    }

    /// The descent.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// How far one record can move the computed result.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// μ of the release.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Fineness of the lattice.
    pub fn lattice_bits(&self) -> u32 {
        self.lattice_bits
    }

    /// Standard deviation of the noise on each coordinate.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }
}

/// How far one record can move the computed result of a descent, rounding included.
fn path_sensitivity(
    problem: Problem,
    records: usize,
    features: usize,
    plan: Plan,
) -> Result<f64, LearnError> {
    let Domain::Ball { radius } = problem.domain() else {
        return Err(LearnError::NoProof("output perturbation outside a ball"));
    };
    if matches!(problem.objective(), Objective::Metric { .. }) {
        return Err(LearnError::NoProof("output perturbation of a metric"));
    }
    let constants = problem.constants();
    let geometry = geometry(problem, &constants, records)?
        .with_ridge(problem.ridge())?
        .with_diameter(problem.domain().diameter())?
        .with_numeric_error(numeric_error(
            problem,
            &constants,
            radius,
            records,
            features,
            plan.step_size(),
        ))?;
    let kept = Kept::Suffix(plan.average().kept(plan.steps()) as usize);
    let rates = Rates::Constant(plan.step_size());
    let steps = plan.steps() as usize;
    let bound = match problem.objective() {
        Objective::Pointwise { .. } => realised::full_batch_records(&geometry, records, steps, rates, kept)?,
        _ => realised::full_batch_pairs(&geometry, records, steps, rates, kept)?,
    };
    // The mean of the kept iterates and its projection round like a step does.
    let mean = up_by((4.0 * features as f64 + f64::from(plan.steps()) + 64.0) * f64::EPSILON * radius, 2.0);
    Ok(up_by(bound.sensitivity + 2.0 * mean, 2.0))
}

/// The constants of a step along the mean gradient, whose smoothness is that of the risk, not of a pair.
fn geometry(problem: Problem, constants: &Constants, records: usize) -> Result<Geometry, LearnError> {
    let regularity = match constants.regularity {
        Regularity::Smooth { constant } => {
            let mean = problem.risk_smoothness(records).unwrap_or(constant + problem.ridge());
            pairdp_stability::Regularity::Smooth { constant: up_by(mean - problem.ridge(), 4.0) }
        }
        Regularity::Hoelder { exponent, constant } => {
            pairdp_stability::Regularity::Hoelder { exponent, constant }
        }
        Regularity::Jumps => pairdp_stability::Regularity::Jumps,
    };
    let Constants { pair_difference, symmetric_difference, same_term_difference, .. } = *constants;
    Ok(Geometry::new(pair_difference, symmetric_difference, same_term_difference, regularity)?)
}

/// What computing in f64 adds to a step.
///
/// A score has relative error at most (d + 8)·2⁻⁵², so a margin is off by at most e = 2(d + 8)·2⁻⁵²·κB (twice that in the
/// symmetric form); a smooth slope is then off by at most its curvature times e, and a slope that jumps may be taken on
/// the other side of the jump, which costs monotonicity rather than distance.
fn numeric_error(
    problem: Problem,
    constants: &Constants,
    radius: f64,
    records: usize,
    features: usize,
    rate: f64,
) -> NumericError {
    let kappa = problem.feature_bound();
    let margin_error = 4.0 * (features as f64 + 8.0) * f64::EPSILON * kappa * radius;
    // Curvature of the scalar loss times the length of a row of the pair, from L = curvature·length².
    let slope_error = match constants.regularity {
        Regularity::Smooth { constant } => constant / kappa * margin_error,
        Regularity::Hoelder { .. } | Regularity::Jumps => 0.0,
    };
    let slope_range = constants.gradient_bound / kappa;
    let kernel_error = kernel::error_bound(problem, radius, records, features);
    let reach = radius + rate * (constants.gradient_bound + problem.ridge() * radius);
    NumericError {
        gradient: up_by(kernel_error + slope_error, 4.0),
        step: up_by((4.0 * features as f64 + 64.0) * f64::EPSILON * reach, 4.0),
        monotonicity: up_by(2.0 * margin_error * slope_range, 4.0),
    }
}
