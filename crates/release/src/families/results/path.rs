//! How far one record can move the result of each descent, rounding included.

use crate::{LearnError, PublicFacts, PublicIndices as _};
use pairdp_certificate::{Algorithm, Phase};
use pairdp_model::kept;
use pairdp_pairwise::{Constants, Objective, Problem, Regularity, kernel};
use pairdp_stability::{Geometry, NumericError, Output as Kept, Rates, StabilityError, realised};
use pairdp_units::directed::{smaller, up_by};

/// Sensitivities are followed for every record at every step: beyond this many updates that takes too long.
const MOST_UPDATES: f64 = 2e10;
/// Beyond this many records it takes too much memory.
const MOST_RECORDS: usize = 20_000_000;
/// One pass is followed by its worst record alone, but step by step.
const LONGEST_PASS: usize = 200_000_000;

/// Whether the influence of every record can be followed in reasonable time and memory.
pub(crate) fn can_be_followed(algorithm: Algorithm, records: usize, steps: usize) -> bool {
    match algorithm {
        Algorithm::OutputSgd | Algorithm::MatchingSgd | Algorithm::LocalizedSgd => {
            records <= MOST_RECORDS && records as f64 * steps as f64 <= MOST_UPDATES
        }
        _ => steps <= LONGEST_PASS,
    }
}

/// The descents of a plan, with the sensitivity of each and noise still to be set.
pub(crate) fn phases(public: &PublicFacts) -> Result<Vec<Phase>, LearnError> {
    let PublicFacts { problem, plan, records, .. } = *public;
    if problem.domain().is_psd() {
        return Err(LearnError::NoProof("descents within the positive semidefinite cone"));
    }
    let halves = match plan.algorithm() {
        Algorithm::PhasedGd => Some(realised::halving_phases(records, plan.step_size())?),
        Algorithm::LocalizedSgd => Some(realised::localized_phases(records, plan.step_size())?),
        _ => None,
    };
    let whole = (records, plan.steps() as usize, plan.step_size());
    let parts = halves.map_or(vec![whole], |phases| {
        phases.into_iter().map(|phase| (phase.n_records, phase.n_steps, phase.rate)).collect()
    });
    let steps: usize = match plan.algorithm() {
        Algorithm::OfflinePair => records.saturating_sub(1),
        _ => parts.iter().map(|part| part.1).sum(),
    };
    if steps != plan.steps() as usize {
        return Err(LearnError::FixedSteps { algorithm: plan.algorithm(), steps });
    }
    if parts.len() > 1 && problem.domain().radius().is_infinite() {
        return Err(LearnError::NoProof("phases without a bound on the parameters"));
    }
    parts
        .into_iter()
        .map(|(records, steps, step_size)| {
            let steps = u32::try_from(steps).unwrap_or(u32::MAX);
            let phase = Phase { records, steps, step_size, sensitivity: 0.0, sigma: 0.0 };
            Ok(Phase { sensitivity: sensitivity(public, &phase)?, ..phase })
        })
        .collect()
}

/// How far parameters get from their start: as far as all steps carry them, or across the domain.
pub(crate) fn travel(problem: Problem, gradient_bound: f64, phase: &Phase) -> f64 {
    let across = problem.domain().diameter();
    // Within a ball a ridge pulls with at most λB; without a bound a descent starts at 0, and a ridge pulls back there.
    let pull = if across.is_finite() { problem.ridge() * problem.domain().radius() } else { 0.0 };
    smaller(across, up_by(f64::from(phase.steps) * phase.step_size * (gradient_bound + pull), 8.0))
}

