use super::fixed_point::{self, multiply_high};
use super::reference::{Counts, Reference, exp_negative, one, product, real};
use super::tables::{
    EXPONENTIALS, HEIGHTS, INVERSE_LN_2, LN_2, RECIPROCALS, STRIP_HEIGHT, STRIP_WIDTH, TAIL_START,
};
use super::*;
use crate::Replay;
use crate::source::Unclaimed;
use crate::source::sealed::{Sealed, Stream};
use num_bigint::BigUint;
use std::collections::VecDeque;

/// Words of our choice, then those of a seed.
struct Scripted {
    script: VecDeque<u64>,
    rest: Replay,
}

impl Sealed for Scripted {}
impl Stream for Scripted {
    fn begin(&mut self) {}
    fn word(&mut self) -> u64 {
        self.script.pop_front().unwrap_or_else(|| self.rest.word())
    }
    fn peek(&mut self) -> &[u64] {
        if self.script.is_empty() { self.rest.peek() } else { self.script.make_contiguous() }
    }
    fn skip(&mut self, used: usize) {
        if self.script.is_empty() { self.rest.skip(used) } else { drop(self.script.drain(..used)) }
    }
}
impl Source for Scripted {
    type Claim = Unclaimed;
    fn split(&mut self) -> Self {
        Self { script: VecDeque::new(), rest: self.rest.split() }
    }
}

fn distance(a: &BigUint, b: &BigUint) -> BigUint {
    if a > b { a - b } else { b - a }
}

/// S = 1, 17/16, 100 7/16, then powers of two and numbers between them up to 2⁴⁶.
const SCALES: [u64; 10] =
    [16, 17, 1607, 16 << 10, 16 << 24, 16 << 30, 0x1_2345_6789_abcd, 16 << 40, (16 << 46) / 3, 16 << 46];

#[test]
fn samples_agree_bit_for_bit_with_the_reference() {
    const SAMPLES: usize = 120_000;
    let mut total = Counts::default();
    for (seed, sixteenths) in SCALES.into_iter().enumerate() {
        let mut samples = vec![0; SAMPLES];
        let scale = Scale::from_sixteenths(sixteenths).unwrap();
        fill_gaussian(&mut Replay::from_seed(seed as u64), scale, &mut samples);
        let mut reference = Reference::new(Replay::from_seed(seed as u64));
        for (i, sample) in samples.iter().enumerate() {
            assert_eq!(*sample, reference.draw(sixteenths), "sample {i} at S = {sixteenths}/16");
        }
        total.fast += reference.counts.fast;
        total.extended += reference.counts.extended;
        total.wedge_accepted += reference.counts.wedge_accepted;
        total.wedge_rejected += reference.counts.wedge_rejected;
        total.tail_accepted += reference.counts.tail_accepted;
        total.tail_rejected += reference.counts.tail_rejected;
        total.beyond_first_strip += reference.counts.beyond_first_strip;
    }
    println!("{total:?}");
    assert!(total.fast > 1_000_000 && total.extended > 3_000, "{total:?}");
    assert!(total.wedge_accepted > 3_000 && total.wedge_rejected > 3_000, "{total:?}");
    assert!(
        total.tail_accepted > 50 && total.tail_rejected > 10 && total.beyond_first_strip > 10,
        "{total:?}"
    );
}

