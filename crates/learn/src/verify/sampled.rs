//! Noisy gradients of secretly sampled pairs or records.

use super::{Relation, TOLERANCE, covers, formulas, lattice_rounding};
use crate::Certificate;
use crate::certificate::Released;
use pairdp_accountant::delta_value;
use pairdp_accountant::event::{AdjacencyKind, Event, Release, Sampling};
use pairdp_pairwise::Objective;
use pairdp_units::Epsilon;

/// How far δ of the contour engine, a value, may lie below the claimed δ, which a pessimistic discretisation calibrated.
const CALIBRATION_SLACK: f64 = 3e-3;
/// How far it may lie above: the engine's own error.
const VALUE_TOLERANCE: f64 = 1e-6;

pub(super) fn relations(certificate: &Certificate) -> Vec<Relation> {
    let Released::SampledGradients { steps, sampling, sensitivity, gradient_error, noise_multiplier, sigma } =
        certificate.released
    else {
        return Vec::new();
    };
    let radius = certificate.problem.domain().radius();
    let largest = formulas::largest_term(certificate.problem, radius);
    let reach =
        (sensitivity + 2.0 * gradient_error) / (1.0 / noise_multiplier - lattice_rounding(certificate));
    vec![
        ("sampling", "one uniform pair of n, or one uniform record", check_sampling(certificate, sampling)),
        (
            "sensitivity",
            formulas::pair_relation(certificate.problem),
            covers(
                "D",
                sensitivity,
                formulas::pair_difference(certificate.problem, radius),
                formulas::tolerance(certificate.problem),
            ),
        ),
        (
            "gradient error",
            "τ = 8·2⁻⁵²·G",
            covers("τ", gradient_error, 8.0 * 2.0_f64.powi(-52) * largest, TOLERANCE),
        ),
        ("noise", "σ = (D + 2τ)/(1/s − √p·(1 + 2⁻⁷)·2^−bits)", covers("σ", sigma, reach, TOLERANCE)),
        (
            "composition",
            "δ of T sampled Gaussian releases of multiplier s, by contour integration, + δ_s = δ",
            composition(certificate, steps, sampling, noise_multiplier),
        ),
    ]
}

fn check_sampling(certificate: &Certificate, found: Sampling) -> Result<(), String> {
    let records = certificate.records as u64;
    let expected = match certificate.problem.objective() {
        Objective::Pointwise { .. } => Sampling::OneIndex { records },
        _ => Sampling::FixedSize { batch: 2, records },
    };
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}")) }
}

fn composition(
    certificate: &Certificate,
    steps: u32,
    sampling: Sampling,
    multiplier: f64,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let release = Release::Gaussian { noise_multiplier: multiplier, sampling, times: u64::from(steps) };
    let event = Event::new(AdjacencyKind::ReplaceOne, release).map_err(|e| text(&e))?;
    let epsilon = Epsilon::new(certificate.claim.epsilon).map_err(|e| text(&e))?;
    let found = delta_value(&event, epsilon).map_err(|e| text(&e))? + certificate.sampler_delta;
    let claimed = certificate.claim.delta;
    if found <= claimed * (1.0 + VALUE_TOLERANCE) && found >= claimed * (1.0 - CALIBRATION_SLACK) {
        return Ok(());
    }
    Err(format!("δ is {claimed:e}, recomputed {found:e}"))
}
