//! Half of a privacy-loss distribution: the outcomes that speak for the first of two hypotheses.
//!
//! Every continuous pair of this crate lives on the real line with densities n(x)·A(x) and n(x)·B(x), where n is
//! the standard normal density and A, B are mixtures of exponential tilts Σ wₖ exp(bₖx − bₖ²/2), that is, mixtures
//! of normals N(bₖ, 1). The shifts of A are at least 0 and those of B at most 0, so the loss L(x) = log A(x)/B(x)
//! increases with x. A [`Side`] is the part x > start with L > 0. The other part is the side of the swapped and
//! mirrored pair, so nothing else is needed: [`crate::pair`] puts pairs together from sides.

use crate::special::normal_tail;
use pairdp_units::directed::{larger, smaller};

/// Beyond this exponent the direct sum is replaced by one relative to the largest term.
const LARGE_EXPONENT: f64 = 30.0;
/// Where the normal tail underflows.
pub(crate) const REACH: f64 = 38.6;

/// A mixture of unit normals relative to N(0, 1): x ↦ Σ wₖ exp(bₖx − bₖ²/2), weights summing to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tilts {
    /// Pairs (wₖ, bₖ).
    pub(crate) terms: Vec<(f64, f64)>,
}

impl Tilts {
    /// N(0, 1) itself.
    pub(crate) fn flat() -> Self {
        Self { terms: vec![(1.0, 0.0)] }
    }

    /// log Σ wₖ exp(bₖx − bₖ²/2), exact to a few units in the last place also near its zero.
    pub(crate) fn log(&self, x: f64) -> f64 {
        if let [(_, shift)] = self.terms[..] {
            return shift * (x - 0.5 * shift);
        }
        let largest = self.terms.iter().fold(f64::NEG_INFINITY, |top, &(weight, shift)| {
            if weight > 0.0 { larger(top, shift * (x - 0.5 * shift)) } else { top }
        });
        if largest < LARGE_EXPONENT {
            // Weights sum to 1, so the sum of w·expm1(e) is the mixture minus 1.
            let excess: f64 = self.terms.iter().map(|&(w, b)| w * (b * (x - 0.5 * b)).exp_m1()).sum();
            return excess.ln_1p();
        }
        let sum: f64 = self.terms.iter().map(|&(w, b)| w * (b * (x - 0.5 * b) - largest).exp()).sum();
        largest + sum.ln()
    }

    /// The mean shift under the mixture at x: the derivative of [`Tilts::log`].
    fn slope(&self, x: f64) -> f64 {
        let log = self.log(x);
        self.terms.iter().map(|&(w, b)| w * b * (b * (x - 0.5 * b) - log).exp()).sum()
    }

    /// The mass beyond x.
    pub(crate) fn tail(&self, x: f64) -> f64 {
        self.terms.iter().map(|&(w, b)| w * normal_tail(x - b)).sum()
    }

    /// The largest |bₖ|.
    fn reach(&self) -> f64 {
        self.terms.iter().fold(0.0, |top, &(_, b)| larger(top, b.abs()))
    }
}

/// How a loss is inverted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inverse {
    /// A = 1 − q + q·tilt(d), B = 1.
    Sampled { rate: f64, shift: f64 },
    /// A = 1, B = 1 − q + q·tilt(−d): the loss stays below −log(1 − q).
    Bounded { rate: f64, shift: f64 },
    /// No closed form: Newton.
    Numeric,
}

/// The outcomes x > start of a pair of mixtures, all with positive loss.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    pub(crate) numerator: Tilts,
    pub(crate) denominator: Tilts,
    pub(crate) start: f64,
    inverse: Inverse,
}

impl Side {
    /// (1−q)N(0,1) + qN(d,1) against N(0,1), where the first is the likelier: x > d/2.
    pub(crate) fn sampled(rate: f64, shift: f64) -> Self {
        let terms = if rate < 1.0 { vec![(1.0 - rate, 0.0), (rate, shift)] } else { vec![(1.0, shift)] };
        Self {
            numerator: Tilts { terms },
            denominator: Tilts::flat(),
            start: 0.5 * shift,
            inverse: Inverse::Sampled { rate, shift },
        }
    }

