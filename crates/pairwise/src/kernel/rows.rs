//! The two passes over the table: scores, and weighted sums of rows.
//!
//! Both take eight rows at a time, so that parameters and sums are loaded and stored an eighth as often, and few enough rows at
//! once that what is done with their scores lies between two reads of memory. Nothing is fused: the same additions in the same order
//! everywhere.

use super::blocks::{self, Par};
use super::exact::{self, FEW, Grid};
use super::lanes::{self, Eight, LANES, Registers, Work};
use crate::Records;
use std::ops::Range;

/// Rows that are worked on at once have about so many cells: the second loop over them finds them in the nearest cache.
const TOGETHER: usize = 2048;
/// And are at most so many.
const GROUP: usize = 64;

/// w·x, in a fixed order that depends on the length alone: one record cannot change another's score by a rounding.
#[inline(always)]
pub fn score(row: &[f64], parameters: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (rows, rest) = row.as_chunks::<LANES>();
    let (w, last) = parameters.as_chunks::<LANES>();
    for (x, w) in rows.iter().zip(w) {
        for k in 0..LANES {
            sums[k] += x[k] * w[k];
        }
    }
    for (sum, (x, w)) in sums.iter_mut().zip(rest.iter().zip(last)) {
        *sum += x * w;
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}

/// N rows, and what of each fills registers.
#[inline(always)]
fn eights<const N: usize>(cells: &[f64], columns: usize) -> ([&[Eight]; N], [&[f64]; N]) {
    let (mut chunks, mut rows): ([&[Eight]; N], [&[f64]; N]) = ([&[]; N], [&[]; N]);
    for r in 0..N {
        rows[r] = &cells[r * columns..(r + 1) * columns];
        // All are as long: the compiler shall see it.
        chunks[r] = &rows[r].as_chunks().0[..columns / LANES];
    }
    (chunks, rows)
}

/// `scale`·w·x, cut off at ±`bound` (which rounding could exceed).
#[derive(Clone, Copy)]
struct Scoring<'a> {
    features: &'a [f64],
    w: &'a [f64],
    scale: f64,
    bound: f64,
}

impl Scoring<'_> {
    /// The scores of some records.
    #[inline(always)]
    fn fill<R: Registers>(&self, registers: R, range: Range<usize>, out: &mut [f64]) {
        let columns = self.w.len();
        let cells = &self.features[range.start * columns..range.end * columns];
        let (eights, few) = out.as_chunks_mut::<LANES>();
        let (rows, rest) = cells.split_at(eights.len() * LANES * columns);
        for (scores, rows) in eights.iter_mut().zip(rows.chunks_exact(LANES * columns)) {
            *scores = registers.store(self.cut_off(registers, self.eight(registers, rows)));
        }
        for (out, row) in few.iter_mut().zip(rest.chunks_exact(columns)) {
            let one = registers.all(score(row, self.w));
            [*out, ..] = registers.store(self.cut_off(registers, one));
        }
    }

    /// Eight scores, each as [`score`] computes it: zeros next to a row's last cells change no sum, for no sum is −0.
    #[inline(always)]
    fn eight<R: Registers>(&self, registers: R, rows: &[f64]) -> R::Lanes {
        let (w, last) = self.w.as_chunks::<LANES>();
        let (chunks, rows) = eights::<LANES>(rows, self.w.len());
        let mut sums = [registers.all(0.0); LANES];
        for k in 0..w.len() {
            let w = registers.load(w[k]);
            for r in 0..LANES {
                sums[r] = registers.add(sums[r], registers.times(registers.load(chunks[r][k]), w));
            }
        }
        if !last.is_empty() {
            let (w, shift) = (registers.partial(last), registers.shift(last.len()));
            for r in 0..LANES {
                sums[r] = registers.add(sums[r], registers.times(lanes::rest(registers, rows[r], shift), w));
            }
        }
        registers.sums(sums)
    }

    #[inline(always)]
    fn cut_off<R: Registers>(&self, registers: R, scores: R::Lanes) -> R::Lanes {
        let scores = registers.times(registers.all(self.scale), scores);
        // Infinite parameters times features of both signs are no number, which is neither more nor less than one.
        let zero = registers.all(0.0);
        let above = registers.smaller(registers.larger(scores, zero), registers.all(self.bound));
        let below = registers.larger(registers.smaller(scores, zero), registers.all(-self.bound));
        registers.add(above, below)
    }
}

fn together(columns: usize) -> usize {
    (TOGETHER / columns.max(1)).next_multiple_of(LANES).clamp(LANES, GROUP)
}

/// A range in steps of so many.
#[inline(always)]
fn steps(range: Range<usize>, step: usize) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(step).map(move |start| start..range.end.min(start + step))
}

