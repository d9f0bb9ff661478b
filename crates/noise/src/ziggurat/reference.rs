//! The same sampler once more, slowly: every quantity to 320 digits with arbitrary-precision integers.
//!
//! It shares with the fast sampler what defines the law and the use of words: the widths, thresholds and area of the
//! tables, and the rule when further digits are drawn. Everything else is derived here: heights, the start and
//! scale of the tail, exponentials (by halving and squaring, without tables) and products.

use super::tables::{AREA, LAYERS, POSITION_BITS, STRIP_WIDTH};
use crate::source::Source;
use num_bigint::BigUint;

/// Binary digits after the point.
pub(super) const DIGITS: u64 = 320;
/// Errors of all that is computed here stay below 2^−DIGITS·2^GUARD.
const GUARD: u64 = 40;

pub(super) fn one() -> BigUint {
    BigUint::from(1_u8) << DIGITS
}

/// An integer in units of 2^−scale as a number with [`DIGITS`].
pub(super) fn real(value: impl Into<BigUint>, scale: u64) -> BigUint {
    value.into() << (DIGITS - scale)
}

pub(super) fn product(a: &BigUint, b: &BigUint) -> BigUint {
    (a * b) >> DIGITS
}

/// exp(−y): the series at y/2⁶⁴, squared 64 times, with 128 digits to spare.
pub(super) fn exp_negative(y: &BigUint) -> BigUint {
    const SPARE: u64 = 128;
    const HALVINGS: u64 = 64;
    let work = DIGITS + SPARE;
    let unit = BigUint::from(1_u8) << work;
    let small = (y << SPARE) >> HALVINGS;
    // exp(+small), by adding positive terms; the reciprocal at the end.
    let (mut sum, mut term, mut n) = (unit.clone(), unit.clone(), 1_u32);
    while term > BigUint::ZERO {
        term = ((term * &small) >> work) / n;
        sum += &term;
        n += 1;
    }
    let mut power = (&unit << work) / sum;
    for _ in 0..HALVINGS {
        power = (&power * &power) >> work;
    }
    power >> SPARE
}

/// How often each path was taken.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) fast: usize,
    pub(super) extended: usize,
    pub(super) wedge_accepted: usize,
    pub(super) wedge_rejected: usize,
    pub(super) tail_accepted: usize,
    pub(super) tail_rejected: usize,
    pub(super) beyond_first_strip: usize,
}

/// The ideal ziggurat and the words it reads.
pub(super) struct Reference<S> {
    pub(super) source: S,
    pub(super) counts: Counts,
    /// F_i.
    pub(super) heights: Vec<BigUint>,
    /// R.
    pub(super) tail_start: BigUint,
    /// c·f(R) = h₀, the height of the first strip.
    pub(super) strip_height: BigUint,
}

/// An accepted x = start + width·u, with the digits of u drawn so far.
struct Found {
    start: BigUint,
    width: u64,
    position: u64,
    more: Option<u64>,
}

impl<S: Source> Reference<S> {
    pub(super) fn new(source: S) -> Self {
        let width = |i: usize| real(LAYERS[i].width, 60);
        let area = real(AREA, 120);
        let mut heights = vec![BigUint::ZERO];
        for i in 0..LAYERS.len() {
            let height = &heights[i] + (&area << DIGITS) / width(i);
            heights.push(height);
        }
        let tail_start = product(&width(0), &real(LAYERS[0].certain, 64));
        let right_of_it = product(&heights[1], &(width(0) - &tail_start));
        let strip_height = (right_of_it << DIGITS) / (real(STRIP_WIDTH, 60) * 2_u8);
        Self { source, counts: Counts::default(), heights, tail_start, strip_height }
    }

    /// One sample of round(S·Z), 16·S = `sixteenths`.
    pub(super) fn draw(&mut self, sixteenths: u64) -> i64 {
        loop {
            let word = self.source.next_word();
            let (layer, digits) = ((word % 512) as usize, (word >> 9) % (1 << 54));
            let found = if digits << 10 < LAYERS[layer].certain {
                Some(Found { start: BigUint::ZERO, width: LAYERS[layer].width, position: digits, more: None })
            } else if layer == 0 {
                self.tail()
            } else {
                self.wedge(layer, digits)
            };
            if let Some(found) = found {
                let magnitude = self.round(found, sixteenths);
                return if word >> 63 == 1 { -magnitude } else { magnitude };
            }
        }
    }

