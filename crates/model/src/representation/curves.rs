//! What a column of numbers becomes: functions of its rank, as a table on the grid.
//!
//! Three Legendre polynomials of the rank F and −log of the shares beyond it in either direction, centred under F̂. Where the
//! noise is small against the number of records, two things follow that it would drown otherwise:
//!
//! - Ranks are *evened out*: a spike, such as the many who have no capital gain at all, takes at most a tenth of them, so that
//!   the curves can bend where the few others lie.
//! - The functions are made *independent*: what a function has in common with those before it is taken out and what is left is
//!   scaled alike (Gram and Schmidt, with a ridge), which is what a descent goes fastest on. It costs no budget: what they have
//!   in common follows from F̂.

use super::reading::Reading;
use super::shapes::{GRID, grid};
use pairdp_units::directed::{larger, smaller};

/// Polynomials of a rank.
const DEGREES: usize = 3;
/// Functions of a rank: with the two tails.
pub(crate) const FUNCTIONS: usize = DEGREES + 2;
/// The standard deviation of a tail's score is taken to be about this times a rank's.
const TAIL_WEIGHT: f64 = 0.5;
/// The noise of a knot's share below which curves are fine: from about 200 times more signal than noise on, by the planner's measure.
const FINE: f64 = 1.0 / 75.0;
/// What a knot takes of evened ranks at most, before they are scaled to 1.
const SPIKE: f64 = 0.1;
/// The ridge of independent functions, relative to the variance 1 of a rank.
const RIDGE: f64 = 0.1;

/// Functions of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curves {
    /// Their values, point by point of the grid.
    pub(crate) values: Vec<f64>,
    /// How many there are.
    pub(crate) width: usize,
    /// The sum of their variances under F̂.
    pub(crate) spread: f64,
    /// Their covariances under F̂, row by row.
    covariance: Vec<f64>,
    /// Where F̂ reaches each of [`QUANTILES`], within ±1.
    pub(crate) quantiles: [f64; QUANTILES.len()],
}

/// Shares of the records below the places that people are told.
pub(crate) const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

impl Curves {
    /// So many functions, the first ones, of a column whose shares are known up to this noise.
    pub(crate) fn new(reading: &Reading, width: usize, noise: f64) -> Self {
        // Where tails end: smaller shares are noise.
        let floor = smaller(larger(noise, 1e-4), 0.2);
        let fine = noise <= FINE && width > 1;
        let ranks = if fine { reading.evened(SPIKE) } else { reading.cumulative.clone() };
        let mut values: Vec<f64> = ranks.iter().flat_map(|rank| of_rank(*rank, floor, width)).collect();
        let (means, mut covariance) =
            moments(&reading.cumulative, &ranks, |rank| of_rank(rank, floor, width));
        for point in values.chunks_exact_mut(width) {
            point.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
        }
        if fine {
            make_independent(&mut values, &mut covariance, width);
        }
        let spread = covariance.iter().step_by(width + 1).map(|variance| larger(*variance, 0.0)).sum();
        let quantiles = QUANTILES.map(|share| {
            grid(reading.cumulative.partition_point(|cumulative| *cumulative < share).min(GRID - 1))
        });
        Self { values, width, spread, covariance, quantiles }
    }

    /// L with LLᵀ the covariance under F̂, and a ridge: for weights w, |Lᵀw| is about how far what they add varies.
    pub(super) fn scale(&self) -> Vec<f64> {
        cholesky(&self.covariance, self.width)
    }

    /// How far a sum of them with weights varies under F̂, squared.
    pub(super) fn variance(&self, weights: &[f64]) -> f64 {
        let rows = self.covariance.chunks_exact(self.width).zip(weights);
        let products = rows.map(|(row, w)| w * row.iter().zip(weights).map(|(c, v)| c * v).sum::<f64>());
        larger(products.sum(), 0.0)
    }

    /// Appends their values at a number within ±1, linear between the points of the grid.
    pub(crate) fn look_up(&self, x: f64, out: &mut Vec<f64>) {
        let place = (smaller(larger(x, -1.0), 1.0) + 1.0) * ((GRID - 1) as f64 / 2.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the grid's end"
        )]
        let left = if place > 0.0 { (place as usize).min(GRID - 2) } else { 0 };
        let share = if place > 0.0 { place - left as f64 } else { 0.0 };
        let (low, high) = self.values[left * self.width..(left + 2) * self.width].split_at(self.width);
        out.extend(low.iter().zip(high).map(|(low, high)| low + share * (high - low)));
    }
}

