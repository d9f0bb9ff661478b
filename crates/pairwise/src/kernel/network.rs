//! Scores of one hidden layer, and the pull-back of charges through their clipped gradients: kernel `network/1`.
//!
//! Per-record gradients never exist. With a = tanh(Wx/κ + b) and δ = k·u∘(1 − a²) the gradient of a score is (αx, ka, δ, δ⊗x/κ), so that
//! its length is known from three sums of squares, and a sum of clipped gradients, each times a charge, is a product of two matrices.
//! Hidden units are computed again in the second pass: nothing of the size of a record's is kept but scores and charges.
//!
//! # Guarantee
//! A computed score and a computed gradient are functions of one row and the parameters, and no gradient is longer than κ, to the last
//! bit. Sums are off by what [`roundings`] counts: `proofs/networks.md`.
//!
//! # Cost
//! Two products of n × d × H for losses of records, three for pairs, and n·H values of tanh each time; memory of a few blocks a thread.

mod products;

use super::blocks::Par;
use super::exact::{self, FEW, Grid};
use super::exponential::exp_of_negative;
use super::rows::score;
use crate::{Network, Records, strata};
use pairdp_units::directed::{down_by, up_by};
use products::{Products, padded};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a block, by their place in the table: sums within one are in floating point, sums of blocks are exact.
pub const BLOCK: usize = 256;

/// A network with its parameters, laid out for products.
pub struct Layers<'a> {
    columns: usize,
    hidden: usize,
    kappa: f64,
    per_kappa: f64,
    alpha: f64,
    k: f64,
    /// Length of a row, and of a layer, in whole registers.
    depth: usize,
    width: usize,
    /// v, as it is.
    linear: &'a [f64],
    /// u and b, followed by zeros.
    outer: Vec<f64>,
    offsets: Vec<f64>,
    /// W, column by column.
    inner: Vec<f64>,
}

/// tanh and its slope: |tanh| ≤ 1 to the last bit. Scores and gradients are *defined* by them, so that their error is none of theirs.
#[inline(always)]
fn tanh(z: f64) -> (f64, f64) {
    let e = exp_of_negative(-2.0 * z.abs());
    let r = 1.0 / (1.0 + e);
    (((1.0 - e) * r).copysign(z), 4.0 * e * (r * r))
}

impl<'a> Layers<'a> {
    /// Of parameters for rows of norm at most `kappa`.
    ///
    /// # Panics
    /// If their number fits no row: a mistake of the caller.
    pub fn new(network: Network, kappa: f64, parameters: &'a [f64]) -> Self {
        let (columns, hidden) = (network.columns(parameters.len()), network.hidden);
        assert_eq!(parameters.len(), network.parameters(columns), "parameters of a network");
        let [v, u, b, _] = network.ends(columns);
        let (alpha, k) = network.scales(kappa);
        let (depth, width) = (padded(columns), padded(hidden));
        let longer = |part: &[f64]| [part, &vec![0.0; width - hidden]].concat();
        let mut inner = vec![0.0; depth * width];
        for (unit, line) in parameters[b..].chunks_exact(columns).enumerate() {
            line.iter().enumerate().for_each(|(column, weight)| inner[column * width + unit] = *weight);
        }
        let (outer, offsets) = (longer(&parameters[v..u]), longer(&parameters[u..b]));
        Self {
            columns,
            hidden,
            kappa,
            per_kappa: 1.0 / kappa,
            alpha,
            k,
            depth,
            width,
            linear: &parameters[..v],
            outer,
            offsets,
            inner,
        }
    }

    /// The score of one row, without a bound: the same bits as in training.
    pub fn score(&self, row: &[f64]) -> f64 {
        Arch::new().dispatch(OneRow { layers: self, row })
    }

    /// α·v·x + k·u·a.
    #[inline(always)]
    fn total(&self, row: &[f64], a: &[f64]) -> f64 {
        self.alpha * score(row, self.linear) + self.k * score(a, &self.outer)
    }

    /// tanh of what units take in, of the products of their weights and a row, and its slopes.
    #[inline(always)]
    fn activate(&self, products: &mut [f64], slopes: &mut [f64]) {
        for ((value, slope), offset) in products.iter_mut().zip(slopes).zip(&self.offsets) {
            (*value, *slope) = tanh(*value * self.per_kappa + offset);
        }
    }

    /// By how much the gradient of a score is scaled down, from the squares of x, a and δ: exactly no longer than κ afterwards.
    ///
    /// Every square is of a computed number and none is negative, so that their sum is at most (d + H + 16)·2⁻⁵² of itself too small.
    #[inline(always)]
    fn factor(&self, x: f64, a: f64, delta: f64) -> f64 {
        let square =
            self.alpha * self.alpha * x + self.k * self.k * a + delta * (x / (self.kappa * self.kappa) + 1.0);
        let norm = up_by(square.sqrt(), (self.columns + self.hidden + 16) as f64);
        if norm <= self.kappa {
            1.0
        } else if norm.is_finite() {
            down_by(self.kappa / norm, 4.0)
        } else {
            0.0
        }
    }
}

