//! Distributions that a column may have, as far as anybody knows before looking: a public table, built once.
//!
//! Columns are bells with heavy tails, of any place and width; or they have a spike at an end or at 0, of any weight, and fall
//! off from there. What lies beyond the range counts at its ends. Every shape is known by the weights that it gives to knots and
//! by its distribution function on a grid. `libm` and not the platform's functions, so that a model reads the same everywhere.

use pairdp_pairwise::knots::Spacing;
use rayon::prelude::*;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::OnceLock;

/// Points of [−1, 1] at which distribution functions are known; linear between.
pub(crate) const GRID: usize = 1025;

/// All shapes.
pub(crate) struct Shapes {
    /// Expected weights of the knots, by shape.
    pub(crate) weights: Vec<Vec<f64>>,
    /// Distribution functions on the grid, half of a spike at its own place, by shape.
    pub(crate) cumulative: Vec<Vec<f64>>,
    /// log of how likely each is before any record is seen, up to a constant.
    pub(crate) log_prior: Vec<f64>,
    /// The family of each.
    pub(crate) family: Vec<usize>,
    /// How likely each family is before any record is seen.
    pub(crate) anywhere: [f64; FAMILIES],
}

/// Families of shapes: bells of a width, and spikes at a place with about a width.
pub(crate) const FAMILIES: usize = BELL_WIDTHS + 3 * SPIKE_WIDTHS.div_ceil(ALIKE);
/// Widths from 2 down, each half of the one before.
const BELL_WIDTHS: usize = 9;
const SPIKE_WIDTHS: usize = 14;
/// Widths of spikes in a row that count as one.
const ALIKE: usize = 3;

/// One of them.
#[derive(Clone, Copy)]
enum Shape {
    /// 85 % of N(middle, width²) and 15 % of N(middle, 9·width²), the width being 2 halved so many times.
    Bell { middle: f64, halved: usize },
    /// A share at a place, and the rest half a bell that falls off from there; from 0, to both sides.
    Spike { at: f64, share: f64, halved: usize },
}

const MIDDLES: usize = 129;
const SHARES: [f64; 6] = [0.3, 0.5, 0.7, 0.85, 0.95, 0.99];
/// The share of a bell's wide part, and how much wider it is.
const TAIL: (f64, f64) = (0.15, 3.0);

impl Shapes {
    /// The table for knots that far apart.
    pub(crate) fn table(spacing: Spacing) -> &'static Self {
        static COARSE: OnceLock<Shapes> = OnceLock::new();
        static FINE: OnceLock<Shapes> = OnceLock::new();
        let table = match spacing {
            Spacing::Coarse => &COARSE,
            Spacing::Fine => &FINE,
        };
        table.get_or_init(|| {
            let shapes = Shape::all();
            let knots = spacing.positions();
            // As likely as a bell of any middle are a spike's six shares at three places together.
            let log_prior: Vec<f64> = shapes.iter().map(|shape| shape.log_prior()).collect();
            let family: Vec<usize> = shapes.iter().map(|shape| shape.family()).collect();
            let total: f64 = log_prior.iter().map(|log| libm::exp(*log)).sum();
            let mut anywhere = [0.0; FAMILIES];
            log_prior.iter().zip(&family).for_each(|(log, of)| anywhere[*of] += libm::exp(*log) / total);
            Self {
                weights: shapes.par_iter().map(|shape| shape.weights(&knots)).collect(),
                cumulative: shapes.par_iter().map(|shape| shape.on_grid()).collect(),
                log_prior,
                family,
                anywhere,
            }
        })
    }
}

/// The k-th point of the grid.
pub(crate) fn grid(k: usize) -> f64 {
    -1.0 + 2.0 * k as f64 / (GRID - 1) as f64
}

/// Values at knots, at every point of the grid: linear between knots.
pub(crate) fn between_knots(knots: &[f64], values: &[f64]) -> Vec<f64> {
    let mut left = 0;
    (0..GRID)
        .map(|k| {
            let x = grid(k);
            while left + 2 < knots.len() && knots[left + 1] <= x {
                left += 1;
            }
            let share = (x - knots[left]) / (knots[left + 1] - knots[left]);
            values[left] + share * (values[left + 1] - values[left])
        })
        .collect()
}

/// 2, halved so many times.
fn width(halved: usize) -> f64 {
    libm::exp2(1.0 - halved as f64)
}

