//! Recomputing a certificate.
//!
//! Everything is derived again from the certificate's public facts, with formulas written out here rather than
//! called from the code that trained, and with δ from a second method: numerical integration of its definition for
//! plain Gaussian noise, the contour engine for sampled noise, where discretised privacy losses calibrated it. Each number
//! takes part in a named relation, so a changed number is answered by the name of what no longer fits.

mod formulas;
mod gradients;
mod output;
mod sampled;

use crate::certificate::{FORMAT, NOISE, Released};
use crate::plan::PlanKind;
use crate::{Certificate, PrivateModel};
use pairdp_units::{Adjacency, Budget, ReplaceOne};

/// How far two computations of the same number may differ, relatively.
const TOLERANCE: f64 = 1e-10;
/// The same for sensitivities, which some losses maximise numerically with a margin of a millionth.
const SENSITIVITY_TOLERANCE: f64 = 2e-6;

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

/// A relation by name and formula, and whether it holds.
type Relation = (&'static str, &'static str, Result<(), String>);

/// Examines a model's certificate; see the module's description.
pub fn verify(model: &PrivateModel) -> Verdict {
    let certificate = &model.certificate;
    let mut relations: Vec<Relation> = vec![
        ("vocabulary", "format, adjacency, algorithm and noise are known and fit", vocabulary(certificate)),
        ("claim", "ε is finite and above 0, δ in (0, 1)", claim(certificate)),
        ("sizes", "n ≥ 2; parameters, encoded features and released coordinates agree", sizes(model)),
        ("feature bound", "κ of the model = κ of the problem", feature_bound(model)),
        ("score bound", "the largest score is κB", score_bound(certificate)),
        ("model", "‖w‖ ≤ B", model_norm(model)),
        ("sampler", "δ_s = (1 + e^ε)·T·p·2⁻¹⁰⁰, T releases of p coordinates", sampler(certificate)),
    ];
    relations.extend(match &certificate.released {
        Released::Gradients { .. } => gradients::relations(certificate),
        Released::SampledGradients { .. } => sampled::relations(certificate),
        Released::Output { .. } => output::relations(certificate),
    });
    let check = |(name, relation, outcome): Relation| Check { name, relation, failure: outcome.err() };
    Verdict { checks: relations.into_iter().map(check).collect() }
}

fn vocabulary(certificate: &Certificate) -> Result<(), String> {
    for (found, known) in [
        (&certificate.format, FORMAT),
        (&certificate.claim.adjacency, ReplaceOne::ID),
        (&certificate.noise, NOISE),
    ] {
        if found != known {
            return Err(format!("`{found}` is not `{known}`"));
        }
    }
    let expected = match certificate.released {
        Released::Gradients { .. } => PlanKind::NoisyGd,
        Released::SampledGradients { .. } => PlanKind::NoisySgd,
        Released::Output { .. } => PlanKind::OutputGd,
    };
    if certificate.algorithm == expected {
        return Ok(());
    }
    Err(format!("`{}` does not release this", certificate.algorithm.name()))
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

fn feature_bound(model: &PrivateModel) -> Result<(), String> {
    close("κ", model.ranker.feature_bound, model.certificate.problem.feature_bound(), 0.0)
}

fn score_bound(certificate: &Certificate) -> Result<(), String> {
    let expected = certificate.problem.feature_bound() * certificate.problem.domain().radius();
    match certificate.score_bound {
        Some(found) => close("κB", found, expected, TOLERANCE),
        None if expected.is_infinite() => Ok(()),
        None => Err("a bounded domain has a largest score".into()),
    }
}

fn model_norm(model: &PrivateModel) -> Result<(), String> {
    let radius = model.certificate.problem.domain().radius();
    let norm = model.ranker.parameters.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm <= radius * (1.0 + TOLERANCE) {
        Ok(())
    } else {
        Err(format!("‖w‖ is {norm:e}, B is {radius:e}"))
    }
}

fn sampler(certificate: &Certificate) -> Result<(), String> {
    let releases = match certificate.released {
        Released::Gradients { steps, .. } | Released::SampledGradients { steps, .. } => f64::from(steps),
        Released::Output { .. } => 1.0,
    };
    let samples = releases * certificate.parameters as f64;
    let expected = (1.0 + certificate.claim.epsilon.exp()) * samples * 2.0_f64.powi(-100);
    close("δ_s", certificate.sampler_delta, expected, TOLERANCE)
}

/// √p·(1 + 2⁻⁷)·2^−bits: what rounding to the lattice adds to a ratio.
fn lattice_rounding(certificate: &Certificate) -> f64 {
    let bits = f64::from(certificate.lattice_bits);
    (certificate.parameters as f64).sqrt() * (1.0 + 2.0_f64.powi(-7)) * (-bits).exp2()
}

/// Accepts numbers that agree; NaN agrees with nothing.
fn close(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    if (found - expected).abs() <= tolerance * expected.abs() {
        Ok(())
    } else {
        Err(format!("{what} is {found:e}, recomputed {expected:e}"))
    }
}
