//! The constants of every problem, derived from the proof notes a second time: plain numbers, without outward rounding.
//!
//! Everything follows from one picture. The gradient of a term (a pair, or a record) is b·v: v is a vector of length at most ℓ, and b
//! the slope of a scalar loss at a margin that parameters of norm r cannot push beyond ℓr. Losses are convex, so slopes are largest
//! and smallest at the two ends of the margins.
//!
//! Proofs: `proofs/ranking_sensitivity.md`, `proofs/comparable_pairs.md`, `proofs/metric_constants.md`, `proofs/pointwise_constants.md`, `proofs/add_remove.md`;
//! of computed sums `proofs/kernels.md`.

use crate::losses::{fall, mirrored, needs_tree, replaced, sigmoid, slope_of_margin, turned, variation};
use crate::relations::{UNIT, larger};
use pairdp_certificate::{
    Domain, Labels, MetricLoss, Neighbours, Objective, PointLoss, Problem, RankingForm, Score,
};

/// Bounds that hold for every record, every pair and all parameters up to some norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// G: the gradient of a term.
    pub gradient: f64,
    /// H: how far the gradient of one term moves between two parameters.
    pub same_term: f64,
    /// D: how far it moves when one record is replaced.
    pub pair: f64,
    /// D_sym: the same for both orders of a pair together.
    pub both_orders: f64,
    /// How the gradient of a term depends on the parameters.
    pub slope: Slope,
}

/// How the gradient of a term depends on the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slope {
    /// Lipschitz, with this constant L.
    Smooth(f64),
    /// Hölder continuous, with an exponent a and a constant L_a.
    Hoelder(f64, f64),
    /// With jumps.
    Jumps,
}

impl Slope {
    /// L, if there is one.
    pub fn smoothness(self) -> Option<f64> {
        match self {
            Self::Smooth(constant) => Some(constant),
            Self::Hoelder(..) | Self::Jumps => None,
        }
    }
}

/// B: the largest norm of parameters.
pub fn radius(domain: Domain) -> f64 {
    match domain {
        Domain::Whole => f64::INFINITY,
        Domain::Ball { radius }
        | Domain::PsdBall { radius }
        | Domain::PsdDiagonal { radius }
        | Domain::PsdNuclear { radius } => radius,
    }
}

/// Whether parameters are positive semidefinite matrices.
pub fn is_semidefinite(domain: Domain) -> bool {
    !matches!(domain, Domain::Whole | Domain::Ball { .. })
}

/// The largest distance of two parameters: ‖U − V‖² is at most 4B², and 2B² where ⟨U, V⟩ ≥ 0.
pub fn diameter(domain: Domain) -> f64 {
    radius(domain) * if is_semidefinite(domain) { 2.0_f64 } else { 4.0 }.sqrt()
}

/// The constants over parameters of norm at most `norm`; of a network, over v and u.
///
/// A network's score may be anywhere within ±κr whatever its gradient is, which is κ long at most: pairs of two classes move as they do
/// for linear scores, records by twice their longest gradient, pairs that turn round by both pulls, in one direction. `proofs/networks.md`,
/// and for scores of foreign code `proofs/foreign_scores.md`.
pub fn constants(problem: &Problem, norm: f64) -> Constants {
    // The longest gradient of a score, and how far scores reach next to it. Nothing bounds a foreign score but where it is cut off.
    let (kappa, norm) = match problem.score {
        Score::Linear => return linear(problem, norm),
        Score::Network(_) => (problem.feature_bound, norm),
        Score::Foreign(foreign) => (foreign.bound, 2.0_f64.powi(40) / foreign.bound),
    };
    let known = linear(&Problem { score: Score::Linear, feature_bound: kappa, ..*problem }, norm);
    let free = match problem.objective {
        Objective::Pointwise { .. } => 2.0 * known.gradient,
        Objective::Ranking { form: RankingForm::Comparable, loss } => {
            2.0 * (2.0 * kappa) * fall(loss, -kappa * norm)
        }
        Objective::Ranking { .. } | Objective::Metric { .. } => known.both_orders,
    };
    // Nothing is known of how a network's gradient follows its parameters.
    let (same_term, slope) = (2.0 * known.gradient, Slope::Jumps);
    Constants { both_orders: free, pair: free, same_term, slope, ..known }
}

