//! Eight numbers side by side, as the widest vector registers hold them, and the one thing that a compiler does badly by itself:
//! moving numbers across registers. Everything else is written as plain loops over eight lanes.
//!
//! Loops, not `map` or `from_fn`: their closures need not be inlined, and are compiled for plain registers if they are not.
//! No operation is fused and no sum is put into another order, so results are the same on every machine.

use pulp::{Arch, NullaryFnOnce};

/// As many as the widest registers hold.
pub(crate) const LANES: usize = 8;
/// A register.
pub(crate) type Eight = [f64; LANES];

/// The registers of a machine.
pub(crate) trait Registers: Copy {
    /// Eight numbers.
    type Lanes: Copy;
    /// Eight whole numbers.
    type Whole: Copy;

    fn load(self, numbers: Eight) -> Self::Lanes;
    fn store(self, lanes: Self::Lanes) -> Eight;
    fn all(self, number: f64) -> Self::Lanes;
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn less(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn times(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn floor(self, a: Self::Lanes) -> Self::Lanes;
    /// a where it is less than b, else b.
    fn smaller(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a where it is more than b, else b.
    fn larger(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `yes` where a number is positive, else `no`.
    fn if_positive(self, a: Self::Lanes, yes: Self::Lanes, no: Self::Lanes) -> Self::Lanes;

    /// How many x have x − y < gap.
    fn count(self, x: Self::Lanes, y: Self::Lanes, gap: Self::Lanes) -> usize;

    fn load_whole(self, numbers: [i64; LANES]) -> Self::Whole;
    fn store_whole(self, whole: Self::Whole) -> [i64; LANES];
    /// Adds the bits of numbers, wrapping around.
    fn add_bits(self, sums: Self::Whole, a: Self::Lanes) -> Self::Whole;

    /// Rows as columns.
    fn transposed(self, rows: [Self::Lanes; LANES]) -> [Self::Lanes; LANES];

    /// ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)) of the lanes of each row.
    fn sums(self, rows: [Self::Lanes; LANES]) -> Self::Lanes;

    /// Fewer than eight numbers, and zeros.
    fn partial(self, cells: &[f64]) -> Self::Lanes;

    /// What moves the last so many of eight numbers to the front.
    type Shift: Copy;
    fn shift(self, last: usize) -> Self::Shift;
    /// The last so many of eight numbers, and zeros.
    fn last(self, a: Self::Lanes, shift: Self::Shift) -> Self::Lanes;
}

/// The cells of a row beyond the last full register, and zeros.
#[inline(always)]
pub(crate) fn rest<R: Registers>(registers: R, row: &[f64], shift: R::Shift) -> R::Lanes {
    match row.last_chunk() {
        // Read with those before, which takes no mask.
        Some(last) => registers.last(registers.load(*last), shift),
        None => registers.partial(row),
    }
}

/// Work that is compiled for the registers of each kind of machine. A type rather than a closure, because only then is the body
/// sure to be inlined into the function that is compiled for them.
pub(crate) trait Work {
    /// What comes of it.
    type Output;

    /// The work; to be inlined.
    fn run<R: Registers>(self, registers: R) -> Self::Output;
}

/// Does some work with the widest registers that there are.
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
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
pub(crate) struct Plain;

#[inline(always)]
fn each(a: Eight, b: Eight, what: impl Fn(f64, f64) -> f64) -> Eight {
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        out[k] = what(a[k], b[k]);
    }
    out
}

impl Registers for Plain {
    type Lanes = Eight;
    type Whole = [i64; LANES];

    #[inline(always)]
    fn load(self, numbers: Eight) -> Eight {
        numbers
    }

    #[inline(always)]
    fn store(self, lanes: Eight) -> Eight {
        lanes
    }

    #[inline(always)]
    fn all(self, number: f64) -> Eight {
        [number; LANES]
    }

    #[inline(always)]
    fn add(self, a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn less(self, a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn times(self, a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn floor(self, a: Eight) -> Eight {
        each(a, a, |a, _| a.floor())
    }

    #[inline(always)]
    fn smaller(self, a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn larger(self, a: Eight, b: Eight) -> Eight {
        each(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn if_positive(self, a: Eight, yes: Eight, no: Eight) -> Eight {
        let mut out = no;
        for k in 0..LANES {
            out[k] = if a[k] > 0.0 { yes[k] } else { no[k] };
        }
        out
    }

    #[inline(always)]
    fn count(self, x: Eight, y: Eight, gap: Eight) -> usize {
        let mut count = 0;
        for k in 0..LANES {
            count += usize::from(x[k] - y[k] < gap[k]);
        }
        count
    }

    #[inline(always)]
    fn load_whole(self, numbers: [i64; LANES]) -> [i64; LANES] {
        numbers
    }

    #[inline(always)]
    fn store_whole(self, whole: [i64; LANES]) -> [i64; LANES] {
        whole
    }

    #[inline(always)]
    fn add_bits(self, mut sums: [i64; LANES], a: Eight) -> [i64; LANES] {
        for k in 0..LANES {
            sums[k] = sums[k].wrapping_add(a[k].to_bits().cast_signed());
        }
        sums
    }

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

    type Shift = usize;

    #[inline(always)]
    fn shift(self, last: usize) -> usize {
        last
    }

    #[inline(always)]
    fn last(self, a: Eight, last: usize) -> Eight {
        self.partial(&a[LANES - last..])
    }
}

#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(test)]
mod tests {
    use super::*;

    /// What a machine's registers give.
    struct Given([Eight; LANES]);

    impl Work for Given {
        type Output = (Vec<Eight>, [i64; LANES]);

        #[inline(always)]
        fn run<R: Registers>(self, r: R) -> Self::Output {
            let rows = self.0.map(|row| r.load(row));
            let [a, b, c, ..] = rows;
            let mut found: Vec<Eight> = (0..LANES).map(|end| r.store(r.partial(&self.0[1][..end]))).collect();
            found.extend(r.transposed(rows).map(|column| r.store(column)));
            let pairs = [r.add(a, b), r.less(a, b), r.times(a, b), r.smaller(a, b), r.larger(a, b)];
            found.extend(pairs.map(|lanes| r.store(lanes)));
            found.extend([r.sums(rows), r.floor(a), r.all(0.3), r.if_positive(a, b, c)].map(|l| r.store(l)));
            found.extend((0..LANES).map(|last| r.store(r.last(a, r.shift(last)))));
            found.push([r.count(a, b, c) as f64; LANES]);
            (found, r.store_whole(r.add_bits(r.load_whole([i64::MAX - 5; LANES]), a)))
        }
    }

    #[test]
    fn wide_registers_give_what_plain_arrays_do() {
        let rows: [Eight; LANES] =
            std::array::from_fn(|r| std::array::from_fn(|k| 9.0 * ((r * 8 + k) as f64 * 0.7).sin()));
        assert_eq!(dispatch(Given(rows)), Given(rows).run(Plain));
        assert_eq!(Plain.transposed(rows)[2][5].to_bits(), rows[5][2].to_bits());
        let two = Plain.partial(&rows[0][..2]).map(f64::to_bits);
        assert_eq!(two, [rows[0][0].to_bits(), rows[0][1].to_bits(), 0, 0, 0, 0, 0, 0]);
    }
}
