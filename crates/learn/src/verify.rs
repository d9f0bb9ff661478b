//! Recomputing a certificate.
//!
//! Everything is derived again from the certificate's public facts, most of it with formulas written out here, and with δ from a
//! second method: numerical integration of its definition for plain Gaussian noise, the contour engine for sampled noise,
//! where discretised privacy losses calibrated it. Each number takes part in a named relation, so a changed number is
//! answered by the name of what no longer fits.
//!
//! It is *not* independent of the code that trained: domains, the law of Poisson samples and the limits of paths come from there,
//! so that a fault in those would pass here. `python/pairdp/verification` shares nothing with it.

mod former;
mod formulas;
mod gradients;
mod moments;
mod online;
mod output;
mod paths;
mod sampled;

use crate::certificate::{FORMAT, FORMER, Released};
use crate::plan::PlanKind;
use crate::{Certificate, Law, PrivateModel, Task};
use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_pairwise::{Labels, Neighbours};
use pairdp_units::Budget;

/// How far a number may lie above its recomputation, relatively.
const TOLERANCE: f64 = 1e-10;
/// How far it may lie below, on the unsafe side: the roundings of the recomputation itself.
const ROUNDING: f64 = 1e-13;
/// How far a pointwise sensitivity may lie above: it is a numerical maximum with a margin of a millionth.
const MAXIMUM_TOLERANCE: f64 = 2e-6;

/// δ of Gaussian noise is integrated to about nine digits.
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

/// A relation by name and formula, and whether it holds.
type Relation = (&'static str, &'static str, Result<(), String>);

/// Examines a model's certificate; see the module's description.
pub fn verify(model: &PrivateModel) -> Verdict {
    let certificate = &model.certificate;
    // A law that is not known fails the vocabulary; the rest is examined as if it were the first.
    let law = law(certificate).unwrap_or_default();
    let mut relations: Vec<Relation> = vec![
        ("vocabulary", "format, adjacency, algorithm and noise are known and fit", vocabulary(certificate)),
        (
            "version",
            "no fault of the version that wrote it is known for such a certificate",
            former::check(model),
        ),
        ("claim", "ε is finite and above 0, δ in (0, 1), or 0 for Laplace noise", claim(certificate, law)),
        ("sizes", "n ≥ 2; parameters, encoded features and released coordinates agree", sizes(model)),
        (
            "feature bound",
            "κ = the model's bound, or √(bound² + constant²) with a constant",
            feature_bound(model),
        ),
        (
            "ranges",
            "noisy counts, if there are any: one set a numeric column, Δ = √(2·columns), σ = Δ/(m − rounding); ranges end where bins do",
            ranges(model),
        ),
        ("score bound", "the largest score is κB", score_bound(certificate)),
        ("model", "‖w‖ ≤ B", model_norm(model)),
        ("plan", "the plan that trained is the one that was certified", plan(model)),
        ("lattice", "as fine as fits, between 16 and 30 bits", lattice(certificate, law)),
        ("sampler", "δ_s = (1 + e^ε)·2⁻¹⁰⁰ for each approximate sample", sampler(certificate, law)),
    ];
    relations.extend(match &certificate.released {
        Released::Gradients { .. } => gradients::relations(certificate, law),
        Released::SampledGradients { .. } => sampled::relations(certificate, law),
        Released::Online { .. } => online::relations(certificate, law),
        Released::Output { .. } => output::relations(certificate, law),
        Released::Moments { .. } => moments::relations(certificate, law),
    });
    let check = |(name, relation, outcome): Relation| Check { name, relation, failure: outcome.err() };
    Verdict { checks: relations.into_iter().map(check).collect() }
}

fn law(certificate: &Certificate) -> Option<Law> {
    Law::ALL.into_iter().find(|law| law.name() == certificate.noise)
}

