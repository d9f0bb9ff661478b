//! Noisy results of descents without noise, over disjoint parts if there are several: `proofs/output_gd.md`.

use crate::algorithms::{has_phases, is_full_batch, perturbs_output, steps_in_runs};
use crate::constants::is_semidefinite;
use crate::facts::{COMPOSITION, Facts};
use crate::paths::{self, Step};
use crate::relations::{Relation, SENSITIVITY, TOLERANCE, WORK, covers, require};
use crate::work::{self, Patience};
use crate::{Family, ROUNDING};
use pairdp_certificate::{Algorithm, Average, Order, Phase, Released};

/// How far a sensitivity may lie above its recomputation, for recurrences that are followed alike.
const PATH_TOLERANCE: f64 = 1e-6;
/// The same for paths along single pairs or records: sums over steps that leave a record alone were bounded by integrals.
const RUN_TOLERANCE: f64 = 3e-2;
/// And where distances reach the diameter of the domain: they were cut off once a run, and are here at every step.
const CAPPED_TOLERANCE: f64 = 0.25;

pub(crate) const FAMILY: Family = Family {
    is_of: perturbs_output,
    fits_plan: |facts, plan| {
        let Released::Output { order, average, phases, .. } = &facts.certificate.released else {
            return false;
        };
        // Phases divide the step size by 4, 16, ….
        let quarters = has_phases(plan.algorithm);
        let rate = phases.first().map(|phase| phase.step_size * if quarters { 4.0 } else { 1.0 });
        phases.iter().map(|phase| u64::from(phase.steps)).sum::<u64>() == u64::from(plan.steps)
            && rate.is_some_and(|rate| rate.to_bits() == plan.step_size.to_bits())
            && order.is_none_or(|order| order == plan.order.unwrap_or_default())
            && *average == plan.average
    },
    reach: |facts| {
        let Released::Output { ratio, phases, .. } = &facts.certificate.released else { return Ok(f64::NAN) };
        let norm = facts.norm_factor();
        let reach = |phase| paths::travel(facts, phase) * ratio / (norm * phase.sensitivity);
        Ok(phases.iter().map(reach).fold(0.0, |most, reach| if reach > most { reach } else { most }))
    },
    slack: ROUNDING,
    samples: |facts, each| {
        let Released::Output { phases, .. } = &facts.certificate.released else { return f64::NAN };
        phases.len() as f64 * each
    },
    relations,
};

fn relations(facts: &Facts, patience: Patience) -> Vec<Relation> {
    let Released::Output { order, average, kernel, ratio, phases } = &facts.certificate.released else {
        return Vec::new();
    };
    let fitting = check_phases(facts, phases);
    let work = work::check(facts.certificate.algorithm, phases, patience);
    let distances = if fitting.is_err() {
        Err("the phases do not fit".into())
    } else if work.is_err() {
        Err("not recomputed".into())
    } else {
        let order = order.unwrap_or_default();
        phases.iter().try_for_each(|phase| check_sensitivity(facts, order, *average, phase))
    };
    vec![
        ("kernel", "the kernel is the one for this objective", check_kernel(facts, kernel.as_deref())),
        ("order", "stated where steps follow one", check_order(facts, *order)),
        ("phases", "as many, and as long, as this algorithm has", fitting),
        (WORK, "the path can be followed within the time that a verifier is given", work),
        (
            SENSITIVITY,
            "Δ = largest δ_T of δ_{t+1} = step(δ_t) over all records, by the recurrence for this loss and these steps",
            distances,
        ),
        (
            "noise",
            "σ = c·Δ/(m − c·√p·(1 + 2⁻⁷)·2^−bits), c = √p for Laplace noise, else 1",
            phases.iter().try_for_each(|phase| {
                let expected = facts.noise_scale(phase.sensitivity, *ratio);
                covers("σ", phase.sigma, expected, TOLERANCE)
            }),
        ),
        ("composition", COMPOSITION, facts.composition(1, *ratio)),
    ]
}

fn check_kernel(facts: &Facts, kernel: Option<&str>) -> Result<(), String> {
    match (kernel, is_full_batch(facts.certificate.algorithm)) {
        (Some(name), true) => facts.check_kernel(name),
        (None, false) => Ok(()),
        _ => Err("a kernel is named just where steps go over all pairs".into()),
    }
}