    /// Whether U·span + foot < curve, with 128 digits of U from the source. Refuses to answer if it is too close.
    fn under(&mut self, foot: &BigUint, span: &BigUint, curve: &BigUint) -> bool {
        let uniform = self.digits(2);
        let height = foot + product(&real(uniform, 128), span);
        let gap = if height < *curve { curve - &height } else { &height - curve };
        assert!(gap > BigUint::from(1_u8) << GUARD, "too close to call");
        height < *curve
    }

    fn digits(&mut self, words: usize) -> BigUint {
        (0..words).fold(BigUint::ZERO, |sum, _| (sum << 64) + self.source.next_word())
    }

    fn wedge(&mut self, layer: usize, position: u64) -> Option<Found> {
        let width = LAYERS[layer].width;
        let more = self.source.next_word();
        let u = real((BigUint::from(position) << 64) + more, 118);
        let x = product(&real(width, 60), &u);
        let curve = exp_negative(&(product(&x, &x) >> 1));
        let (foot, span) = (self.heights[layer].clone(), &self.heights[layer + 1] - &self.heights[layer]);
        if self.under(&foot, &span, &curve) {
            self.counts.wedge_accepted += 1;
            Some(Found { start: BigUint::ZERO, width, position, more: Some(more) })
        } else {
            self.counts.wedge_rejected += 1;
            None
        }
    }

    fn tail(&mut self) -> Option<Found> {
        let strip = (64 - self.digits(1).bits()).min(63);
        let position = self.source.next_word() >> 10;
        let more = self.source.next_word();
        let u = real((BigUint::from(position) << 64) + more, 118);
        let width = real(STRIP_WIDTH, 60);
        let start = &self.tail_start + &width * strip;
        let x = &start + product(&width, &u);
        let curve = exp_negative(&(product(&x, &x) >> 1));
        let span = &self.strip_height >> strip;
        if self.under(&BigUint::ZERO, &span, &curve) {
            self.counts.tail_accepted += 1;
            self.counts.beyond_first_strip += usize::from(strip > 0);
            Some(Found { start, width: STRIP_WIDTH, position, more: Some(more) })
        } else {
            self.counts.tail_rejected += 1;
            None
        }
    }

    /// round(S·x): from 54 digits if they leave room, else from 182, all products exact.
    fn round(&mut self, found: Found, sixteenths: u64) -> i64 {
        let Found { start, width, position, more } = found;
        let integer = |position: BigUint, digits: u64| {
            // S·x + 1/2, with 2^-(60+digits+4) as the unit of width·position·sixteenths.
            let steps = &start * sixteenths;
            let total = (steps << (60 + digits)) + ((position * width * sixteenths) << DIGITS);
            (total + (BigUint::from(1_u8) << (DIGITS + 63 + digits))) >> (DIGITS + 64 + digits)
        };
        let plain = start == BigUint::ZERO && more.is_none();
        if plain && !undecided(width, position, sixteenths) {
            self.counts.fast += 1;
            let low = integer(BigUint::from(position), u64::from(POSITION_BITS));
            // All that x can still become: the digits to come are at most all ones.
            let high = integer((BigUint::from(position) << 128) + u128::MAX, u64::from(POSITION_BITS) + 128);
            assert_eq!(low, high, "the digits to come cannot matter");
            return to_i64(&low);
        }
        self.counts.extended += usize::from(plain);
        let more = more.unwrap_or_else(|| self.source.next_word());
        let digits = (((BigUint::from(position) << 64) + more) << 64) + self.source.next_word();
        to_i64(&integer(digits, u64::from(POSITION_BITS) + 128))
    }
}

/// The rule for drawing further digits: S·x + 1/2 is within 514·16·S·2⁻⁶⁴ below an integer, x cut to 60 digits.
fn undecided(width: u64, position: u64, sixteenths: u64) -> bool {
    let x = (u128::from(width) * u128::from(position)) >> 54;
    let fraction = (BigUint::from(x) * sixteenths + (1_u64 << 63)) % (BigUint::from(1_u8) << 64);
    fraction + 514_u64 * sixteenths >= BigUint::from(1_u8) << 64
}

fn to_i64(value: &BigUint) -> i64 {
    i64::try_from(value).expect("below 2⁵⁰")
}
