//! From noisy weights of knots to distribution functions, by what is known of the noise.
//!
//! With few records the shapes that fit decide, weighed by how well they do; with many, what surely differs from them is
//! corrected. No other rule switches: the posterior widens by itself where there is little to see.
//!
//! Columns of one table are read together. Whoever gave narrow ranges gave them to all columns, and so did whoever gave wide
//! ones: how likely each family of shapes is, is learned from all columns at once, starting from what is likely anywhere.
//!
//! All of it looks at released numbers only.

use super::shapes::{FAMILIES, GRID, Shapes, between_knots};
use pairdp_pairwise::knots::KNOTS;
use pairdp_units::directed::larger;
use rayon::prelude::*;

/// By how much a shape may be wrong about a knot's share.
const WRONG_SHAPE: f64 = 0.02;
/// From so many standard deviations of the noise on a difference is believed.
const SURE: f64 = 2.5;
/// Distribution functions are multiples of 2^−this.
const BITS: i32 = 20;
/// What is likely anywhere counts as much as so many columns of the table.
const ANYWHERE: f64 = 3.0;
/// Rounds of learning how likely families are; later ones change little.
const ROUNDS: usize = 15;

/// What was read of a column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// F̂ on the grid: never falling, within [0, 1].
    pub(crate) cumulative: Vec<f64>,
    /// The share of records at each knot: at least 0, together 1.
    pub(crate) shares: [f64; KNOTS],
}

/// Reads the columns of a table: weights of their knots summed over about n records, with noise of a standard deviation.
pub(crate) fn read(columns: &[&[f64]], noise: f64, n: f64) -> Vec<Reading> {
    let shapes = Shapes::table();
    let fits: Vec<Vec<f64>> =
        columns.par_iter().map(|weights| fits(shapes, &weights[..KNOTS], noise, n)).collect();
    let likely = families(shapes, &fits);
    let one = |(weights, fits): (&&[f64], &Vec<f64>)| {
        read_one(shapes, &weights[..KNOTS], &posterior(shapes, fits, &likely), noise, n)
    };
    columns.par_iter().zip(&fits).map(one).collect()
}

/// The log of how well each shape fits a column, up to a constant.
fn fits(shapes: &Shapes, weights: &[f64], noise: f64, n: f64) -> Vec<f64> {
    let variance = noise * noise + (WRONG_SHAPE * n) * (WRONG_SHAPE * n);
    let log = |shape: &[f64; KNOTS]| {
        let (fit, own) = weights
            .iter()
            .zip(shape)
            .fold((0.0, 0.0), |(fit, own), (weight, share)| (fit + weight * share, own + share * share));
        (n * fit - n * n * own / 2.0) / variance
    };
    shapes.weights.iter().map(log).collect()
}

/// The log of how likely each family of shapes is in this table, relative to how likely it is anywhere.
fn families(shapes: &Shapes, fits: &[Vec<f64>]) -> [f64; FAMILIES] {
    let mut likely = [0.0; FAMILIES];
    for _ in 0..ROUNDS {
        // Columns are added up in order, so that a model reads the same on any number of cores.
        let posteriors: Vec<[f64; FAMILIES]> = fits
            .par_iter()
            .map(|fits| {
                let mut of_family = [0.0; FAMILIES];
                let probabilities = posterior(shapes, fits, &likely);
                probabilities.iter().zip(&shapes.family).for_each(|(p, family)| of_family[*family] += p);
                of_family
            })
            .collect();
        for (family, log) in likely.iter_mut().enumerate() {
            let anywhere = shapes.anywhere[family];
            let here: f64 = posteriors.iter().map(|posterior| posterior[family]).sum();
            let share = (ANYWHERE * anywhere + here) / (ANYWHERE + fits.len() as f64);
            *log = libm::log(share / anywhere);
        }
    }
    likely
}

/// How likely each shape is.
fn posterior(shapes: &Shapes, fits: &[f64], families: &[f64; FAMILIES]) -> Vec<f64> {
    let prior = shapes.log_prior.iter().zip(&shapes.family).map(|(prior, family)| prior + families[*family]);
    let logs: Vec<f64> = fits.iter().zip(prior).map(|(fit, prior)| fit + prior).collect();
    let most = logs.iter().fold(f64::NEG_INFINITY, |most, value| larger(most, *value));
    let likely: Vec<f64> = logs.iter().map(|value| libm::exp(value - most)).collect();
    let total: f64 = likely.iter().sum();
    likely.into_iter().map(|value| value / total).collect()
}

fn read_one(shapes: &Shapes, weights: &[f64], posterior: &[f64], noise: f64, n: f64) -> Reading {
    let mut expected = [0.0; KNOTS];
    let mut cumulative = vec![0.0; GRID];
    for (shape, probability) in posterior.iter().enumerate() {
        // What is this unlikely does not show.
        if *probability > 1e-12 {
            expected.iter_mut().zip(&shapes.weights[shape]).for_each(|(sum, w)| *sum += probability * w);
            let values = &shapes.cumulative[shape];
            cumulative.iter_mut().zip(values).for_each(|(sum, value)| *sum += probability * value);
        }
    }
    let shares = corrected(&expected, weights, noise, n);
    shift(&mut cumulative, &expected, &shares);
    let mut highest = 0.0;
    for value in &mut cumulative {
        let cut = if *value > 1.0 { 1.0 } else { larger(*value, 0.0) };
        highest = larger(highest, (cut * 2.0_f64.powi(BITS)).round() * 2.0_f64.powi(-BITS));
        *value = highest;
    }
    Reading { cumulative, shares }
}

/// Where a knot's weight surely differs from what the shapes expect, it is believed.
fn corrected(expected: &[f64; KNOTS], weights: &[f64], noise: f64, n: f64) -> [f64; KNOTS] {
    let mut shares = [0.0; KNOTS];
    for k in 0..KNOTS {
        let off = weights[k] / n - expected[k];
        let believed = if off.abs() > SURE * noise / n { off } else { 0.0 };
        shares[k] = larger(expected[k] + believed, 0.0);
    }
    let total: f64 = shares.iter().sum();
    if total > 0.0 && total.is_finite() { shares.map(|share| share / total) } else { *expected }
}

/// Adds the difference of shares, spread linearly between knots, to the distribution function.
fn shift(cumulative: &mut [f64], expected: &[f64; KNOTS], shares: &[f64; KNOTS]) {
    // Half of a knot's own difference counts at the knot.
    let mut ramp = [0.0; KNOTS];
    let mut before = 0.0;
    for k in 0..KNOTS {
        let off = shares[k] - expected[k];
        ramp[k] = before + off / 2.0;
        before += off;
    }
    cumulative.iter_mut().zip(between_knots(&ramp)).for_each(|(value, off)| *value += off);
}