fn linear(problem: &Problem, norm: f64) -> Constants {
    let kappa = problem.feature_bound;
    match problem.objective {
        Objective::Ranking { form, loss } => {
            // ‖x − x′‖ ≤ 2κ, times y − y′ = 2 in the symmetric form, where a pair counts in both orders.
            let orders = orders(problem);
            let length = 2.0 * kappa * if form == RankingForm::Symmetric { 2.0 } else { 1.0 };
            let gradient = length * fall(loss, -length * norm);
            // Who failed first may turn round, for all pairs of a record: the old pull and the new one add up.
            let pair =
                if form == RankingForm::Comparable { turned(loss, kappa, kappa * norm) } else { gradient };
            Constants {
                gradient,
                same_term: length * variation(loss, length * norm),
                pair,
                both_orders: orders * pair,
                slope: slope_of_margin(loss, length),
            }
        }
        Objective::Metric { loss } => metric(problem, loss, norm),
        Objective::Pointwise { loss: PointLoss::Margin(loss) } => {
            let difference = replaced(loss, kappa, kappa * norm);
            Constants {
                gradient: kappa * fall(loss, -kappa * norm),
                same_term: kappa * variation(loss, kappa * norm),
                pair: difference,
                both_orders: difference,
                slope: slope_of_margin(loss, kappa),
            }
        }
        Objective::Pointwise { loss: PointLoss::Residual { q, target_bound } } => {
            let difference = mirrored(kappa, kappa * norm, q, q - 1.0, target_bound);
            Constants {
                gradient: kappa * q * (target_bound + kappa * norm).powf(q - 1.0),
                // Residuals move by 2κr; an odd power moves most from −κr to κr.
                same_term: 2.0 * kappa * q * (kappa * norm).powf(q - 1.0),
                pair: difference,
                both_orders: difference,
                slope: if q < 2.0 {
                    Slope::Hoelder(q - 1.0, q * 2.0_f64.powf(2.0 - q) * kappa.powf(q))
                } else {
                    Slope::Smooth(2.0 * kappa.powi(2))
                },
            }
        }
    }
}

/// In how many of its two orders a pair counts.
fn orders(problem: &Problem) -> f64 {
    match problem.objective {
        Objective::Ranking { form: RankingForm::Symmetric, .. } | Objective::Metric { .. } => 2.0,
        Objective::Ranking { .. } | Objective::Pointwise { .. } => 1.0,
    }
}

/// v is (x − x′)(x − x′)ᵀ, of norm at most 4κ², and the margin is the squared distance M. The slope is between 0 and the steepest
/// pull for records of one class, between 0 and the steepest push for records of two.
fn metric(problem: &Problem, loss: MetricLoss, norm: f64) -> Constants {
    let length = (2.0 * problem.feature_bound).powi(2);
    let highest = length * norm;
    let lowest = if is_semidefinite(problem.domain) { 0.0 } else { -highest };
    let (pull, push, variation, slope) = match loss {
        MetricLoss::Hinge => (1.0, 1.0, 1.0, Slope::Jumps),
        MetricLoss::Logistic => {
            let pull_at = |distance: f64| sigmoid(distance - 1.0);
            // σ' is steepest at M = 1, or as near as M gets to it.
            let nearest = if highest < 1.0 { highest } else { 1.0 };
            let curvature = pull_at(nearest) * (1.0 - pull_at(nearest));
            let varies = pull_at(highest) - pull_at(lowest);
            (pull_at(highest), 1.0 - pull_at(lowest), varies, Slope::Smooth(curvature * length.powi(2)))
        }
    };
    let steepest = larger(pull, push);
    // A pull becomes a push if a label may change; two pulls, or two pushes, are no further apart than the steeper of them.
    let apart = if problem.labels == Labels::Public { steepest } else { pull + push };
    Constants {
        gradient: length * steepest,
        same_term: length * variation,
        pair: length * apart,
        both_orders: 2.0 * length * apart,
        slope,
    }
}

