//! Fixed blocks of rows: the same partial sums for any number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Whether blocks may run on several threads. The result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Par {
    /// On the calling thread.
    Sequential,
    /// On rayon's threads.
    #[default]
    Parallel,
}

/// Blocks are at least and at most this long, and about [`BLOCKS`] in number between.
const SHORTEST: usize = 1 << 10;
const LONGEST: usize = 1 << 17;
const BLOCKS: usize = 64;
/// Rows that are added up before their sum is added to the block's.
pub(crate) const SUB_BLOCK: usize = 512;

/// Rows in a block, from n alone.
fn length(n: usize) -> usize {
    n.div_ceil(BLOCKS).clamp(SHORTEST, LONGEST)
}

/// Applies `work` to every block and returns the results in order.
pub(crate) fn map<T: Send>(n: usize, par: Par, work: impl Fn(Range<usize>) -> T + Sync + Send) -> Vec<T> {
    let length = length(n);
    let block = |b: usize| work(b * length..n.min((b + 1) * length));
    let blocks = n.div_ceil(length);
    match par {
        Par::Sequential => (0..blocks).map(block).collect(),
        Par::Parallel => (0..blocks).into_par_iter().map(block).collect(),
    }
}

/// Fills `out` block by block.
pub(crate) fn fill(out: &mut [f64], par: Par, work: impl Fn(Range<usize>, &mut [f64]) + Sync + Send) {
    let length = length(out.len());
    let block = |(b, slice): (usize, &mut [f64])| work(b * length..b * length + slice.len(), slice);
    match par {
        Par::Sequential => out.chunks_mut(length).enumerate().for_each(block),
        Par::Parallel => out.par_chunks_mut(length).enumerate().for_each(block),
    }
}

/// Adds a vector to another.
#[inline(always)]
pub(crate) fn add(total: &mut [f64], part: &[f64]) {
    for (t, p) in total.iter_mut().zip(part) {
        *t += p;
    }
}
