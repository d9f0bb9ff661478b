//! ε of many steps on fixed-size samples: the equilateral triangle is nearly the worst that can happen in a step.
//!
//! Why not one dominating pair per step: the least one claims at every step the larger of what removing and adding a record
//! does, and no two tables do both. Over the last steps the convex function of the likelihood ratio that the later ones leave
//! has kinks that any pair may exploit; over the many before them it is smooth, and three corners at equal distance are, but
//! for a factor near 1 that is computed, the worst for it.
//!
//! # Guarantee
//! [`epsilon`] is an upper bound or None. Proof: `proofs/triangles.md`.
//!
//! # Cost
//! Some twelve transforms of up to [`MOST_POINTS`] points and 33 plane integrals for each of a few stages: about 0.2 s.

mod kinks;
mod slow;
#[cfg(test)]
mod tests;

use crate::AccountantError;
use crate::discretise::{GridLosses, discretise};
use crate::moments::Term;
use crate::pair::Pair;
use crate::pld::{FINE, Grid};
use crate::special::{normal_cdf, normal_tail};
use kinks::{Frame, Kinks, Law};
use pairdp_units::directed::{larger, smaller};
use slow::Slowness;

/// Sensitivities over the noise beyond which single steps are too telling.
const LARGEST_SHIFT: f64 = 1.5;
/// The most points of a transform.
const MOST_POINTS: f64 = 262_144.0;
/// The most exponent of a tilted weight: so that none vanishes or overflows.
const LARGEST_TILT: f64 = 600.0;
/// The most cells of all opposed pairs: time is in them.
const MOST_CELLS: usize = 3_000_000;
/// Beyond so many steps their number is no longer exact.
const MOST_STEPS: f64 = 9e15;
/// What may lie beyond the kept losses weighs about e to the minus this.
const BEYOND: f64 = 18.0;
/// How many deviations of the steps so far kinks may be from where they are steeper than the next stage allows.
const MARGIN: f64 = 1.2;
/// Symmetric steps come first until equilateral ones count twice at most this often.
const BEGIN: f64 = 0.15;
/// What is worth using after them.
const MOST: f64 = 0.5;
/// The fewest symmetric steps.
const FIRST: f64 = 16.0;
/// The mass that a step sends to infinity: kinks on the far side of the circle must not notice.
const CUT: f64 = 1e-200;
/// Opposed pairs of the mixture are so far apart in the log of their odds at usual places along the height of the triangle, and three
/// times as far elsewhere.
const APART: f64 = 0.07;
const USUAL: (f64, f64) = (-4.0, 6.0);
/// Places along the height of a triangle, in deviations, where opposed pairs begin and end: tilted, rare high ones count.
const LOWEST: f64 = -8.0;
const HIGHEST: f64 = 28.0;
/// From this rate on the next is 1.
const NEARLY_ONE: f64 = 0.999;
/// Rounding errors of differences of normal masses in units of 2⁻⁵², before they cancel, and of the shares of a cell.
const MASS_ULPS: f64 = 256.0;

/// An upper bound on ε at δ for `count` steps, given that `known` is one; None where it does not help.
pub(crate) fn epsilon(rate: f64, shift: f64, count: u64, delta: f64, known: f64) -> Option<f64> {
    let apt = rate > 0.0 && rate < 1.0 && shift > 0.0 && shift <= LARGEST_SHIFT;
    let apt = apt && (2.0 * FIRST..MOST_STEPS).contains(&(count as f64));
    if !(apt && delta > 0.0 && known > 0.0 && known.is_finite()) {
        return None;
    }
    let slowness = Slowness::new(rate, shift)?;
    // Where ε is expected decides about what is efficient, not about what holds.
    let mut best: Option<f64> = None;
    for _ in 0..2 {
        let expected = best.unwrap_or(0.9 * known);
        let plan = Plan::new(expected, count as f64, slowness)?;
        let run = Run::new(rate, shift, count as f64, delta, known, plan).ok()?;
        let found = run.epsilon().ok()?;
        best = Some(smaller(found, best.unwrap_or(known)));
        if (found / expected - 1.0).abs() < 0.03 {
            break;
        }
    }
    best.filter(|value| *value > 0.0 && *value < known)
}

