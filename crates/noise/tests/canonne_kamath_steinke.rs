//! The exact discrete Gaussian of Canonne, Kamath and Steinke (2020) as an oracle.
//!
//! At S = 64 the discrete Gaussian and round(S·Z) differ by 5·10⁻⁶ in total variation, far less than the two million
//! samples compared here could show: two samplers that share nothing but the source must agree. The oracle is the
//! paper's Algorithm 3, written down again from the paper, with 128-bit integers.

use pairdp_noise::{LaplaceScale, Replay, Scale, Source, fill_discrete_laplace, fill_gaussian};

const SAMPLES: usize = 2_000_000;

/// Uniform below `bound`: words under a mask until one fits.
fn below(source: &mut Replay, bound: u128) -> u128 {
    let mask = u128::MAX >> (bound - 1).leading_zeros().min(127);
    loop {
        let value = (u128::from(source.next_word()) << 64 | u128::from(source.next_word())) & mask;
        if value < bound {
            return value;
        }
    }
}

/// Algorithm 1: true with probability exp(−numerator/denominator).
fn bernoulli_exp(source: &mut Replay, mut numerator: u128, denominator: u128) -> bool {
    while numerator > denominator {
        if !bernoulli_exp(source, 1, 1) {
            return false;
        }
        numerator -= denominator;
    }
    let mut k = 1;
    while below(source, denominator * k) < numerator {
        k += 1;
    }
    k % 2 == 1
}

/// Algorithm 2 with s = 1.
fn discrete_laplace(source: &mut Replay, t: u128) -> i128 {
    loop {
        let u = below(source, t);
        if !bernoulli_exp(source, u, t) {
            continue;
        }
        let mut v = 0;
        while bernoulli_exp(source, 1, 1) {
            v += 1;
        }
        let magnitude = (u + t * v).cast_signed();
        let negative = below(source, 2) == 1;
        if !(negative && magnitude == 0) {
            return if negative { -magnitude } else { magnitude };
        }
    }
}

/// Algorithm 3 for an integer σ.
fn discrete_gaussian(source: &mut Replay, sigma: u128) -> i128 {
    let t = sigma + 1;
    loop {
        let y = discrete_laplace(source, t);
        // exp(−(|y| − σ²/t)²/(2σ²)), as integers.
        let gap = (y.unsigned_abs() * t).abs_diff(sigma * sigma);
        if bernoulli_exp(source, gap * gap, 2 * sigma * sigma * t * t) {
            return y;
        }
    }
}

/// Two-sample χ² with false alarm 10⁻⁶ (Laurent and Massart's bound), on cells with at least 20 samples.
fn agree(ours: &[i64], theirs: &[i64]) -> bool {
    const REACH: i64 = 300;
    let mut counts = vec![[0_u32; 2]; 2 * 300 + 1];
    for (side, samples) in [ours, theirs].into_iter().enumerate() {
        for sample in samples {
            counts[usize::try_from((*sample).clamp(-REACH, REACH) + REACH).expect("a cell")][side] += 1;
        }
    }
    let (mut statistic, mut freedom, mut rest) = (0.0, 0.0, [0_u32; 2]);
    for [a, b] in counts {
        if a + b < 20 {
            rest = [rest[0] + a, rest[1] + b];
        } else {
            statistic += (f64::from(a) - f64::from(b)).powi(2) / f64::from(a + b);
            freedom += 1.0;
        }
    }
    let total = f64::from((rest[0] + rest[1]).max(1));
    statistic += (f64::from(rest[0]) - f64::from(rest[1])).powi(2) / total;
    let x = 1e6_f64.ln();
    statistic < freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x
}

fn oracle(seed: u64, mut draw: impl FnMut(&mut Replay) -> i128) -> Vec<i64> {
    let mut source = Replay::from_seed(seed);
    (0..SAMPLES).map(|_| i64::try_from(draw(&mut source)).expect("a small integer")).collect()
}

#[test]
fn rounded_gaussians_agree_with_the_discrete_gaussian() {
    let theirs = oracle(1, |source| discrete_gaussian(source, 64));
    let mut ours = vec![0; SAMPLES];
    fill_gaussian(&mut Replay::from_seed(2), Scale::power_of_two(6).unwrap(), &mut ours);
    assert!(agree(&ours, &theirs));
    // Two per cent more noise would be seen.
    fill_gaussian(&mut Replay::from_seed(2), Scale::from_sixteenths(1045).unwrap(), &mut ours);
    assert!(!agree(&ours, &theirs));
}

#[test]
fn discrete_laplace_agrees_with_the_paper() {
    let theirs = oracle(3, |source| discrete_laplace(source, 40));
    let mut ours = vec![0; SAMPLES];
    fill_discrete_laplace(&mut Replay::from_seed(4), LaplaceScale::from_ratio(40, 1).unwrap(), &mut ours);
    assert!(agree(&ours, &theirs));
    fill_discrete_laplace(&mut Replay::from_seed(4), LaplaceScale::from_ratio(41, 1).unwrap(), &mut ours);
    assert!(!agree(&ours, &theirs));
}
