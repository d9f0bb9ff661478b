//! A linear model from one noisy release of moments.

use super::calibrate::Moments;
use crate::{Curator, Family as _, LearnError, PublicFacts, clarity};
use pairdp_certificate::NoiseKind;
use pairdp_model::Task;
use pairdp_noise::Source;
use pairdp_pairwise::moments::Target;
use pairdp_pairwise::{Objective, solve_ridge};
use pairdp_units::directed::larger;
use std::f64::consts::SQRT_2;

/// Solves for the weights of the score from moments with noise of known size: w = 2(Ĉ + λI)⁻¹ĉ, the least squares; for
/// regression the intercept ŷ − w·m̂ is the last parameter, and for classification the score is scaled to log-odds.
///
/// ĉ is half the covariance of features and label. The mean that centres it is first shrunk towards 0 by how much of its length
/// is noise (James and Stein 1961): where features are centred already, centring would only add noise. Ĉ, the covariance of
/// features, is shrunk towards a multiple of the identity in the same way (Ledoit and Wolf 2004), and λ is a few times the
/// size of its noise's largest eigenvalues: the more, the less clear the release is, which served on simulated populations and
/// public sets. All of it looks at released numbers only.
pub(crate) fn solve<S: Source>(
    curator: &mut Curator<S>,
    mechanism: &Moments,
) -> Result<Vec<f64>, LearnError> {
    let released = curator.noisy_moments()?;
    let problem = mechanism.common().public.problem;
    let mut w = weights(&released, mechanism)?;
    if matches!(problem.objective(), Objective::Ranking { .. }) {
        // The length of a ranker means nothing; 1 suits every domain that is not tiny.
        w.truncate(mechanism.common().public.features);
        let length = dot(&w, &w).sqrt();
        w.iter_mut().for_each(|v| *v /= length);
    }
    if !w.iter().all(|v| v.is_finite()) {
        w.fill(0.0);
    }
    problem.domain().project(&mut w);
    Ok(w)
}

/// Weights and intercept.
fn weights(released: &[f64], mechanism: &Moments) -> Result<Vec<f64>, LearnError> {
    let PublicFacts { problem, plan, records, features: d, budget } = mechanism.common().public;
    let (weights, kappa) = (mechanism.weights(), problem.feature_bound());
    // Variance of the noise on each released coordinate.
    let variance = match plan.law() {
        NoiseKind::Gaussian => mechanism.sigma().powi(2),
        NoiseKind::Laplace => 2.0 * mechanism.sigma().powi(2),
        NoiseKind::Euclidean => (weights.coordinates(d) as f64 + 1.0) * mechanism.sigma().powi(2),
    };
    let noisy_mean: Vec<f64> = released[d..2 * d].iter().map(|v| v / weights.mean).collect();
    let noise_of_mean = d as f64 * variance / (weights.mean * weights.mean);
    let kept = larger(0.0, 1.0 - noise_of_mean / dot(&noisy_mean, &noisy_mean));
    let mean: Vec<f64> = noisy_mean.iter().map(|v| kept * v).collect();
    let label = released[2 * d] / (weights.mean * kappa);
    let label = if label > 1.0 { 1.0 } else { larger(label, -1.0) };
    let covariance: Vec<f64> = released[..d].iter().zip(&mean).map(|(v, m)| 2.0 * v - label * m).collect();
    let Solved { mut w, spread, gain } = if weights.second > 0.0 {
        let matrix = Symmetric::read(&released[2 * d + 1..], d, kappa / weights.second);
        matrix.solve(
            &mean,
            &covariance,
            variance,
            kappa * kappa / d as f64,
            few_times(clarity(records, d, budget)?),
        )
    } else {
        // Features spread evenly over directions would have this variance.
        let even = kappa * kappa / d as f64;
        let w: Vec<f64> = covariance.iter().map(|v| v / even).collect();
        Solved { spread: even * dot(&w, &w), gain: 1.0 / even, w }
    };
    if Task::of(problem) == Task::Classification {
        // The noise of the covariance is in w, too, and makes classes look further apart than they are.
        let noise = d as f64 * gain * variance * (4.0 + (kept * label / weights.mean).powi(2));
        let apart = dot(&w, &covariance) - noise;
        return Ok(log_odds(w, &mean, label, apart, spread));
    }
    let scale = match mechanism.target() {
        Target::Sign => 1.0,
        Target::Within(bound) => bound,
    };
    let intercept = label - dot(&w, &mean);
    w.push(intercept);
    w.iter_mut().for_each(|v| *v *= scale);
    Ok(w)
}

