//! From noisy weights of knots to distribution functions, by what is known of the noise.
//!
//! With few records the shapes that fit decide, weighed by how well they do; with many, what surely differs from them is
//! corrected. No other rule switches: the posterior widens by itself where there is little to see.
//!
//! Columns of one table are read together. Whoever gave narrow ranges gave them to all columns, and so did whoever gave wide
//! ones: how likely each family of shapes is, is learned from all columns at once, starting from what is likely anywhere.
//!
//! All of it looks at released numbers only.

use super::shapes::{FAMILIES, GRID, Shapes, between_knots};
use pairdp_pairwise::knots::Spacing;
use pairdp_units::directed::{larger, smaller};
use rayon::prelude::*;

/// By how much a shape may be wrong about a knot's share.
const WRONG_SHAPE: f64 = 0.02;
/// From so many standard deviations of the noise on a difference is believed.
const SURE: f64 = 2.5;
/// The same where one knot's noise would do harm: among 57 it is that far off in one release of 270, among 153 in one of 100.
pub(super) const SURER: f64 = 4.0;
/// Distribution functions are multiples of 2^−this.
const BITS: i32 = 20;
/// What is likely anywhere counts as much as so many columns of the table.
const ANYWHERE: f64 = 3.0;
/// Rounds of learning how likely families are; later ones change little.
const ROUNDS: usize = 15;

/// What was read of a column of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// F̂ on the grid: never falling, within [0, 1].
    pub(crate) cumulative: Vec<f64>,
    /// The share of records at each knot: at least 0, together 1.
    pub(crate) shares: Vec<f64>,
    spacing: Spacing,
}

/// Reads the columns of a table: weights of their knots summed over about so many records, those with a number, with noise of a
/// standard deviation.
pub(crate) fn read(spacing: Spacing, columns: &[(&[f64], f64)], noise: f64) -> Vec<Reading> {
    read_from(spacing, columns, noise, SURE)
}

/// The same, believing differences from so many standard deviations on.
pub(super) fn read_from(spacing: Spacing, columns: &[(&[f64], f64)], noise: f64, sure: f64) -> Vec<Reading> {
    let (shapes, knots) = (Shapes::table(spacing), spacing.knots());
    let fits: Vec<Vec<f64>> =
        columns.par_iter().map(|(weights, n)| fits(shapes, &weights[..knots], noise, *n)).collect();
    let likely = families(shapes, &fits);
    let one = |((weights, n), fits): (&(&[f64], f64), &Vec<f64>)| {
        read_one(spacing, &weights[..knots], &posterior(shapes, fits, &likely), sure * noise, *n)
    };
    columns.par_iter().zip(&fits).map(one).collect()
}

/// The log of how well each shape fits a column, up to a constant.
fn fits(shapes: &Shapes, weights: &[f64], noise: f64, n: f64) -> Vec<f64> {
    let variance = noise * noise + (WRONG_SHAPE * n) * (WRONG_SHAPE * n);
    let log = |shape: &Vec<f64>| {
        let (fit, own) = weights
            .iter()
            .zip(shape)
            .fold((0.0, 0.0), |(fit, own), (weight, share)| (fit + weight * share, own + share * share));
        (n * fit - n * n * own / 2.0) / variance
    };
    shapes.weights.iter().map(log).collect()
}

/// The log of how likely each family of shapes is in this table, relative to how likely it is anywhere.
fn families(shapes: &Shapes, fits: &[Vec<f64>]) -> [f64; FAMILIES] {
    let mut likely = [0.0; FAMILIES];
    for _ in 0..ROUNDS {
        // Columns are added up in order, so that a model reads the same on any number of cores.
        let posteriors: Vec<[f64; FAMILIES]> = fits
            .par_iter()
            .map(|fits| {
                let mut of_family = [0.0; FAMILIES];
                let probabilities = posterior(shapes, fits, &likely);
                probabilities.iter().zip(&shapes.family).for_each(|(p, family)| of_family[*family] += p);
                of_family
            })
            .collect();
        for (family, log) in likely.iter_mut().enumerate() {
            let anywhere = shapes.anywhere[family];
            let here: f64 = posteriors.iter().map(|posterior| posterior[family]).sum();
            let share = (ANYWHERE * anywhere + here) / (ANYWHERE + fits.len() as f64);
            *log = libm::log(share / anywhere);
        }
    }
    likely
}

/// How likely each shape is.
fn posterior(shapes: &Shapes, fits: &[f64], families: &[f64; FAMILIES]) -> Vec<f64> {
    let prior = shapes.log_prior.iter().zip(&shapes.family).map(|(prior, family)| prior + families[*family]);
    let logs: Vec<f64> = fits.iter().zip(prior).map(|(fit, prior)| fit + prior).collect();
    let most = logs.iter().fold(f64::NEG_INFINITY, |most, value| larger(most, *value));
    let likely: Vec<f64> = logs.iter().map(|value| libm::exp(value - most)).collect();
    let total: f64 = likely.iter().sum();
    likely.into_iter().map(|value| value / total).collect()
}

