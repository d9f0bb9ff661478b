//! One step of two coupled runs, and how the distance between them grows.
//!
//! Two runs on neighbouring tables use the same indices and the same noise. δ is a bound on the distance of their
//! parameters. A step of size η maps it to
//!
//! - *smooth*, η ≤ 2/(L + λ): cδ + η·same, c = max(|1 − ηλ|, |1 − η(L + λ)|), which is 1 without a ridge;
//! - *with jumps*, ηλ ≤ 1: the smaller of √((cδ)² + (Hη·untouched)²) + η·apart and √((cδ)² + (Hη)²) + η·same, c = 1 − ηλ;
//! - *Hölder*, ηλ ≤ 1: the same with √((1−a)/(1+a))·(2^−a L_a η)^{1/(1−a)}·c^{−a/(1−a)} for Hη, if that is smaller;
//!
//! where `same`, `apart` and `untouched` are those of a [`Touch`]. The second form for jumps is not
//! redundant: it needs differences at one parameter only, and wins whenever nothing better than D₂ = D + H is known.
//!
//! A smooth loss run with longer steps is *not* contracting. The bound then falls back to that for jumps, and the
//! [`Rule`] says so: it travels with every result.
//!
//! # Guarantee
//! For every δ ≥ 0, if two parameters are at most δ apart, they are at most [`Step::after`] apart after the step; every
//! returned number is rounded up. Proof: `proofs/path_lemmas.md`.
//!
//! # Assumptions
//! Those of [`Geometry`], and: a step is a deterministic function of the parameter and of the records
//! its indices name. Then runs that agree stay equal, to the last bit, until the first step that names the replaced
//! record; δ = 0 stays 0.
//!
//! # Reference
//! Bassily, Feldman, Guzmán and Talwar (2020), Lemma 3.1, here with constant 1 instead of 2 on the linear term;
//! Hardt, Recht and Singer (2016), Lemmas 3.6 and 3.7, here with the tight contraction; Lei and Ying (2020) for
//! Hölder losses.

mod linear;
mod output;
mod rates;
mod run;

pub(crate) use linear::Linear;
pub use output::Output;
pub(crate) use output::Window;
pub use rates::Rates;
pub(crate) use rates::Steps;
pub use run::Run;
pub(crate) use run::geometric;

use crate::error::{StabilityError, positive};
use crate::geometry::{Geometry, Regularity};
use crate::touch::Touch;
use pairdp_units::directed::{down_by, larger, smaller, up, up_by};
use serde::{Deserialize, Serialize};

/// Which recurrence a result rests on, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Smooth with a ridge: distances contract.
    StronglyConvex,
    /// Smooth: distances do not grow but by touched terms.
    Smooth,
    /// Hölder continuous gradients.
    Hoelder,
    /// Subgradients that jump.
    NonSmooth,
    /// A smooth loss with steps beyond 2/(L + λ): bounded as if subgradients jumped.
    SmoothStepTooLong,
}

/// One step of a given size, with its constants worked out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    rate: f64,
    rule: Rule,
    contraction: f64,
    /// What untouched terms may add, in quadrature.
    spread: f64,
    /// Square of what a failure of monotonicity may add, in quadrature.
    slack: f64,
    /// What computed steps add.
    error: f64,
    cap: f64,
}

impl Step {
    /// The step of size η.
    ///
    /// # Errors
    /// [`StabilityError::Positive`] unless η is finite and positive; [`StabilityError::Overshoot`] if ηλ > 1 and the
    /// loss is not smooth enough for the step.
    pub fn new(geometry: &Geometry, rate: f64) -> Result<Self, StabilityError> {
        positive("step size", rate)?;
        let ridge = geometry.ridge();
        let numeric = geometry.numeric();
        let error = up_by(2.0 * (rate * numeric.gradient + numeric.step), 4.0);
        let error = if numeric.gradient + numeric.step > 0.0 { error } else { 0.0 };
        let exact = Self {
            rate,
            rule: Rule::Smooth,
            contraction: 1.0,
            spread: 0.0,
            slack: 0.0,
            error,
            cap: geometry.diameter(),
        };
        if let Regularity::Smooth { constant } = geometry.regularity()
            && at_most_two(rate, if ridge > 0.0 { up(constant + ridge) } else { constant })
        {
            if ridge > 0.0 {
                // Rounding of the products moves 1 − x by at most 2x·2⁻⁵² ≤ 4·2⁻⁵².
                let shrink =
                    larger((1.0 - rate * ridge).abs(), (1.0 - rate * (constant + ridge)).abs()) + ROUNDING;
                return Ok(Self { rule: Rule::StronglyConvex, contraction: smaller(shrink, 1.0), ..exact });
            }
            return Ok(exact);
        }
        if up_by(rate * ridge, 1.0) > 1.0 && ridge > 0.0 {
            return Err(StabilityError::Overshoot { rate, ridge });
        }
        let contraction = if ridge > 0.0 { smaller(1.0 - rate * ridge + ROUNDING, 1.0) } else { 1.0 };
        let jump = up_by(geometry.same_term() * rate, 1.0);
        let (rule, spread) = match geometry.regularity() {
            Regularity::Jumps => (Rule::NonSmooth, jump),
            Regularity::Smooth { .. } => (Rule::SmoothStepTooLong, jump),
            Regularity::Hoelder { exponent, constant } => {
                let least = larger(1.0 - rate * ridge - ROUNDING, 0.0);
                (Rule::Hoelder, smaller(hoelder_spread(exponent, constant, rate, least), jump))
            }
        };
        let slack =
            if numeric.monotonicity > 0.0 { up_by(2.0 * rate * numeric.monotonicity, 2.0) } else { 0.0 };
        Ok(Self { rule, contraction, spread, slack, ..exact })
    }