/// √3·P₁, √5·P₂/2, √7·P₃/3 of u = 2F − 1, and −½·log of the shares beyond, as many as are wanted.
fn of_rank(rank: f64, floor: f64, width: usize) -> impl Iterator<Item = f64> {
    let u = 2.0 * rank - 1.0;
    let all: [f64; FUNCTIONS] = [
        3.0_f64.sqrt() * u,
        5.0_f64.sqrt() * (1.5 * u * u - 0.5) / 2.0,
        7.0_f64.sqrt() * (2.5 * u * u - 1.5) * u / 3.0,
        -TAIL_WEIGHT * libm::log((1.0 - rank) + floor),
        -TAIL_WEIGHT * libm::log(rank + floor),
    ];
    all.into_iter().take(width)
}

/// Means and covariances, row by row, of functions of a rank under a distribution function.
fn moments<F: Iterator<Item = f64>>(
    cumulative: &[f64],
    ranks: &[f64],
    functions: impl Fn(f64) -> F,
) -> (Vec<f64>, Vec<f64>) {
    let width = functions(0.0).count();
    let (mut means, mut products) = (vec![0.0; width], vec![0.0; width * width]);
    let mut add = |rank: f64, mass: f64| {
        let values: Vec<f64> = functions(rank).collect();
        for (i, value) in values.iter().enumerate() {
            means[i] += mass * value;
            let row = products[i * width..(i + 1) * width].iter_mut().zip(&values);
            row.for_each(|(product, other)| *product += mass * value * other);
        }
    };
    // What lies at the ends, and what lies between two points of the grid.
    add(ranks[0], cumulative[0]);
    for k in 1..GRID {
        let mass = cumulative[k] - cumulative[k - 1];
        if mass > 0.0 {
            add(f64::midpoint(ranks[k], ranks[k - 1]), mass);
        }
    }
    add(ranks[GRID - 1], 1.0 - cumulative[GRID - 1]);
    for (i, mean) in means.iter().enumerate() {
        let row = products[i * width..(i + 1) * width].iter_mut().zip(&means);
        row.for_each(|(product, other)| *product -= mean * other);
    }
    (means, products)
}

/// Multiplies values by L⁻¹ and the covariance C by it from both sides, LLᵀ = C + ridge.
fn make_independent(values: &mut [f64], covariance: &mut [f64], width: usize) {
    let factor = cholesky(covariance, width);
    values.chunks_exact_mut(width).for_each(|point| solve_lower(&factor, point));
    // L⁻¹(L⁻¹C)ᵀ, row by row.
    covariance.chunks_exact_mut(width).for_each(|row| solve_lower(&factor, row));
    let mut turned: Vec<f64> =
        (0..width * width).map(|k| covariance[k % width * width + k / width]).collect();
    turned.chunks_exact_mut(width).for_each(|row| solve_lower(&factor, row));
    covariance.copy_from_slice(&turned);
}

/// The lower triangle L, row by row.
fn cholesky(covariance: &[f64], width: usize) -> Vec<f64> {
    let mut factor = vec![0.0; width * width];
    for i in 0..width {
        for j in 0..=i {
            let ridge = if i == j { RIDGE } else { 0.0 };
            let known: f64 = (0..j).map(|k| factor[i * width + k] * factor[j * width + k]).sum();
            let rest = covariance[i * width + j] + ridge - known;
            // A covariance has no negative direction; what rounding makes of it is less than the ridge.
            factor[i * width + j] =
                if i == j { larger(rest, RIDGE / 2.0).sqrt() } else { rest / factor[j * width + j] };
        }
    }
    factor
}

