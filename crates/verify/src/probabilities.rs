//! What was released after training: `proofs/calibration.md`.
//!
//! Probabilities are not in the file: they follow from the counts wherever they are needed, so there is nothing to compare. What has
//! to hold is the noise. Counts of a public table are outside of the claim, and say so.

use crate::facts::Facts;
use crate::relations::{TOLERANCE, UNIT, close, covers, require};
use crate::stages::part_of_all;
use pairdp_certificate::{
    Counted, Neighbours, NoiseKind, Objective, PointLoss, Probabilities, RankingForm, Released, Stage,
    StageNoise,
};

/// How counts are read.
const READING: &str = "log-odds/1";
/// Equal parts of the stretch of scores, each with a count of either label.
const CELLS: usize = 16;

pub(crate) const RELATION: &str = "counts of labels by cells of the score, if there are any: Δ = √2 (2 in ℓ1; 1 under a promised cap), σ = (Δ + 2τ)/(m − rounding); counts of a public table are outside of the claim";

pub(crate) fn check(facts: &Facts) -> Result<(), String> {
    let counted = facts.document.predictor.probabilities.as_ref();
    let planned = facts.document.training.probabilities;
    let certified: Vec<(usize, StageNoise)> = facts
        .certificate
        .stages
        .iter()
        .filter_map(|stage| match stage {
            Stage::Probabilities { cells, noise } => Some((*cells, *noise)),
            Stage::Knots { .. } => None,
        })
        .collect();
    let stage = match (certified.as_slice(), planned) {
        ([], None) => None,
        ([(cells, noise)], Some(plan)) => {
            require(*cells == CELLS && plan.cells == CELLS, || format!("{cells} cells"))?;
            require(plan.share > 0.0 && plan.share < 1.0, || format!("a share of {:e}", plan.share))?;
            close("the share", plan.share, part_of_all(facts, noise.ratio)?, TOLERANCE)?;
            Some(*noise)
        }
        _ => return Err("counts of scores and their plan come together".into()),
    };
    if let Some(noise) = stage {
        proved(facts)?;
        check_noise(facts, noise)?;
        require(counted.is_some(), || "counts of scores that the model does not have".into())?;
    }
    counted.map_or(Ok(()), |counted| reading(facts, counted, stage))
}

/// What no proof covers, whatever the numbers.
fn proved(facts: &Facts) -> Result<(), String> {
    let two_classes = match facts.problem.objective {
        Objective::Ranking { form, .. } => form != RankingForm::Comparable,
        Objective::Pointwise { loss } => matches!(loss, PointLoss::Margin(_)),
        Objective::Metric { .. } => false,
    };
    let whole_table =
        matches!(facts.certificate.released, Released::Gradients { .. } | Released::Moments { .. });
    let known = !matches!(facts.problem.neighbours, Neighbours::AddRemoveOne { .. });
    let linear = facts.problem.score.is_linear();
    require(two_classes && linear && whole_table && known && facts.noise != NoiseKind::Euclidean, || {
        "no proof for counts of scores".into()
    })
}

fn check_noise(facts: &Facts, noise: StageNoise) -> Result<(), String> {
    let promised = matches!(facts.problem.neighbours, Neighbours::AddRemovePromised { .. });
    let (n, p) = (facts.n(), (2 * CELLS) as f64);
    // Two cells move by 1 each, or under a promise one of them.
    let (moved, norm) = match (facts.noise, promised) {
        (NoiseKind::Laplace, true) => (1.0, p.sqrt()),
        (NoiseKind::Laplace, false) => (2.0, p.sqrt()),
        (_, true) => (1.0, 1.0),
        (_, false) => (2.0_f64.sqrt(), 1.0),
    };
    covers("Δ", noise.sensitivity, moved, TOLERANCE)?;
    covers("τ", noise.error, n * UNIT * p.sqrt(), TOLERANCE)?;
    let distance = noise.sensitivity + 2.0 * norm * noise.error;
    let reach = n * noise.ratio / distance;
    let bits = |factor: f64| (16..=30_u32).rev().find(|bits| reach * factor <= f64::from(46 - bits).exp2());
    require([bits(1.0 + 1e-9), bits(1.0 - 1e-9)].contains(&Some(noise.lattice_bits)), || {
        format!("{} bits for counts up to {reach:e} σ", noise.lattice_bits)
    })?;
    let rounding = norm * p.sqrt() * (1.0 + 2.0_f64.powi(-7)) * (-f64::from(noise.lattice_bits)).exp2();
    covers("σ", noise.sigma, distance / (noise.ratio - rounding), TOLERANCE)
}

/// What the model says of its own counts.
fn reading(facts: &Facts, counted: &Probabilities, stage: Option<StageNoise>) -> Result<(), String> {
    require(counted.reading == READING, || format!("`{}` is not `{READING}`", counted.reading))?;
    let numbers = counted.counts.len() == 2 * CELLS && counted.counts.iter().all(|count| count.is_finite());
    require(numbers && counted.low < counted.high, || "counts of no cells".into())?;
    match (counted.of, stage) {
        (Counted::Public, _) => require(counted.noise == 0.0 && counted.counted >= 1.0, || {
            "counts of a public table need no noise".into()
        }),
        (Counted::Private, None) => Err("counts of private records that were not certified".into()),
        (Counted::Private, Some(noise)) => {
            let deviation =
                noise.sigma * if facts.noise == NoiseKind::Laplace { 2.0_f64.sqrt() } else { 1.0 };
            close("the noise of counts", counted.noise, deviation, TOLERANCE)?;
            let possible = if facts.certificate.is_secret_size() {
                counted.counted >= 1.0 && counted.counted <= facts.n()
            } else {
                counted.counted.to_bits() == facts.n().to_bits()
            };
            require(possible, || format!("counts of {} records", counted.counted))
        }
    }
}