/// How the steps are divided, from a guess of ε.
#[derive(Clone, Copy)]
struct Plan {
    expected: f64,
    /// How fast the density of kinks varies about where the run begins.
    slope: f64,
    slowness: Slowness,
    /// How many symmetric steps come first, and how often equilateral ones count twice right after them.
    begin: (f64, f64),
}

impl Plan {
    /// None where no number of symmetric steps makes the rest slow enough.
    fn new(expected: f64, count: f64, slowness: Slowness) -> Option<Self> {
        let slope = expected / (count * slowness.variance());
        Some(Self { expected, slope, slowness, begin: begin(slope, slowness, count)? })
    }

    /// The order for what `done` steps have left.
    fn power(&self, done: f64) -> f64 {
        power(self.slope, self.slowness, done)
    }
}

/// One way of going through the steps.
struct Run {
    count: f64,
    delta: f64,
    known: f64,
    plan: Plan,
    frame: Frame,
    symmetric: Law,
    equilateral: Law,
}

impl Run {
    fn new(
        rate: f64,
        shift: f64,
        count: f64,
        delta: f64,
        known: f64,
        plan: Plan,
    ) -> Result<Self, AccountantError> {
        let tilt = larger(plan.slope - 0.5, 0.25);
        let symmetric = Pair::Symmetric { rate, shift };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "was a whole number")]
        let term = Term { pair: symmetric, count: count as u64 };
        let grid = Grid::new(&[term], plan.expected, delta, tilt, FINE)?;
        let reach = known + BEYOND / tilt;
        let points = smaller(4.0 * reach / grid.spacing, MOST_POINTS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST_POINTS")]
        let length = (points as usize).next_power_of_two();
        // As fine as the transform allows, with a few spare bits.
        let spacing = f64::from_bits((4.0 * reach / length as f64).to_bits() & !0xffff_ffff);
        let grid = Grid { spacing, tail: CUT, ..grid };
        let frame = Frame { spacing, length, tilt };
        if tilt * reach > LARGEST_TILT {
            return Err(AccountantError::NoConvergence("kinks would overflow"));
        }
        let (mixed, weight_error) = equilateral(rate, shift, grid)?;
        let of_symmetric = [(1.0, discretise(symmetric, grid)?)];
        Ok(Self {
            count,
            delta,
            known,
            plan,
            frame,
            symmetric: Law::new(&of_symmetric, 0.0, frame)?,
            equilateral: Law::new(&mixed, weight_error, frame)?,
        })
    }

    fn epsilon(&self) -> Result<f64, AccountantError> {
        self.solve(&self.kinks()?)
    }

    /// What all steps leave of a hockey stick.
    fn kinks(&self) -> Result<Kinks, AccountantError> {
        let (mut done, mut twice) = self.plan.begin;
        let mut kinks = Kinks::hockey_stick(self.frame);
        kinks.advance(&self.symmetric, done, 0.0)?;
        loop {
            let left = self.count - done;
            // Nothing is gained by further stages once no step counts twice.
            let last = left < 1.3 * done || twice <= 0.0;
            let times = if last { left } else { done };
            kinks.slow_down(self.plan.power(done))?;
            kinks.advance(&self.equilateral, times, twice)?;
            if last {
                break;
            }
            done += times;
            twice = (self.plan.slowness.counted_twice(self.plan.power(done), MOST))
                .ok_or(AccountantError::NoConvergence("what is left is too steep"))?;
        }
        Ok(kinks)
    }

    /// The least ε, to nine digits, at which the bound on δ is small enough.
    fn solve(&self, kinks: &Kinks) -> Result<f64, AccountantError> {
        let (mut low, mut high) = (0.0, self.known);
        let worst = kinks.delta(high);
        if worst > self.delta || worst.is_nan() {
            return Err(AccountantError::NoConvergence("triangles give no tighter bound"));
        }
        while high - low > 1e-9 * self.known {
            let middle = 0.5 * (low + high);
            if kinks.delta(middle) <= self.delta { high = middle } else { low = middle }
        }
        Ok(high)
    }
}

