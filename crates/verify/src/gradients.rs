//! Noisy gradients over all pairs: `proofs/noisy_gd.md`.

use crate::facts::{COMPOSITION, Facts};
use crate::relations::{Relation, TOLERANCE, covers, require};
use crate::{Family, ROUNDING, constants, stages};
use pairdp_certificate::{Algorithm, GradientRelease, Released};

pub(crate) const FAMILY: Family = Family {
    is_of: |algorithm| algorithm == Algorithm::NoisyGd,
    fits_plan: |facts, plan| steps(facts) == Some(plan.steps),
    reach: |facts| {
        let Released::Gradients { ratio, .. } = facts.certificate.released else { return Ok(f64::NAN) };
        let largest = constants::largest_risk_gradient(facts.problem, 0.0, facts.n());
        Ok(largest * facts.n() / constants::moved(facts.problem, 0.0) * ratio / facts.norm_factor())
    },
    slack: ROUNDING,
    samples: |facts, each| f64::from(steps(facts).unwrap_or_default()) * each,
    relations: |facts, _| relations(facts),
};

fn steps(facts: &Facts) -> Option<u32> {
    if let Released::Gradients { steps, .. } = facts.certificate.released { Some(steps) } else { None }
}

fn relations(facts: &Facts) -> Vec<Relation> {
    let Released::Gradients { steps, kernel, ratio, releases } = &facts.certificate.released else {
        return Vec::new();
    };
    let each = |examine: &dyn Fn(&GradientRelease) -> Result<(), String>| {
        releases.iter().enumerate().try_for_each(|(t, release)| {
            examine(release).map_err(|failure| format!("release {}: {failure}", t + 1))
        })
    };
    // A descent without a step has a ratio of nothing.
    let some = if stages::alone(facts) { *steps == 0 && ratio.to_bits() == 0 } else { *steps > 0 };
    let count = some && *steps as usize == releases.len();
    vec![
        (
            "steps",
            "as many releases as steps, at least 1, or none where ranks are all that is released",
            require(count, || format!("{steps} steps, {} releases", releases.len())),
        ),
        ("kernel", "the kernel is the one for this objective", facts.check_kernel(kernel)),
        (
            "iterates",
            "‖w₁‖ = 0 (or B, for constant noise; any after a stage) and ‖w_t‖ ≤ B",
            iterates(facts, releases),
        ),
        ("sensitivity", constants::relation(facts.problem), each(&|r| sensitivity(facts, r))),
        ("kernel error", "τ_t = roundings·2⁻⁵²·(largest gradient at w_t)", each(&|r| kernel_error(facts, r))),
        (
            "noise",
            "σ_t = c·(Δ_t + 2τ_t)/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            each(&|r| {
                let reach = r.sensitivity + 2.0 * r.kernel_error;
                covers("σ", r.sigma, facts.noise_scale(reach, *ratio), TOLERANCE)
            }),
        ),
        ("composition", COMPOSITION, facts.composition(*steps, *ratio)),
    ]
}

fn iterates(facts: &Facts, releases: &[GradientRelease]) -> Result<(), String> {
    let limit = facts.radius() * (1.0 + TOLERANCE);
    releases.iter().enumerate().try_for_each(|(t, release)| {
        let norm = release.iterate_norm;
        // The start is known; a norm that is larger than it need be is safe only as the domain's own.
        // After a stage it follows from what that released, and slopes are those at the norm that is stated.
        let start = t > 0 || norm <= 0.0 || norm >= facts.radius() || !facts.certificate.stages.is_empty();
        require(norm >= 0.0 && norm <= limit && start, || {
            format!("iterate {} has norm {norm:e}, at most {limit:e} is possible", t + 1)
        })
    })
}

fn sensitivity(facts: &Facts, release: &GradientRelease) -> Result<(), String> {
    let expected = constants::moved(facts.problem, release.iterate_norm) / facts.n();
    covers("Δ", release.sensitivity, expected, TOLERANCE)
}

fn kernel_error(facts: &Facts, release: &GradientRelease) -> Result<(), String> {
    let (problem, norm, n, d) = (facts.problem, release.iterate_norm, facts.n(), facts.features());
    let largest = constants::largest_risk_gradient(problem, norm, n);
    let expected = constants::sum_error(problem, norm, n, d)
        + constants::packing_error(problem, largest)
        + constants::secret_size_error(problem, norm, n, d);
    covers("τ", release.kernel_error, expected, TOLERANCE)
}
