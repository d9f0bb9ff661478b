//! Losses of a margin: all that a proof needs to know of each.

use crate::constants::Slope;
use crate::relations::larger;
use pairdp_certificate::MarginLoss;

pub(crate) fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// −φ'(margin): how steeply a loss falls. It never grows with the margin.
pub(crate) fn fall(loss: MarginLoss, margin: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => f64::from(u8::from(margin < 1.0)),
        MarginLoss::Logistic => sigmoid(-margin),
        // No steeper than at 0.
        MarginLoss::CappedLogistic => sigmoid(-larger(margin, 0.0)),
        MarginLoss::Squared => 2.0 - 2.0 * margin,
        MarginLoss::QHinge { q } => q * larger(1.0 - margin, 0.0).powf(q - 1.0),
    }
}

/// How far the slope can vary over margins within ±reach. The hinge's may jump wherever rounding puts a margin beyond the corner.
pub(crate) fn variation(loss: MarginLoss, reach: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => 1.0,
        _ => fall(loss, -reach) - fall(loss, reach),
    }
}

/// φ″ is at most ¼ (logistic, capped or not) and 2 (squared); the slope of (1 − s)₊^q is Hölder with constant q.
pub(crate) fn slope_of_margin(loss: MarginLoss, length: f64) -> Slope {
    match loss {
        MarginLoss::Hinge => Slope::Jumps,
        MarginLoss::Logistic | MarginLoss::CappedLogistic => Slope::Smooth(0.25 * length.powi(2)),
        MarginLoss::Squared => Slope::Smooth(2.0 * length.powi(2)),
        MarginLoss::QHinge { q } => Slope::Hoelder(q - 1.0, q * length.powf(q)),
    }
}

/// How far the gradient of one record moves if the record is replaced, for scores within ±reach.
pub(crate) fn replaced(loss: MarginLoss, kappa: f64, reach: f64) -> f64 {
    match loss {
        MarginLoss::Hinge => mirrored(kappa, reach, 1.0, 0.0, 1.0),
        MarginLoss::Logistic => mirrored_logistic(kappa, reach),
        // A slope of at most ½ at every score.
        MarginLoss::CappedLogistic => mirrored(kappa, reach, 0.5, 0.0, 1.0),
        MarginLoss::Squared => mirrored(kappa, reach, 2.0, 1.0, 1.0),
        MarginLoss::QHinge { q } => mirrored(kappa, reach, q, q - 1.0, 1.0),
    }
}

/// How far the gradient of a pair can move if it may be turned round, for scores within ±reach: ‖ax + bx′ − (a + b)y‖, where a and b
/// are how steeply the loss falls before and after. `proofs/comparable_pairs.md`.
pub(crate) fn turned(loss: MarginLoss, kappa: f64, reach: f64) -> f64 {
    let both = |most: f64| 4.0 * kappa * most;
    match loss {
        MarginLoss::Hinge => both(1.0),
        MarginLoss::CappedLogistic => both(0.5),
        // The two margins add up to no less than −2·reach, and the slope is concave, or a straight line.
        MarginLoss::Squared | MarginLoss::QHinge { .. } => both(fall(loss, -reach)),
        MarginLoss::Logistic => turned_logistic(kappa, reach),
    }
}

/// 2κ·max of σ(R·sinθ)(1 + cosθ). Its logarithmic derivative has the sign of R·cosθ(1 + cosθ)(1 − σ(R·sinθ)) − sinθ, which falls: its zero
/// is found by halving.
fn turned_logistic(kappa: f64, reach: f64) -> f64 {
    if reach.is_infinite() {
        return 4.0 * kappa;
    }
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    loop {
        let angle: f64 = 0.5 * (low + high);
        if !(low < angle && angle < high) {
            break;
        }
        let (sine, cosine) = angle.sin_cos();
        if reach * cosine * (1.0 + cosine) * sigmoid(-reach * sine) > sine {
            low = angle;
        } else {
            high = angle;
        }
    }
    let value = 2.0 * kappa * sigmoid(reach * low.sin()) * (1.0 + low.cos());
    if RAISED * value < 4.0 * kappa { RAISED * value } else { 4.0 * kappa }
}

/// Whether its slope is bounded over all margins.
pub(crate) fn is_lipschitz(loss: MarginLoss) -> bool {
    match loss {
        MarginLoss::Hinge | MarginLoss::Logistic | MarginLoss::CappedLogistic => true,
        MarginLoss::Squared | MarginLoss::QHinge { .. } => false,
    }
}

/// Whether its slopes are added up by a tree over all scores, which rounds once for each of its leaves.
pub(crate) fn needs_tree(loss: MarginLoss) -> bool {
    match loss {
        MarginLoss::CappedLogistic | MarginLoss::QHinge { .. } => true,
        MarginLoss::Hinge | MarginLoss::Logistic | MarginLoss::Squared => false,
    }
}

/// By how much a numerical maximum is raised, which pays for scores that are off by a rounding: `proofs/pointwise_constants.md`.
const RAISED: f64 = 1.0 + 1e-6;

/// The largest 2κ·sinθ·c(R·cosθ) for c(s) = b·(a + s)^p: two records mirrored at the parameters. Its logarithmic derivative in
/// k = cosθ falls from p·R/a to −∞, so that the maximum is its one zero, where (1 + p)k² + (a/R)k = p.
pub(crate) fn mirrored(kappa: f64, reach: f64, b: f64, p: f64, a: f64) -> f64 {
    if reach.is_infinite() {
        return 2.0 * kappa * b * (a + reach).powf(p);
    }
    let share = a / reach;
    let cosine = 2.0 * p / (share + (share.powi(2) + 4.0 * p * (1.0 + p)).sqrt());
    // Without a slope (p = 0), and at reach 0, records across the parameters are the farthest.
    let cosine = if cosine > 0.0 { cosine } else { 0.0 };
    RAISED * 2.0 * kappa * (1.0 - cosine.powi(2)).sqrt() * b * (a + reach * cosine).powf(p)
}

/// The same for c = σ, whose logarithmic derivative 1 − σ falls too: the zero is found by halving.
fn mirrored_logistic(kappa: f64, reach: f64) -> f64 {
    if reach.is_infinite() {
        return 2.0 * kappa;
    }
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let k = 0.5 * (low + high);
        if !(low < k && k < high) {
            break;
        }
        if reach * sigmoid(-reach * k) * (1.0 - k * k) > k {
            low = k;
        } else {
            high = k;
        }
    }
    RAISED * 2.0 * kappa * (1.0 - low * low).sqrt() * sigmoid(reach * low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_pairwise::{Domain, LossKind, Objective, Problem, RankingForm};

    /// A loss without a Lipschitz constant has no noise on the whole space, there and here.
    #[test]
    fn the_whole_space_is_for_the_same_losses_as_where_noise_is_set() {
        for loss in LossKind::all().filter_map(|kind| kind.of_margins(1.5)) {
            let objective = Objective::Ranking { form: RankingForm::Indicator, loss };
            let ours: MarginLoss = serde_json::from_value(serde_json::to_value(loss).unwrap()).unwrap();
            assert_eq!(is_lipschitz(ours), Problem::new(objective, Domain::Whole, 1.0).is_ok(), "{loss:?}");
        }
    }
}
