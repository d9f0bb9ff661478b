//! Gaussian noise that protects as well as something else.
//!
//! A run on secret samples has a privacy curve of its own. To be added to others it is compared with Gaussian noise: the
//! smallest μ is found whose curve, raised by a small probability λ, lies above the run's everywhere. By Blackwell's
//! theorem the run can then be made from that noise, except with probability λ.
//!
//! # Guarantee
//! δ_run(ε) ≤ λ + (1 − λ)·δ_μ(ε) for all ε ≥ 0 and all neighbours, with [`Curve::ratio`] for μ. Between computed points
//! the run's curve, convex in e^ε, is bounded by its chords, and the Gaussian one by its value on the right.

use pairdp_accountant::{Event, delta_for, gaussian};
use pairdp_units::Epsilon;
use pairdp_units::directed::{down_by, larger, smaller, up_by};

/// The first point; to the left of it the curve is extended by symmetry.
const FIRST: f64 = 0.005;
/// log δ should fall about this much from point to point.
const FALL: f64 = 0.4;
/// More points than any run that fits a grant needs.
const MOST_POINTS: usize = 400;
/// Pieces of a chord.
const PIECES: u32 = 32;

/// An upper bound on a privacy curve as steps: δ ≤ `delta` for all ε from the last step's end to `until`.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    steps: Vec<Step>,
    /// A bound on δ beyond the last step.
    beyond: f64,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    until: f64,
    delta: f64,
}

impl Curve {
    /// The curve of an event down to δ = `floor`; nothing when the accountant cannot compute it.
    pub(crate) fn of(event: &Event, floor: f64) -> Option<Self> {
        let at = |epsilon: f64| Some(delta_for(event, Epsilon::new(epsilon).ok()?).ok()?.0);
        let first = at(FIRST)?;
        // δ is convex in x = e^ε and δ(1/x) = 1 − 1/x + δ(x)/x: so is the chord from 1/x to x at 1.
        let growth = FIRST.exp();
        let at_zero = up_by((2.0 * first + growth - 1.0) / (1.0 + growth), 16.0);
        let mut points = vec![(0.0, at_zero), (FIRST, first)];
        let (mut epsilon, mut stride) = (FIRST, FIRST);
        while let Some(&(_, last)) = points.last()
            && last > floor
        {
            if points.len() >= MOST_POINTS {
                return None;
            }
            epsilon += stride;
            let delta = at(epsilon)?;
            points.push((epsilon, smaller(delta, last)));
            let fall = last.ln() - delta.ln();
            stride *= smaller(larger(FALL / fall, 0.5), 2.0);
        }
        let beyond = points.last()?.1;
        Some(Self { steps: points.windows(2).flat_map(|pair| chord(pair[0], pair[1])).collect(), beyond })
    }

    /// The curve of a purely ε-private release: its worst case, randomised response, is told from Gaussian noise at ε = 0.
    pub(crate) fn pure(epsilon: f64) -> Self {
        let delta = up_by((0.5 * epsilon).tanh(), 8.0);
        Self { steps: vec![Step { until: 0.0, delta }], beyond: 0.0 }
    }

    /// The smallest μ that covers the curve but for a probability `leak`, rounded up.
    pub(crate) fn ratio(&self, leak: f64) -> Option<f64> {
        if !(0.0..1.0).contains(&leak) || self.beyond > leak {
            return None;
        }
        let needs: Vec<Step> = self.steps.iter().filter_map(|step| step.without(leak)).collect();
        let covers = |ratio: f64| needs.iter().all(|need| at_least(need.until, ratio) >= need.delta);
        let (mut low, mut high) = (0.0, 1e-6);
        while !covers(high) {
            low = high;
            high *= 2.0;
            if high > 1e4 {
                return None;
            }
        }
        // A relative 10⁻⁶ is as good as exact.
        while high - low > 1e-6 * high {
            let middle = 0.5 * (low + high);
            if covers(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

impl Step {
    /// What must be covered when a probability `leak` is paid for directly; nothing if that is enough.
    fn without(self, leak: f64) -> Option<Self> {
        let delta = up_by((self.delta - leak) / (1.0 - leak), 4.0);
        (self.delta > leak).then_some(Self { delta, ..self })
    }
}

/// The chord between two points as steps.
fn chord((left, above): (f64, f64), (right, below): (f64, f64)) -> impl Iterator<Item = Step> {
    let place = move |i: u32| left + (right - left) * f64::from(i) / f64::from(PIECES);
    (0..PIECES).map(move |i| {
        // Where this piece begins, as a share of the chord in e^ε.
        let share = (place(i) - left).exp_m1() / (right - left).exp_m1();
        let delta = smaller(up_by(above + (below - above) * down_by(share, 16.0), 16.0), above);
        Step { until: if i + 1 == PIECES { right } else { place(i + 1) }, delta }
    })
}

/// A lower bound on δ of Gaussian noise.
fn at_least(epsilon: f64, ratio: f64) -> f64 {
    let t = epsilon / ratio - ratio / 2.0;
    // The accountant's upper bound is within 2·(200 + 8t²)·2⁻⁵² of the value.
    if t * t > 2000.0 { 0.0 } else { gaussian::delta(epsilon, ratio).unwrap_or(0.0) * (1.0 - 1e-11) }
}

#[cfg(test)]
mod tests;
