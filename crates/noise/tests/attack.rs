//! The floating-point attack: it reads the answer off naive noise, and learns nothing from ours.
//!
//! The answer is 0 or 1, the noise has σ = 1. Near 0 floats are finer than 2⁻⁵³, but 1 + z rounds to a multiple of
//! 2⁻⁵³ whenever it is at least 1/2 or so, and 1 + z near 0 keeps only the digits that z had near −1. So an output
//! that is no multiple of 2⁻⁵³ *proves* that the answer was 0. A private release may let that happen with
//! probability δ; naive noise does it in a quarter of all cases.
//!
//! Reference: Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012);
//! Haney et al., "Precision-based attacks and interval refining" (2022), for the sums of several floats.

use pairdp_noise::lattice::Lattice;
use pairdp_noise::{Replay, Source};

const TRIALS: usize = 200_000;

/// Whether the output proves that the answer was 0.
fn proves_zero(output: f64) -> bool {
    let scaled = output * f64::powi(2.0, 53);
    scaled.fract() != 0.0
}

/// A normal float by Box and Muller, as a library that does not care would draw it.
fn float_normal(source: &mut Replay) -> f64 {
    let mut uniform = || ((source.next_word() >> 11) as f64 + 0.5) * f64::powi(2.0, -53);
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

/// How often `mechanism` gives an answer away, for the answers 0 and 1.
fn attack(mut mechanism: impl FnMut(f64) -> f64) -> [f64; 2] {
    [0.0, 1.0]
        .map(|answer| (0..TRIALS).filter(|_| proves_zero(mechanism(answer))).count() as f64 / TRIALS as f64)
}

#[test]
fn naive_float_noise_gives_the_answer_away() {
    let mut source = Replay::from_seed(1);
    let [zero, one] = attack(|answer| answer + float_normal(&mut source));
    assert!(zero > 0.2 && one.to_bits() == 0, "{zero} {one}");
    // Adding several floats (Holohan and Braghin 2021) does not help.
    let mut sum = |n: usize| (0..n).map(|_| float_normal(&mut source)).sum::<f64>() / (n as f64).sqrt();
    let [zero, one] = attack(|answer| answer + sum(4));
    assert!(zero > 0.1 && one.to_bits() == 0, "{zero} {one}");
}

#[test]
fn lattice_noise_gives_nothing_away() {
    let lattice = Lattice::new(1.0, 30).unwrap();
    let mut source = Replay::from_seed(2);
    let rates = attack(|answer| lattice.release(&[answer], &lattice.draw(&mut source, 1))[0]);
    assert_eq!(rates.map(f64::to_bits), [0, 0]);
}

/// Whether `mechanism`, which sorts its output into 256 cells, sorts differently for the answers 0.1 and 1.7: two-sample
/// χ² with false alarm 10⁻⁶ (Laurent and Massart's bound).
fn tells_apart(mut mechanism: impl FnMut(f64) -> u64) -> bool {
    let mut counts = [[0_u32; 256]; 2];
    for (counts, answer) in counts.iter_mut().zip([0.1, 1.7]) {
        for _ in 0..4 * TRIALS {
            counts[usize::try_from(mechanism(answer) % 256).expect("a cell")] += 1;
        }
    }
    let (mut statistic, mut freedom) = (0.0, -1.0);
    for (a, b) in counts[0].iter().zip(&counts[1]) {
        if a + b >= 20 {
            statistic += (f64::from(*a) - f64::from(*b)).powi(2) / f64::from(a + b);
            freedom += 1.0;
        }
    }
    let x = 1e6_f64.ln();
    statistic > freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x
}

/// Not just one event: with a σ and answers that are no powers of two, the low-order bits have the same law under
/// both answers. Ours are those of the integer that an attacker finds by dividing by the public step; the output is
/// a function of it.
#[test]
fn low_order_bits_say_nothing() {
    let lattice = Lattice::new(0.37, 30).unwrap();
    let mut source = Replay::from_seed(3);
    assert!(!tells_apart(|answer| {
        let released = lattice.release(&[answer], &lattice.draw(&mut source, 1))[0];
        let integer = (released / lattice.step()).round();
        assert_eq!((integer * lattice.step()).to_bits(), released.to_bits(), "a lattice point");
        #[expect(clippy::cast_possible_truncation, reason = "below 2⁵³")]
        let integer = integer as i64;
        integer.cast_unsigned()
    }));
    // The same test sees what naive noise does to the last bits of its floats.
    assert!(tells_apart(|answer| (answer + 0.37 * float_normal(&mut source)).to_bits()));
}
