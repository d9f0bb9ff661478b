//! Samples against the law they claim.
//!
//! Every test states its false alarm: the probability that a perfect sampler fails it. Seeds are fixed, so a test that
//! passes goes on passing; the rate says how much a failure would mean. χ² limits are those of Laurent and Massart
//! (2000, Lemma 1): P(χ²_k ≥ k + 2√(kx) + 2x) ≤ e^−x.

use pairdp_noise::{Replay, Scale, Source, fill_gaussian};
use std::f64::consts::SQRT_2;

/// False alarm of each χ² test.
const ALARM: f64 = 1e-6;

fn limit(freedom: f64) -> f64 {
    let x = -ALARM.ln();
    freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x
}

/// P(Z > x).
fn beyond(x: f64) -> f64 {
    libm::erfc(x / SQRT_2) / 2.0
}

/// P(round(S·Z) = n).
fn probability(n: i64, scale: f64) -> f64 {
    let n = n.abs() as f64;
    if n < 0.5 {
        1.0 - 2.0 * beyond(0.5 / scale)
    } else {
        beyond((n - 0.5) / scale) - beyond((n + 0.5) / scale)
    }
}

/// Calls `visit` with batches of samples.
fn stream(seed: u64, scale: Scale, batches: usize, mut visit: impl FnMut(&[i64])) {
    let mut source = Replay::from_seed(seed);
    let mut batch = vec![0; 1 << 16];
    for _ in 0..batches {
        fill_gaussian(&mut source, scale, &mut batch);
        visit(&batch);
    }
}

/// χ² of counts against expected counts that are all large enough.
fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
    assert!(expected.iter().all(|e| *e > 10.0));
    counts.iter().zip(expected).map(|(count, e)| (*count as f64 - e).powi(2) / e).sum()
}

#[test]
fn integers_come_as_often_as_they_should() {
    for (sixteenths, batches) in [(3_u64, 256), (16, 256), (1607, 1024)] {
        let scale = sixteenths as f64 / 16.0;
        let n = (batches << 16) as f64;
        let mut reach = 0;
        while probability(reach + 1, scale) * n > 10.0 {
            reach += 1;
        }
        let side = usize::try_from(reach).unwrap();
        // Cells −reach … reach, and one on either side.
        let mut counts = vec![0_u64; 2 * side + 3];
        stream(sixteenths, Scale::from_sixteenths(sixteenths).unwrap(), batches, |batch| {
            for sample in batch {
                let cell = (*sample).clamp(-reach - 1, reach + 1) + reach + 1;
                counts[usize::try_from(cell).unwrap()] += 1;
            }
        });
        let outside = n * beyond((reach as f64 + 0.5) / scale);
        let mut expected: Vec<f64> = (-reach..=reach).map(|k| n * probability(k, scale)).collect();
        expected.push(outside);
        expected.insert(0, outside);
        if outside < 10.5 {
            // Too rare for cells of their own: into the neighbours.
            for _ in 0..2 {
                let (count, e) = (counts.pop().unwrap(), expected.pop().unwrap());
                *counts.last_mut().unwrap() += count;
                *expected.last_mut().unwrap() += e;
                counts.reverse();
                expected.reverse();
            }
        }
        let statistic = chi_square(&counts, &expected);
        let freedom = counts.len() as f64 - 1.0;
        println!("S = {scale}: χ² = {statistic} over {freedom}, limit {}", limit(freedom));
        assert!(statistic < limit(freedom));
    }
}

/// Large scales: 1024 cells of equal probability, so that low-order bits, body and shoulders are all looked at; and the
/// low-order bits on their own.
#[test]
fn quantiles_and_low_bits_are_uniform_at_large_scales() {
    for bits in [24, 46] {
        let (batches, cells) = (512, 1024);
        let unit = f64::powi(2.0, -i32::try_from(bits).unwrap());
        let (mut quantiles, mut low) = (vec![0_u64; cells], vec![0_u64; 256]);
        stream(u64::from(bits), Scale::power_of_two(bits).unwrap(), batches, |batch| {
            for sample in batch {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cell number")]
                let cell = (beyond(-(*sample as f64) * unit) * cells as f64) as usize;
                quantiles[cell.min(cells - 1)] += 1;
                low[usize::try_from(sample.rem_euclid(256)).unwrap()] += 1;
            }
        });
        let n = (batches << 16) as f64;
        for counts in [quantiles, low] {
            let statistic = chi_square(&counts, &vec![n / counts.len() as f64; counts.len()]);
            assert!(statistic < limit(counts.len() as f64 - 1.0), "χ² = {statistic} at 2^{bits}");
        }
    }
}

/// How many standard deviations the moments to the eighth of 2²⁵ samples at a scale of 2³⁰ are off, after `change`.
fn moments_off(scale: Scale, seed: u64, change: impl Fn(f64) -> f64) -> Vec<f64> {
    let unit = f64::powi(2.0, -30);
    let mut sums = [0.0; 9];
    stream(seed, scale, 512, |batch| {
        for sample in batch {
            let (z, mut power) = (change(*sample as f64 * unit), 1.0);
            for sum in &mut sums {
                *sum += power;
                power *= z;
            }
        }
    });
    // E Z^k = (k−1)!! for even k, 0 for odd; Var Z^k = E Z^2k − (E Z^k)².
    let moment = |k: u32| if k % 2 == 1 { 0.0 } else { (1..k).step_by(2).map(f64::from).product() };
    let n = sums[0];
    let off = |k: u32| {
        let variance: f64 = moment(2 * k) - moment(k).powi(2);
        (sums[k as usize] / n - moment(k)) / (variance / n).sqrt()
    };
    (1..=8).map(off).collect()
}

