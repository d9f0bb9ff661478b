//! Eight numbers side by side, as the widest vector registers hold them, and the one thing that a compiler does badly by itself:
//! moving numbers across registers. Everything else is written as plain loops over eight lanes.
//!
//! Loops, not `map` or `from_fn`: their closures need not be inlined, and are compiled for plain registers if they are not.
//! No operation is fused and no sum is put into another order, so results are the same on every machine.

use pulp::{Arch, NullaryFnOnce};

/// As many as the widest registers hold.
pub(super) const LANES: usize = 8;
/// A register.
pub(super) type Eight = [f64; LANES];

/// The registers of a machine.
pub(super) trait Registers: Copy {
    /// Rows as columns.
    fn transposed(self, rows: [Eight; LANES]) -> [Eight; LANES];

    /// ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)) of the lanes of each row.
    fn sums(self, rows: [Eight; LANES]) -> Eight;

    /// Fewer than eight numbers, and zeros.
    fn partial(self, cells: &[f64]) -> Eight;
}

/// Work that is compiled for the registers of each kind of machine. A type rather than a closure, because only then is the body
/// sure to be inlined into the function that is compiled for them.
pub(super) trait Work {
    /// What comes of it.
    type Output;

    /// The work; to be inlined.
    fn run<R: Registers>(self, registers: R) -> Self::Output;
}

/// Does some work with the widest registers that there are.
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    match Arch::new() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(registers) => registers.vectorize(With { work, registers }),
        arch => arch.dispatch(With { work, registers: Plain }),
    }
}

struct With<W, R> {
    work: W,
    registers: R,
}

impl<W: Work, R: Registers> NullaryFnOnce for With<W, R> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.work.run(self.registers)
    }
}

/// Whatever the compiler makes of arrays.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Registers for Plain {
    #[inline(always)]
    fn transposed(self, rows: [Eight; LANES]) -> [Eight; LANES] {
        let mut columns = [[0.0; LANES]; LANES];
        for k in 0..LANES {
            for r in 0..LANES {
                columns[k][r] = rows[r][k];
            }
        }
        columns
    }

    #[inline(always)]
    fn sums(self, rows: [Eight; LANES]) -> Eight {
        let mut sums = [0.0; LANES];
        for (sum, s) in sums.iter_mut().zip(&rows) {
            *sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        }
        sums
    }

    #[inline(always)]
    fn partial(self, cells: &[f64]) -> Eight {
        let mut padded = [0.0; LANES];
        padded.iter_mut().zip(cells).for_each(|(lane, cell)| *lane = *cell);
        padded
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Eight, LANES, Registers};
    use pulp::Simd;
    use pulp::core_arch::x86::Avx512f;
    use pulp::x86::V4;
    use std::arch::x86_64::__m512d;

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
        #[inline(always)]
        fn transposed(self, rows: [Eight; LANES]) -> [Eight; LANES] {
            let f = self.avx512f;
            let [a, b, c, d, e, g, h, i]: [__m512d; LANES] = pulp::cast(rows);
            let lower = [
                f._mm512_unpacklo_pd(a, b),
                f._mm512_unpacklo_pd(c, d),
                f._mm512_unpacklo_pd(e, g),
                f._mm512_unpacklo_pd(h, i),
            ];
            let upper = [
                f._mm512_unpackhi_pd(a, b),
                f._mm512_unpackhi_pd(c, d),
                f._mm512_unpackhi_pd(e, g),
                f._mm512_unpackhi_pd(h, i),
            ];
            let ([k0, k2, k4, k6], [k1, k3, k5, k7]) = (columns(f, lower), columns(f, upper));
            pulp::cast([k0, k1, k2, k3, k4, k5, k6, k7])
        }

        #[inline(always)]
        fn sums(self, rows: [Eight; LANES]) -> Eight {
            let f = self.avx512f;
            let [a, b, c, d, e, g, h, i]: [__m512d; LANES] = pulp::cast(rows);
            let first = neighbours(f, halves(f, a, c), halves(f, b, d));
            let second = neighbours(f, halves(f, e, h), halves(f, g, i));
            pulp::cast(f._mm512_add_pd(even(f, first, second), odd(f, first, second)))
        }

        #[inline(always)]
        fn partial(self, cells: &[f64]) -> Eight {
            pulp::cast(Simd::partial_load_f64s(self, cells))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a machine's registers give.
    struct Given([Eight; LANES]);

    impl Work for Given {
        type Output = ([Eight; LANES], Eight, Vec<Eight>);

        #[inline(always)]
        fn run<R: Registers>(self, registers: R) -> Self::Output {
            let partial = (0..LANES).map(|length| registers.partial(&self.0[1][..length])).collect();
            (registers.transposed(self.0), registers.sums(self.0), partial)
        }
    }

    #[test]
    fn wide_registers_give_what_plain_arrays_do() {
        let rows: [Eight; LANES] =
            std::array::from_fn(|r| std::array::from_fn(|k| ((r * 8 + k) as f64 * 0.7).sin().exp2() / 3.0));
        assert_eq!(dispatch(Given(rows)), Given(rows).run(Plain));
        assert_eq!(Plain.transposed(rows)[2][5].to_bits(), rows[5][2].to_bits());
        assert_eq!(Plain.partial(&rows[0][..2]), [rows[0][0], rows[0][1], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