struct OneRow<'a> {
    layers: &'a Layers<'a>,
    row: &'a [f64],
}

impl NullaryFnOnce for OneRow<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { layers, row } = self;
        let mut hidden = vec![0.0; layers.width];
        products::image(row, &layers.inner, layers.width, &mut hidden);
        layers.activate(&mut hidden, &mut vec![0.0; layers.width]);
        layers.total(row, &hidden)
    }
}

/// What a thread works in.
struct Scratch {
    /// Rows, followed by zeros.
    x: Vec<f64>,
    /// tanh, and its slopes or what is pulled back through them.
    a: Vec<f64>,
    slopes: Vec<f64>,
    scores: [f64; BLOCK],
    weights: [f64; BLOCK],
    /// Sums of a block, by v, u, b and W.
    sums: [Vec<f64>; 4],
}

impl Scratch {
    fn of(layers: &Layers<'_>) -> Self {
        let (depth, width) = (layers.depth, layers.width);
        let zeros = |length| vec![0.0; length];
        Self {
            x: zeros(BLOCK * depth),
            a: zeros(BLOCK * width),
            slopes: zeros(BLOCK * width),
            scores: [0.0; BLOCK],
            weights: [0.0; BLOCK],
            sums: [zeros(layers.columns), zeros(width), zeros(width), zeros(width * depth)],
        }
    }
}

/// The first pass over a block: hidden units and scores.
struct Forward<'a> {
    layers: &'a Layers<'a>,
    /// Of at most a block.
    rows: &'a [f64],
    scale: f64,
    /// Where scores are cut off; none where nobody needs them.
    bound: Option<f64>,
    scratch: &'a mut Scratch,
}

impl NullaryFnOnce for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { layers, rows, scale, bound, scratch } = self;
        let Scratch { x, a, slopes, scores, .. } = scratch;
        let (columns, depth, width) = (layers.columns, layers.depth, layers.width);
        let count = rows.len() / columns;
        for (to, row) in x.chunks_exact_mut(depth).zip(rows.chunks_exact(columns)) {
            to[..columns].copy_from_slice(row);
        }
        x[count * depth..].fill(0.0);
        products::images(x, depth, &layers.inner, width, a);
        for (a, slopes) in a.chunks_exact_mut(width).zip(slopes.chunks_exact_mut(width)) {
            layers.activate(a, slopes);
        }
        let Some(bound) = bound else { return };
        for ((value, row), a) in scores.iter_mut().zip(rows.chunks_exact(columns)).zip(a.chunks_exact(width))
        {
            let score = scale * layers.total(row, a);
            *value = if score > bound {
                bound
            } else if score >= -bound {
                score
            } else if score < -bound {
                -bound
            } else {
                0.0
            };
        }
    }
}

/// The second: Σ weight·(clipped gradient) over the rows of a block, but for W, and what W's is the product of.
struct Backward<'a> {
    layers: &'a Layers<'a>,
    count: usize,
    scratch: &'a mut Scratch,
}

impl NullaryFnOnce for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { layers, count, scratch } = self;
        let Scratch { x, a, slopes, weights, sums: [v, u, b, _], .. } = scratch;
        let (columns, depth, width) = (layers.columns, layers.depth, layers.width);
        [&mut *v, &mut *u, &mut *b].into_iter().for_each(|sums| sums.fill(0.0));
        let rows = x.chunks_exact(depth).zip(a.chunks_exact(width)).zip(slopes.chunks_exact_mut(width));
        for (r, ((x, a), pulled)) in rows.enumerate() {
            if r >= count {
                pulled.fill(0.0);
                continue;
            }
            let x = &x[..columns];
            for (slope, outer) in pulled.iter_mut().zip(&layers.outer) {
                *slope *= layers.k * outer;
            }
            let factor = layers.factor(score(x, x), score(a, a), score(pulled, pulled));
            let charge = weights[r] * factor;
            if charge == 0.0 {
                // Also where a gradient has no length.
                pulled.fill(0.0);
                continue;
            }
            for (sum, x) in v.iter_mut().zip(x) {
                *sum = charge.mul_add(*x, *sum);
            }
            for (((pulled, a), u), b) in pulled.iter_mut().zip(a).zip(u.iter_mut()).zip(b.iter_mut()) {
                *pulled *= charge;
                *u = charge.mul_add(*a, *u);
                *b += *pulled;
            }
        }
    }
}

/// `scale`·s for every record, cut off at ±`bound`.
pub(super) fn scores(records: &Records, layers: &Layers<'_>, scale: f64, bound: f64, par: Par) -> Vec<f64> {
    let columns = records.columns();
    let mut out = vec![0.0; records.len()];
    let blocks = |(scratch, ()): (&mut Scratch, ()), first: usize, out: &mut [f64]| {
        for (i, out) in out.chunks_mut(BLOCK).enumerate() {
            let from = (first + i * BLOCK) * columns;
            let rows = &records.features()[from..from + out.len() * columns];
            Arch::new().dispatch(Forward { layers, rows, scale, bound: Some(bound), scratch });
            out.copy_from_slice(&scratch.scores[..out.len()]);
        }
    };
    let together = BLOCK * 16;
    match par {
        Par::Sequential => blocks((&mut Scratch::of(layers), ()), 0, &mut out),
        Par::Parallel => out.par_chunks_mut(together).enumerate().for_each_init(
            || Scratch::of(layers),
            |scratch, (chunk, out)| blocks((scratch, ()), chunk * together, out),
        ),
    }
    out
}