/// Scales a direction to log-odds, and finds the intercept: linear discriminant analysis (Fisher 1936) along w. `apart` is w times
/// the covariance of features and label, `spread` the variance of w·x.
fn log_odds(mut w: Vec<f64>, mean: &[f64], label: f64, apart: f64, spread: f64) -> Vec<f64> {
    const SURE: f64 = 0.98;
    let label = if label > SURE { SURE } else { larger(label, -SURE) };
    let positive = f64::midpoint(1.0, label);
    // Between the classes' mean scores, and within a class.
    let between = apart / (2.0 * positive * (1.0 - positive));
    let within = larger(spread - positive * (1.0 - positive) * between * between, 0.1 * spread);
    // Without any signal the order of scores is all that is left.
    let scale = larger(between / within, 1e-3);
    let middle = dot(&w, mean) - label / 2.0 * between;
    w.iter_mut().for_each(|v| *v *= scale);
    w.push((positive / (1.0 - positive)).ln() - scale * middle);
    w
}

/// The factor of λ.
fn few_times(clarity: f64) -> f64 {
    1.0 + 100.0 / (20.0 + clarity)
}

/// What solving for the weights gives.
struct Solved {
    w: Vec<f64>,
    /// The variance of w·x.
    spread: f64,
    /// What a direction of average variance is multiplied by.
    gain: f64,
}

/// A symmetric matrix with noise.
struct Symmetric {
    entries: Vec<f64>,
    d: usize,
    /// What a released coordinate was multiplied by.
    scale: f64,
}

impl Symmetric {
    /// The upper half of a matrix, by rows, entries off the diagonal times √2.
    fn read(half: &[f64], d: usize, scale: f64) -> Self {
        let (mut entries, mut half) = (vec![0.0; d * d], half.iter());
        for i in 0..d {
            for j in i..d {
                let entry = half.next().map_or(0.0, |v| v * scale / if i == j { 1.0 } else { SQRT_2 });
                (entries[i * d + j], entries[j * d + i]) = (entry, entry);
            }
        }
        Self { entries, d, scale }
    }

    /// (Ĉ + λI)⁻¹ĉ for second moments with this much noise in each coordinate, λ so many `times` its largest
    /// eigenvalues; `even` is the variance of each direction were rows of the longest length spread evenly.
    fn solve(mut self, mean: &[f64], covariance: &[f64], variance: f64, even: f64, times: f64) -> Solved {
        /// λ in units of the average variance, beside the noise's.
        const FLOOR: f64 = 0.03;
        /// The least variance of a direction on the average, in units of what rows of the longest length have.
        const LEAST: f64 = 0.2;
        let d = self.d;
        for (i, row) in self.entries.chunks_exact_mut(d).enumerate() {
            row.iter_mut().zip(mean).for_each(|(entry, m)| *entry -= mean[i] * m);
        }
        let on_diagonal = |k: usize| k.is_multiple_of(d + 1);
        // Rows are about as long as they may be; where noise says that nothing varies, it is the noise.
        let average = self.entries.iter().step_by(d + 1).sum::<f64>() / d as f64;
        let average = larger(average, LEAST * even);
        let off = |(k, v): (usize, &f64)| v - if on_diagonal(k) { average } else { 0.0 };
        let spread: f64 = self.entries.iter().enumerate().map(off).map(|v| v * v).sum();
        let entry_variance = variance * self.scale * self.scale;
        let noise = (d * (d + 1)) as f64 / 2.0 * entry_variance;
        let kept = larger(0.0, 1.0 - noise / spread);
        for (k, value) in self.entries.iter_mut().enumerate() {
            *value = kept * *value + if on_diagonal(k) { (1.0 - kept) * average } else { 0.0 };
        }
        // A little of the average, too: where noise is small, directions without any spread are all chance.
        let ridge = times * kept * (d as f64 * entry_variance).sqrt() + FLOOR * average;
        let ridge = ridge + f64::MIN_POSITIVE;
        let w = solve_ridge(&self.entries, ridge, covariance);
        let spread = self.entries.chunks_exact(d).zip(&w).map(|(row, w_i)| w_i * dot(row, &w)).sum();
        Solved { w, spread, gain: 1.0 / (average + ridge) }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise can make the released variances negative on the average. Weights were infinite then, and the model constant.
    #[test]
    fn noise_that_says_that_nothing_varies_leaves_a_model() {
        let d = 3;
        let half = [-0.5, 0.0, 0.0, -0.4, 0.0, -0.6];
        let matrix = Symmetric::read(&half, d, 1.0);
        let covariance = [0.2, -0.1, 0.0];
        let Solved { w, gain, .. } = matrix.solve(&[0.0; 3], &covariance, 1.0, 1.0 / 3.0, 2.0);
        assert!(w.iter().all(|w| w.is_finite()) && gain.is_finite());
        assert!(dot(&w, &covariance) > 1e-3, "{w:?}");
    }
}
