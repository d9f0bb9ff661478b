//! From noisy weights of knots to distribution functions, by what is known of the noise.
//!
//! With few records the shapes that fit decide, weighed by how well they do; with many, what surely differs from them is
//! corrected. No other rule switches: the posterior widens by itself where there is little to see.
//!
//! All of it looks at released numbers only.

use super::shapes::{GRID, Shapes};
use pairdp_pairwise::knots::{self, KNOTS};
use pairdp_units::directed::larger;

/// By how much a shape may be wrong about a knot's share.
const WRONG_SHAPE: f64 = 0.02;
/// From so many standard deviations of the noise on a difference is believed.
const SURE: f64 = 2.5;
/// Distribution functions are multiples of 2^−this.
const BITS: i32 = 20;

/// What was read of a column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// F̂ on the grid: never falling, within [0, 1].
    pub(crate) cumulative: Vec<f64>,
}

/// Reads one column: weights of its knots summed over about n records, with noise of a standard deviation.
pub(crate) fn read(weights: &[f64], noise: f64, n: f64) -> Reading {
    let shapes = Shapes::table();
    let posterior = posterior(shapes, weights, noise, n);
    let mut shares = [0.0; KNOTS];
    let mut cumulative = vec![0.0; GRID];
    for (shape, probability) in posterior.iter().enumerate() {
        // What is this unlikely does not show.
        if *probability > 1e-12 {
            shares.iter_mut().zip(&shapes.weights[shape]).for_each(|(sum, w)| *sum += probability * w);
            let values = &shapes.cumulative[shape];
            cumulative.iter_mut().zip(values).for_each(|(sum, value)| *sum += probability * value);
        }
    }
    correct(&mut cumulative, &shares, weights, noise, n);
    let mut highest = 0.0;
    for value in &mut cumulative {
        let cut = if *value > 1.0 { 1.0 } else { larger(*value, 0.0) };
        highest = larger(highest, (cut * 2.0_f64.powi(BITS)).round() * 2.0_f64.powi(-BITS));
        *value = highest;
    }
    Reading { cumulative }
}

/// How likely each shape is.
fn posterior(shapes: &Shapes, weights: &[f64], noise: f64, n: f64) -> Vec<f64> {
    let variance = noise * noise + (WRONG_SHAPE * n) * (WRONG_SHAPE * n);
    let log = |(shape, prior): (&[f64; KNOTS], &f64)| {
        let (fit, own) = weights
            .iter()
            .zip(shape)
            .fold((0.0, 0.0), |(fit, own), (weight, share)| (fit + weight * share, own + share * share));
        (n * fit - n * n * own / 2.0) / variance + prior
    };
    let logs: Vec<f64> = shapes.weights.iter().zip(&shapes.log_prior).map(log).collect();
    let most = logs.iter().fold(f64::NEG_INFINITY, |most, value| larger(most, *value));
    let likely: Vec<f64> = logs.iter().map(|value| libm::exp(value - most)).collect();
    let total: f64 = likely.iter().sum();
    likely.into_iter().map(|value| value / total).collect()
}

/// Where a knot's weight surely differs from what the shapes expect, it is believed: the difference, spread linearly between
/// knots, is added to the distribution function.
fn correct(cumulative: &mut [f64], expected: &[f64; KNOTS], weights: &[f64], noise: f64, n: f64) {
    let mut shares = [0.0; KNOTS];
    for k in 0..KNOTS {
        let off = weights[k] / n - expected[k];
        let believed = if off.abs() > SURE * noise / n { off } else { 0.0 };
        shares[k] = larger(expected[k] + believed, 0.0);
    }
    let total: f64 = shares.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return;
    }
    // Half of a knot's own difference counts at the knot.
    let mut ramp = [0.0; KNOTS];
    let mut before = 0.0;
    for k in 0..KNOTS {
        let off = shares[k] / total - expected[k];
        ramp[k] = before + off / 2.0;
        before += off;
    }
    let knots = knots::positions();
    let mut left = 0;
    for (k, value) in cumulative.iter_mut().enumerate() {
        let x = super::shapes::grid(k);
        while left + 2 < KNOTS && knots[left + 1] <= x {
            left += 1;
        }
        let share = (x - knots[left]) / (knots[left + 1] - knots[left]);
        *value += ramp[left] + share * (ramp[left + 1] - ramp[left]);
    }
}
