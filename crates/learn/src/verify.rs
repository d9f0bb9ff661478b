//! Recomputing a certificate.
//!
//! Everything is derived again from the certificate's public facts, with formulas written out here rather than
//! called from the code that trained, and with δ from numerical integration of its definition rather than the
//! closed form that calibrated the noise. Each number takes part in a named relation, so a changed number is
//! answered by the name of what no longer fits.

mod formulas;

use crate::certificate::{ALGORITHM, FORMAT, NOISE, Release};
use crate::{Certificate, PrivateModel};
use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_units::{Adjacency, Budget, ReplaceOne};

/// How far two computations of the same number may differ, relatively.
const TOLERANCE: f64 = 1e-10;
/// The same for the sensitivity, which some losses maximise numerically with a margin of a millionth.
const SENSITIVITY_TOLERANCE: f64 = 2e-6;
/// The same for δ, whose integration is good to about nine digits.
const DELTA_TOLERANCE: f64 = 1e-7;

/// One relation between the numbers of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called.
    pub name: &'static str,
    /// What must hold, as a formula.
    pub relation: &'static str,
    /// Empty if it holds, else what was found instead.
    pub failure: Option<String>,
}

/// The outcome of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Every relation that was examined.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Whether every relation holds.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.failure.is_none())
    }

    /// The relations that fail.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.failure.is_some())
    }
}

/// Examines a model's certificate; see the module's description.
pub fn verify(model: &PrivateModel) -> Verdict {
    let certificate = &model.certificate;
    let mut checks = Vec::new();
    let mut examine = |name, relation, outcome: Result<(), String>| {
        checks.push(Check { name, relation, failure: outcome.err() });
    };
    examine(
        "vocabulary",
        "format, adjacency, algorithm, noise and kernel are known",
        vocabulary(certificate),
    );
    examine("claim", "ε is finite and above 0, δ in (0, 1)", claim(certificate));
    examine("sizes", "n ≥ 2; parameters, encoded features and released coordinates agree", sizes(model));
    examine("steps", "as many releases as steps, at least 1", steps(certificate));
    examine("feature bound", "κ of the model = κ of the problem", feature_bound(model));
    examine("score bound", "the largest score is κB", score_bound(certificate));
    examine("iterates", "‖w₁‖ = 0, and ‖w_t‖ ≤ B for every iterate and for the model", iterates(model));
    examine("sensitivity", formulas::relation(certificate.problem), each(certificate, sensitivity));
    examine(
        "kernel error",
        "τ_t = roundings(n)·2⁻⁵²·(largest gradient at w_t)",
        each(certificate, kernel_error),
    );
    examine("noise", "σ_t = (Δ_t + 2τ_t)/(m − √p·(1 + 2⁻⁷)·2^−bits)", each(certificate, noise));
    examine("sampler", "δ_s = (1 + e^ε)·T·p·2⁻¹⁰⁰", sampler(certificate));
    examine("composition", "δ(ε; √T·m) + δ_s = δ, integrated numerically", composition(certificate));
    Verdict { checks }
}

fn vocabulary(certificate: &Certificate) -> Result<(), String> {
    for (found, known) in [
        (&certificate.format, FORMAT),
        (&certificate.claim.adjacency, ReplaceOne::ID),
        (&certificate.algorithm, ALGORITHM),
        (&certificate.noise, NOISE),
        (&certificate.kernel, formulas::kernel(certificate.problem)),
    ] {
        if found != known {
            return Err(format!("`{found}` is not `{known}`"));
        }
    }
    Ok(())
}

fn claim(certificate: &Certificate) -> Result<(), String> {
    let budget =
        Budget::new(certificate.claim.epsilon, certificate.claim.delta).map_err(|e| e.to_string())?;
    if budget.delta.get() > 0.0 { Ok(()) } else { Err("Gaussian noise never gives δ = 0".into()) }
}

fn sizes(model: &PrivateModel) -> Result<(), String> {
    let certificate = &model.certificate;
    if certificate.records < 2 {
        return Err(format!("n = {}", certificate.records));
    }
    let (weights, encoded) = (model.ranker.parameters.len(), model.ranker.encoding.dimension());
    let expected = certificate.problem.parameters(certificate.features);
    if encoded != certificate.features || weights != expected || certificate.parameters != expected {
        return Err(format!(
            "{weights} weights, {encoded} encoded features, {} released",
            certificate.parameters
        ));
    }
    Ok(())
}

