//! Noisy gradients of secretly sampled pairs or records.

use super::{Relation, TOLERANCE, covers, formulas, noise_scale};
use crate::certificate::Released;
use crate::poisson::Binomial;
use crate::{Certificate, Law, Plan};
use pairdp_accountant::delta_value;
use pairdp_accountant::event::{Event, Release, Sampling};
use pairdp_pairwise::{Labels, Objective};
use pairdp_units::Epsilon;

/// How far δ of the contour engine, a value, may lie below the claimed δ, which a pessimistic discretisation calibrated.
const CALIBRATION_SLACK: f64 = 2e-2;
/// How far it may lie above: the engine's own error.
const VALUE_TOLERANCE: f64 = 1e-6;

pub(super) fn relations(certificate: &Certificate, law: Law) -> Vec<Relation> {
    let Released::SampledGradients { steps, sampling, sensitivity, gradient_error, noise_multiplier, sigma } =
        certificate.released
    else {
        return Vec::new();
    };
    let radius = certificate.problem.domain().radius();
    let largest = formulas::largest_term(certificate.problem, radius);
    let distance = sensitivity + 2.0 * gradient_error;
    let expected_noise = noise_scale(certificate, law, distance, 1.0 / noise_multiplier);
    let independent = matches!(sampling, Sampling::PoissonPairs { .. });
    // Any record of the table may stand in for the one replaced in a sample, with a label of its own.
    let any_label = certificate.problem.with_labels(Labels::Private);
    let expected_sensitivity =
        if independent { largest } else { formulas::pair_difference(any_label, radius) };
    let terms = most_terms(sampling);
    vec![
        (
            "sampling",
            "one uniform pair of n, pairs kept independently, or one uniform record; Gaussian noise",
            check_sampling(certificate, sampling, law),
        ),
        (
            "sensitivity",
            if independent {
                "G = the largest gradient of a pair"
            } else {
                formulas::pair_relation(certificate.problem)
            },
            covers("D", sensitivity, expected_sensitivity, formulas::tolerance(certificate.problem)),
        ),
        (
            "gradient error",
            "τ = (8 + k)k·2⁻⁵²·G for at most k terms, plus packing",
            terms.and_then(|k| {
                let packing = formulas::packing_error(certificate.problem, k * largest);
                covers("τ", gradient_error, (8.0 + k) * k * 2.0_f64.powi(-52) * largest + packing, TOLERANCE)
            }),
        ),
        ("noise", "σ = (D + 2τ)/(1/s − √p·(1 + 2⁻⁷)·2^−bits)", covers("σ", sigma, expected_noise, TOLERANCE)),
        (
            "composition",
            "δ of T sampled Gaussian releases of multiplier s, by contour integration, + δ_s = δ",
            composition(certificate, steps, sampling, noise_multiplier),
        ),
    ]
}

fn check_sampling(certificate: &Certificate, found: Sampling, law: Law) -> Result<(), String> {
    let records = certificate.records as u64;
    let pointwise = matches!(certificate.problem.objective(), Objective::Pointwise { .. });
    let fits = match found {
        Sampling::OneIndex { records: n } => pointwise && n == records,
        Sampling::FixedSize { batch, records: n } => !pointwise && batch == 2 && n == records,
        Sampling::PoissonPairs { records: n, .. } => !pointwise && n == records,
        _ => false,
    };
    if fits && law == Law::Gaussian { Ok(()) } else { Err(format!("{found:?} does not fit")) }
}

/// Whether the plan draws the pairs that the certificate says.
pub(super) fn fits_plan(sampling: Sampling, plan: &Plan) -> bool {
    match (sampling, plan.expected_pairs()) {
        (Sampling::PoissonPairs { expected_pairs, .. }, Some(planned)) => {
            expected_pairs.to_bits() == planned.to_bits()
        }
        (Sampling::PoissonPairs { .. }, None) => false,
        (_, planned) => planned.is_none(),
    }
}

/// The most terms a step adds up: 1, or as many kept pairs as have a chance above 2⁻¹¹².
pub(super) fn most_terms(sampling: Sampling) -> Result<f64, String> {
    match sampling {
        Sampling::PoissonPairs { records, expected_pairs } => {
            Binomial::of_pairs(records, expected_pairs).map(|law| law.largest()).map_err(|e| e.to_string())
        }
        _ => Ok(1.0),
    }
}

fn composition(
    certificate: &Certificate,
    steps: u32,
    sampling: Sampling,
    multiplier: f64,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let release = Release::Gaussian { noise_multiplier: multiplier, sampling, times: u64::from(steps) };
    let event = Event::new(certificate.problem.adjacency(), release).map_err(|e| text(&e))?;
    let epsilon = Epsilon::new(certificate.claim.epsilon).map_err(|e| text(&e))?;
    let found = delta_value(&event, epsilon).map_err(|e| text(&e))? + certificate.sampler_delta;
    let claimed = certificate.claim.delta;
    if found <= claimed * (1.0 + VALUE_TOLERANCE) && found >= claimed * (1.0 - CALIBRATION_SLACK) {
        return Ok(());
    }
    Err(format!("δ is {claimed:e}, recomputed {found:e}"))
}
