//! Noisy gradients over all pairs.

use super::{Relation, TOLERANCE, close, covers, formulas, lattice_rounding};
use crate::Certificate;
use crate::certificate::{GradientRelease, Released};
use pairdp_accountant::quadrature::gaussian_delta;

/// δ is integrated to about nine digits.
const DELTA_TOLERANCE: f64 = 1e-7;

pub(super) fn relations(certificate: &Certificate) -> Vec<Relation> {
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
        ("iterates", "‖w₁‖ = 0 and ‖w_t‖ ≤ B", iterates(certificate, releases)),
        ("sensitivity", formulas::relation(certificate.problem), each(&|r| sensitivity(certificate, r))),
        (
            "kernel error",
            "τ_t = roundings(n)·2⁻⁵²·(largest gradient at w_t)",
            each(&|r| kernel_error(certificate, r)),
        ),
        ("noise", "σ_t = (Δ_t + 2τ_t)/(m − √p·(1 + 2⁻⁷)·2^−bits)", each(&|r| noise(certificate, *ratio, r))),
        (
            "composition",
            "δ(ε; √T·m) + δ_s = δ, integrated numerically",
            composition(certificate, *steps, *ratio),
        ),
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
        let limit = if t == 0 { 0.0 } else { radius * (1.0 + TOLERANCE) };
        if !(release.iterate_norm >= 0.0 && release.iterate_norm <= limit) {
            let norm = release.iterate_norm;
            return Err(format!("iterate {} has norm {norm:e}, at most {limit:e} is possible", t + 1));
        }
    }
    Ok(())
}

fn sensitivity(certificate: &Certificate, release: &GradientRelease) -> Result<(), String> {
    let expected =
        formulas::difference(certificate.problem, release.iterate_norm) / certificate.records as f64;
    covers("Δ", release.sensitivity, expected, formulas::tolerance(certificate.problem))
}

fn kernel_error(certificate: &Certificate, release: &GradientRelease) -> Result<(), String> {
    let expected = formulas::kernel_error(certificate, release.iterate_norm);
    covers("τ", release.kernel_error, expected, TOLERANCE)
}

fn noise(certificate: &Certificate, ratio: f64, release: &GradientRelease) -> Result<(), String> {
    let reach = release.sensitivity + 2.0 * release.kernel_error;
    covers("σ", release.sigma, reach / (ratio - lattice_rounding(certificate)), TOLERANCE)
}

/// Also for a single release of any other kind: one step of ratio m.
pub(super) fn composition(certificate: &Certificate, steps: u32, ratio: f64) -> Result<(), String> {
    let total = ratio * f64::from(steps).sqrt();
    let delta = gaussian_delta(certificate.claim.epsilon, total).map_err(|error| error.to_string())?;
    close("δ", certificate.claim.delta, delta + certificate.sampler_delta, DELTA_TOLERANCE)
}