/// Grids of the sums of v, u, b and W, for weights of at most `most` and tables of n records.
fn grids(kappa: f64, most: f64, n: usize) -> [Grid; 4] {
    let block = most * n.min(BLOCK) as f64;
    [kappa, 1.0, kappa, kappa * kappa].map(|each| Grid::for_terms(each * block))
}

/// Σ weight·(clipped gradient) in steps of public grids, where `weights` fills the weights of a range of rows, given their scores cut
/// off at ±`bound` if there is one.
pub(super) fn weighted_sum(
    records: &Records,
    layers: &Layers<'_>,
    (most, n): (f64, usize),
    bound: Option<f64>,
    weights: impl Fn(Range<usize>, &[f64], &mut [f64]) + Sync + Send,
    par: Par,
) -> Vec<i128> {
    let (columns, hidden, depth) = (layers.columns, layers.hidden, layers.depth);
    let grids = grids(layers.kappa, most, n);
    let parameters = columns + hidden * (columns + 2);
    let blocks = records.len().div_ceil(BLOCK);
    let stretch = |range: Range<usize>| {
        let scratch = &mut Scratch::of(layers);
        let (mut total, mut few) = (vec![0_i128; parameters], vec![0_i64; parameters]);
        let mut added = 0;
        for block in range {
            let rows = block * BLOCK..records.len().min((block + 1) * BLOCK);
            let features = &records.features()[rows.start * columns..rows.end * columns];
            Arch::new().dispatch(Forward { layers, rows: features, scale: 1.0, bound, scratch });
            let Scratch { scores, weights: out, .. } = scratch;
            weights(rows.clone(), &scores[..rows.len()], &mut out[..rows.len()]);
            Arch::new().dispatch(Backward { layers, count: rows.len(), scratch });
            let Scratch { x, slopes: a, sums: [_, _, _, out], .. } = scratch;
            Arch::new().dispatch(Products { a, height: layers.width, x, width: depth, out });
            let (v, rest) = few.split_at_mut(columns);
            let (u, rest) = rest.split_at_mut(hidden);
            let (b, w) = rest.split_at_mut(hidden);
            for ((sums, of_block), grid) in [v, u, b].into_iter().zip(&scratch.sums).zip(grids) {
                add(sums, of_block, grid);
            }
            for (sums, of_block) in w.chunks_exact_mut(columns).zip(scratch.sums[3].chunks_exact(depth)) {
                add(sums, of_block, grids[3]);
            }
            added += 1;
            if added == FEW {
                exact::flush(&mut total, &mut few, strata::ONE);
                added = 0;
            }
        }
        exact::flush(&mut total, &mut few, strata::ONE);
        total
    };
    let merged = |mut one: Vec<i128>, other: Vec<i128>| {
        exact::add(&mut one, &other);
        one
    };
    match par {
        Par::Sequential => stretch(0..blocks),
        Par::Parallel => {
            let stretches = (4 * rayon::current_num_threads()).min(blocks).max(1);
            let edge = |k: usize| blocks * k / stretches;
            (0..stretches)
                .into_par_iter()
                .map(|k| stretch(edge(k)..edge(k + 1)))
                .reduce_with(merged)
                .unwrap_or_else(|| vec![0; parameters])
        }
    }
}

/// Adds the sums of a block, each rounded to its grid.
fn add(sums: &mut [i64], of_block: &[f64], grid: Grid) {
    for (sum, value) in sums.iter_mut().zip(of_block) {
        *sum = sum.wrapping_add(grid.whole(*value));
    }
}

/// The sum of clipped gradients from the totals of all blocks.
pub(super) fn sums(network: Network, kappa: f64, most: f64, n: usize, totals: &[i128]) -> Vec<f64> {
    let columns = network.columns(totals.len());
    let [v, u, b, _] = network.ends(columns);
    let (alpha, k) = network.scales(kappa);
    let grids = grids(kappa, most, n);
    let segment = |at: usize| usize::from(at >= v) + usize::from(at >= u) + usize::from(at >= b);
    let scales = [alpha, k, 1.0, 1.0 / kappa];
    let value = |(at, total): (usize, &i128)| scales[segment(at)] * grids[segment(at)].weighed(*total);
    totals.iter().enumerate().map(value).collect()
}

/// Roundings of a pull-back beyond those of its weights: three of a factor, one for each row of a block, and half a step of the grid in
/// every coordinate of every block.
pub(super) fn roundings(parameters: usize) -> f64 {
    BLOCK as f64 + 16.0 + 32.0 * (parameters as f64).sqrt()
}

#[cfg(test)]
mod tests;
