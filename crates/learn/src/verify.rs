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

/// How far a number may lie above its recomputation, relatively.
const TOLERANCE: f64 = 1e-10;
/// How far it may lie below, on the unsafe side: the roundings of the recomputation itself.
const ROUNDING: f64 = 1e-13;
/// How far a pointwise sensitivity may lie above: it is a numerical maximum with a margin of a millionth.
const MAXIMUM_TOLERANCE: f64 = 2e-6;

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
        ("plan", "the plan that trained is the one that was certified", plan(model)),
        ("lattice", "as fine as fits, between 16 and 30 bits", lattice(certificate)),
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

fn plan(model: &PrivateModel) -> Result<(), String> {
    let (certificate, plan) = (&model.certificate, &model.training);
    let agrees = plan.algorithm() == certificate.algorithm
        && match &certificate.released {
            Released::Gradients { steps, .. } | Released::SampledGradients { steps, .. } => {
                *steps == plan.steps()
            }
            Released::Output { steps, step_size, average, .. } => {
                *steps == plan.steps()
                    && model.ridge.to_bits() == certificate.problem.ridge().to_bits()
                    && step_size.to_bits() == plan.step_size().to_bits()
                    && *average == plan.average()
            }
        };
    if agrees {
        Ok(())
    } else {
        Err(format!("the model says {} in {} steps", plan.algorithm().name(), plan.steps()))
    }
}

/// The largest query in units of σ decides how fine the lattice is: |q/σ|·2^bits ≤ 2⁴⁶.
fn lattice(certificate: &Certificate) -> Result<(), String> {
    let problem = certificate.problem;
    let reach = match certificate.released {
        Released::Gradients { ratio, .. } => {
            let largest = formulas::largest_gradient(problem, 0.0, certificate.records);
            largest * certificate.records as f64 / formulas::difference(problem, 0.0) * ratio
        }
        Released::SampledGradients { sensitivity, noise_multiplier, .. } => {
            formulas::largest_term(problem, problem.domain().radius()) / (sensitivity * noise_multiplier)
        }
        Released::Output { sensitivity, ratio, .. } => problem.domain().radius() * ratio / sensitivity,
    };
    let expected = (16..=30).rev().find(|bits| reach * (1.0 + 1e-9) <= f64::from(46 - bits).exp2());
    // Right at an edge, rounding decides.
    let at_edge = (16..=30).rev().find(|bits| reach * (1.0 - 1e-9) <= f64::from(46 - bits).exp2());
    let found = i32::try_from(certificate.lattice_bits).ok();
    if found.is_some() && (found == expected || found == at_edge) {
        return Ok(());
    }
    Err(format!("{} bits for queries up to {reach:e} σ", certificate.lattice_bits))
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

/// Accepts a positive number that is not below its recomputation, and not far above it: for what must be rounded up.
fn covers(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    let enough = expected > 0.0 && found >= expected * (1.0 - ROUNDING);
    if enough && found <= expected * (1.0 + tolerance) {
        Ok(())
    } else {
        Err(format!("{what} is {found:e}, recomputed {expected:e}"))
    }
}