/// n times the sensitivity of the gradient of a risk: D_sym, or what one record adds if records come and go and it is more.
pub fn moved(problem: &Problem, norm: f64) -> f64 {
    if problem.neighbours == Neighbours::ReplaceOne {
        return constants(problem, norm).both_orders;
    }
    // Whoever is pushed out by a cap may have had another label.
    let any_label = constants(&Problem { labels: Labels::Private, ..*problem }, norm);
    // None is, where no table has more records than were promised.
    if let Neighbours::AddRemovePromised { .. } = problem.neighbours {
        return orders(problem) * any_label.gradient;
    }
    larger(any_label.both_orders, orders(problem) * any_label.gradient)
}

/// The largest share of the n(n − 1) ordered pairs that count at once: of n₊n₋ ≤ n²/4 pairs, one order or both. Persons with weights
/// are paired with themselves, too: of N² pairs.
pub fn active_share(problem: &Problem, n: f64) -> f64 {
    match problem.objective {
        // Of the two orders of a pair at most one is known.
        Objective::Ranking { form: RankingForm::Comparable, .. } => 0.5,
        Objective::Ranking { .. } if problem.weighs() => orders(problem) / 4.0,
        Objective::Ranking { .. } => orders(problem) * n / (4.0 * (n - 1.0)),
        Objective::Metric { .. } | Objective::Pointwise { .. } => 1.0,
    }
}

/// The largest gradient of the mean over all pairs, or records, of n.
pub fn largest_risk_gradient(problem: &Problem, norm: f64, n: f64) -> f64 {
    constants(problem, norm).gradient * active_share(problem, n)
}

/// L of the whole risk of n records, ridge included.
pub fn risk_smoothness(problem: &Problem, n: f64) -> Option<f64> {
    let of_a_term = constants(problem, radius(problem.domain)).slope.smoothness();
    of_a_term.map(|l| l * active_share(problem, n) + problem.ridge)
}

/// How far a computed gradient over all pairs can be from the exact one: the table at the end of `proofs/kernels.md`.
pub fn sum_error(problem: &Problem, norm: f64, n: f64, features: f64) -> f64 {
    // What follows charges into a sum: rows rounded in each coordinate, or blocks of rows of a network's gradients.
    let rows = |each: f64| match problem.score {
        Score::Linear => each * features.sqrt(),
        Score::Network(network) => 256.0 + 16.0 + 32.0 * parameters(network.hidden as f64, features).sqrt(),
        Score::Foreign(foreign) => 256.0 + 16.0 + 32.0 * (foreign.parameters as f64).sqrt(),
    };
    let roundings = match problem.objective {
        Objective::Ranking { form, loss } => {
            // A record is on a side of at most 2⌈log₂ n⌉ + 2 cuts of time.
            let cuts =
                if form == RankingForm::Comparable { 4.0 * (n.log2().floor() + 1.0) + 4.0 } else { 0.0 };
            let tree = if needs_tree(loss) { 512.0 + (n / 512.0).ceil() + (n / 32.0).ceil() } else { 0.0 };
            2.0 * (8192.0 + tree) + 16.0 + rows(16.0) + cuts
        }
        Objective::Metric { .. } => 2.0 * n + 4.0 * features + 64.0,
        Objective::Pointwise { .. } => 16.0 + rows(8.0),
    };
    roundings * UNIT * largest_risk_gradient(problem, norm, n)
}

/// Parameters of a network: v, u, b and W.
pub(crate) fn parameters(hidden: f64, columns: f64) -> f64 {
    columns + 2.0 * hidden + hidden * columns
}

/// How far a computed squared distance can be from the exact one: `proofs/output_gd.md`.
pub(crate) fn distance_error(problem: &Problem, norm: f64, features: f64) -> f64 {
    16.0 * (features + 8.0) * UNIT * problem.feature_bound.powi(2) * norm
}

