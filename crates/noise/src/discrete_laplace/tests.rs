use super::*;
use crate::Replay;

#[test]
fn scales_out_of_range_are_refused() {
    for (numerator, denominator) in [(0, 1), (1, 0), (LARGEST, 1), (LARGEST + 1, 16), (1, LARGEST + 1)] {
        let refused = NoiseError::LaplaceScale { numerator, denominator };
        assert_eq!(LaplaceScale::from_ratio(numerator, denominator), Err(refused));
    }
    let largest = Scale::power_of_two(46).unwrap();
    assert_eq!(LaplaceScale::from(largest), LaplaceScale::from_ratio(LARGEST, 16).unwrap());
}

#[test]
fn uniform_integers_reach_every_value_equally_often() {
    let mut source = Replay::from_seed(8);
    for bound in [1_u64, 2, 3, 7, 10] {
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(below(&mut source, bound)).unwrap()] += 1;
        }
        let expected = 1e5 / bound as f64;
        for (value, count) in counts.into_iter().enumerate() {
            let possible = (value as u64) < bound;
            assert!(if possible {
                (f64::from(count) - expected).abs() < 6.0 * expected.sqrt()
            } else {
                count == 0
            });
        }
    }
    // Four words for three values: unless one word in four is refused, multiples of 3 come half of the time.
    let multiples = (0..100_000).filter(|_| below(&mut source, 3 << 62).is_multiple_of(3)).count();
    assert!((multiples as f64 - 1e5 / 3.0).abs() < 6.0 * 149.1);
}

#[test]
fn trials_succeed_with_the_exponential_probability() {
    let mut source = Replay::from_seed(9);
    for (numerator, denominator) in [(0, 1), (1, 1), (1, 2), (3, 7), (1_u64 << 45, 1 << 46)] {
        let n = 400_000;
        let successes = (0..n).filter(|_| bernoulli_exp(&mut source, numerator, denominator)).count();
        let p = (-(numerator as f64) / denominator as f64).exp();
        let deviation = (f64::from(n) * p * (1.0 - p)).sqrt();
        assert!((successes as f64 - f64::from(n) * p).abs() <= 5.0 * deviation);
    }
}

/// χ² against P(n) = tanh(1/2t)·exp(−|n|/t) for fractions of all kinds, false alarm 10⁻⁶ each (Laurent and Massart).
#[test]
fn samples_follow_the_discrete_laplace_law() {
    const SAMPLES: usize = 1_000_000;
    for (numerator, denominator) in [(1, 3), (1, 1), (10, 3), (64, 1), (1607, 16)] {
        let scale = LaplaceScale::from_ratio(numerator, denominator).unwrap();
        let mut samples = vec![0; SAMPLES];
        fill_discrete_laplace(&mut Replay::from_seed(numerator), scale, &mut samples);
        let t = numerator as f64 / denominator as f64;
        let law = |n: i64| (0.5 / t).tanh() * (-(n.abs() as f64) / t).exp();
        let mut reach = 0;
        while law(reach + 1) * SAMPLES as f64 > 20.0 {
            reach += 1;
        }
        let (mut statistic, mut inside, mut probability) = (0.0, 0, 0.0);
        let mut counts = std::collections::HashMap::new();
        for n in samples {
            *counts.entry(n).or_insert(0_usize) += 1;
        }
        for n in -reach..=reach {
            let (count, expected) = (counts.get(&n).copied().unwrap_or(0), law(n) * SAMPLES as f64);
            statistic += (count as f64 - expected).powi(2) / expected;
            inside += count;
            probability += law(n);
        }
        let expected = (1.0 - probability) * SAMPLES as f64;
        statistic += ((SAMPLES - inside) as f64 - expected).powi(2) / expected;
        let (freedom, x) = (2.0 * reach as f64 + 1.0, 1e6_f64.ln());
        let limit = freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x;
        assert!(statistic < limit, "χ² = {statistic} over {freedom} at t = {t}");
    }
}

#[test]
fn large_scales_have_the_right_spread() {
    let scale = LaplaceScale::from(Scale::power_of_two(46).unwrap());
    let mut samples = vec![0; 100_000];
    fill_discrete_laplace(&mut Replay::from_seed(3), scale, &mut samples);
    let mean = samples.iter().map(|n| (*n as f64).abs()).sum::<f64>() / 1e5 / f64::powi(2.0, 46);
    assert!((mean - 1.0).abs() < 5.0 / 1e5_f64.sqrt());
}
