//! Noise vectors with density ∝ exp(−‖z‖₂/S), rounded to integers: the K-norm mechanism of the ℓ2 ball.
//!
//! For queries with a bound on their ℓ2 sensitivity it beats independent Laplace noise by up to √2, because it does
//! not pay √d for going through the ℓ1 norm (Hardt and Talwar 2010).
//!
//! The textbook draws a direction and a Gamma-distributed length. We use that the law is a mixture of normal ones:
//! with h standard normal in d + 1 dimensions and g standard normal in d, independent,
//!
//! z = S·‖h‖·g has density ∝ exp(−‖z‖/S)
//!
//! which needs no logarithm and no division: normals from the ziggurat with 180 digits each, one square root and d
//! products, all in integers.
//!
//! # Guarantee
//! A vector is within total variation [`euclidean_samples`]·2⁻¹⁰⁰ of the ideal one, rounded. Releases are therefore
//! (ε, δ) with a δ below 2⁻⁸⁰ for d up to 2¹⁸, *not* pure ε, and must be labelled so: δ is
//! [`delta_share`](crate::delta_share)`(ε, euclidean_samples(d))`. Noise that may claim δ = 0 is the discrete Laplace
//! one. Proof: `proofs/pure.md`.

use crate::Scale;
use crate::source::Source;
use crate::wide;
use crate::ziggurat::draw_point;

/// Limbs of a normal: units of 2⁻¹⁸⁸ (a point of the ziggurat without its lowest limb).
const DIGITS: usize = 188;

/// As many Gaussian samples as a vector of `dimension` coordinates is worth in total variation: 2d + 2.
pub fn euclidean_samples(dimension: usize) -> f64 {
    2.0 * dimension as f64 + 2.0
}

/// Fills `out` with one vector of the law with density ∝ exp(−‖z‖₂/S), its coordinates rounded.
///
/// # Panics
/// If the process was forked and the operating system gives no new key (see [`Source::next_word`]).
pub fn fill_euclidean<S: Source>(source: &mut S, scale: Scale, out: &mut [i64]) {
    source.begin();
    // ‖h‖² in units of 2⁻³⁷⁶; each square is below 2³⁸⁴, so that seven limbs hold 2⁶⁴ of them.
    let mut square_length = [0; 7];
    for _ in 0..=out.len() {
        let (h, _) = draw_normal(source);
        let mut square = [0; 6];
        wide::multiply(&h, &h, &mut square);
        wide::add(&mut square_length, &square);
    }
    let mut length = [0; 5];
    wide::multiply(&wide::square_root(&square_length), &[scale.sixteenths()], &mut length);
    for coordinate in out {
        let (g, negative) = draw_normal(source);
        let mut product = [0; 8];
        wide::multiply(&g, &length, &mut product);
        // 16·S·‖h‖·g in units of 2⁻³⁷⁶, that is S·‖h‖·g in units of 2⁻³⁸⁰.
        let magnitude = round(&mut product, 2 * DIGITS + 4);
        *coordinate = if negative { -magnitude } else { magnitude };
    }
}

/// |Z| in units of 2⁻¹⁸⁸, and whether Z is negative.
fn draw_normal<S: Source>(source: &mut S) -> ([u64; 3], bool) {
    let (point, negative) = draw_point(source);
    let [_, low, middle, high] = point.extend(source);
    ([low, middle, high], negative)
}

