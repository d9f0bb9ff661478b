//! The constants of every problem, written out a second time for verification: plain formulas, no outward rounding,
//! and none of the code that calibrated the noise.
//!
//! Legend: κ bounds the features, Y the targets, r = `norm` the parameters; σ is the logistic function.

use crate::Certificate;
use crate::certificate::Released;
use crate::mechanism::Phase;
use pairdp_pairwise::{
    Domain, Labels, MarginLoss, MetricLoss, Neighbours, Objective, PointLoss, Problem, RankingForm,
};

/// The sensitivity as a formula, for the reader.
pub(super) fn relation(problem: Problem) -> &'static str {
    match problem.objective() {
        Objective::Ranking { form: RankingForm::Indicator, .. } => {
            "Δ_t = 2κ·sup|φ'|/n over margins within ±2κ‖w_t‖"
        }
        Objective::Ranking { form: RankingForm::Symmetric, .. } => {
            "Δ_t = 8κ·sup|φ'|/n over margins within ±4κ‖w_t‖"
        }
        Objective::Metric { .. } => {
            "Δ_t = 8κ²·(steepest pull + steepest push, or the larger if labels are public)/n"
        }
        Objective::Pointwise { .. } => "Δ_t = max_θ 2κ·sinθ·|φ'|(κ‖w_t‖cosθ)/n",
    }
}

pub(super) fn is_metric_hinge(problem: Problem) -> bool {
    problem.objective() == (Objective::Metric { loss: MetricLoss::Hinge })
}

/// How far a sensitivity may lie above its formula.
pub(super) fn tolerance(problem: Problem) -> f64 {
    match problem.objective() {
        Objective::Pointwise { .. } => super::MAXIMUM_TOLERANCE,
        _ => super::TOLERANCE,
    }
}

/// D of one pair or record as a formula, for the reader.
pub(super) fn pair_relation(problem: Problem) -> &'static str {
    match problem.objective() {
        Objective::Ranking { form: RankingForm::Indicator, .. } => "D = 2κ·sup|φ'| over margins within ±2κB",
        Objective::Ranking { form: RankingForm::Symmetric, .. } => "D = 4κ·sup|φ'| over margins within ±4κB",
        Objective::Metric { .. } => {
            "D = 4κ²·(steepest pull + steepest push, or the larger if labels are public and samples are not secret)"
        }
        Objective::Pointwise { .. } => "D = max_θ 2κ·sinθ·|φ'|(κB·cosθ)",
    }
}

pub(super) fn check_kernel(problem: Problem, found: &str) -> Result<(), String> {
    let expected = match problem.objective() {
        Objective::Ranking { .. } => "charges/2",
        Objective::Metric { .. } => "tiles/2",
        Objective::Pointwise { .. } => "rows/2",
    };
    if found == expected { Ok(()) } else { Err(format!("`{found}` is not `{expected}`")) }
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

fn steepest(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => 1.0,
        MarginLoss::Logistic => sigmoid(reach),
        MarginLoss::Squared => 2.0 + 2.0 * reach,
        MarginLoss::QHinge { q } => q * (1.0 + reach).powf(q - 1.0),
    }
}

/// The steepest pull of a pair of one class and push of a pair of two.
fn pull_and_push(problem: Problem, loss: MetricLoss, norm: f64) -> (f64, f64) {
    let reach = 4.0 * problem.feature_bound().powi(2) * norm;
    match loss {
        MetricLoss::Hinge => (1.0, 1.0),
        MetricLoss::Logistic if problem.domain().is_psd() => (sigmoid(reach - 1.0), sigmoid(1.0)),
        MetricLoss::Logistic => (sigmoid(reach - 1.0), sigmoid(1.0 + reach)),
    }
}

fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// n times the sensitivity: D_sym, or where records come and go what one of them adds, if that is more.
pub(super) fn moved(problem: Problem, norm: f64) -> f64 {
    if problem.neighbours() == Neighbours::ReplaceOne {
        return difference(problem, norm);
    }
    // Whoever is pushed out may have had another label.
    let replaced = difference(problem.with_labels(Labels::Private), norm);
    let both_orders = matches!(
        problem.objective(),
        Objective::Metric { .. } | Objective::Ranking { form: RankingForm::Symmetric, .. }
    );
    greater(replaced, largest_term(problem, norm) * if both_orders { 2.0 } else { 1.0 })
}

/// D_sym: n times the replace-one sensitivity.
pub(super) fn difference(problem: Problem, norm: f64) -> f64 {
    let kappa = problem.feature_bound();
    match problem.objective() {
        Objective::Ranking { form: RankingForm::Indicator, loss } => {
            2.0 * kappa * steepest(loss, 2.0 * kappa * norm)
        }
        Objective::Ranking { form: RankingForm::Symmetric, loss } => {
            8.0 * kappa * steepest(loss, 4.0 * kappa * norm)
        }
        Objective::Metric { loss } => {
            let (pull, push) = pull_and_push(problem, loss, norm);
            let pair = if problem.labels() == Labels::Public { greater(pull, push) } else { pull + push };
            8.0 * kappa * kappa * pair
        }
        Objective::Pointwise { loss } => {
            let slope = |score: f64| match loss {
                PointLoss::Margin(loss) => steepest(loss, score),
                PointLoss::Residual { q, target_bound } => q * (target_bound + score).powf(q - 1.0),
            };
            if norm.is_infinite() {
                return 2.0 * kappa * slope(norm);
            }
            // A fine grid: within 10⁻⁷ of the maximum of a smooth function.
            let angle = |k: u32| f64::from(k) * std::f64::consts::FRAC_PI_2 / 20_000.0;
            (0..=20_000)
                .map(|k| 2.0 * kappa * angle(k).sin() * slope(kappa * norm * angle(k).cos()))
                .fold(0.0, greater)
        }
    }
}

