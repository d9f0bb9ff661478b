//! Two products of matrices with a fixed order of additions.
//!
//! Every entry adds up its products one after the other, each by one fused operation, whatever tile it falls into: a row's image is a
//! function of the row alone, not of its place or its neighbours, and the same on every machine. A library's product is not: it sums in
//! the order that suits the tile, and a row at the edge of a batch comes out different in the last bit.

use pulp::{Simd, WithSimd};

/// Rows of a tile.
const ROWS: usize = 8;
/// Entries of a row of a tile: as many as a register has, or two.
pub(super) const LANES: usize = 8;

/// A whole number of registers.
pub(super) fn padded(length: usize) -> usize {
    length.div_ceil(LANES) * LANES
}

/// `out` (rows × `width`) = `x` (rows × `depth`) times `w` (`depth` × `width`). Rows and widths are whole tiles.
#[inline(always)]
pub(super) fn images(x: &[f64], depth: usize, w: &[f64], width: usize, out: &mut [f64]) {
    for (x, out) in x.chunks_exact(ROWS * depth).zip(out.chunks_exact_mut(ROWS * width)) {
        for from in (0..width).step_by(LANES) {
            let mut sums = [[0.0; LANES]; ROWS];
            for (k, line) in w.chunks_exact(width).enumerate() {
                let line: &[f64; LANES] = lanes(&line[from..]);
                for (sum, row) in sums.iter_mut().zip(x.chunks_exact(depth)) {
                    let factor = row[k];
                    for (sum, entry) in sum.iter_mut().zip(line) {
                        *sum = factor.mul_add(*entry, *sum);
                    }
                }
            }
            for (sum, row) in sums.iter().zip(out.chunks_exact_mut(width)) {
                row[from..from + LANES].copy_from_slice(sum);
            }
        }
    }
}

/// The image of one row: the same bits.
#[inline(always)]
pub(super) fn image(x: &[f64], w: &[f64], width: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (factor, line) in x.iter().zip(w.chunks_exact(width)) {
        for (sum, entry) in out.iter_mut().zip(line) {
            *sum = factor.mul_add(*entry, *sum);
        }
    }
}

/// `out` (`height` × `width`) = `a` (rows × `height`) transposed times `x` (rows × `width`), in the order of rows. With registers by
/// name, as a compiler left to itself takes the factors of a tile for the lanes.
pub(super) struct Products<'a> {
    pub(super) a: &'a [f64],
    pub(super) height: usize,
    pub(super) x: &'a [f64],
    pub(super) width: usize,
    pub(super) out: &'a mut [f64],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { a, height, x, width, out } = self;
        for (tile, out) in out.chunks_exact_mut(ROWS * width).enumerate() {
            let top = tile * ROWS;
            for from in (0..width).step_by(S::F64_LANES) {
                let mut sums = [simd.splat_f64s(0.0); ROWS];
                for (a, x) in a.chunks_exact(height).zip(x.chunks_exact(width)) {
                    let line = simd.partial_load_f64s(&x[from..from + S::F64_LANES]);
                    let factors: &[f64; ROWS] = lanes(&a[top..]);
                    for (sum, factor) in sums.iter_mut().zip(factors) {
                        *sum = simd.mul_add_f64s(simd.splat_f64s(*factor), line, *sum);
                    }
                }
                for (sum, row) in sums.iter().zip(out.chunks_exact_mut(width)) {
                    simd.partial_store_f64s(&mut row[from..from + S::F64_LANES], *sum);
                }
            }
        }
    }
}

/// The first entries of a longer line.
#[inline(always)]
fn lanes<const N: usize>(line: &[f64]) -> &[f64; N] {
    line.first_chunk().unwrap_or_else(|| unreachable!("whole tiles"))
}
