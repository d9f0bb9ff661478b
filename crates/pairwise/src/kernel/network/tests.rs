//! What only the inside can see: clipping that rounding cannot break, and products in a fixed order.

use super::*;
use crate::Activation;

fn form(hidden: usize) -> Network {
    Network { activation: Activation::Tanh, hidden, linear: 0.5, spread: 1.0, seed: 1 }
}

/// A whole number times a power of two, as wide as it takes: sums and products without rounding.
#[derive(Clone)]
struct Exact {
    /// In limbs of 32 bits, the least first; the first stands for 2^`SCALE`.
    limbs: Vec<u64>,
}

/// Squares of products of the least and the largest of the numbers used here fit between these.
const SCALE: i32 = -7000;
const LIMBS: usize = 280;

impl Exact {
    fn zero() -> Self {
        Self { limbs: vec![0; LIMBS] }
    }

    /// Adds the product of some finite numbers, squared.
    fn add_square(&mut self, factors: &[f64]) {
        let (mut mantissa, mut exponent) = (vec![1_u64], 0);
        for factor in factors.iter().chain(factors) {
            if *factor == 0.0 {
                return;
            }
            let bits = factor.abs().to_bits();
            let (raw, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
            let (m, e) = if raw == 0 { (fraction, -1074) } else { (fraction | 1 << 52, raw - 1075) };
            exponent += e;
            mantissa = times(&times(&mantissa, m & 0xffff_ffff, 0), 1, 0)
                .into_iter()
                .zip(times(&mantissa, m >> 32, 1))
                .map(|(a, b)| a + b)
                .collect();
            carry(&mut mantissa);
        }
        let shift = usize::try_from(exponent - SCALE).unwrap();
        let (limb, bit) = (shift / 32, shift % 32);
        for (i, part) in mantissa.iter().enumerate() {
            let wide = *part << bit;
            self.limbs[limb + i] += wide & 0xffff_ffff;
            self.limbs[limb + i + 1] += wide >> 32;
        }
        carry(&mut self.limbs);
    }

    fn is_at_most(&self, other: &Self) -> bool {
        self.limbs.iter().rev().le(other.limbs.iter().rev())
    }
}

/// A number times a limb, moved up by some limbs; two limbs longer.
fn times(number: &[u64], limb: u64, up: usize) -> Vec<u64> {
    let mut product = vec![0; number.len() + 3];
    for (i, part) in number.iter().enumerate() {
        let wide = part * limb;
        product[i + up] += wide & 0xffff_ffff;
        product[i + up + 1] += wide >> 32;
    }
    carry(&mut product);
    product
}

fn carry(limbs: &mut [u64]) {
    let mut over = 0;
    for limb in limbs {
        let sum = *limb + over;
        (*limb, over) = (sum & 0xffff_ffff, sum >> 32);
    }
}

/// The exact square of the norm of f·(αx, ka, δ, δ⊗x/κ); κ is a power of two here, so that x/κ is exact.
fn exact_square(layers: &Layers<'_>, factor: f64, x: &[f64], a: &[f64], delta: &[f64]) -> Exact {
    let mut sum = Exact::zero();
    x.iter().for_each(|x| sum.add_square(&[factor, layers.alpha, *x]));
    a.iter().for_each(|a| sum.add_square(&[factor, layers.k, *a]));
    for delta in delta {
        sum.add_square(&[factor, *delta]);
        x.iter().for_each(|x| sum.add_square(&[factor, *delta, *x / layers.kappa]));
    }
    sum
}

#[test]
fn clipped_gradients_are_never_longer_than_the_bound_whatever_the_row() {
    let rows: [&[f64]; 7] = [
        &[1.0, 0.0, 0.0],
        &[0.577, 0.577, 0.577],
        &[1e-300, 0.0, -1e-300],
        &[f64::MIN_POSITIVE / 8.0; 3],
        &[1.0, 1e-160, 5e-324],
        &[0.0; 3],
        &[-0.6, 0.8, 0.0],
    ];
    let (mut clipped, mut tight) = (0, 0);
    for kappa in [1.0, 0.25, 2.0] {
        for outer in [0.0, 1e-300, 0.3, 1.0, 1.7, 1e3, 1e90] {
            for inner in [0.0, 1.0, -40.0, 1e300] {
                let w = [vec![0.1; 3], vec![outer; 2], vec![0.2, -0.1], vec![inner; 6]].concat();
                let layers = Layers::new(form(2), kappa, &w);
                for row in rows {
                    let row: Vec<f64> = row.iter().map(|x| x * kappa).collect();
                    let mut a = vec![0.0; layers.width];
                    products::image(&row, &layers.inner, layers.width, &mut a);
                    let mut delta = vec![0.0; layers.width];
                    layers.activate(&mut a, &mut delta);
                    assert!(a.iter().all(|a| a.abs() <= 1.0));
                    delta.iter_mut().zip(&layers.outer).for_each(|(delta, u)| *delta *= layers.k * u);
                    let factor = layers.factor(score(&row, &row), score(&a, &a), score(&delta, &delta));
                    assert!((0.0..=1.0).contains(&factor), "{factor}");
                    let square = exact_square(&layers, factor, &row, &a, &delta);
                    let (mut bound, mut nearly) = (Exact::zero(), Exact::zero());
                    bound.add_square(&[kappa]);
                    nearly.add_square(&[kappa, 1.0 - 1e-12]);
                    assert!(square.is_at_most(&bound), "{row:?} {outer:e} {inner:e}");
                    clipped += usize::from(factor < 1.0);
                    tight += usize::from(factor < 1.0 && nearly.is_at_most(&square));
                }
            }
        }
    }
    // Many are clipped, and to nearly all that is allowed.
    assert!(clipped > 50 && tight == clipped, "{clipped} {tight}");
}

#[test]
fn what_has_no_length_counts_nothing() {
    let w = [vec![0.1; 2], vec![0.3; 1], vec![0.0; 1], vec![1.0; 2]].concat();
    let layers = Layers::new(form(1), 1.0, &w);
    for square in [f64::NAN, f64::INFINITY] {
        assert!(layers.factor(square, 0.5, 0.1) <= 0.0);
        assert!(layers.factor(0.5, 0.5, square) <= 0.0);
    }
}

/// A row's score has the same bits alone, in a block, at its edge and among other rows.
#[test]
fn a_score_is_a_function_of_its_row_alone() {
    let (n, d, hidden) = (700, 11, 13);
    let value = |i: usize| ((i * 7919 % 1009) as f64 / 1009.0 - 0.5) * 0.6;
    let form = form(hidden);
    let w: Vec<f64> = (0..form.parameters(d)).map(|i| 5.0 * value(i + 3)).collect();
    let features: Vec<f64> = (0..n * d).map(value).collect();
    let table = |features: Vec<f64>| {
        let rows = features.len() / d;
        Records::new(features, d, vec![true; rows], 1.0).unwrap()
    };
    let layers = Layers::new(form, 1.0, &w);
    let records = table(features.clone());
    let found = scores(&records, &layers, 1.0, f64::INFINITY, Par::Sequential);
    for (i, found) in found.iter().enumerate() {
        assert_eq!(found.to_bits(), layers.score(records.row(i)).to_bits(), "row {i}");
    }
    let moved = table(features[d..].iter().chain(&features[..d]).copied().collect());
    let elsewhere = scores(&moved, &layers, 1.0, f64::INFINITY, Par::Parallel);
    assert_eq!(elsewhere[..n - 1], found[1..]);
    assert_eq!(elsewhere[n - 1].to_bits(), found[0].to_bits());
}

#[test]
fn tanh_agrees_with_the_library() {
    for i in -40_000..40_000 {
        let z = f64::from(i) * 1e-3;
        let (value, slope) = tanh(z);
        assert!((value - z.tanh()).abs() < 1e-14 && (slope - (1.0 - z.tanh().powi(2))).abs() < 2e-14, "{z}");
    }
    assert_eq!((tanh(f64::INFINITY).0, tanh(f64::NEG_INFINITY).0), (1.0, -1.0));
}