    /// The step size.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The recurrence used.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The factor on the old distance, at most 1.
    pub fn contraction(&self) -> f64 {
        self.contraction
    }

    /// Whether untouched terms only contract.
    pub(crate) fn contracts(&self) -> bool {
        matches!(self.rule, Rule::Smooth | Rule::StronglyConvex)
    }

    /// Square of what one untouched step adds in quadrature.
    pub(crate) fn variance(&self) -> f64 {
        if self.contracts() { 0.0 } else { up_by(self.spread * self.spread + self.slack, 3.0) }
    }

    /// What a computed step adds.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// The cap on distances.
    pub(crate) fn cap(&self) -> f64 {
        self.cap
    }

    /// The distance after the step.
    #[inline]
    pub fn after(&self, distance: f64, touch: Touch) -> f64 {
        if self.contracts() {
            self.after_contraction(distance, touch)
        } else {
            self.after_spread(distance, touch)
        }
    }

    /// [`Step::after`] for many records at once, `counts[r]` of the step's `terms` terms holding record r once.
    ///
    /// One rule for the whole sweep and no branch in it, so that it runs in vector registers.
    pub(crate) fn sweep(&self, geometry: &Geometry, distances: &mut [f64], counts: &[f64], terms: f64) {
        let touch = Touch::share(geometry, 1.0, terms);
        let each = |count: f64| Touch {
            same: touch.same * count,
            apart: touch.apart * count,
            untouched: 1.0 - count / terms + ROUNDING,
        };
        if self.contracts() {
            for (distance, &count) in distances.iter_mut().zip(counts) {
                *distance = self.after_contraction(*distance, each(count));
            }
        } else {
            for (distance, &count) in distances.iter_mut().zip(counts) {
                *distance = self.after_spread(*distance, each(count));
            }
        }
    }

    #[inline]
    fn after_contraction(&self, distance: f64, touch: Touch) -> f64 {
        let grown = self.contraction * distance + self.rate * touch.same;
        self.finish(distance, touch, grown)
    }

    #[inline]
    fn after_spread(&self, distance: f64, touch: Touch) -> f64 {
        let kept = self.contraction * distance;
        let square = kept * kept + self.slack;
        let part = self.spread * touch.untouched;
        let moved = self.rate * touch.same;
        let split = (square + part * part).sqrt() + self.rate * touch.apart;
        let whole = (square + self.spread * self.spread).sqrt() + moved;
        let grown = if split < whole { split } else { whole };
        // Runs that agree so far differ by touched terms alone.
        self.finish(distance, touch, if distance > 0.0 { grown } else { moved })
    }

    /// Numeric errors, rounding and the cap, for runs that have parted; NaN passes through.
    #[inline]
    fn finish(&self, distance: f64, touch: Touch, grown: f64) -> f64 {
        let raised = raise(grown + self.error);
        let capped = if raised > self.cap { self.cap } else { raised };
        // A touch that changes nothing at one parameter may still be computed differently.
        let parted = distance + touch.same > 0.0 || (self.error > 0.0 && touch.untouched < 1.0);
        if parted || capped.is_nan() { capped } else { 0.0 }
    }
}

/// Whether the exact product is at most 2: the fused residual says on which side of its rounding it lies.
fn at_most_two(a: f64, b: f64) -> bool {
    let product = a * b;
    product < 2.0 || (product <= 2.0 && a.mul_add(b, -product) <= 0.0)
}

/// √((1−a)/(1+a))·(2^−a L η)^{1/(1−a)}·c^{−a/(1−a)}, rounded up.
fn hoelder_spread(exponent: f64, constant: f64, rate: f64, contraction: f64) -> f64 {
    if constant <= 0.0 {
        return 0.0;
    }
    if contraction <= 0.0 {
        return f64::INFINITY;
    }
    let power = 1.0 / (1.0 - exponent);
    let base = constant * rate * (-exponent).exp2();
    let shrink = down_by(contraction, 1.0).powf(-exponent * power);
    // A relative error e of the base or c becomes power·e, and one of the power at most 745 e since floats are e^±745.
    let ulps = 32.0 * power + 4000.0;
    up_by(((1.0 - exponent) / (1.0 + exponent)).sqrt() * base.powf(power) * shrink, ulps)
}

/// Covers the roundings of one step and squares that underflow: relative 16·2⁻⁵², absolute 10⁻¹⁴⁰.
#[inline]
pub(crate) fn raise(x: f64) -> f64 {
    x * (1.0 + 16.0 * f64::EPSILON) + 1e-140
}

const ROUNDING: f64 = 8.0 * f64::EPSILON;

#[cfg(test)]
mod tests;
