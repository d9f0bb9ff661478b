//! A linear ranker from one noisy release of moments.

use crate::mechanism::Moments;
use crate::{Curator, Law, LearnError};
use pairdp_noise::Source;
use pairdp_pairwise::solve_ridge;
use pairdp_units::directed::{larger, smaller};
use std::f64::consts::SQRT_2;

/// Solves for the weights of the score from moments with noise of known size: w = (Ĉ + λI)⁻¹ĉ.
///
/// ĉ is half the covariance of features and label. The mean that centres it is first shrunk towards 0 by how much of its length
/// is noise (James and Stein 1961): where features are centred already, centring would only add noise. Ĉ, the covariance of
/// features, is shrunk towards a multiple of the identity in the same way (Ledoit and Wolf 2004), and λ is the size of
/// its noise's largest eigenvalues. All of it looks at released numbers only.
pub(crate) fn moments<S: Source>(
    curator: &mut Curator<S>,
    mechanism: &Moments,
) -> Result<Vec<f64>, LearnError> {
    let released = curator.noisy_moments()?;
    let public = mechanism.common().public;
    let mut w = solve(&released, public.features, mechanism, public.problem.feature_bound());
    // The length of a ranker means nothing; 1 suits every domain that is not tiny.
    let length = w.iter().map(|v| v * v).sum::<f64>().sqrt();
    let target = smaller(1.0, public.problem.domain().radius());
    if length.is_finite() && length > 0.0 {
        w.iter_mut().for_each(|v| *v *= target / length);
    } else {
        w.fill(0.0);
    }
    public.problem.domain().project(&mut w);
    Ok(w)
}

fn solve(released: &[f64], d: usize, mechanism: &Moments, kappa: f64) -> Vec<f64> {
    let weights = mechanism.weights();
    // Variance of the noise on each released coordinate.
    let variance = match mechanism.common().public.plan.law() {
        Law::Gaussian => mechanism.sigma().powi(2),
        Law::Laplace => 2.0 * mechanism.sigma().powi(2),
        Law::Euclidean => (weights.coordinates(d) as f64 + 1.0) * mechanism.sigma().powi(2),
    };
    let noisy_mean: Vec<f64> = released[d..2 * d].iter().map(|v| v / weights.mean).collect();
    let noise_of_mean = d as f64 * variance / (weights.mean * weights.mean);
    let kept = larger(0.0, 1.0 - noise_of_mean / square(&noisy_mean));
    let mean: Vec<f64> = noisy_mean.iter().map(|v| kept * v).collect();
    let label = released[2 * d] / (weights.mean * kappa);
    let label = if label > 1.0 { 1.0 } else { larger(label, -1.0) };
    let covariance: Vec<f64> = released[..d].iter().zip(&mean).map(|(v, m)| v - label * m / 2.0).collect();
    if weights.second <= 0.0 {
        return covariance;
    }

    let scale = kappa / weights.second;
    let mut matrix = vec![0.0; d * d];
    let mut rest = released[2 * d + 1..].iter();
    for i in 0..d {
        for j in i..d {
            let entry = rest.next().map_or(0.0, |v| v * scale / if i == j { 1.0 } else { SQRT_2 });
            matrix[i * d + j] = entry - mean[i] * mean[j];
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
    let average = (0..d).map(|i| matrix[i * d + i]).sum::<f64>() / d as f64;
    let target = larger(average, 0.0);
    let off: f64 = matrix
        .iter()
        .enumerate()
        .map(|(k, v)| v - if k % (d + 1) == 0 { average } else { 0.0 })
        .map(|v| v * v)
        .sum();
    let entry_variance = variance * scale * scale;
    let noise = (d * (d + 1)) as f64 / 2.0 * entry_variance;
    let kept = larger(0.0, 1.0 - noise / off);
    for (k, value) in matrix.iter_mut().enumerate() {
        *value = kept * *value + if k % (d + 1) == 0 { (1.0 - kept) * target } else { 0.0 };
    }
    let ridge = kept * (d as f64 * entry_variance).sqrt() + 1e-9 * kappa * kappa;
    solve_ridge(&matrix, ridge, &covariance)
}

fn square(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum()
}
