//! Noisy results of descents without noise.

use super::paths::{self, Constants};
use super::{Relation, TOLERANCE, composition, covers, formulas, noise_scale};
use crate::certificate::Released;
use crate::mechanism::{Phase, path};
use crate::plan::PlanKind;
use crate::{Average, Certificate, Law, Order};
use pairdp_pairwise::{Objective, RankingForm};

pub(super) fn relations(certificate: &Certificate, law: Law) -> Vec<Relation> {
    let Released::Output { order, average, kernel, ratio, phases } = &certificate.released else {
        return Vec::new();
    };
    let fitting = check_phases(certificate, phases);
    let each = |check: &dyn Fn(&Phase) -> Result<(), String>| {
        fitting.as_ref().map_err(|_| String::from("the phases do not fit"))?;
        phases.iter().try_for_each(check)
    };
    vec![
        ("kernel", "the kernel is the one for this objective", check_kernel(certificate, kernel.as_deref())),
        ("order", "stated where steps follow one", check_order(certificate, *order)),
        ("phases", "as many, and as long, as this algorithm has", fitting.clone()),
        (
            "sensitivity",
            "Δ = largest δ_T of δ_{t+1} = step(δ_t) over all records, by the recurrence for this loss and these steps",
            each(&|phase| {
                let expected = sensitivity(certificate, order.unwrap_or_default(), *average, phase)?;
                let tolerance =
                    path_tolerance(certificate.algorithm) + formulas::tolerance(certificate.problem);
                covers("Δ", phase.sensitivity, expected, tolerance)
            }),
        ),
        (
            "noise",
            "σ = c·Δ/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            each(&|phase| {
                let expected = noise_scale(certificate, law, phase.sensitivity, *ratio);
                covers("σ", phase.sigma, expected, TOLERANCE)
            }),
        ),
        ("composition", super::COMPOSITION, composition(certificate, law, 1, *ratio)),
    ]
}

/// How far a sensitivity may lie above its recomputation. Sums over steps that leave a record alone are bounded by integrals
/// where the noise is calibrated, and added up here; and a distance that reaches the diameter is cut off once a run there, at
/// every step here.
fn path_tolerance(algorithm: PlanKind) -> f64 {
    match algorithm {
        PlanKind::OutputSgd | PlanKind::MatchingSgd | PlanKind::LocalizedSgd => 0.25,
        _ => 1e-6,
    }
}

fn check_kernel(certificate: &Certificate, kernel: Option<&str>) -> Result<(), String> {
    let whole = matches!(certificate.algorithm, PlanKind::OutputGd | PlanKind::PhasedGd);
    match kernel {
        Some(name) if whole => formulas::check_kernel(certificate.problem, name),
        None if !whole => Ok(()),
        _ => Err("a kernel is named just where steps go over all pairs".into()),
    }
}

fn check_order(certificate: &Certificate, order: Option<Order>) -> Result<(), String> {
    if order.is_some() == certificate.algorithm.has_order() {
        return Ok(());
    }
    Err("an order is stated just where steps follow one".into())
}

/// Parts of a table are disjoint, and passes go once through theirs.
fn check_phases(certificate: &Certificate, phases: &[Phase]) -> Result<(), String> {
    let total: usize = phases.iter().map(|phase| phase.records).sum();
    if phases.is_empty() || total > certificate.records || phases.iter().any(|phase| phase.steps == 0) {
        return Err(format!("{} phases over {total} records", phases.len()));
    }
    let halving = match certificate.algorithm {
        PlanKind::PhasedGd if total != certificate.records => {
            return Err(format!("{total} of {} records have a phase", certificate.records));
        }
        PlanKind::PhasedGd | PlanKind::LocalizedSgd => true,
        _ if phases.len() == 1 && total == certificate.records => false,
        _ => return Err(format!("{} phases of an algorithm with one", phases.len())),
    };
    for (k, phase) in phases.iter().enumerate() {
        let one_pass = match certificate.algorithm {
            PlanKind::PhasedGd => Some(phase.records),
            PlanKind::LocalizedSgd | PlanKind::OfflinePair => Some(phase.records - 1),
            _ => None,
        };
        if one_pass.is_some_and(|steps| steps != phase.steps as usize) {
            return Err(format!("{} steps over {} records", phase.steps, phase.records));
        }
        let quarter = k == 0 || (phase.step_size * 4.0).to_bits() == phases[k - 1].step_size.to_bits();
        let half = k + 1 == phases.len() || phase.records == certificate.records >> (k + 1);
        if halving && !(quarter && half && phase.records >= 2) {
            return Err(format!(
                "phase {} has {} records at step size {}",
                k + 1,
                phase.records,
                phase.step_size
            ));
        }
    }
    Ok(())
}

/// Whether no score of a ranker is cut off, at 2⁴⁰, where gradients are over all pairs: beyond, slopes are not those of a convex
/// loss any more. Scores count double in the symmetric form.
fn keeps_scores(certificate: &Certificate, phase: &Phase) -> bool {
    let Objective::Ranking { form, .. } = certificate.problem.objective() else { return true };
    if !matches!(certificate.algorithm, PlanKind::OutputGd | PlanKind::PhasedGd) {
        return true;
    }
    let radius = certificate.problem.domain().radius();
    let farthest = if radius.is_finite() { radius } else { formulas::travel(certificate, phase) };
    let scale = if form == RankingForm::Symmetric { 2.0 } else { 1.0 };
    scale * certificate.problem.feature_bound() * farthest < 2.0_f64.powi(40)
}

/// How far one record moves the computed result of a phase (`proofs/path_lemmas.md`, `proofs/realised_path.md`).
fn sensitivity(
    certificate: &Certificate,
    order: Order,
    average: Average,
    phase: &Phase,
) -> Result<f64, String> {
    let problem = certificate.problem;
    if problem.domain().is_psd() {
        return Err("no proved sensitivity within the positive semidefinite cone".into());
    }
    if !keeps_scores(certificate, phase) {
        return Err("no proved sensitivity for scores that reach 2⁴⁰".into());
    }
    let steps = phase.steps as usize;
    if !path::can_be_followed(certificate.algorithm, phase.records, steps) {
        return Err("too long to be followed".into());
    }
    let pointwise = matches!(problem.objective(), Objective::Pointwise { .. });
    let constants = Constants::of(certificate, phase);
    let kept = average.kept(phase.steps) as usize;
    let distance = match certificate.algorithm {
        PlanKind::OutputGd | PlanKind::PhasedGd => {
            paths::full_batch(&constants, phase.records, kept, steps, pointwise)
        }
        PlanKind::OutputSgd if pointwise => {
            let indices = order.indices(phase.records, steps);
            paths::touched(&constants, phase.records, kept, steps, |t| [indices[t]; 2])
        }
        PlanKind::OutputSgd => {
            paths::history(&constants, &order.indices(phase.records, steps + 1), phase.records, kept)
        }
        PlanKind::MatchingSgd => {
            let pairs = order.pairs(phase.records, steps);
            paths::touched(&constants, phase.records, kept, steps, |t| [pairs[t].0, pairs[t].1])
        }
        PlanKind::LocalizedSgd => {
            let at = |t: usize| u32::try_from(t).unwrap_or(u32::MAX);
            paths::touched(&constants, phase.records, kept, steps, |t| [at(t), at(t + 1)])
        }
        PlanKind::OfflinePair if average == Average::Last => paths::one_pass(&constants, steps),
        _ => return Err("no proved sensitivity for this algorithm".into()),
    };
    Ok(distance + constants.result_error)
}
