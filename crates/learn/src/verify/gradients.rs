//! Noisy gradients over all pairs.

use super::{COMPOSITION, Relation, TOLERANCE, composition, covers, formulas, noise_scale};
use crate::certificate::{GradientRelease, Released};
use crate::{Certificate, Law};

pub(super) fn relations(certificate: &Certificate, law: Law) -> Vec<Relation> {
    let Released::Gradients { steps, kernel, ratio, releases } = &certificate.released else {
        return Vec::new();
    };
    let each = |examine: &dyn Fn(&GradientRelease) -> Result<(), String>| {
        releases.iter().enumerate().try_for_each(|(t, release)| {
            examine(release).map_err(|failure| format!("release {}: {failure}", t + 1))
        })
    };
    vec![
        ("steps", "as many releases as steps, at least 1", count(*steps, releases.len())),
        (
            "kernel",
            "the kernel is the one for this objective",
            formulas::check_kernel(certificate.problem, kernel),
        ),
        ("iterates", "‖w₁‖ = 0 (or B, for constant noise) and ‖w_t‖ ≤ B", iterates(certificate, releases)),
        ("sensitivity", formulas::relation(certificate.problem), each(&|r| sensitivity(certificate, r))),
        (
            "kernel error",
            "τ_t = roundings·2⁻⁵²·(largest gradient at w_t)",
            each(&|r| kernel_error(certificate, r)),
        ),
        (
            "noise",
            "σ_t = c·(Δ_t + 2τ_t)/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            each(&|r| {
                let reach = r.sensitivity + 2.0 * r.kernel_error;
                covers("σ", r.sigma, noise_scale(certificate, law, reach, *ratio), TOLERANCE)
            }),
        ),
        ("composition", COMPOSITION, composition(certificate, law, *steps, *ratio)),
    ]
}

fn count(steps: u32, releases: usize) -> Result<(), String> {
    if steps > 0 && steps as usize == releases {
        Ok(())
    } else {
        Err(format!("{steps} steps, {releases} releases"))
    }
}

fn iterates(certificate: &Certificate, releases: &[GradientRelease]) -> Result<(), String> {
    let radius = certificate.problem.domain().radius();
    for (t, release) in releases.iter().enumerate() {
        // The start is known; a norm that is larger than it need be is safe only as the domain's own.
        let limit = radius * (1.0 + TOLERANCE);
        let start = t > 0 || release.iterate_norm <= 0.0 || release.iterate_norm >= radius;
        if !(release.iterate_norm >= 0.0 && release.iterate_norm <= limit && start) {
            let norm = release.iterate_norm;
            return Err(format!("iterate {} has norm {norm:e}, at most {limit:e} is possible", t + 1));
        }
    }
    Ok(())
}

fn sensitivity(certificate: &Certificate, release: &GradientRelease) -> Result<(), String> {
    let expected = formulas::moved(certificate.problem, release.iterate_norm) / certificate.records as f64;
    covers("Δ", release.sensitivity, expected, formulas::tolerance(certificate.problem))
}

fn kernel_error(certificate: &Certificate, release: &GradientRelease) -> Result<(), String> {
    let (problem, norm) = (certificate.problem, release.iterate_norm);
    let largest = formulas::largest_gradient(problem, norm, certificate.records);
    let expected = formulas::sum_error(problem, norm, certificate.records, certificate.features)
        + formulas::packing_error(problem, largest)
        + formulas::secret_size_error(problem, norm, certificate.records, certificate.features);
    covers("τ", release.kernel_error, expected, TOLERANCE)
}
