//! A linear test learned from runs: the direction that separates two tables best for what looks like Gaussian numbers.

use crate::runs::Run;
use pairdp_pairwise::solve_ridge;
use pairdp_units::directed::larger;

/// Weights of a score that is larger for the first table.
pub(crate) struct Linear {
    centre: Vec<f64>,
    weights: Vec<f64>,
}

impl Linear {
    /// Fisher's discriminant on standardised numbers: the inverse of their covariance times the difference of means. Numbers from
    /// position `from` on are looked at.
    pub(crate) fn learn(runs: &[Run], from: usize) -> Self {
        let width = runs.first().map_or(0, |run| run.numbers.len().saturating_sub(from));
        let mut mean = [vec![0.0; width], vec![0.0; width]];
        let mut count = [0.0, 0.0];
        for run in runs {
            let world = usize::from(run.first);
            count[world] += 1.0;
            mean[world].iter_mut().zip(&run.numbers[from..]).for_each(|(sum, x)| *sum += finite(*x));
        }
        for (mean, count) in mean.iter_mut().zip(count) {
            mean.iter_mut().for_each(|sum| *sum /= larger(count, 1.0));
        }
        let mut covariance = vec![0.0; width * width];
        for run in runs {
            let centre = &mean[usize::from(run.first)];
            let off: Vec<f64> = run.numbers[from..].iter().zip(centre).map(|(x, m)| finite(*x) - m).collect();
            for i in 0..width {
                for j in 0..width {
                    covariance[i * width + j] += off[i] * off[j] / larger(runs.len() as f64, 1.0);
                }
            }
        }
        // In units of each number's own spread, so that one ridge suits all.
        let spread: Vec<f64> = (0..width).map(|i| larger(covariance[i * width + i].sqrt(), 1e-300)).collect();
        for i in 0..width {
            for j in 0..width {
                covariance[i * width + j] /= spread[i] * spread[j];
            }
        }
        let apart: Vec<f64> = (0..width).map(|i| (mean[1][i] - mean[0][i]) / spread[i]).collect();
        let solved = if width > 0 { solve_ridge(&covariance, 1e-9, &apart) } else { Vec::new() };
        let centre = (0..width).map(|i| f64::midpoint(mean[0][i], mean[1][i])).collect();
        Self { centre, weights: solved.iter().zip(&spread).map(|(w, s)| w / s).collect() }
    }

    /// Above 0 for the first table, if what was learned is right.
    pub(crate) fn score(&self, run: &Run, from: usize) -> f64 {
        let numbers = run.numbers[from..].iter().zip(&self.centre).zip(&self.weights);
        numbers.map(|((x, centre), weight)| weight * (finite(*x) - centre)).sum()
    }
}

/// A black box may write anything; what is not a number says nothing.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