impl Shape {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for halved in 0..BELL_WIDTHS {
            let middle = |k: usize| -1.0 + 2.0 * k as f64 / (MIDDLES - 1) as f64;
            all.extend((0..MIDDLES).map(|k| Self::Bell { middle: middle(k), halved }));
        }
        for at in [-1.0, 0.0, 1.0] {
            for halved in 0..SPIKE_WIDTHS {
                all.extend(SHARES.map(|share| Self::Spike { at, share, halved }));
            }
        }
        all
    }

    fn family(self) -> usize {
        match self {
            Self::Bell { halved, .. } => halved,
            Self::Spike { at, halved, .. } => {
                let place = if at < 0.0 { 0 } else { 1 + usize::from(at > 0.0) };
                BELL_WIDTHS + place * SPIKE_WIDTHS.div_ceil(ALIKE) + halved / ALIKE
            }
        }
    }

    fn log_prior(self) -> f64 {
        match self {
            Self::Bell { .. } => 0.0,
            Self::Spike { .. } => libm::log(MIDDLES as f64 / (3 * SHARES.len()) as f64),
        }
    }

    /// P(X ≤ x) for x within the range, half of a spike at its own place.
    fn cumulative(self, x: f64) -> f64 {
        match self {
            Self::Bell { middle, halved } => {
                let z = (x - middle) / width(halved);
                (1.0 - TAIL.0) * normal(z) + TAIL.0 * normal(z / TAIL.1)
            }
            Self::Spike { at, share, halved } => {
                let z = (x - at) / width(halved);
                let spike = if x > at { 1.0 } else { f64::from(u8::from(x >= at)) * 0.5 };
                let rest = match at {
                    below if below < 0.0 => 2.0 * normal(z) - 1.0,
                    above if above > 0.0 => 2.0 * normal(z),
                    _ => normal(z),
                };
                share * spike + (1.0 - share) * rest
            }
        }
    }

    fn on_grid(self) -> Vec<f64> {
        (0..GRID).map(|k| self.cumulative(grid(k))).collect()
    }

    /// E(t − X)₊ for X cut off at −1, at a knot t.
    fn below(self, t: f64) -> f64 {
        // The integral of the distribution function from −1 to t.
        let bell =
            |middle: f64, width: f64| width * (ramp((t - middle) / width) - ramp((-1.0 - middle) / width));
        match self {
            Self::Bell { middle, halved } => {
                let width = width(halved);
                (1.0 - TAIL.0) * bell(middle, width) + TAIL.0 * bell(middle, TAIL.1 * width)
            }
            Self::Spike { at, share, halved } => {
                let width = width(halved);
                let spike = if t > at { t - at } else { 0.0 };
                let rest = match at {
                    below if below < 0.0 => 2.0 * bell(-1.0, width) - (t + 1.0),
                    above if above > 0.0 => 2.0 * bell(1.0, width),
                    _ => bell(0.0, width),
                };
                share * spike + (1.0 - share) * rest
            }
        }
    }

    /// The expected weight of a knot is the second difference of E(t − X)₊.
    fn weights(self, knots: &[f64]) -> Vec<f64> {
        let below: Vec<f64> = knots.iter().map(|t| self.below(*t)).collect();
        let slope = |k: usize| (below[k + 1] - below[k]) / (knots[k + 1] - knots[k]);
        let weight = |k: usize| match k {
            0 => slope(0),
            k if k == knots.len() - 1 => 1.0 - slope(k - 1),
            k => slope(k) - slope(k - 1),
        };
        (0..knots.len()).map(weight).collect()
    }
}

/// Φ.
fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// ∫Φ from −∞ to z.
fn ramp(z: f64) -> f64 {
    z * normal(z) + libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of knots from the distribution function by the trapezoid rule, on the fine grid between knots.
    #[test]
    fn weights_are_those_of_the_distribution() {
        for (k, shape) in Shape::all().into_iter().enumerate().step_by(7) {
            let knots = if k % 2 == 0 { Spacing::Coarse } else { Spacing::Fine }.positions();
            let weights = shape.weights(&knots);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(weights.iter().all(|weight| *weight > -1e-9));
            // The mean of what is cut off at the ends, both ways.
            let mean: f64 = weights.iter().zip(&knots).map(|(weight, t)| weight * t).sum();
            let steps = 400_000;
            let area: f64 = (0..steps)
                .map(|k| shape.cumulative(-1.0 + 2.0 * (f64::from(k) + 0.5) / f64::from(steps)))
                .sum::<f64>()
                * 2.0
                / f64::from(steps);
            assert!((mean - (1.0 - area)).abs() < 1e-5, "{mean} {area}");
        }
    }

    #[test]
    fn there_are_as_many_shapes_as_the_note_says() {
        let table = Shapes::table(Spacing::Coarse);
        assert_eq!((table.weights.len(), table.cumulative.len(), table.log_prior.len()), (1413, 1413, 1413));
        for cumulative in &table.cumulative {
            assert!(cumulative.windows(2).all(|pair| pair[0] <= pair[1] + 1e-15));
            assert!(cumulative[0] >= 0.0 && cumulative[GRID - 1] <= 1.0);
        }
    }
}