fn read_one(spacing: Spacing, weights: &[f64], posterior: &[f64], believed: f64, n: f64) -> Reading {
    let shapes = Shapes::table(spacing);
    let mut expected = vec![0.0; spacing.knots()];
    let mut cumulative = vec![0.0; GRID];
    for (shape, probability) in posterior.iter().enumerate() {
        // What is this unlikely does not show.
        if *probability > 1e-12 {
            expected.iter_mut().zip(&shapes.weights[shape]).for_each(|(sum, w)| *sum += probability * w);
            let values = &shapes.cumulative[shape];
            cumulative.iter_mut().zip(values).for_each(|(sum, value)| *sum += probability * value);
        }
    }
    let shares = corrected(&expected, weights, believed, n);
    Reading { cumulative: shifted(spacing, &cumulative, &expected, &shares), shares, spacing }
}

impl Reading {
    /// The distribution function if no knot had a larger share than this, before shares are scaled to 1 again.
    pub(crate) fn evened(&self, most: f64) -> Vec<f64> {
        let cut: Vec<f64> = self.shares.iter().map(|share| smaller(*share, most)).collect();
        let shares = normalised(&cut);
        shares.map_or_else(
            || self.cumulative.clone(),
            |shares| shifted(self.spacing, &self.cumulative, &self.shares, &shares),
        )
    }
}

/// Where a knot's weight surely differs from what the shapes expect, it is believed.
fn corrected(expected: &[f64], weights: &[f64], from: f64, n: f64) -> Vec<f64> {
    let share = |(weight, expected): (&f64, &f64)| {
        let off = weight / n - expected;
        expected + if off.abs() > from / n { off } else { 0.0 }
    };
    let shares: Vec<f64> = weights.iter().zip(expected).map(share).collect();
    let even = || vec![1.0 / expected.len() as f64; expected.len()];
    normalised(&shares).or_else(|| normalised(expected)).unwrap_or_else(even)
}

/// Shares of 1, if they add up to anything.
fn normalised(shares: &[f64]) -> Option<Vec<f64>> {
    let shares: Vec<f64> = shares.iter().map(|share| larger(*share, 0.0)).collect();
    let total: f64 = shares.iter().sum();
    (total > 0.0 && total.is_finite()).then(|| shares.iter().map(|share| share / total).collect())
}