fn vocabulary(certificate: &Certificate) -> Result<(), String> {
    let former = certificate.format == FORMER;
    if !former && certificate.format != FORMAT {
        return Err(format!("`{}` is neither `{FORMAT}` nor `{FORMER}`", certificate.format));
    }
    let (problem, found) = (certificate.problem, &certificate.claim.adjacency);
    let adjacency = match (problem.neighbours(), problem.labels()) {
        (Neighbours::ReplaceOne, Labels::Public) if !former => "replace-features",
        (Neighbours::ReplaceOne, _) => "replace-one",
        (Neighbours::AddRemoveOne { .. }, _) => "add-remove-one",
    };
    if found != adjacency {
        return Err(format!("`{found}` is not `{adjacency}`"));
    }
    if let Neighbours::AddRemoveOne { most } = problem.neighbours() {
        let whole_table = matches!(certificate.algorithm, PlanKind::NoisyGd | PlanKind::Moments);
        if most != certificate.records || !whole_table || formulas::is_metric_hinge(problem) {
            return Err(format!("no proof for {} with up to {most} records", certificate.algorithm.name()));
        }
        if problem.labels() == Labels::Public {
            return Err("labels that are public have a public number".into());
        }
    }
    if law(certificate).is_none() {
        return Err(format!("`{}` is no noise that is known", certificate.noise));
    }
    let fits = match certificate.released {
        Released::Gradients { .. } => certificate.algorithm == PlanKind::NoisyGd,
        Released::SampledGradients { .. } => certificate.algorithm == PlanKind::NoisySgd,
        Released::Online { .. } => certificate.algorithm == PlanKind::OnlinePair,
        Released::Output { .. } => certificate.algorithm.perturbs_output(),
        Released::Moments { .. } => certificate.algorithm == PlanKind::Moments,
    };
    if fits { Ok(()) } else { Err(format!("`{}` does not release this", certificate.algorithm.name())) }
}

fn claim(certificate: &Certificate, law: Law) -> Result<(), String> {
    let budget =
        Budget::new(certificate.claim.epsilon, certificate.claim.delta).map_err(|e| e.to_string())?;
    if budget.delta.get() > 0.0 || law == Law::Laplace {
        Ok(())
    } else {
        Err("this noise never gives δ = 0".into())
    }
}

fn sizes(model: &PrivateModel) -> Result<(), String> {
    let certificate = &model.certificate;
    if certificate.records < 2 {
        return Err(format!("n = {}", certificate.records));
    }
    let (weights, encoded) = (model.predictor.parameters.len(), model.predictor.encoding.dimension());
    // Moments are of features alone, and give the intercept beside the weights.
    let constant = usize::from(model.predictor.constant != 0.0);
    let (columns, beside) = if certificate.algorithm == PlanKind::Moments {
        (encoded, constant)
    } else {
        (encoded + constant, 0)
    };
    let expected = certificate.problem.parameters(certificate.features) + beside;
    let released = formulas::coordinates(certificate);
    let agree = columns == certificate.features && weights == expected && certificate.parameters == released;
    let task = model.predictor.task;
    // A loss of records that a classifier minimises ranks, too.
    let of_problem = Task::of(certificate.problem);
    let same_task = task == of_problem || (task, of_problem) == (Task::Ranking, Task::Classification);
    if !agree || !same_task {
        return Err(format!(
            "{weights} weights, {encoded} encoded features, {} released",
            certificate.parameters
        ));
    }
    Ok(())
}

fn feature_bound(model: &PrivateModel) -> Result<(), String> {
    let (bound, constant) = (model.predictor.feature_bound, model.predictor.constant);
    let kappa = model.certificate.problem.feature_bound();
    if constant == 0.0 || model.certificate.algorithm == PlanKind::Moments {
        return close("κ", bound, kappa, 0.0);
    }
    covers("κ", kappa, (bound * bound + constant * constant).sqrt(), TOLERANCE)
}

/// Counts in bins: a replaced record changes two of each column by 1. What the model encodes by can then only be the range that
/// was public, or from the edge of one bin to that of another.
fn ranges(model: &PrivateModel) -> Result<(), String> {
    let certificate = &model.certificate;
    let (Some(ranges), Some(public)) = (certificate.ranges, &certificate.public_ranges) else {
        let none = certificate.ranges.is_none() && certificate.public_ranges.is_none();
        return if none { Ok(()) } else { Err("counts and the ranges they are of come together".into()) };
    };
    let found = model.predictor.encoding.ranges();
    if [public.len(), found.len()] != [ranges.columns; 2] {
        let (stated, encoded) = (public.len(), found.len());
        return Err(format!("{} columns counted, {stated} stated, {encoded} encoded", ranges.columns));
    }
    for (range, public) in found.iter().zip(public) {
        bin_edges(*range, *public)?;
    }
    let fits = matches!(certificate.released, Released::Gradients { .. } | Released::Moments { .. })
        && law(certificate) == Some(Law::Gaussian)
        && ranges.bins == 52
        && ranges.columns > 0;
    if !fits {
        return Err("no proof for such counts".into());
    }
    let bits = f64::from(ranges.lattice_bits);
    let most = certificate.records as f64 * ranges.ratio / ranges.sensitivity;
    if !((16.0..=30.0).contains(&bits) && most <= (46.0 - bits).exp2() * (1.0 + TOLERANCE)) {
        return Err(format!("{bits} bits for counts up to {most:e} σ"));
    }
    let rounding =
        (ranges.columns as f64 * ranges.bins as f64).sqrt() * (1.0 + 2.0_f64.powi(-7)) * (-bits).exp2();
    covers("Δ", ranges.sensitivity, (2.0 * ranges.columns as f64).sqrt(), TOLERANCE)?;
    covers("σ", ranges.sigma, ranges.sensitivity / (ranges.ratio - rounding), TOLERANCE)
}