/// Each within six standard deviations of its own: false alarm below 10⁻⁷ together, with room for the mean of z⁸ not being quite
/// normal (skewness 0.02 at this size).
#[test]
fn moments_to_the_eighth() {
    let off = moments_off(Scale::power_of_two(30).unwrap(), 8, |z| z);
    assert!(off.iter().all(|error| error.abs() < 6.0), "standard deviations: {off:?}");
}

/// Which of 16 equally likely cells.
fn sixteenth(sample: i64) -> usize {
    // Φ⁻¹(i/16)·2²⁴ for i from 9 to 15.
    const EDGES: [i64; 7] = [2_639_235, 5_345_881, 8_200_307, 11_316_060, 14_883_849, 19_299_660, 25_738_272];
    let half = EDGES.iter().filter(|edge| sample.abs() > **edge).count();
    if sample >= 0 { 8 + half } else { 7 - half }
}

/// χ² for the independence of two coordinates, from a 16 × 16 table whose margins are known up to `EDGES`' rounding.
fn independent(table: &[[u64; 16]; 16]) -> bool {
    let total: u64 = table.iter().flatten().sum();
    let row: Vec<u64> = table.iter().map(|row| row.iter().sum()).collect();
    let column: Vec<u64> = (0..16).map(|j| table.iter().map(|row| row[j]).sum()).collect();
    let mut statistic = 0.0;
    for i in 0..16 {
        for j in 0..16 {
            let expected = row[i] as f64 * column[j] as f64 / total as f64;
            statistic += (table[i][j] as f64 - expected).powi(2) / expected;
        }
    }
    statistic < limit(225.0)
}

#[test]
fn coordinates_are_independent() {
    // Neighbours, near neighbours, and samples a batch of the generator apart.
    let lags = [1, 2, 3, 7, 508, 512];
    let mut tables = vec![[[0_u64; 16]; 16]; lags.len()];
    let (mut products, mut squares) = (vec![0.0; lags.len()], vec![0.0; lags.len()]);
    let batches = 128;
    let unit = f64::powi(2.0, -24);
    stream(5, Scale::power_of_two(24).unwrap(), batches, |batch| {
        for (index, lag) in lags.into_iter().enumerate() {
            for (a, b) in batch.iter().zip(&batch[lag..]) {
                tables[index][sixteenth(*a)][sixteenth(*b)] += 1;
                let (a, b) = (*a as f64 * unit, *b as f64 * unit);
                products[index] += a * b;
                squares[index] += (a * a - 1.0) * (b * b - 1.0);
            }
        }
    });
    for (index, lag) in lags.into_iter().enumerate() {
        assert!(independent(&tables[index]), "lag {lag}");
        let n = (batches * ((1 << 16) - lag)) as f64;
        // False alarm 2·10⁻⁷ each (5.2 standard deviations: 1 for the product, 2 for the squares).
        assert!(products[index].abs() < 5.2 * n.sqrt(), "correlation at lag {lag}");
        assert!(squares[index].abs() < 5.2 * 2.0 * n.sqrt(), "correlation of squares at lag {lag}");
    }
}

#[test]
fn streams_are_independent() {
    let scale = Scale::power_of_two(24).unwrap();
    let mut parent = Replay::from_seed(6);
    let mut sources = [parent.split(), parent.split(), parent];
    let mut batches = [vec![0; 1 << 16], vec![0; 1 << 16], vec![0; 1 << 16]];
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let mut tables = vec![[[0_u64; 16]; 16]; pairs.len()];
    for _ in 0..128 {
        for (source, batch) in sources.iter_mut().zip(&mut batches) {
            fill_gaussian(source, scale, batch);
        }
        for (table, (first, second)) in tables.iter_mut().zip(pairs) {
            for (a, b) in batches[first].iter().zip(&batches[second]) {
                table[sixteenth(*a)][sixteenth(*b)] += 1;
            }
        }
    }
    assert!(tables.iter().all(independent));
}

/// The tests above must be able to fail: samples that are 0.2 % too wide, or shifted by two thousandths of σ, do not pass, nor do
/// coordinates that follow one another. These errors are 16 and 12 standard deviations, so that
/// a right test misses one of them less than once in 10⁸ runs.
#[test]
fn slightly_wrong_noise_is_noticed() {
    let scale = Scale::power_of_two(30).unwrap();
    assert!(moments_off(scale, 9, |z| 1.002 * z)[1] > 6.0);
    assert!(moments_off(scale, 10, |z| z + 2e-3)[0] > 6.0);
    let mut table = [[1000_u64; 16]; 16];
    assert!(independent(&table));
    for (i, row) in table.iter_mut().enumerate() {
        row[i] += 200;
    }
    assert!(!independent(&table));
}