fn sensitivity(public: &PublicFacts, phase: &Phase) -> Result<f64, LearnError> {
    let PublicFacts { problem, plan, records, features, .. } = *public;
    let constants = problem.constants();
    // The largest norm of an iterate.
    let radius = match problem.domain().radius() {
        bound if bound.is_finite() => bound,
        _ => travel(problem, constants.gradient_bound, phase),
    };
    let steps = phase.steps as usize;
    let algorithm = plan.algorithm();
    if !can_be_followed(algorithm, phase.records, steps) {
        return Err(LearnError::PathTooLong { records: phase.records, steps });
    }
    let full_batch = matches!(algorithm, Algorithm::OutputGd | Algorithm::PhasedGd);
    if full_batch && !kernel::keeps_scores(problem, radius) {
        return Err(LearnError::NoProof("descents over all pairs whose scores reach 2⁴⁰"));
    }
    let sum_error = match algorithm {
        Algorithm::OutputGd | Algorithm::PhasedGd => {
            kernel::error_bound(problem, radius, phase.records, features)
        }
        // The mean of up to so many terms, added up one by one.
        Algorithm::OutputSgd | Algorithm::OfflinePair => {
            (steps as f64 + 16.0) * f64::EPSILON * constants.gradient_bound
        }
        _ => 16.0 * f64::EPSILON * constants.gradient_bound,
    };
    let numeric = numeric_error(problem, &constants, radius, features, phase.step_size, sum_error);
    let smoothness_of = full_batch.then_some(phase.records);
    let geometry = geometry(problem, &constants, smoothness_of)?
        .with_ridge(problem.ridge())?
        .with_diameter(problem.domain().diameter())?
        .with_numeric_error(numeric)?;
    let kept = Kept::Suffix(kept(plan.average(), phase.steps) as usize);
    let rates = Rates::Constant(phase.step_size);
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let order = plan.order();
    let exact = match algorithm {
        _ if full_batch && pointwise => {
            realised::full_batch_records(&geometry, phase.records, steps, rates, kept)?.sensitivity
        }
        _ if full_batch => {
            realised::full_batch_pairs(&geometry, phase.records, steps, rates, kept)?.sensitivity
        }
        Algorithm::OutputSgd if pointwise => {
            let indices = order.indices(records, steps);
            realised::record_path(&geometry, &indices, records, rates, kept)?.sensitivity()
        }
        Algorithm::OutputSgd => {
            let indices = order.indices(records, steps + 1);
            realised::history_path(&geometry, &indices, records, rates, kept)?.sensitivity()
        }
        Algorithm::MatchingSgd => {
            let pairs = order.pairs(records, steps);
            realised::pair_path(&geometry, &pairs, records, rates, kept)?.sensitivity()
        }
        Algorithm::LocalizedSgd => {
            let pairs: Vec<(u32, u32)> = (0..).zip(1..).take(steps).collect();
            realised::pair_path(&geometry, &pairs, phase.records, rates, kept)?.sensitivity()
        }
        Algorithm::OfflinePair if kept == Kept::Suffix(1) => {
            realised::one_pass(&geometry, records, rates, Kept::Last)?.sensitivity
        }
        Algorithm::OfflinePair => return Err(LearnError::NoProof("averages of `offline-pair`")),
        _ => return Err(LearnError::NoProof("this algorithm")),
    };
    // The mean of the kept iterates, its projection and its distance from the start round like a step does.
    let p = problem.parameters(features) as f64;
    let mean = up_by((4.0 * p + f64::from(phase.steps) + 80.0) * f64::EPSILON * radius, 2.0);
    Ok(up_by(exact + 2.0 * mean, 2.0))
}

/// The constants of a step: along one pair (or a mean of pairs), or along the mean over all pairs of so many records, whose
/// smoothness is that of the risk, not of a pair.
fn geometry(
    problem: Problem,
    constants: &Constants,
    full_batch: Option<usize>,
) -> Result<Geometry, StabilityError> {
    let regularity = match constants.regularity {
        Regularity::Smooth { constant } => {
            let mean = full_batch.and_then(|records| problem.risk_smoothness(records));
            let constant = mean.map_or(constant, |mean| up_by(mean - problem.ridge(), 4.0));
            pairdp_stability::Regularity::Smooth { constant }
        }
        Regularity::Hoelder { exponent, constant } => {
            pairdp_stability::Regularity::Hoelder { exponent, constant }
        }
        Regularity::Jumps => pairdp_stability::Regularity::Jumps,
    };
    let Constants { pair_difference, symmetric_difference, same_term_difference, .. } = *constants;
    // A record paired with itself has no gradient: its margin is fixed and its difference 0.
    Geometry::new(pair_difference, symmetric_difference, same_term_difference, regularity)?
        .with_self_pairs(0.0, 0.0)
}

/// What computing in f64 adds to a step.
///
/// A score has relative error at most (d + 8)·2⁻⁵², so a margin is off by at most e = 2(d + 8)·2⁻⁵²·κB (twice that in the
/// symmetric form), and a squared distance xᵀWx − 2xᵀWx' + x'ᵀWx' by at most 8(2d + 16)·2⁻⁵²·κ²B; a smooth slope is then
/// off by at most its curvature times e, and a slope that jumps may be taken on the other side of the jump, which costs
/// monotonicity rather than distance.
fn numeric_error(
    problem: Problem,
    constants: &Constants,
    radius: f64,
    features: usize,
    rate: f64,
    sum_error: f64,
) -> NumericError {
    let kappa = problem.feature_bound();
    // A length that the vector of no pair falls short of where the bounds on slopes are attained.
    let (length, margin_error) = match problem.objective() {
        Objective::Metric { .. } => {
            (kappa * kappa, 8.0 * (2.0 * features as f64 + 16.0) * f64::EPSILON * kappa * kappa * radius)
        }
        _ => (kappa, 4.0 * (features as f64 + 8.0) * f64::EPSILON * kappa * radius),
    };
    // Curvature of the scalar loss times the length of a pair's vector, from L = curvature·length².
    let slope_error = match constants.regularity {
        Regularity::Smooth { constant } => constant / length * margin_error,
        Regularity::Hoelder { .. } | Regularity::Jumps => 0.0,
    };
    let slope_range = constants.gradient_bound / length;
    let reach = radius + rate * (constants.gradient_bound + problem.ridge() * radius);
    let p = problem.parameters(features) as f64;
    NumericError {
        gradient: up_by(sum_error + slope_error, 4.0),
        step: up_by((4.0 * p + 64.0) * f64::EPSILON * reach, 4.0),
        monotonicity: up_by(2.0 * margin_error * slope_range, 4.0),
    }
}