/// A distribution function with the difference of shares added, spread linearly between knots: never falling, within [0, 1].
fn shifted(spacing: Spacing, cumulative: &[f64], from: &[f64], to: &[f64]) -> Vec<f64> {
    // Half of a knot's own difference counts at the knot.
    let mut before = 0.0;
    let at_knot = |(to, from): (&f64, &f64)| {
        before += to - from;
        before - (to - from) / 2.0
    };
    let ramp: Vec<f64> = to.iter().zip(from).map(at_knot).collect();
    let mut highest = 0.0;
    let value = |(value, off): (&f64, f64)| {
        let cut = smaller(larger(value + off, 0.0), 1.0);
        highest = larger(highest, (cut * 2.0_f64.powi(BITS)).round() * 2.0_f64.powi(-BITS));
        highest
    };
    cumulative.iter().zip(between_knots(&spacing.positions(), &ramp)).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::super::shapes::grid;
    use super::*;
    use pairdp_noise::{Replay, Source};
    use pairdp_pairwise::Strata;
    use pairdp_pairwise::kernel::Par;
    use pairdp_pairwise::knots::{Block, KnotSums, Layout};

    fn uniform(random: &mut Replay) -> f64 {
        ((random.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Weights of a narrow column around one of 129 middles, with noise.
    fn narrow(middle: usize, n: f64, noise: f64, random: &mut Replay) -> Vec<f64> {
        let shapes = Shapes::table(Spacing::Coarse);
        // A bell of width 1/32.
        let which = 6 * 129 + middle;
        shapes.weights[which]
            .iter()
            .map(|share| {
                let (a, b) = (uniform(random), uniform(random));
                n * share + noise * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
            })
            .collect()
    }

    fn error(reading: &Reading, middle: f64) -> f64 {
        // The distance from a step at the middle, as an area.
        (0..GRID).map(|k| (reading.cumulative[k] - f64::from(u8::from(grid(k) >= middle))).abs()).sum::<f64>()
            / GRID as f64
    }

    /// False alarms: the two means differ by several times what chance makes of twenty columns; the seed is fixed.
    #[test]
    fn columns_that_are_alike_are_read_better_together_than_alone() {
        let (n, noise) = (150.0, 40.0);
        let mut random = Replay::from_seed(5);
        let places: Vec<usize> = (0..20).map(|k| 6 + 6 * k).collect();
        let columns: Vec<Vec<f64>> = places.iter().map(|k| narrow(*k, n, noise, &mut random)).collect();
        let middles: Vec<f64> = places.iter().map(|k| *k as f64 / 64.0 - 1.0).collect();
        let all: Vec<(&[f64], f64)> = columns.iter().map(|column| (column.as_slice(), n)).collect();
        let mean = |errors: Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64;
        let together = mean(
            read(Spacing::Coarse, &all, noise).iter().zip(&middles).map(|(r, m)| error(r, *m)).collect(),
        );
        let alone = mean(
            all.iter()
                .zip(&middles)
                .map(|(c, m)| error(&read(Spacing::Coarse, &[*c], noise)[0], *m))
                .collect(),
        );
        assert!(together < 0.95 * alone, "{together} together, {alone} alone");
    }

    fn normal(random: &mut Replay) -> f64 {
        let (a, b) = (uniform(random), uniform(random));
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// The largest error of mid-ranks at 99 quantiles of a law's own draws, read without noise.
    fn largest_error(
        spacing: Spacing,
        law: &dyn Fn(&mut Replay) -> f64,
        n: usize,
        random: &mut Replay,
    ) -> f64 {
        let mut draws: Vec<f64> = (0..n).map(|_| smaller(larger(law(random), -1.0), 1.0)).collect();
        let layout = Layout::new(spacing, vec![Block::Number { at: 0 }]);
        let (targets, strata) = (vec![-1.0; n], Strata::plain(n));
        let sums = KnotSums::new(&layout, &draws, 1, &targets, &strata, Par::Sequential);
        let weights = sums.query(&layout, false).unwrap();
        let reading = &read(spacing, &[(&weights, n as f64)], 1e-3)[0];
        draws.sort_unstable_by(f64::total_cmp);
        let mut worst = 0.0;
        for k in 1..100 {
            let value = draws[n * k / 100];
            let below = draws.partition_point(|other| *other < value);
            let up_to = draws.partition_point(|other| *other <= value);
            let exact = (below + up_to) as f64 / (2 * n) as f64;
            let place = f64::midpoint(value, 1.0) * (GRID - 1) as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place on the grid"
            )]
            let cell = (place as usize).min(GRID - 2);
            let (left, right) = (reading.cumulative[cell], reading.cumulative[cell + 1]);
            let found = left + (right - left) * (place - cell as f64);
            worst = larger(worst, (found - exact).abs());
        }
        worst
    }

    /// Laws that columns have, without noise: a smoother, which spreads atoms and what is narrower than the distance of knots, and
    /// reads the rest. The bounds are a little above what it reaches; the seed is fixed.
    #[test]
    fn known_laws_are_read_as_they_are() {
        type Law = Box<dyn Fn(&mut Replay) -> f64>;
        let zeros = |share: f64| -> Law {
            Box::new(move |random| if uniform(random) < share { 0.0 } else { uniform(random) })
        };
        let laws: [(&str, f64, Law); 10] = [
            ("normal", 0.005, Box::new(|random| 0.3 * normal(random))),
            ("uniform", 0.02, Box::new(|random| 2.0 * uniform(random) - 1.0)),
            ("exponential", 0.055, Box::new(|random| -0.2 * uniform(random).ln() - 1.0)),
            ("log-normal", 0.05, Box::new(|random| 0.1 * normal(random).exp() - 1.0)),
            ("half zeros", 0.02, zeros(0.5)),
            ("nearly all zeros", 0.005, zeros(0.99)),
            (
                "two humps",
                0.02,
                Box::new(|random| 0.1 * normal(random) + if uniform(random) < 0.5 { -0.5 } else { 0.5 }),
            ),
            (
                "three atoms",
                0.01,
                Box::new(|random| [-0.5, 0.0, 0.7][usize::try_from(random.next_word() % 3).unwrap_or(0)]),
            ),
            ("constant", 0.11, Box::new(|_| 0.31)),
            ("beyond the range", 0.01, Box::new(|random| 1.0 + uniform(random))),
        ];
        let mut random = Replay::from_seed(12);
        for (name, most, law) in &laws {
            for spacing in [Spacing::Coarse, Spacing::Fine] {
                let found = largest_error(spacing, law, 100_000, &mut random);
                println!("{name}, {spacing:?}: {found:.3}");
                assert!(found <= *most, "{name}, {spacing:?}: {found}");
            }
        }
    }

    #[test]
    fn whatever_was_released_is_read_as_a_distribution() {
        for absurd in [0.0, -1e300, 1e300, 1.0] {
            let knots = Spacing::Fine.positions();
            let weights: Vec<f64> = knots.iter().map(|knot| absurd * (1.0 + knot)).collect();
            let nothing = vec![0.0; weights.len()];
            for reading in read(Spacing::Fine, &[(&weights, 50.0), (&nothing, 1.0)], 3.0) {
                assert!(reading.cumulative.windows(2).all(|pair| pair[0] <= pair[1]), "{absurd}");
                assert!(reading.cumulative[0] >= 0.0 && reading.cumulative[GRID - 1] <= 1.0, "{absurd}");
                let total: f64 = reading.shares.iter().sum();
                assert!(
                    (total - 1.0).abs() < 1e-9 && reading.shares.iter().all(|share| *share >= 0.0),
                    "{absurd}"
                );
            }
        }
        assert!(read(Spacing::Fine, &[], 1.0).is_empty());
    }
}