/// The nearest integer of a number in units of 2^−`digits`, at most `i64::MAX`.
fn round(number: &mut [u64; 8], digits: usize) -> i64 {
    let mut half = [0; 8];
    half[(digits - 1) / 64] = 1 << ((digits - 1) % 64);
    wide::add(number, &half);
    let (limb, shift) = (digits / 64, digits % 64);
    // Two limbs hold the integer part: S·‖h‖·g < 2⁴⁶·2³⁶·2⁴.
    let integer = u128::from(number[limb]) | u128::from(number[limb + 1]) << 64;
    i64::try_from(integer >> shift | u128::from(number[limb + 2]) << (128 - shift)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replay;
    use num_bigint::BigUint;

    /// The law of the length is Gamma(d, S): its moments within 5 standard deviations.
    #[test]
    fn lengths_are_gamma_distributed() {
        for (dimension, vectors) in [(1, 60_000), (2, 30_000), (10, 10_000), (100, 2000)] {
            let mut source = Replay::from_seed(dimension as u64);
            let scale = Scale::power_of_two(20).unwrap();
            let mut noise = vec![0; dimension];
            let mut sums = [0.0; 3];
            for _ in 0..vectors {
                fill_euclidean(&mut source, scale, &mut noise);
                let length =
                    noise.iter().map(|n| (*n as f64 / f64::from(1 << 20)).powi(2)).sum::<f64>().sqrt();
                for (sum, power) in sums.iter_mut().zip(1..) {
                    *sum += length.powi(power);
                }
            }
            // E r^k = d(d+1)…(d+k−1).
            let moment = |k: u32| (0..k).map(|i| f64::from(i) + dimension as f64).product::<f64>();
            for (sum, k) in sums.into_iter().zip(1..) {
                let deviation = ((moment(2 * k) - moment(k).powi(2)) / f64::from(vectors)).sqrt();
                let error = (sum / f64::from(vectors) - moment(k)) / deviation;
                assert!(error.abs() < 5.5, "moment {k} in dimension {dimension} is {error} deviations off");
            }
        }
    }

    /// In one dimension the law is Laplace's: P(|z| > aS) = e^−a, within 5 standard deviations.
    #[test]
    fn one_dimension_is_laplace() {
        let mut source = Replay::from_seed(12);
        let scale = Scale::power_of_two(16).unwrap();
        let samples: Vec<i64> = (0..60_000)
            .map(|_| {
                let mut noise = [0];
                fill_euclidean(&mut source, scale, &mut noise);
                noise[0]
            })
            .collect();
        for a in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let beyond = samples.iter().filter(|n| n.abs() as f64 > a * 65536.0).count() as f64;
            let (expected, n) = ((-a).exp(), samples.len() as f64);
            assert!((beyond - n * expected).abs() < 5.0 * (n * expected * (1.0 - expected)).sqrt());
        }
        let negative = samples.iter().filter(|n| **n < 0).count() as f64;
        assert!((negative - 3e4).abs() < 5.0 * 122.5);
    }

    /// The same words through arbitrary-precision integers.
    #[test]
    fn vectors_agree_with_exact_arithmetic() {
        for (seed, sixteenths) in [(1, 1), (2, 16), (3, 16 << 30), (4, (16 << 46) / 3), (5, 16 << 46)] {
            let mut noise = vec![0; 50];
            let scale = Scale::from_sixteenths(sixteenths).unwrap();
            fill_euclidean(&mut Replay::from_seed(seed), scale, &mut noise);
            let mut source = Replay::from_seed(seed);
            let mut normal = || {
                let (point, negative) = draw_point(&mut source);
                let x = point.extend(&mut source);
                (x.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb), negative)
            };
            // Full precision here, units of 2⁻²⁵²; the square root to 2⁻⁴⁰⁰ more.
            let square: BigUint = (0..=noise.len()).map(|_| normal().0.pow(2)).sum();
            let length = (square << 800_u32).sqrt();
            for coordinate in noise {
                let (g, negative) = normal();
                let total = g * &length * sixteenths;
                let unit = 2 * 252 + 400 + 4_u32;
                let magnitude = (total + (BigUint::from(1_u8) << (unit - 1))) >> unit;
                let magnitude = i64::try_from(magnitude).unwrap();
                assert_eq!(coordinate, if negative { -magnitude } else { magnitude });
            }
        }
    }

    #[test]
    fn coordinates_are_rotation_invariant_pairwise() {
        // E z_i z_j = 0, and E z_i² z_j² = E z_i⁴/3 for a spherical law: neither independent nor Laplace.
        let mut source = Replay::from_seed(77);
        let (mut fourth, mut cross, mut product) = (0.0, 0.0, 0.0);
        let vectors = 60_000;
        for _ in 0..vectors {
            let mut noise = [0; 2];
            fill_euclidean(&mut source, Scale::power_of_two(16).unwrap(), &mut noise);
            let [x, y] = noise.map(|n| n as f64 / 65536.0);
            fourth += f64::midpoint(x.powi(4), y.powi(4));
            cross += x * x * y * y;
            product += x * y;
        }
        let n = f64::from(vectors);
        // r is Gamma(2): E r⁴ = 120, E x⁴ = 45, E x²y² = 15; E r⁸ = 9!, E x⁴y⁴ = 9!·3/128.
        let deviation = ((362_880.0 * 3.0 / 128.0 - 225.0) / n).sqrt();
        assert!((cross / n - 15.0).abs() < 5.0 * deviation);
        assert!((fourth / n - 45.0).abs() < 5.0 * (362_880.0 * 35.0 / 128.0 / n).sqrt());
        assert!((product / n).abs() < 5.0 * (15.0 / n).sqrt());
    }
}