/// Words at the ends of every layer and threshold, deep strips of the tail, and digits of all zeros or ones.
#[test]
fn extreme_words_agree_with_the_reference() {
    let nothing = Scripted { script: VecDeque::new(), rest: Replay::from_seed(0) };
    let mut reference = Reference::new(nothing);
    for sixteenths in SCALES {
        let scale = Scale::from_sixteenths(sixteenths).unwrap();
        for (layer, table) in LAYERS.iter().enumerate() {
            let threshold = table.certain >> 10;
            for position in [0, 1, threshold.saturating_sub(1), threshold, threshold + 1, (1 << 54) - 1] {
                let first = (layer as u64) | (position % (1 << 54)) << 9 | (position & 1) << 63;
                let (zeros, ones) = (layer as u64 % 61, u64::MAX);
                // For the tail: a strip, a position, more digits and the height; for a wedge: digits and the height.
                for script in
                    [vec![first], vec![first, ones >> zeros, ones, ones, 0, 0, ones], vec![first, 0, 0, 0, 0]]
                {
                    let script = VecDeque::from(script);
                    let scripted = || Scripted { script: script.clone(), rest: Replay::from_seed(position) };
                    reference.source = scripted();
                    assert_eq!(draw(&mut scripted(), scale), reference.draw(sixteenths), "{script:x?}");
                }
            }
        }
    }
    // The tail: every strip, low and high positions, heights that are accepted.
    let into_tail = u64::MAX - 511 - (1 << 63);
    for strip in 0..=64 {
        let zeros = if strip == 64 { 0 } else { u64::MAX >> strip };
        for (position, height) in [(0, 0), (u64::MAX, 0), (1 << 63, 1 << 40), (u64::MAX / 3, 1 << 63)] {
            let script = VecDeque::from([into_tail, zeros, position, position, height, 0]);
            for sixteenths in SCALES {
                let scripted = || Scripted { script: script.clone(), rest: Replay::from_seed(strip) };
                reference.source = scripted();
                let scale = Scale::from_sixteenths(sixteenths).unwrap();
                assert_eq!(draw(&mut scripted(), scale), reference.draw(sixteenths), "{script:x?}");
            }
        }
    }
    let counts = reference.counts;
    assert!(
        counts.extended > 50 && counts.wedge_accepted > 10_000 && counts.wedge_rejected > 10_000,
        "{counts:?}"
    );
    assert!(counts.tail_accepted > 1000 && counts.beyond_first_strip > 1000, "{counts:?}");
}

/// Beyond 6σ there are two samples in a thousand million, so we go there directly: a word that starts with twelve
/// zeros chooses the strips beyond R + 12w ≈ 6.01, with the odds between them that they have anyway. What is
/// accepted must then follow the normal law beyond that point, and be accepted as often as the areas say.
///
/// False alarm: 10⁻⁶ for the counts together (χ², Laurent and Massart's bound), 10⁻⁶ for the rate (5σ).
#[test]
fn the_tail_beyond_six_sigma_is_normal() {
    const PROPOSALS: u32 = 4_000_000;
    const EDGES: [f64; 8] = [6.1, 6.2, 6.35, 6.5, 6.7, 7.0, 7.3, f64::INFINITY];
    let mut source = Scripted { script: VecDeque::new(), rest: Replay::from_seed(66) };
    let scale = Scale::power_of_two(30).unwrap();
    let mut counts = [0_u32; EDGES.len()];
    for _ in 0..PROPOSALS {
        let word = source.rest.word() >> 12;
        source.script.push_back(word);
        if let Some(point) = tail::propose(&mut source) {
            let x = point.round(&mut source, scale) as f64 / f64::from(1 << 30);
            counts[EDGES.iter().position(|edge| x < *edge).unwrap()] += 1;
        }
    }
    let start = TAIL_START as f64 / f64::powi(2.0, 120) + 12.0 * STRIP_WIDTH as f64 / f64::powi(2.0, 60);
    assert!(start > 6.0);
    // P(Z > x), unnormalised: the area under f.
    let area = |x: f64| libm::erfc(x / std::f64::consts::SQRT_2) * (std::f64::consts::PI / 2.0).sqrt();
    let accepted: u32 = counts.iter().sum();
    let mut lower = start;
    let mut statistic = 0.0;
    for (count, edge) in counts.iter().zip(EDGES) {
        let expected = f64::from(accepted) * (area(lower) - area(edge)) / area(start);
        assert!(expected > 8.0);
        statistic += (f64::from(*count) - expected).powi(2) / expected;
        lower = edge;
    }
    let (freedom, x) = ((EDGES.len() - 1) as f64, 1e6_f64.ln());
    assert!(statistic < freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x, "χ² = {statistic} of {counts:?}");
    // The strips beyond the twelfth have an area of 2⁻¹² of all strips, 2·h₀·w.
    let height = STRIP_HEIGHT as f64 / f64::powi(2.0, 127)
        * (-(TAIL_START as f64 / f64::powi(2.0, 120)).powi(2) / 2.0).exp();
    let strips = 2.0 * height * STRIP_WIDTH as f64 / f64::powi(2.0, 60) * f64::powi(2.0, -12);
    let rate = area(start) / strips;
    let deviation = (f64::from(PROPOSALS) * rate * (1.0 - rate)).sqrt();
    assert!(
        (f64::from(accepted) - f64::from(PROPOSALS) * rate).abs() < 5.0 * deviation,
        "{accepted}, not {rate}"
    );
}