fn check_order(facts: &Facts, order: Option<Order>) -> Result<(), String> {
    // Parts of phases follow an order, too.
    let follows_one = facts.certificate.algorithm != Algorithm::OutputGd;
    require(order.is_some() == follows_one, || "an order is stated just where steps follow one".into())
}

/// Disjoint parts: ⌊n/2⌋, ⌊n/4⌋ … records with at least two each, the rest in the last part or in none; or one of all.
fn parts(algorithm: Algorithm, n: usize) -> Vec<usize> {
    let mut halves: Vec<usize> = (1..usize::BITS).map(|k| n >> k).take_while(|size| *size >= 2).collect();
    match algorithm {
        Algorithm::LocalizedSgd => halves,
        Algorithm::PhasedGd => {
            halves.pop();
            let rest = n - halves.iter().sum::<usize>();
            halves.push(rest);
            halves
        }
        _ => vec![n],
    }
}

fn check_phases(facts: &Facts, phases: &[Phase]) -> Result<(), String> {
    let (algorithm, n) = (facts.certificate.algorithm, facts.certificate.records);
    require(n >= 2, || format!("{} phases over {n} records", phases.len()))?;
    let expected = parts(algorithm, n);
    let alike = !expected.is_empty() && phases.iter().map(|phase| phase.records).eq(expected.iter().copied());
    require(alike, || format!("{} phases, {} of {n} records expected", phases.len(), expected.len()))?;
    require(phases.len() == 1 || facts.radius().is_finite(), || {
        "no proof for phases without a bound on the parameters".into()
    })?;
    for (k, phase) in phases.iter().enumerate() {
        let steps = match algorithm {
            Algorithm::PhasedGd => phase.records,
            Algorithm::LocalizedSgd | Algorithm::OfflinePair => phase.records.saturating_sub(1),
            _ => phase.steps as usize,
        };
        require(phase.steps > 0 && phase.steps as usize == steps, || {
            format!("{} steps over {} records", phase.steps, phase.records)
        })?;
        let quarter = k == 0 || (phase.step_size * 4.0).to_bits() == phases[k - 1].step_size.to_bits();
        let positive = phase.step_size > 0.0 && phase.step_size.is_finite();
        require(positive && quarter, || format!("phase {} has step size {:e}", k + 1, phase.step_size))?;
    }
    Ok(())
}

/// How far one record moves the computed result of a phase.
fn check_sensitivity(facts: &Facts, order: Order, average: Average, phase: &Phase) -> Result<(), String> {
    require(!is_semidefinite(facts.problem.domain), || {
        "no proved sensitivity within the positive semidefinite cone".into()
    })?;
    require(paths::keeps_scores(facts, phase), || "no proved sensitivity for scores that reach 2⁴⁰".into())?;
    let in_runs = steps_in_runs(facts.certificate.algorithm, facts.is_pointwise());
    let step = Step::of(facts, phase);
    let mut outcome = Err("no rule for such steps".into());
    for &smooth in step.rules() {
        require(smooth || !step.overshoots(), || {
            "no proved sensitivity for steps that overshoot the ridge".into()
        })?;
        let followed = paths::sensitivity(facts, &step, smooth, (order, average), phase)?;
        let tolerance = match (in_runs, followed.capped) {
            (true, true) => CAPPED_TOLERANCE,
            (true, false) => RUN_TOLERANCE,
            (false, _) => PATH_TOLERANCE,
        };
        outcome = covers("Δ", phase.sensitivity, followed.distance, tolerance);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_those_of_the_algorithms() {
        assert_eq!(parts(Algorithm::PhasedGd, 40), [20, 10, 5, 5]);
        assert_eq!(parts(Algorithm::PhasedGd, 3), [3]);
        assert_eq!(parts(Algorithm::LocalizedSgd, 40), [20, 10, 5, 2]);
        assert!(parts(Algorithm::LocalizedSgd, 3).is_empty());
        assert_eq!(parts(Algorithm::MatchingSgd, 40), [40]);
        for n in [2, 7, 1000, usize::MAX] {
            assert_eq!(parts(Algorithm::PhasedGd, n).iter().sum::<usize>(), n);
        }
    }
}
