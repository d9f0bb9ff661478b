//! Registers of 512 bits. Every function is one instruction, or a few that move numbers about.

use super::{Eight, LANES, Registers};
use pulp::Simd;
use pulp::core_arch::x86::Avx512f;
use pulp::x86::V4;
use std::arch::x86_64::{__m512d, __m512i, _CMP_GT_OQ, _CMP_LT_OQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEG_INF};

/// Quarters 0 and 2 of one register and of another; and quarters 1 and 3.
const EVEN: i32 = 0b10_00_10_00;
const ODD: i32 = 0b11_01_11_01;
/// The lower halves of two registers, and the upper ones.
const LOWER: i32 = 0b01_00_01_00;
const UPPER: i32 = 0b11_10_11_10;

// Functions rather than closures, which would not be compiled for these registers.

#[inline(always)]
fn even(f: Avx512f, a: __m512d, b: __m512d) -> __m512d {
    f._mm512_shuffle_f64x2::<EVEN>(a, b)
}

#[inline(always)]
fn odd(f: Avx512f, a: __m512d, b: __m512d) -> __m512d {
    f._mm512_shuffle_f64x2::<ODD>(a, b)
}

/// The columns 0, 2, 4 and 6 from pairs of neighbours in them, or the others.
#[inline(always)]
fn columns(f: Avx512f, [a, b, c, d]: [__m512d; 4]) -> [__m512d; 4] {
    let (ab, cd, ab_odd, cd_odd) = (even(f, a, b), even(f, c, d), odd(f, a, b), odd(f, c, d));
    [even(f, ab, cd), even(f, ab_odd, cd_odd), odd(f, ab, cd), odd(f, ab_odd, cd_odd)]
}

/// The four sums of two lanes of one row, and those of another.
#[inline(always)]
fn halves(f: Avx512f, a: __m512d, b: __m512d) -> __m512d {
    f._mm512_add_pd(f._mm512_shuffle_f64x2::<LOWER>(a, b), f._mm512_shuffle_f64x2::<UPPER>(a, b))
}

/// Sums of neighbours in two registers.
#[inline(always)]
fn neighbours(f: Avx512f, a: __m512d, b: __m512d) -> __m512d {
    f._mm512_add_pd(f._mm512_unpacklo_pd(a, b), f._mm512_unpackhi_pd(a, b))
}

/// Each quarter of a register is a pair of numbers. Shuffles take two registers and work on quarters.
impl Registers for V4 {
    type Lanes = __m512d;
    type Whole = __m512i;

    #[inline(always)]
    fn load(self, numbers: Eight) -> __m512d {
        pulp::cast(numbers)
    }

    #[inline(always)]
    fn store(self, lanes: __m512d) -> Eight {
        pulp::cast(lanes)
    }

    #[inline(always)]
    fn all(self, number: f64) -> __m512d {
        self.avx512f._mm512_set1_pd(number)
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_add_pd(a, b)
    }

    #[inline(always)]
    fn less(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_sub_pd(a, b)
    }

    #[inline(always)]
    fn times(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_mul_pd(a, b)
    }

    #[inline(always)]
    fn floor(self, a: __m512d) -> __m512d {
        self.avx512f._mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a)
    }

    #[inline(always)]
    fn smaller(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_min_pd(a, b)
    }

    #[inline(always)]
    fn larger(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_max_pd(a, b)
    }

    #[inline(always)]
    fn if_positive(self, a: __m512d, yes: __m512d, no: __m512d) -> __m512d {
        let f = self.avx512f;
        f._mm512_mask_blend_pd(f._mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, f._mm512_setzero_pd()), no, yes)
    }

    #[inline(always)]
    fn count(self, x: __m512d, y: __m512d, gap: __m512d) -> usize {
        let f = self.avx512f;
        f._mm512_cmp_pd_mask::<_CMP_LT_OQ>(f._mm512_sub_pd(x, y), gap).count_ones() as usize
    }

    #[inline(always)]
    fn load_whole(self, numbers: [i64; LANES]) -> __m512i {
        pulp::cast(numbers)
    }

    #[inline(always)]
    fn store_whole(self, whole: __m512i) -> [i64; LANES] {
        pulp::cast(whole)
    }

    #[inline(always)]
    fn add_bits(self, sums: __m512i, a: __m512d) -> __m512i {
        self.avx512f._mm512_add_epi64(sums, self.avx512f._mm512_castpd_si512(a))
    }

    #[inline(always)]
    fn transposed(self, rows: [__m512d; LANES]) -> [__m512d; LANES] {
        let f = self.avx512f;
        let lower = [
            f._mm512_unpacklo_pd(rows[0], rows[1]),
            f._mm512_unpacklo_pd(rows[2], rows[3]),
            f._mm512_unpacklo_pd(rows[4], rows[5]),
            f._mm512_unpacklo_pd(rows[6], rows[7]),
        ];
        let upper = [
            f._mm512_unpackhi_pd(rows[0], rows[1]),
            f._mm512_unpackhi_pd(rows[2], rows[3]),
            f._mm512_unpackhi_pd(rows[4], rows[5]),
            f._mm512_unpackhi_pd(rows[6], rows[7]),
        ];
        let ([k0, k2, k4, k6], [k1, k3, k5, k7]) = (columns(f, lower), columns(f, upper));
        [k0, k1, k2, k3, k4, k5, k6, k7]
    }

    #[inline(always)]
    fn sums(self, rows: [__m512d; LANES]) -> __m512d {
        let f = self.avx512f;
        let first = neighbours(f, halves(f, rows[0], rows[2]), halves(f, rows[1], rows[3]));
        let second = neighbours(f, halves(f, rows[4], rows[6]), halves(f, rows[5], rows[7]));
        f._mm512_add_pd(even(f, first, second), odd(f, first, second))
    }

    #[inline(always)]
    fn partial(self, cells: &[f64]) -> __m512d {
        pulp::cast(Simd::partial_load_f64s(self, cells))
    }

    type Shift = (__m512i, u8);

    #[inline(always)]
    fn shift(self, last: usize) -> (__m512i, u8) {
        let mut from = [0_u64; LANES];
        for k in 0..LANES {
            from[k] = ((LANES - last + k) % LANES) as u64;
        }
        (pulp::cast(from), !(u8::MAX << last))
    }

    #[inline(always)]
    fn last(self, a: __m512d, (from, kept): (__m512i, u8)) -> __m512d {
        self.avx512f._mm512_maskz_permutexvar_pd(kept, from, a)
    }
}