/// What a secret number of records adds to the error: sums are scaled by a rounded share of the cap, and distances of pairs change
/// with their places in a tile. A logistic slope moves by a quarter of what its distance does, and a few roundings.
pub fn secret_size_error(problem: &Problem, norm: f64, n: f64, features: f64) -> f64 {
    if problem.neighbours == Neighbours::ReplaceOne {
        return 0.0;
    }
    let scaling = 4.0 * UNIT * largest_risk_gradient(problem, norm, n);
    match problem.objective {
        Objective::Metric { .. } => {
            let slope = distance_error(problem, norm, features) / 4.0 + 16.0 * UNIT;
            scaling + (2.0 * problem.feature_bound).powi(2) * slope
        }
        Objective::Ranking { .. } | Objective::Pointwise { .. } => scaling,
    }
}

/// What packing a matrix of some norm adds: one half of it is released.
pub fn packing_error(problem: &Problem, norm: f64) -> f64 {
    match problem.objective {
        Objective::Metric { .. } => 4.0 * UNIT * norm,
        Objective::Ranking { .. } | Objective::Pointwise { .. } => 0.0,
    }
}

/// The kernel that computes gradients over all pairs, whose roundings [`sum_error`] counts.
pub fn kernel(problem: &Problem) -> &'static str {
    match (problem.objective, problem.weighs()) {
        _ if matches!(problem.score, Score::Foreign(_)) => "foreign/1",
        _ if !problem.score.is_linear() => "network/1",
        (Objective::Ranking { form: RankingForm::Comparable, .. }, _) => "comparable/1",
        (Objective::Ranking { .. }, false) => "charges/2",
        (Objective::Ranking { .. }, true) => "charges/3",
        (Objective::Metric { .. }, _) => "tiles/2",
        (Objective::Pointwise { .. }, false) => "rows/2",
        (Objective::Pointwise { .. }, true) => "rows/3",
    }
}

/// The sensitivity as a formula, for the reader.
pub(crate) fn relation(problem: &Problem) -> &'static str {
    match problem.objective {
        _ if matches!(problem.score, Score::Foreign(_)) => {
            "Δ_t = 2κ·sup|φ'|/n over all margins, four times that in the symmetric form"
        }
        Objective::Pointwise { .. } if !problem.score.is_linear() => {
            "Δ_t = 2κ·sup|φ'|/n over scores within ±κ‖(v_t, u_t)‖"
        }
        Objective::Ranking { form: RankingForm::Comparable, .. } if !problem.score.is_linear() => {
            "Δ_t = 4κ·sup|φ'|/n over margins within ±κ‖(v_t, u_t)‖"
        }
        Objective::Ranking { form: RankingForm::Indicator, .. } => {
            "Δ_t = 2κ·sup|φ'|/n over margins within ±2κ‖w_t‖"
        }
        Objective::Ranking { form: RankingForm::Symmetric, .. } => {
            "Δ_t = 8κ·sup|φ'|/n over margins within ±4κ‖w_t‖"
        }
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            "Δ_t = 2κ·(the steepest before and after a pair is turned round)/n; logistic: 2κ·max_θ σ(κ‖w_t‖sinθ)(1 + cosθ)/n"
        }
        Objective::Metric { .. } => {
            "Δ_t = 8κ²·(steepest pull + steepest push, or the larger if labels are public)/n"
        }
        Objective::Pointwise { .. } => "Δ_t = max_θ 2κ·sinθ·|φ'|(κ‖w_t‖cosθ)/n",
    }
}

/// D of one pair or record as a formula, for the reader.
pub(crate) fn pair_relation(problem: &Problem) -> &'static str {
    match problem.objective {
        Objective::Ranking { form: RankingForm::Indicator, .. } => "D = 2κ·sup|φ'| over margins within ±2κB",
        Objective::Ranking { form: RankingForm::Symmetric, .. } => "D = 4κ·sup|φ'| over margins within ±4κB",
        Objective::Ranking { form: RankingForm::Comparable, .. } => {
            "D = 2κ·(the steepest before and after a pair is turned round); logistic: 2κ·max_θ σ(κB·sinθ)(1 + cosθ)"
        }
        Objective::Metric { .. } => {
            "D = 4κ²·(steepest pull + steepest push, or the larger if labels are public and samples are not secret)"
        }
        Objective::Pointwise { .. } => "D = max_θ 2κ·sinθ·|φ'|(κB·cosθ)",
    }
}