#[test]
fn exponentials_are_within_their_bound() {
    let mut source = Replay::from_seed(2);
    let mut arguments: Vec<u128> =
        vec![0, 1, (1 << 113) - 1, 1 << 113, LN_2 - 1, LN_2, LN_2 + 1, (1 << 127) - 1];
    for _ in 0..4000 {
        let y = u128::from(source.next_word()) << 64 | u128::from(source.next_word());
        arguments.extend([y >> 1, y >> 5, y >> 8, y >> 20, y >> 80]);
        let k = y % 126 + 1;
        arguments.extend([k * LN_2, k * LN_2 - 1, (y % (128 << 7)) << 113]);
    }
    let bound = one() >> 120;
    for y in arguments {
        let computed = real(fixed_point::exp_negative(y), 127);
        assert!(distance(&computed, &exp_negative(&real(y, 120))) < bound, "exp(-{y}/2^120)");
    }
}

#[test]
fn high_products_are_exact() {
    let mut source = Replay::from_seed(4);
    let mut number = || u128::from(source.next_word()) << 64 | u128::from(source.next_word());
    let mut numbers: Vec<u128> = (0..200).map(|_| number()).collect();
    numbers.extend([0, 1, u128::MAX, u128::MAX << 64, u128::from(u64::MAX)]);
    for a in &numbers {
        for b in &numbers {
            assert_eq!(BigUint::from(multiply_high(*a, *b)), (BigUint::from(*a) * *b) >> 128);
        }
    }
}

/// The inequalities that the proof needs, with the numbers of proofs/ziggurat.md and of the script.
#[test]
fn tables_satisfy_the_inequalities_of_the_proof() {
    let ideal = Reference::new(Replay::from_seed(0));
    let f = |x: &BigUint| exp_negative(&(product(x, x) >> 1));
    let slack = one() >> 250; // far above the error of `f`, far below every margin
    let n = LAYERS.len();
    for (i, layer) in LAYERS.iter().enumerate().skip(1) {
        let width = real(layer.width, 60);
        assert!(f(&width) <= &ideal.heights[i] - &slack, "(2) at layer {i}");
        let reach = product(&width, &real(layer.certain, 64));
        assert!(layer.certain == 0 || f(&reach) >= &ideal.heights[i + 1] + &slack, "(3) at layer {i}");
        assert!(&ideal.heights[i + 1] - &ideal.heights[i] >= one() >> 11, "(9) at layer {i}");
    }
    assert!(ideal.heights[n] > one(), "(4)");
    assert_eq!(real(TAIL_START, 120), ideal.tail_start, "(5)");
    // (6): F_1 − f(R) and the length of the seam are both tiny; F_1 > f(R − 2⁻⁵⁰) bounds the length.
    let height = &ideal.heights[1] - f(&ideal.tail_start);
    assert!(f(&(&ideal.tail_start - (one() >> 50))) > ideal.heights[1], "(6)");
    assert!(height < one() >> 60, "(6)");
    let ln_2 = LN_2;
    assert!(exp_negative(&real(ln_2, 120)) < (one() >> 1) + (one() >> 120));
    assert!(exp_negative(&real(ln_2, 120)) > (one() >> 1) - (one() >> 120));
    assert!(product(&ideal.tail_start, &real(STRIP_WIDTH, 60)) > real(ln_2 + 1, 120), "(7)");
    let c = (&ideal.strip_height << 320_u32) / f(&ideal.tail_start);
    assert!(c > one() && c < one() << 1, "(8)");
    // Rounded constants are within one unit.
    let near = |stored: u128, ideal: &BigUint| distance(&real(stored, 127), ideal) <= one() >> 127;
    assert!(near(STRIP_HEIGHT, &c));
    assert!(HEIGHTS.iter().zip(&ideal.heights).all(|(stored, ideal)| near(*stored, ideal)));
    for (j, stored) in EXPONENTIALS.iter().enumerate() {
        assert!(near(*stored, &exp_negative(&((one() * j) >> 7))));
    }
    for (n, stored) in (2_u128..).zip(RECIPROCALS) {
        assert_eq!(stored, u128::MAX / n);
    }
    let unit = product(&real(INVERSE_LN_2, 63), &real(LN_2, 120));
    assert!(unit <= one() && unit > one() - (one() >> 60));
}