fn steps(certificate: &Certificate) -> Result<(), String> {
    let (steps, releases) = (certificate.steps, certificate.releases.len());
    if steps > 0 && steps as usize == releases {
        Ok(())
    } else {
        Err(format!("{steps} steps, {releases} releases"))
    }
}

fn feature_bound(model: &PrivateModel) -> Result<(), String> {
    close("κ", model.ranker.feature_bound, model.certificate.problem.feature_bound(), 0.0)
}

fn score_bound(certificate: &Certificate) -> Result<(), String> {
    let expected = certificate.problem.feature_bound() * certificate.problem.domain().radius();
    close("κB", certificate.score_bound, expected, TOLERANCE)
}

fn iterates(model: &PrivateModel) -> Result<(), String> {
    let radius = model.certificate.problem.domain().radius();
    let norms = model.certificate.releases.iter().map(|release| release.iterate_norm);
    let last = model.ranker.parameters.iter().map(|v| v * v).sum::<f64>().sqrt();
    for (t, norm) in norms.chain([last]).enumerate() {
        let limit = if t == 0 { 0.0 } else { radius * (1.0 + TOLERANCE) };
        if !(norm >= 0.0 && norm <= limit) {
            return Err(format!("iterate {} has norm {norm:e}, at most {limit:e} is possible", t + 1));
        }
    }
    Ok(())
}

/// Examines every release; the first that fails is named.
fn each(
    certificate: &Certificate,
    examine: fn(&Certificate, &Release) -> Result<(), String>,
) -> Result<(), String> {
    let mut releases = certificate.releases.iter().enumerate();
    releases.try_for_each(|(t, release)| {
        examine(certificate, release).map_err(|failure| format!("release {}: {failure}", t + 1))
    })
}

fn sensitivity(certificate: &Certificate, release: &Release) -> Result<(), String> {
    let n = certificate.records as f64;
    let expected = formulas::difference(certificate.problem, release.iterate_norm) / n;
    close("Δ", release.sensitivity, expected, SENSITIVITY_TOLERANCE)
}

fn kernel_error(certificate: &Certificate, release: &Release) -> Result<(), String> {
    let roundings = formulas::roundings(certificate.problem, certificate.records, certificate.features);
    let largest = formulas::largest_gradient(certificate.problem, release.iterate_norm, certificate.records);
    close("τ", release.kernel_error, roundings * 2.0_f64.powi(-52) * largest, TOLERANCE)
}

fn noise(certificate: &Certificate, release: &Release) -> Result<(), String> {
    let bits = i32::try_from(certificate.lattice_bits).map_err(|_| "lattice bits out of range".to_owned())?;
    let rounding = (certificate.parameters as f64).sqrt() * (1.0 + 2.0_f64.powi(-7)) * 2.0_f64.powi(-bits);
    let expected = (release.sensitivity + 2.0 * release.kernel_error) / (certificate.ratio - rounding);
    close("σ", release.sigma, expected, TOLERANCE)
}

fn sampler(certificate: &Certificate) -> Result<(), String> {
    let samples = f64::from(certificate.steps) * certificate.parameters as f64;
    let expected = (1.0 + certificate.claim.epsilon.exp()) * samples * 2.0_f64.powi(-100);
    close("δ_s", certificate.sampler_delta, expected, TOLERANCE)
}

fn composition(certificate: &Certificate) -> Result<(), String> {
    let total = certificate.ratio * f64::from(certificate.steps).sqrt();
    let delta = gaussian_delta(certificate.claim.epsilon, total).map_err(|error| error.to_string())?;
    close("δ", certificate.claim.delta, delta + certificate.sampler_delta, DELTA_TOLERANCE)
}

/// Accepts numbers that agree; NaN agrees with nothing.
fn close(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    if (found - expected).abs() <= tolerance * expected.abs() {
        Ok(())
    } else {
        Err(format!("{what} is {found:e}, recomputed {expected:e}"))
    }
}