    /// N(0,1) against (1−q)N(0,1) + qN(−d,1), where the first is the likelier: x > −d/2.
    pub(crate) fn bounded(rate: f64, shift: f64) -> Self {
        let terms = if rate < 1.0 { vec![(1.0 - rate, 0.0), (rate, -shift)] } else { vec![(1.0, -shift)] };
        Self {
            numerator: Tilts::flat(),
            denominator: Tilts { terms },
            start: -0.5 * shift,
            inverse: Inverse::Bounded { rate, shift },
        }
    }

    /// Σ wₖN(kr,1) against Σ wₖN(−kr,1) for x > 0, with `weights[k]` = wₖ.
    pub(crate) fn opposed(weights: &[f64], radius: f64) -> Self {
        let total: f64 = weights.iter().sum();
        let side = |sign: f64| Tilts {
            terms: weights
                .iter()
                .enumerate()
                .filter(|&(_, &w)| w > 0.0)
                .map(|(k, w)| (w / total, sign * k as f64 * radius))
                .collect(),
        };
        Self { numerator: side(1.0), denominator: side(-1.0), start: 0.0, inverse: Inverse::Numeric }
    }

    /// L(x) ≥ 0.
    pub(crate) fn loss(&self, x: f64) -> f64 {
        larger(self.numerator.log(x) - self.denominator.log(x), 0.0)
    }

    /// dL/dx > 0.
    pub(crate) fn slope(&self, x: f64) -> f64 {
        self.numerator.slope(x) - self.denominator.slope(x)
    }

    /// The larger of the two masses beyond x.
    fn tail(&self, x: f64) -> f64 {
        larger(self.numerator.tail(x), self.denominator.tail(x))
    }

    /// The scale on which the integrands change: 1 / the largest shift, at most 1.
    pub(crate) fn scale(&self) -> f64 {
        1.0 / larger(1.0, larger(self.numerator.reach(), self.denominator.reach()))
    }

    /// An x beyond which both hypotheses have at most `mass`.
    pub(crate) fn cut(&self, mass: f64) -> f64 {
        let mut low = self.start;
        let mut high = REACH + larger(self.numerator.reach(), self.start.abs());
        while high - low > 1e-3 * (1.0 + high.abs()) {
            let middle = 0.5 * (low + high);
            if self.tail(middle) > mass { low = middle } else { high = middle }
        }
        high
    }

    /// The x with L(x) = `loss`, or infinity where losses stay below it.
    ///
    /// `near` is a starting point for the search where there is no closed form.
    pub(crate) fn position(&self, loss: f64, near: f64) -> f64 {
        if loss <= 0.0 {
            return self.start;
        }
        match self.inverse {
            Inverse::Sampled { rate, shift } => 0.5 * shift + sampled_exponent(loss, rate) / shift,
            Inverse::Bounded { rate, shift } => {
                let ratio = (-loss).exp_m1() / rate;
                if ratio > -1.0 { -0.5 * shift - ratio.ln_1p() / shift } else { f64::INFINITY }
            }
            Inverse::Numeric => self.solve(loss, near),
        }
    }

    /// Newton inside a bracket.
    fn solve(&self, loss: f64, near: f64) -> f64 {
        let mut low = self.start;
        let mut high = larger(near, self.start) + 1.0;
        while self.loss(high) < loss {
            low = high;
            high = self.start + 2.0 * (high - self.start);
            if high > 1e12 {
                return f64::INFINITY;
            }
        }
        let mut x = smaller(larger(near, low), high);
        for _ in 0..100 {
            let gap = self.loss(x) - loss;
            if gap.abs() <= 4.0 * f64::EPSILON * loss {
                break;
            }
            if gap > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let step = x - gap / self.slope(x);
            let next = if step > low && step < high { step } else { 0.5 * (low + high) };
            if (next - x).abs() <= f64::EPSILON * x.abs() {
                break;
            }
            x = next;
        }
        x
    }
}

/// The e with log(1 − q + q·exp(e)) = loss.
fn sampled_exponent(loss: f64, rate: f64) -> f64 {
    if rate >= 1.0 {
        loss
    } else if loss < 1.0 {
        (loss.exp_m1() / rate).ln_1p()
    } else {
        loss + ((rate - 1.0) * (-loss).exp()).ln_1p() - rate.ln()
    }
}
