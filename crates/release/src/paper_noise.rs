//! The papers' noise as printed, and what it really gives.
//!
//! A printed σ is taken as it is; the accountant says which ε it delivers at the paper's δ with the proved sensitivity, and
//! the run is certified at that. Formulas whose claim is false are refused, with the reason.

use crate::Law as _;
use crate::{Family as _, LearnError, Mechanism, Plan, PublicFacts, sampled_event};
use pairdp_accountant::{epsilon_for, gaussian};
use pairdp_certificate::{Algorithm, AsPrinted, NoiseKind, Paper};
use pairdp_noise::delta_share;
use pairdp_pairwise::{Objective, Problem};
use pairdp_stability::bounds::Setting;
use pairdp_stability::paper_noise::{self, Printed, Standing};
use pairdp_units::directed::{down_by, larger, up_by};
use pairdp_units::{Budget, Delta};

/// The printed noise for a plan, and the budget that it really spends.
///
/// # Errors
/// [`LearnError::NotPrinted`] where no paper has a formula, [`LearnError::PrintedRefused`] where the claim is false.
pub fn as_printed(
    problem: Problem,
    plan: Plan,
    records: usize,
    features: usize,
    budget: Budget,
    paper: Option<Paper>,
) -> Result<(AsPrinted, Budget), LearnError> {
    let (paper, printed) = formula(problem, plan, records, budget, paper)?;
    let public = PublicFacts { problem, plan: plan.with_law(NoiseKind::Gaussian), records, features, budget };
    let delivered = delivered(&public, printed.sigma)?;
    let refusal = match printed.standing {
        Standing::Refused(because) => Some(because),
        // No formula that we call good should get here; if one does, it is not certified.
        _ if delivered > budget.epsilon.get() => Some("it is too small for this loss"),
        _ => None,
    };
    if let Some(because) = refusal {
        return Err(LearnError::PrintedRefused {
            paper: paper.name(),
            because,
            sigma: printed.sigma,
            delivered,
            claimed: budget.epsilon.get(),
        });
    }
    let statement = AsPrinted {
        paper,
        sigma: printed.sigma,
        claimed_epsilon: budget.epsilon.get(),
        claimed_delta: budget.delta.get(),
        erratum: printed.erratum.into(),
    };
    Ok((statement, Budget::new(delivered, budget.delta.get())?))
}

/// A paper's formula for an algorithm.
///
/// # Errors
/// [`LearnError::NotPrinted`].
pub fn formula(
    problem: Problem,
    plan: Plan,
    records: usize,
    budget: Budget,
    paper: Option<Paper>,
) -> Result<(Paper, Printed), LearnError> {
    let constants = problem.constants();
    let (g, steps) = (constants.gradient_bound, plan.steps() as usize);
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    if budget.delta == Delta::PURE {
        return Err(LearnError::NotPrinted("pure ε"));
    }
    Ok(match (plan.algorithm(), paper) {
        (Algorithm::NoisyGd, Some(Paper::Kang) | None) => {
            let both = constants.symmetric_difference;
            (Paper::Kang, paper_noise::kang_gradient(g, both, steps, records, &budget))
        }
        (Algorithm::NoisyGd, Some(Paper::Xue)) => {
            (Paper::Xue, paper_noise::xue_trajectory(g, steps, records, &budget))
        }
        (Algorithm::NoisySgd, Some(Paper::Bassily)) if pointwise => {
            (Paper::Bassily, paper_noise::bassily_sgd(g, &budget))
        }
        (Algorithm::NoisySgd, Some(Paper::Wang) | None) if plan.expected_pairs().is_none() => {
            (Paper::Wang, paper_noise::wang_best_beta(g, steps, records, &budget, !pointwise)?.printed)
        }
        (Algorithm::OutputGd, Some(Paper::Xue) | None) if problem.ridge() > 0.0 => {
            (Paper::Xue, paper_noise::xue_output(g, problem.ridge(), records, &budget))
        }
        (Algorithm::OutputSgd, Some(Paper::Yang) | None) if !pointwise => {
            let setting = Setting::new(g, plan.step_size(), steps + 1, records)?;
            (Paper::Yang, paper_noise::yang_output(&setting, &budget))
        }
        (Algorithm::PhasedGd, Some(Paper::Xue) | None) => {
            (Paper::Xue, paper_noise::xue_phase(g, plan.step_size() / 4.0, &budget))
        }
        (Algorithm::OutputGd, _) => return Err(LearnError::NotPrinted("`output-gd` without a ridge")),
        _ => return Err(LearnError::NotPrinted("this algorithm")),
    })
}

/// ε that noise of a given scale really gives at the budget's δ.
fn delivered(public: &PublicFacts, sigma: f64) -> Result<f64, LearnError> {
    let public = *public;
    let PublicFacts { problem, plan, records, features, budget } = public;
    let p = public.coordinates();
    let mechanism = Mechanism::calibrate(problem, plan, records, features, budget)?;
    let per_release =
        |distance: f64, bits: u32| up_by(distance / sigma + NoiseKind::Gaussian.rounding(p, bits), 4.0);
    let samples = match &mechanism {
        Mechanism::Results(output) => output.phases().len() as f64 * p as f64,
        _ => f64::from(plan.steps()) * (p as f64 + 1.0),
    };
    let at = |delta: Delta| -> Result<f64, LearnError> {
        let epsilon = match &mechanism {
            Mechanism::Gradients(gradients) => {
                let release = gradients.release_at(problem.domain().radius())?;
                let one =
                    per_release(release.sensitivity + 2.0 * release.kernel_error, gradients.lattice_bits());
                gaussian::epsilon(delta, up_by(one * f64::from(plan.steps()).sqrt(), 4.0))?
            }
            Mechanism::Samples(sampled) => {
                let one = per_release(
                    sampled.sensitivity() + 2.0 * sampled.gradient_error(),
                    sampled.lattice_bits(),
                );
                let event = sampled_event(
                    problem.adjacency(),
                    sampled.sampling(),
                    plan.steps(),
                    down_by(1.0 / one, 2.0),
                )?;
                epsilon_for(&event, delta)?.0
            }
            Mechanism::Results(output) => {
                // Printed noise shrinks with the step size of a phase as its sensitivity does.
                let first = output.phases()[0];
                let worst = output.phases().iter().fold(0.0, |worst, phase| {
                    larger(worst, phase.sensitivity * first.step_size / phase.step_size)
                });
                gaussian::epsilon(delta, per_release(worst, output.lattice_bits()))?
            }
            _ => return Err(LearnError::NotPrinted("this algorithm")),
        };
        Ok(up_by(larger(epsilon.get(), 1e-9), 8.0))
    };
    // The samplers' share of δ grows with ε: raise it until it covers the ε that comes out.
    let mut assumed = budget.epsilon.get();
    loop {
        let share = delta_share(assumed, samples);
        let delta = Delta::new(down_by(budget.delta.get() - share, 2.0))
            .map_err(|_| LearnError::DeltaTooSmall(budget))?;
        let found = at(delta)?;
        if found <= assumed {
            return Ok(found);
        }
        assumed = 1.001 * found;
    }
}
