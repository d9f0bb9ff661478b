//! How far one record can move the result of a descent, followed step by step.
//!
//! Two runs on neighbouring tables take the same steps from the same start. What bounds their distance after a step, given the
//! distance before, is proved in `proofs/path_lemmas.md`; which steps touch a record, in `proofs/realised_path.md` and
//! `proofs/one_pass_and_matching.md`; what rounding adds, in `proofs/output_gd.md`. Plain recurrences, no closed forms: every record
//! is followed through every step, a block of records at a time.

mod follow;

pub(crate) use follow::sensitivity;

use crate::algorithms::is_full_batch;
use crate::constants::{
    Constants, Slope, diameter, distance_error, packing_error, risk_smoothness, sum_error,
};
use crate::facts::Facts;
use crate::relations::{UNIT, larger, smaller};
use pairdp_certificate::{Algorithm, Objective, Phase, RankingForm};

/// Near 2, rounding decides which rule the noise was calibrated by.
const EDGE: f64 = 1e-12;

/// How far a phase gets from its start: as far as its steps carry it, or across the domain.
pub(crate) fn travel(facts: &Facts, phase: &Phase) -> f64 {
    let radius = facts.radius();
    // A ridge pulls with at most λB, and without a bound back to the start.
    let pull = if radius.is_finite() { facts.problem.ridge * radius } else { 0.0 };
    let steps = f64::from(phase.steps) * phase.step_size * (facts.over_domain().gradient + pull);
    smaller(diameter(facts.problem.domain), steps)
}

/// The largest norm of an iterate.
fn farthest(facts: &Facts, phase: &Phase) -> f64 {
    let radius = facts.radius();
    if radius.is_finite() { radius } else { travel(facts, phase) }
}

/// Whether no score of a ranker is cut off, at 2⁴⁰, where gradients are over all pairs: beyond, slopes are not those of a convex
/// loss any more. Scores count double in the symmetric form.
pub(crate) fn keeps_scores(facts: &Facts, phase: &Phase) -> bool {
    let Objective::Ranking { form, .. } = facts.problem.objective else { return true };
    let scale = if form == RankingForm::Symmetric { 2.0 } else { 1.0 };
    let score = scale * facts.problem.feature_bound * farthest(facts, phase);
    !is_full_batch(facts.certificate.algorithm) || score < 2.0_f64.powi(40)
}

/// How the distance of coupled runs grows in a step of a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    rate: f64,
    /// D, D_sym and H.
    pair: f64,
    both_orders: f64,
    same_term: f64,
    /// η(L + λ); ∞ if the slope is not smooth.
    length: f64,
    /// The factor on the old distance for smooth slopes.
    contraction: f64,
    /// 1 − ηλ: the same for others.
    kept: f64,
    /// What untouched terms add in quadrature.
    spread: f64,
    /// The square of what a failure of monotonicity adds.
    slack: f64,
    /// What rounding adds to a step.
    error: f64,
    cap: f64,
    /// What rounding adds to the result.
    result_error: f64,
}

/// What a step does to the terms that hold the record.
#[derive(Debug, Clone, Copy)]
struct Touch {
    /// How far their mean moves at one parameter.
    same: f64,
    /// At two.
    apart: f64,
    /// The share of terms that do not hold it.
    untouched: f64,
}