/// The scores of all records.
pub(crate) fn scores(
    records: &Records,
    parameters: &[f64],
    (scale, bound): (f64, f64),
    room: Vec<f64>,
    par: Par,
) -> Vec<f64> {
    let mut scores = if room.len() == records.len() { room } else { vec![0.0; records.len()] };
    let scoring = Scoring { features: records.features(), w: parameters, scale, bound };
    blocks::fill(&mut scores, par, |range, out| lanes::dispatch(Fill { scoring, range, out }));
    scores
}

/// The scores of a block of rows.
struct Fill<'a> {
    scoring: Scoring<'a>,
    range: Range<usize>,
    out: &'a mut [f64],
}

impl Work for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, registers: R) {
        self.scoring.fill(registers, self.range, self.out);
    }
}

/// What rows are weighted with.
pub(super) trait Weigh: Sync {
    /// Fills in the weights of some rows; to be inlined.
    fn weigh<R: Registers>(&self, registers: R, range: Range<usize>, out: &mut [f64]);
}

impl<F: Fn(Range<usize>, &mut [f64]) + Sync> Weigh for F {
    #[inline(always)]
    fn weigh<R: Registers>(&self, _: R, range: Range<usize>, out: &mut [f64]) {
        self(range, out);
    }
}

/// Σ weight(i)·x_i in steps of `grid`, each as often as its record counts.
pub(super) fn weighted_sum(records: &Records, grid: Grid, weights: &impl Weigh, par: Par) -> Vec<i128> {
    let columns = records.columns();
    let parts = blocks::map(records.len(), par, |range| {
        let mut total = vec![0; columns];
        let mut few = vec![[0; LANES]; columns.div_ceil(LANES)];
        for (piece, counts) in records.strata().pieces(range, FEW) {
            lanes::dispatch(AddRows {
                features: records.features(),
                columns,
                grid,
                weights,
                piece,
                out: &mut few,
            });
            exact::flush(&mut total, &mut few.as_flattened_mut()[..columns], counts);
            few.fill([0; LANES]);
        }
        total
    });
    let mut totals = vec![0; columns];
    parts.iter().for_each(|part| exact::add(&mut totals, part));
    totals
}

/// Adds weighted rows to a sum.
struct AddRows<'a, W> {
    features: &'a [f64],
    columns: usize,
    grid: Grid,
    weights: &'a W,
    piece: Range<usize>,
    out: &'a mut [[i64; LANES]],
}

impl<W: Weigh> Work for AddRows<'_, W> {
    type Output = ();

    /// Offsets are taken off at the end: whole numbers that overflow on the way come back.
    #[inline(always)]
    fn run<R: Registers>(self, registers: R) {
        let Self { features, columns, grid, weights, piece, out } = self;
        let mut room = [0.0; GROUP];
        let rows = piece.len();
        for group in steps(piece, together(columns)) {
            let weight = &mut room[..group.len()];
            weights.weigh(registers, group.clone(), weight);
            let cells = &features[group.start * columns..group.end * columns];
            let (eights, few) = weight.as_chunks::<LANES>();
            let (first, rest) = cells.split_at(eights.len() * LANES * columns);
            for (weight, cells) in eights.iter().zip(first.chunks_exact(LANES * columns)) {
                add_rows(registers, grid, weight, cells, columns, out);
            }
            for (weight, cells) in few.iter().zip(rest.chunks_exact(columns)) {
                add_rows(registers, grid, &[*weight], cells, columns, out);
            }
        }
        let offsets = grid.offset().wrapping_mul(rows.cast_signed() as i64);
        out.as_flattened_mut().iter_mut().for_each(|sum| *sum = sum.wrapping_sub(offsets));
    }
}

#[inline(always)]
fn add_rows<R: Registers, const N: usize>(
    registers: R,
    grid: Grid,
    weights: &[f64; N],
    cells: &[f64],
    columns: usize,
    out: &mut [[i64; LANES]],
) {
    let (whole, magic) = (columns / LANES, registers.all(grid.magic()));
    let (chunks, rows) = eights::<N>(cells, columns);
    let mut weight = [magic; N];
    for r in 0..N {
        weight[r] = registers.all(weights[r]);
    }
    for (k, sums) in out[..whole].iter_mut().enumerate() {
        let mut sum = registers.load_whole(*sums);
        for r in 0..N {
            let term = registers.times(weight[r], registers.load(chunks[r][k]));
            sum = registers.add_bits(sum, registers.add(term, magic));
        }
        *sums = registers.store_whole(sum);
    }
    // Zeros beyond the last cell end in sums that nobody reads.
    if let Some(sums) = out.get_mut(whole) {
        let (mut sum, shift) = (registers.load_whole(*sums), registers.shift(columns % LANES));
        for r in 0..N {
            let term = registers.times(weight[r], lanes::rest(registers, rows[r], shift));
            sum = registers.add_bits(sum, registers.add(term, magic));
        }
        *sums = registers.store_whole(sum);
    }
}