/// Bins of either sign end at m, m/2, m/4 … m·2⁻²⁵ and 0, m the larger absolute value of the public limits.
fn bin_edges(found: [f64; 2], [low, high]: [f64; 2]) -> Result<(), String> {
    let most = if low.abs() > high.abs() { low.abs() } else { high.abs() };
    let edges = (0..=25).map(|k| most * f64::from(-k).exp2()).chain([0.0]);
    let edges: Vec<u64> = edges.map(f64::to_bits).collect();
    let known = |value: &f64| {
        [low, high].map(f64::to_bits).contains(&value.to_bits()) || edges.contains(&value.abs().to_bits())
    };
    let fits = low < high && low <= found[0] && found[0] < found[1] && found[1] <= high;
    let at_edges = found.iter().all(known);
    if fits && at_edges {
        Ok(())
    } else {
        Err(format!("{found:?} does not follow from bins of {:?}", [low, high]))
    }
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
    let norm = model.predictor.parameters.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm <= radius * (1.0 + TOLERANCE) {
        Ok(())
    } else {
        Err(format!("‖w‖ is {norm:e}, B is {radius:e}"))
    }
}

fn sampler(certificate: &Certificate, law: Law) -> Result<(), String> {
    let p = certificate.parameters as f64;
    let each = match law {
        Law::Gaussian => p,
        Law::Laplace => 0.0,
        Law::Euclidean => 2.0 * p + 2.0,
    };
    let samples = match &certificate.released {
        Released::Gradients { steps, .. } => f64::from(*steps) * each,
        // The number of sampled pairs counts as a sample.
        Released::SampledGradients { steps, .. } => f64::from(*steps) * (p + 1.0),
        Released::Online { steps, .. } => f64::from(*steps) * p,
        Released::Output { phases, .. } => phases.len() as f64 * each,
        Released::Moments { .. } => each,
    };
    let counts = certificate.ranges.map_or(0.0, |ranges| ranges.columns as f64 * ranges.bins as f64);
    let expected = (1.0 + certificate.claim.epsilon.exp()) * (samples + counts) * 2.0_f64.powi(-100);
    close("δ_s", certificate.sampler_delta, expected, TOLERANCE)
}

fn plan(model: &PrivateModel) -> Result<(), String> {
    let (certificate, plan) = (&model.certificate, &model.training);
    let same_ridge = model.ridge.to_bits() == certificate.problem.ridge().to_bits();
    let agrees = plan.algorithm() == certificate.algorithm
        && plan.law().name() == certificate.noise
        && plan.tighten().map(|t| t.columns) == certificate.ranges.map(|r| r.columns)
        && match &certificate.released {
            Released::Gradients { steps, .. } => *steps == plan.steps(),
            Released::SampledGradients { steps, sampling, .. } => {
                *steps == plan.steps() && sampled::fits_plan(*sampling, plan)
            }
            Released::Moments { .. } => plan.steps() == 1,
            Released::Online { steps, order, .. } => *steps == plan.steps() && *order == plan.order(),
            Released::Output { order, average, phases, .. } => {
                let rate =
                    phases.first().map(|phase| phase.step_size * if phases_shrink(plan) { 4.0 } else { 1.0 });
                phases.iter().map(|phase| u64::from(phase.steps)).sum::<u64>() == u64::from(plan.steps())
                    && same_ridge
                    && rate.is_some_and(|rate| rate.to_bits() == plan.step_size().to_bits())
                    && order.is_none_or(|order| order == plan.order())
                    && *average == plan.average()
            }
        };
    if agrees {
        Ok(())
    } else {
        Err(format!("the model says {} in {} steps", plan.algorithm().name(), plan.steps()))
    }
}