/// Puts the solution of Lx = v in place of v.
pub(super) fn solve_lower(factor: &[f64], vector: &mut [f64]) {
    let width = vector.len();
    for i in 0..width {
        let known: f64 = (0..i).map(|k| factor[i * width + k] * vector[k]).sum();
        vector[i] = (vector[i] - known) / factor[i * width + i];
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;
    use pairdp_pairwise::knots::Spacing;

    /// A column with nine tenths at −1 and the rest spread evenly over the upper half, as its knots weigh it.
    fn spiky(n: f64) -> Reading {
        let above = Spacing::Coarse.positions().iter().filter(|knot| **knot > 0.0).count() as f64;
        let weight = |knot: f64| if knot > 0.0 { 0.1 * n / above } else { 0.0 };
        let mut weights: Vec<f64> = Spacing::Coarse.positions().iter().map(|knot| weight(*knot)).collect();
        weights[0] = 0.9 * n;
        read(Spacing::Coarse, &[(&weights, n)], 1e-6 * n).remove(0)
    }

    #[test]
    fn a_spike_takes_a_tenth_before_ranks_are_scaled() {
        let ranks = spiky(1e5).evened(SPIKE);
        assert!(ranks.windows(2).all(|pair| pair[0] <= pair[1]), "ranks fall");
        assert!(ranks[GRID - 1] <= 1.0 + 1e-12);
        // Half of what is left of the spike lies below the upper half, where plain ranks leave a tenth.
        assert!((ranks[GRID / 2] - 0.5).abs() < 0.1, "{}", ranks[GRID / 2]);
    }

    /// A bell in the lower half.
    fn smooth(n: f64) -> Reading {
        let weight = |knot: f64| libm::exp(-8.0 * (knot + 0.3) * (knot + 0.3));
        let total: f64 = Spacing::Coarse.positions().iter().map(|knot| weight(*knot)).sum();
        let weights =
            Spacing::Coarse.positions().iter().map(|knot| n * weight(*knot) / total).collect::<Vec<f64>>();
        read(Spacing::Coarse, &[(&weights, n)], 1e-6 * n).remove(0)
    }

    /// Of the values of all functions at one place.
    type Statistic<'a> = &'a dyn Fn(&dyn Fn(usize) -> f64) -> f64;

    #[test]
    fn fine_functions_are_centred_and_independent_under_what_was_read() {
        let reading = smooth(1e5);
        let curves = Curves::new(&reading, FUNCTIONS, 1e-5);
        let at = |k: usize, i: usize| curves.values[k * FUNCTIONS + i];
        // Between two points of the grid the middle stands for the mass.
        let mass = |k: usize| reading.cumulative[k] - reading.cumulative[k - 1];
        let mean = |of: Statistic| {
            let between: f64 =
                (1..GRID).map(|k| mass(k) * of(&|i| f64::midpoint(at(k, i), at(k - 1, i)))).sum();
            let (first, last) = (reading.cumulative[0], 1.0 - reading.cumulative[GRID - 1]);
            between + first * of(&|i| at(0, i)) + last * of(&|i| at(GRID - 1, i))
        };
        let mut variances = 0.0;
        for i in 0..FUNCTIONS {
            assert!(mean(&|value| value(i)).abs() < 0.05, "function {i}: {}", mean(&|value| value(i)));
            let variance = mean(&|value| value(i) * value(i));
            assert!(variance < 1.1, "function {i}: {variance}");
            variances += variance;
            for j in 0..i {
                let together = mean(&|value| value(i) * value(j));
                assert!(together.abs() < 0.35, "functions {i} and {j}: {together}");
            }
        }
        assert!((variances - curves.spread).abs() < 0.1 * curves.spread, "{variances} {}", curves.spread);
    }

    #[test]
    fn with_much_noise_functions_are_those_of_plain_ranks() {
        let reading = spiky(100.0);
        let noise = 2.0 * FINE;
        let curves = Curves::new(&reading, FUNCTIONS, noise);
        let (means, _) =
            moments(&reading.cumulative, &reading.cumulative, |rank| of_rank(rank, noise, FUNCTIONS));
        let expected: Vec<f64> = of_rank(reading.cumulative[700], noise, FUNCTIONS).collect();
        for i in 0..FUNCTIONS {
            assert!((curves.values[700 * FUNCTIONS + i] - (expected[i] - means[i])).abs() < 1e-12);
        }
        assert_eq!(Curves::new(&reading, 1, 1e-6).width, 1);
    }

    #[test]
    fn a_number_is_looked_up_between_two_points_and_at_the_ends_beyond_them() {
        let curves = Curves::new(&spiky(1e5), FUNCTIONS, 1e-5);
        let value = |x: f64| {
            let mut out = Vec::new();
            curves.look_up(x, &mut out);
            out
        };
        assert_eq!(value(-1.0), curves.values[..FUNCTIONS]);
        let last = &curves.values[(GRID - 1) * FUNCTIONS..];
        assert!(value(7.0).iter().zip(last).all(|(found, last)| (found - last).abs() < 1e-12));
        assert_eq!(value(f64::NEG_INFINITY), value(-1.0));
        let (left, middle, right) =
            (value(grid(600)), value(f64::midpoint(grid(600), grid(601))), value(grid(601)));
        for i in 0..FUNCTIONS {
            assert!((middle[i] - f64::midpoint(left[i], right[i])).abs() < 1e-12);
        }
        assert_eq!([Spacing::Coarse.knots(), Spacing::Fine.knots()], [57, 153]);
    }
}