/// D_pair: both orders of a pair count in the symmetric form and for metrics.
pub(super) fn pair_difference(problem: Problem, norm: f64) -> f64 {
    let orders = match problem.objective() {
        Objective::Ranking { form: RankingForm::Indicator, .. } | Objective::Pointwise { .. } => 1.0,
        Objective::Ranking { form: RankingForm::Symmetric, .. } | Objective::Metric { .. } => 2.0,
    };
    difference(problem, norm) / orders
}

/// G: the largest gradient of one pair or record.
pub(super) fn largest_term(problem: Problem, norm: f64) -> f64 {
    match problem.objective() {
        // Of a pair; the mean over all ordered pairs has a share of it only.
        Objective::Ranking { form, loss } => {
            let length = if form == RankingForm::Indicator { 2.0 } else { 4.0 } * problem.feature_bound();
            length * steepest(loss, length * norm)
        }
        _ => largest_gradient(problem, norm, 2),
    }
}

/// Roundings(n)·2⁻⁵²·(largest gradient of the risk): how far a kernel's sum can be from the exact one.
pub(super) fn sum_error(problem: Problem, norm: f64, records: usize, features: usize) -> f64 {
    roundings(problem, records, features) * 2.0_f64.powi(-52) * largest_gradient(problem, norm, records)
}

/// Where sums are divided by a cap rather than by the number of records: 4·2⁻⁵²·(largest gradient). For metrics also
/// 4κ²·(¼e + 16·2⁻⁵²), because a record more moves others to other places of a tile and their distances by up to e.
pub(super) fn secret_size_error(problem: Problem, norm: f64, records: usize, features: usize) -> f64 {
    if problem.neighbours() == Neighbours::ReplaceOne {
        return 0.0;
    }
    let unit = 2.0_f64.powi(-52);
    let scaling = 4.0 * unit * largest_gradient(problem, norm, records);
    if !matches!(problem.objective(), Objective::Metric { .. }) {
        return scaling;
    }
    let square = problem.feature_bound().powi(2);
    let distance = (16.0 * features as f64 + 128.0) * unit * square * norm;
    scaling + square * (distance + 64.0 * unit)
}

/// 4·2⁻⁵²·norm for matrices, of which one half is released.
pub(super) fn packing_error(problem: Problem, norm: f64) -> f64 {
    match problem.objective() {
        Objective::Metric { .. } => 4.0 * 2.0_f64.powi(-52) * norm,
        _ => 0.0,
    }
}

/// d, also for a diagonal matrix, or d(d + 1)/2 for a symmetric one.
pub(super) fn coordinates(certificate: &Certificate) -> usize {
    let d = certificate.features;
    if let Released::Moments { weights, .. } = certificate.released {
        let matrix = if weights.second > 0.0 { d.saturating_mul(d.saturating_add(1)) / 2 } else { 0 };
        return d.saturating_mul(2).saturating_add(1).saturating_add(matrix);
    }
    match certificate.problem.objective() {
        Objective::Metric { .. } if matches!(certificate.problem.domain(), Domain::PsdDiagonal { .. }) => d,
        Objective::Metric { .. } => d.saturating_mul(d.saturating_add(1)) / 2,
        _ => d,
    }
}

/// How far a phase gets from its start: as far as its steps carry it, or across the domain.
pub(super) fn travel(certificate: &Certificate, phase: &Phase) -> f64 {
    let problem = certificate.problem;
    let (across, radius) = (problem.domain().diameter(), problem.domain().radius());
    let pull = if radius.is_finite() { problem.ridge() * radius } else { 0.0 };
    smaller(across, f64::from(phase.steps) * phase.step_size * (largest_term(problem, radius) + pull))
}

pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The largest gradient of the risk that any table of n records can have.
pub(super) fn largest_gradient(problem: Problem, norm: f64, n: usize) -> f64 {
    let kappa = problem.feature_bound();
    let n = n as f64;
    match problem.objective() {
        Objective::Ranking { form, loss } => {
            let (length, share) = match form {
                RankingForm::Indicator => (2.0 * kappa, n / (4.0 * (n - 1.0))),
                RankingForm::Symmetric => (4.0 * kappa, n / (2.0 * (n - 1.0))),
            };
            length * steepest(loss, length * norm) * share
        }
        Objective::Metric { loss } => {
            let (pull, push) = pull_and_push(problem, loss, norm);
            4.0 * kappa * kappa * greater(pull, push)
        }
        Objective::Pointwise { loss: PointLoss::Margin(loss) } => kappa * steepest(loss, kappa * norm),
        Objective::Pointwise { loss: PointLoss::Residual { q, target_bound } } => {
            kappa * q * (target_bound + kappa * norm).powf(q - 1.0)
        }
    }
}

/// Roundings that a term of the computed gradient passes through: `proofs/kernels.md`. In floating point, because a hostile
/// file may hold any number.
fn roundings(problem: Problem, n: usize, features: usize) -> f64 {
    let root = (features as f64).sqrt();
    match problem.objective() {
        Objective::Ranking { loss: MarginLoss::QHinge { .. }, .. } => {
            let tree = 512.0 + n.div_ceil(512) as f64 + n.div_ceil(32) as f64;
            2.0 * (8192.0 + tree) + 16.0 * (1.0 + root)
        }
        Objective::Ranking { .. } => 2.0 * 8192.0 + 16.0 * (1.0 + root),
        Objective::Metric { .. } => 2.0 * n as f64 + 4.0 * features as f64 + 64.0,
        Objective::Pointwise { .. } => 16.0 + 8.0 * root,
    }
}