impl Step {
    pub(crate) fn of(facts: &Facts, phase: &Phase) -> Self {
        let (problem, d, rate) = (facts.problem, facts.features(), phase.step_size);
        let bounds = facts.over_domain();
        let (kappa, ridge, radius) = (problem.feature_bound, problem.ridge, farthest(facts, phase));
        let metric = matches!(problem.objective, Objective::Metric { .. });
        let weights = if metric { d * d } else { d };
        // A margin is a difference of scores, each a sum of d products, up to twice; a distance has three such sums of sums.
        let margin_error =
            if metric { distance_error(problem, radius, d) } else { 4.0 * (d + 8.0) * UNIT * kappa * radius };
        let shortest = if metric { kappa * kappa } else { kappa };
        let gradient_error = sums(facts, phase, &bounds, radius)
            + bounds.slope.smoothness().map_or(0.0, |l| l / shortest * margin_error);
        let longest = radius + rate * (bounds.gradient + ridge * radius);
        let update = (4.0 * weights + 64.0) * UNIT * longest;
        let total = if is_full_batch(facts.certificate.algorithm) {
            risk_smoothness(problem, phase.records as f64)
        } else {
            bounds.slope.smoothness().map(|l| l + ridge)
        };
        let length = rate * total.unwrap_or(f64::INFINITY);
        let kept = 1.0 - rate * ridge;
        Self {
            rate,
            pair: bounds.pair,
            both_orders: bounds.both_orders,
            same_term: bounds.same_term,
            length,
            contraction: if ridge > 0.0 { larger(kept.abs(), (1.0 - length).abs()) } else { 1.0 },
            kept,
            spread: spread(&bounds, rate, kept),
            // 2η·γ, γ = 2e times the range of slopes.
            slack: 4.0 * rate * margin_error * bounds.gradient / shortest,
            error: 2.0 * (rate * gradient_error + update),
            cap: diameter(problem.domain),
            result_error: 2.0 * (4.0 * weights + f64::from(phase.steps) + 80.0) * UNIT * radius
                + 2.0 * packing_error(problem, travel(facts, phase)),
        }
    }

    /// Which rules may be used: that of smooth slopes for steps of length up to 2, else that of slopes with jumps.
    pub(crate) fn rules(&self) -> &'static [bool] {
        if (self.length - 2.0).abs() <= EDGE {
            &[true, false]
        } else if self.length < 2.0 {
            &[true]
        } else {
            &[false]
        }
    }

    /// The rule for jumps needs ηλ ≤ 1.
    pub(crate) fn overshoots(&self) -> bool {
        // A step size or ridge that is no number overshoots.
        self.kept.is_nan() || self.kept < 0.0
    }

    /// The distance after a step.
    #[inline(always)]
    fn after<const SMOOTH: bool>(&self, distance: f64, touch: Touch) -> f64 {
        let fresh = self.rate * touch.same;
        let grown = if SMOOTH {
            self.contraction * distance + fresh
        } else {
            let square = (self.kept * distance) * (self.kept * distance) + self.slack;
            let part = self.spread * touch.untouched;
            let split = (square + part * part).sqrt() + self.rate * touch.apart;
            let whole = (square + self.spread * self.spread).sqrt() + fresh;
            // Runs that agree so far differ by touched terms alone.
            if distance > 0.0 { smaller(split, whole) } else { fresh }
        };
        let after = smaller(grown + self.error, self.cap);
        // They stay equal, to the last bit, until a step touches the record.
        if distance > 0.0 || touch.untouched < 1.0 { after } else { 0.0 }
    }

    /// The same for a step that does not touch the record.
    #[inline(always)]
    fn rest<const SMOOTH: bool>(&self, distance: f64) -> f64 {
        self.after::<SMOOTH>(distance, Touch { same: 0.0, apart: 0.0, untouched: 1.0 })
    }

    /// The touch of a step with the record in a share of the terms.
    #[inline(always)]
    fn share(&self, share: f64) -> Touch {
        Touch { same: self.pair * share, apart: (self.pair + self.same_term) * share, untouched: 1.0 - share }
    }
}

/// How far a computed mean of terms can be from the exact one: over all pairs, of up to T terms one by one, or of one.
fn sums(facts: &Facts, phase: &Phase, bounds: &Constants, radius: f64) -> f64 {
    match facts.certificate.algorithm {
        Algorithm::OutputGd | Algorithm::PhasedGd => {
            sum_error(facts.problem, radius, phase.records as f64, facts.features())
        }
        Algorithm::OutputSgd | Algorithm::OfflinePair => {
            (f64::from(phase.steps) + 16.0) * UNIT * bounds.gradient
        }
        _ => 16.0 * UNIT * bounds.gradient,
    }
}

/// Hη, or less where the slope is Hölder continuous: √((1−a)/(1+a))·(2^−a·L_a·η)^{1/(1−a)}·c^{−a/(1−a)}.
fn spread(bounds: &Constants, rate: f64, kept: f64) -> f64 {
    let jump = bounds.same_term * rate;
    let Slope::Hoelder(a, constant) = bounds.slope else { return jump };
    let power = 1.0 / (1.0 - a);
    let base = (constant * rate / 2.0_f64.powf(a)).powf(power) * kept.powf(-a * power);
    smaller(((1.0 - a) / (1.0 + a)).sqrt() * base, jump)
}