/// The order for what `done` steps have left.
fn power(slope: f64, slowness: Slowness, done: f64) -> f64 {
    slope + MARGIN / (done * slowness.variance()).sqrt()
}

/// How many symmetric steps make the rest slow enough, and how often an equilateral step then counts twice.
fn begin(slope: f64, slowness: Slowness, count: f64) -> Option<(f64, f64)> {
    std::iter::successors(Some(FIRST), |done| Some(2.0 * done))
        .take_while(|done| 2.0 * done <= count)
        .find_map(|done| Some((done, slowness.counted_twice(power(slope, slowness, done), BEGIN)?)))
}

/// A mixture of opposed pairs that dominates the equilateral pair, and the relative error of its weights.
///
/// Along the height of the triangle both hypotheses have the same law; given the place there, the rest is a step with another
/// sampling rate. A divergence is convex in that rate, so at most what its chords are.
fn equilateral(rate: f64, shift: f64, grid: Grid) -> Result<(Vec<(f64, GridLosses)>, f64), AccountantError> {
    let height = shift * 0.75_f64.sqrt();
    let odds = rate / (1.0 - rate);
    // The rate at a place along the height.
    let rate_at = |place: f64| {
        let here = odds * (height * place - 0.5 * height * height).exp();
        here / (1.0 + here)
    };
    let next = |place: &f64| {
        let usual = *place > USUAL.0 && *place < USUAL.1;
        let apart = if usual { APART } else { 3.0 * APART };
        let step = smaller(apart / height, 0.5);
        Some(place + step).filter(|place| *place < HIGHEST && rate_at(*place) < NEARLY_ONE)
    };
    let places: Vec<f64> = std::iter::successors(Some(LOWEST), next).collect();
    let mut rates = vec![0.0];
    rates.extend(places.iter().map(|place| rate_at(*place)));
    rates.push(1.0);
    let mut weights = vec![0.0; rates.len()];
    let mut closest = 1.0;
    for (cell, pair) in rates.windows(2).enumerate() {
        let from = if cell == 0 { f64::NEG_INFINITY } else { places[cell - 1] };
        let to = places.get(cell).copied().unwrap_or(f64::INFINITY);
        let sampled = rate * between(from - height, to - height);
        let mass = (1.0 - rate) * between(from, to) + sampled;
        let upper = smaller(larger((sampled - pair[0] * mass) / (pair[1] - pair[0]), 0.0), mass);
        weights[cell] += mass - upper;
        weights[cell + 1] += upper;
        closest = smaller(closest, (pair[1] - pair[0]) / pair[1]);
    }
    let (mut parts, mut cells) = (Vec::with_capacity(rates.len()), 0);
    for (rate, weight) in rates.into_iter().zip(weights) {
        if weight <= 0.0 {
            continue;
        }
        let losses = if rate <= 0.0 {
            GridLosses { finite: vec![(0.0, 1.0)], infinite: 0.0 }
        } else if rate >= 1.0 {
            discretise(Pair::Gaussian { shift }, grid)?
        } else {
            discretise(Pair::PlusMinus { rate, radius: 0.5 * shift }, grid)?
        };
        cells += losses.finite.len();
        if cells > MOST_CELLS {
            return Err(AccountantError::NoConvergence("too many cells for triangles"));
        }
        parts.push((weight, losses));
    }
    // Where neighbouring rates are close, so much of their masses cancels.
    Ok((parts, MASS_ULPS * f64::EPSILON / closest))
}

/// The normal mass between two places.
fn between(from: f64, to: f64) -> f64 {
    if from > 0.0 { normal_tail(from) - normal_tail(to) } else { normal_cdf(to) - normal_cdf(from) }
}