fn phases_shrink(plan: &crate::Plan) -> bool {
    matches!(plan.algorithm(), PlanKind::PhasedGd | PlanKind::LocalizedSgd)
}

/// The largest query in units of σ decides how fine the lattice is: |q/σ|·2^bits ≤ 2⁴⁶.
fn lattice(certificate: &Certificate, law: Law) -> Result<(), String> {
    let problem = certificate.problem;
    let radius = problem.domain().radius();
    let norm = norm_factor(certificate, law);
    let reach = match &certificate.released {
        Released::Gradients { ratio, .. } => {
            let largest = formulas::largest_gradient(problem, 0.0, certificate.records);
            largest * certificate.records as f64 / formulas::moved(problem, 0.0) * ratio / norm
        }
        Released::SampledGradients { sensitivity, noise_multiplier, sampling, .. } => {
            sampled::most_terms(*sampling)? * formulas::largest_term(problem, radius)
                / (sensitivity * noise_multiplier)
        }
        Released::Online { sigma, .. } => formulas::largest_term(problem, radius) / sigma,
        Released::Moments { weights, sensitivity, error, ratio, .. } => {
            moments::largest(*weights, problem.feature_bound()) * ratio / (norm * (sensitivity + 2.0 * error))
        }
        Released::Output { ratio, phases, .. } => phases
            .iter()
            .map(|phase| formulas::travel(certificate, phase) * ratio / (norm * phase.sensitivity))
            .fold(0.0, |most, reach| if reach > most { reach } else { most }),
    };
    // Right at an edge, rounding decides.
    let slack = if matches!(certificate.released, Released::Online { .. }) { 1e-3 } else { 1e-9 };
    let bits = |factor: f64| (16..=30).rev().find(|bits| reach * factor <= f64::from(46 - bits).exp2());
    let found = i32::try_from(certificate.lattice_bits).ok();
    if found.is_some() && (found == bits(1.0 + slack) || found == bits(1.0 - slack)) {
        return Ok(());
    }
    Err(format!("{} bits for queries up to {reach:e} σ", certificate.lattice_bits))
}

/// √p for Laplace noise, which is calibrated to ℓ1 distances, else 1.
fn norm_factor(certificate: &Certificate, law: Law) -> f64 {
    if law == Law::Laplace { (certificate.parameters as f64).sqrt() } else { 1.0 }
}

/// √p·(1 + 2⁻⁷)·2^−bits, or p for √p: what rounding to the lattice adds to a ratio.
fn lattice_rounding(certificate: &Certificate, law: Law) -> f64 {
    let bits = f64::from(certificate.lattice_bits);
    norm_factor(certificate, law)
        * (certificate.parameters as f64).sqrt()
        * (1.0 + 2.0_f64.powi(-7))
        * (-bits).exp2()
}

/// The scale of noise that hides a distance at a ratio.
fn noise_scale(certificate: &Certificate, law: Law, distance: f64, ratio: f64) -> f64 {
    norm_factor(certificate, law) * distance / (ratio - lattice_rounding(certificate, law))
}

const COMPOSITION: &str =
    "δ(ε; √T·m) + δ_s = δ for Gaussian noise, integrated numerically; T·m = ε and δ_s ≤ δ for other noise";

/// What T releases of a ratio cost.
fn composition(certificate: &Certificate, law: Law, steps: u32, ratio: f64) -> Result<(), String> {
    let claim = &certificate.claim;
    if law == Law::Gaussian {
        let before = certificate.ranges.map_or(0.0, |ranges| ranges.ratio);
        let total = (before * before + ratio * ratio * f64::from(steps)).sqrt();
        let delta = gaussian_delta(claim.epsilon, total).map_err(|error| error.to_string())?;
        return close("δ", claim.delta, delta + certificate.sampler_delta, DELTA_TOLERANCE);
    }
    if claim.delta < certificate.sampler_delta {
        return Err(format!("δ is {:e}, the samplers cost {:e}", claim.delta, certificate.sampler_delta));
    }
    covers("ε", claim.epsilon, ratio * f64::from(steps), TOLERANCE)
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
