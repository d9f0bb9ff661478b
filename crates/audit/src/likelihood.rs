//! The strongest attack there is: how much likelier one table makes what was released than the other.
//!
//! Whoever tells two tables apart by a trace does best by comparing their likelihoods (Neyman and Pearson 1933). An auditor who
//! made both tables can compute them: every query is public, its exact answer on either table is his to compute, and the noise has a
//! known law. For Gaussian noise the logarithm of the ratio is Σ⟨y_t − (a_t + b_t)/2, a_t − b_t⟩/σ_t², the sum of the noisy
//! releases' projections on what separates the tables.
//!
//! Noise that repeats itself is invisible to that sum, so the second number looks for it: how much closer the residuals of
//! successive releases are to each other under the one table than under the other.

use crate::AuditError;
use crate::answers::{Facts, Known};
use crate::table_pair::TablePair;
use pairdp_certificate::NoiseKind;
use pairdp_pairwise::Objective;
use pairdp_release::{Exchange, Mechanism};
use pairdp_units::directed::{larger, smaller};

/// As many numbers of a trace are kept for a learned test; longer traces are added up in groups.
const GROUPS: usize = 64;

/// Compares two tables by what was released.
pub(crate) struct Likelihood {
    facts: Facts,
    first: Known,
    second: Known,
    replaced: usize,
    uniform: bool,
    n: usize,
}

impl Likelihood {
    pub(crate) fn new(facts: Facts, neighbours: &TablePair) -> Result<Self, AuditError> {
        let (first, second) = (facts.know(&neighbours.first)?, facts.know(&neighbours.second)?);
        let (replaced, uniform) = (neighbours.replaced, neighbours.uniform);
        Ok(Self { facts, first, second, replaced, uniform, n: neighbours.first.targets.len() })
    }

    /// The logarithm of the likelihood ratio, first table over second; the repetition of noise; and the ratio by release,
    /// in groups.
    pub(crate) fn numbers(&self, trace: &[Exchange]) -> Result<Vec<f64>, AuditError> {
        let mut numbers = vec![0.0; 2 + GROUPS.min(trace.len())];
        let mut last: Option<[Vec<f64>; 2]> = None;
        for (t, Exchange { at, answer }) in trace.iter().enumerate() {
            let scale = self.facts.scale(t, at)?;
            let (a, b) = (self.facts.answer(&self.first, t, at), self.facts.answer(&self.second, t, at));
            let ratio = match &self.facts.mechanism {
                Mechanism::Samples(_) if self.uniform => self.of_mixtures(answer, at, scale),
                _ => self.of_answers(answer, &a, &b, scale),
            };
            numbers[0] += ratio;
            numbers[2 + t * GROUPS.min(trace.len()) / trace.len()] += ratio;
            let residual = |exact: &[f64]| -> Vec<f64> {
                answer.iter().zip(exact).map(|(y, q)| (y - q) / scale).collect()
            };
            let residuals = [residual(&a), residual(&b)];
            if let Some(before) = &last {
                let repeated = |k: usize| {
                    // Far below any distance of independent noise.
                    const SAME: f64 = 1e-18;
                    (square_distance(&before[k], &residuals[k]) + SAME).ln()
                };
                numbers[1] += repeated(1) - repeated(0);
            }
            last = Some(residuals);
        }
        Ok(numbers)
    }

    fn of_answers(&self, y: &[f64], a: &[f64], b: &[f64], scale: f64) -> f64 {
        match self.facts.plan.law() {
            NoiseKind::Gaussian => log_normal(y, a, scale) - log_normal(y, b, scale),
            NoiseKind::Euclidean => (square_distance(y, b).sqrt() - square_distance(y, a).sqrt()) / scale,
            NoiseKind::Laplace => {
                let columns = match self.facts.problem.objective() {
                    // Entries off the diagonal are released once, times √2, and stand in the matrix twice.
                    Objective::Metric { .. } if !matches!(self.facts.mechanism, Mechanism::Moments(_)) => {
                        Some((y.len() as f64).sqrt().round())
                    }
                    _ => None,
                };
                let weight = |k: usize| match columns {
                    Some(d) if (k as f64) % (d + 1.0) > 0.5 => std::f64::consts::FRAC_1_SQRT_2,
                    _ => 1.0,
                };
                let apart = |q: &[f64]| {
                    y.iter().zip(q).enumerate().map(|(k, (y, q))| weight(k) * (y - q).abs()).sum::<f64>()
                };
                (apart(b) - apart(a)) / scale
            }
        }
    }

    /// Of a secret sample, when all records but one are the same: it holds that one or it does not.
    fn of_mixtures(&self, y: &[f64], at: &[f64], scale: f64) -> f64 {
        let of = |known: &Known| -> f64 {
            let (plain, touched) = self.terms(known, at);
            let n = self.n as f64;
            if let Some(pairs) = self.facts.plan.expected_pairs() {
                // Kept pairs of the one record are binomial; those of the others enter by their mean.
                let all = n * (n - 1.0) / 2.0;
                let rate = pairs / all;
                let others = (all - (n - 1.0)) * rate;
                let mut log = (n - 1.0) * (-rate).ln_1p();
                let mut terms = Vec::new();
                for k in 0..self.n.min(64) {
                    let count = k as f64;
                    let mean: Vec<f64> =
                        plain.iter().zip(&touched).map(|(p, q)| (others * p + count * q) / pairs).collect();
                    terms.push(log + log_normal(y, &mean, scale));
                    log += ((n - 1.0 - count) / (count + 1.0) * rate / (1.0 - rate)).ln();
                }
                return log_sum(&terms);
            }
            let rate =
                if matches!(self.facts.problem.objective(), Objective::Pointwise { .. }) { 1.0 } else { 2.0 }
                    / n;
            log_sum(&[
                (-rate).ln_1p() + log_normal(y, &plain, scale),
                rate.ln() + log_normal(y, &touched, scale),
            ])
        };
        of(&self.first) - of(&self.second)
    }

    /// The gradient of a sample without the one record, and with it.
    fn terms(&self, known: &Known, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let one = self.replaced;
        let [other, another] = if one == 0 {
            [1, 2]
        } else if one == 1 {
            [0, 2]
        } else {
            [0, 1]
        };
        if matches!(self.facts.problem.objective(), Objective::Pointwise { .. }) {
            return (self.facts.record(known, other, at), self.facts.record(known, one, at));
        }
        let plain = if self.n > 2 { self.facts.pair(known, other, another, at) } else { vec![0.0; at.len()] };
        (plain, self.facts.pair(known, one, other, at))
    }
}

fn square_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

pub(crate) fn log_normal(y: &[f64], mean: &[f64], sigma: f64) -> f64 {
    -0.5 * square_distance(y, mean) / (sigma * sigma)
}

fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().fold(f64::NEG_INFINITY, |most, &log| larger(most, log));
    // Where nothing is likely the ratio says nothing; keep it finite.
    larger(smaller(most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln(), 1e300), -1e300)
}
