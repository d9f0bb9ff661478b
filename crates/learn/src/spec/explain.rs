//! What each algorithm would cost and promise for given public numbers, beside what its paper prints.

use super::network;
use pairdp_certificate::{Algorithm, NoiseKind, Paper, Phase};
use pairdp_pairwise::{Objective, PerPerson, Problem};
use pairdp_release::{Law as _, LearnError, Mechanism, Plan, can_weigh, formula, packing};
use pairdp_stability::bounds::totals::{self, Noise, PhaseOutcome};
use pairdp_stability::bounds::{Setting, generalisation, optimisation};
use pairdp_stability::paper_noise::{Printed, Standing};
use pairdp_units::Budget;
use pairdp_units::directed::smaller;
use serde::Serialize;

/// One algorithm's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// Steps, of all phases together.
    pub steps: u32,
    /// Step size.
    pub step_size: f64,
    /// Which noise.
    pub law: NoiseKind,
    /// Its scale: per step (at the edge of the domain), or on the result (of the first phase).
    pub sigma: f64,
    /// Whose printed formula it replaces.
    pub paper: Option<Paper>,
    /// The printed scale, in the same place.
    pub printed_sigma: Option<f64>,
    /// How many times larger the printed noise is, in root mean square.
    pub ratio: Option<f64>,
    /// Whether the printed claim holds here.
    #[serde(flatten)]
    pub standing: Option<Standing>,
    /// Gradients of pairs (or records) that the definition asks for; kernels over all pairs need far fewer operations.
    pub gradients: f64,
    /// A bound on the expected excess risk, for a minimiser at the edge of the domain or at distance 1, whichever is less.
    pub excess_risk: Option<f64>,
    /// Why there is no answer.
    pub refused: Option<String>,
}

/// All algorithms, with the steps and step sizes suggested for these public numbers.
pub fn explain(problem: Problem, records: usize, features: usize, budget: Budget) -> Vec<Explained> {
    Algorithm::ALL
        .into_iter()
        .map(|algorithm| {
            one(algorithm, problem, records, features, budget).unwrap_or_else(|error| Explained {
                algorithm,
                steps: 0,
                step_size: 0.0,
                law: NoiseKind::Gaussian,
                sigma: 0.0,
                paper: None,
                printed_sigma: None,
                ratio: None,
                standing: None,
                gradients: 0.0,
                excess_risk: None,
                refused: Some(error.to_string()),
            })
        })
        .collect()
}

fn one(
    algorithm: Algorithm,
    problem: Problem,
    records: usize,
    features: usize,
    budget: Budget,
) -> Result<Explained, LearnError> {
    // As training would have it: one record of each person where not all of them can be weighed.
    let problem = match problem.per_person() {
        Some(PerPerson::Weights) if !can_weigh(algorithm) => problem.with_persons(Some(PerPerson::One)),
        _ => problem,
    };
    let linear = problem.score().is_linear();
    let plan = if linear || algorithm != Algorithm::NoisyGd {
        Plan::suggested(algorithm, problem, records, features, budget)?
    } else {
        network::by_time(problem, records, budget, 0.0)?
    };
    let mechanism = Mechanism::calibrate(problem, plan, records, features, budget)?;
    let p = packing::coordinates(problem, features);
    // Papers print noise, and bounds on risks, for losses that are convex in the parameters.
    let printed: Option<(Paper, Printed)> =
        formula(problem, plan, records, budget, None).ok().filter(|_| linear);
    let (_, sigma) = mechanism.noise_at(finite_radius(problem))?;
    let law = plan.law();
    Ok(Explained {
        algorithm,
        steps: plan.steps(),
        step_size: plan.step_size(),
        law,
        sigma,
        paper: printed.as_ref().map(|(paper, _)| *paper),
        printed_sigma: printed.as_ref().map(|(_, printed)| printed.sigma),
        ratio: printed
            .as_ref()
            .map(|(_, printed)| printed.sigma * NoiseKind::Gaussian.spread(p) / (sigma * law.spread(p))),
        standing: printed.as_ref().map(|(_, printed)| printed.standing),
        gradients: gradients(problem, plan, records, &mechanism),
        excess_risk: excess_risk(problem, plan, records, p, &mechanism, sigma).ok().filter(|_| linear),
        refused: None,
    })
}

fn finite_radius(problem: Problem) -> f64 {
    smaller(problem.domain().radius(), 1e6)
}

/// How often the definition evaluates the gradient of a pair (or record).
fn gradients(problem: Problem, plan: Plan, records: usize, mechanism: &Mechanism) -> f64 {
    let (n, steps) = (records as f64, f64::from(plan.steps()));
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let whole = |n: f64| if pointwise { n } else { n * (n - 1.0) };
    match (plan.algorithm(), mechanism) {
        (Algorithm::NoisyGd | Algorithm::OutputGd, _) => steps * whole(n),
        (Algorithm::Moments, _) => n,
        (Algorithm::NoisySgd, _) => steps * plan.expected_pairs().unwrap_or(1.0),
        (Algorithm::OnlinePair | Algorithm::OfflinePair, _) => n * (n - 1.0) / 2.0,
        (Algorithm::OutputSgd, _) if !pointwise => steps * (steps + 1.0) / 2.0,
        (Algorithm::PhasedGd, Mechanism::Results(output)) => {
            output.phases().iter().map(|phase| f64::from(phase.steps) * whole(phase.records as f64)).sum()
        }
        _ => steps,
    }
}

/// Optimisation, generalisation and noise, by the bounds of `pairdp_stability::bounds`.
#[expect(clippy::match_wildcard_for_single_variants, reason = "a family without a bound adds nothing here")]
fn excess_risk(
    problem: Problem,
    plan: Plan,
    records: usize,
    coordinates: usize,
    mechanism: &Mechanism,
    sigma: f64,
) -> Result<f64, LearnError> {
    let constants = problem.constants();
    let g = constants.gradient_bound;
    let start = smaller(problem.domain().radius(), 1.0);
    let setting = Setting::new(g, plan.step_size(), plan.steps() as usize, records)?;
    let noise = Noise { dimension: coordinates as f64, sigma };
    let length = |phase: &Phase| phase.sigma * plan.law().spread(coordinates);
    Ok(match mechanism {
        Mechanism::Gradients(_) => totals::xue_noisy(&setting, start, constants.symmetric_difference, noise),
        Mechanism::Samples(_) | Mechanism::Arrivals(_) => {
            totals::noisy_pair_sgd(&setting, start, constants.pair_difference, noise)
        }
        Mechanism::Results(output) if output.phases().len() > 1 => {
            let phases: Vec<PhaseOutcome> = output
                .phases()
                .iter()
                .map(|phase| PhaseOutcome {
                    rate: phase.step_size,
                    n_records: phase.steps as usize,
                    sensitivity: phase.sensitivity,
                    noise_energy: length(phase) * length(phase),
                })
                .collect();
            totals::xue_phased(g, start, &phases)?
        }
        Mechanism::Results(output) => {
            let phase = &output.phases()[0];
            optimisation::average_descent(&setting, start, 0.0, 0.0)
                + generalisation::pairwise_expected(g, phase.sensitivity)
                + g * length(phase)
        }
        _ => return Err(LearnError::NoProof("the excess risk of this algorithm")),
    })
}
