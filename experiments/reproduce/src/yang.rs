//! Yang, Lei, Lyu and Ying (2021), Lemma 5 and Remark 1: nuclear against Frobenius norm, by the dimension.
//!
//! The Rademacher complexity of metrics in a ball is the mean dual norm of S = Σ ±uuᵀ/t, u the difference of two records: the
//! spectral norm for the nuclear ball, the Frobenius norm for the Frobenius ball. Both are measured here, for records of random
//! signs, of which ‖E‖u‖²uuᵀ‖ = 4(d + 1) and sup ‖u‖² = 4d are known.

use crate::{Experiment, Job, Jobs, Row, Value};
use pairdp_noise::{Replay, Source};
use rayon::prelude::*;

const TERMS: usize = 400;

/// Remark 1 with numbers in it.
pub(crate) const TABLE: Experiment = Experiment {
    name: "yang-norms",
    title: "Rademacher complexity of metrics: nuclear and Frobenius balls of radius 1",
    source: "Yang et al. (2021), Lemma 5 and Remark 1, t = 400, records of random signs. (12), (13) and the Frobenius bound \
             are what stands inside their O; the complexities are measured.",
    columns: &["nuclear, measured", "nuclear (12)", "nuclear (13)", "Frobenius, measured", "Frobenius bound"],
    logarithmic: true,
    quick: "20 repetitions instead of 100",
    jobs: |scope| {
        let repetitions = scope.repetitions(100, 20);
        let job = |d: usize| Job {
            key: format!("d = {d}"),
            repetitions,
            work: Box::new(move || Ok(vec![row(d, repetitions)])),
        };
        Ok(Jobs { jobs: [4, 8, 16, 32, 64].map(job).into(), missing: Vec::new() })
    },
};

fn row(d: usize, repetitions: usize) -> Row {
    let found: Vec<(f64, f64)> =
        (0..repetitions as u64).into_par_iter().map(|seed| norms(d, &mut Replay::from_seed(seed))).collect();
    let measured = |pick: fn(&(f64, f64)) -> f64| Value::of(found.iter().map(|f| Ok(pick(f))).collect());
    let (t, d) = (TERMS as f64, d as f64);
    Row {
        name: "complexity".into(),
        values: vec![
            measured(|f| f.0),
            Value::known((4.0 * (d + 1.0) * d.ln() / t).sqrt()),
            Value::known(4.0 * d * (d.ln() / t).sqrt()),
            measured(|f| f.1),
            Value::known(4.0 * d / t.sqrt()),
        ],
    }
}

/// The spectral and the Frobenius norm of one S.
fn norms(d: usize, random: &mut Replay) -> (f64, f64) {
    let mut s = vec![0.0; d * d];
    for _ in 0..TERMS {
        let mut sign = || if random.next_word() >> 63 == 0 { 1.0 } else { -1.0 };
        let u: Vec<f64> = (0..d).map(|_| sign() - sign()).collect();
        let weight = sign() / TERMS as f64;
        for (row, a) in s.chunks_exact_mut(d).zip(&u) {
            row.iter_mut().zip(&u).for_each(|(entry, b)| *entry += weight * a * b);
        }
    }
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    // The power method: S may have its largest eigenvalues at both ends, S² has them at one.
    let times = |v: &[f64]| -> Vec<f64> {
        s.chunks_exact(d).map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
    };
    let mut v = vec![1.0; d];
    let mut spectral = 0.0;
    for round in 0..200 {
        // A start that is no eigenvector of anything.
        v.iter_mut().enumerate().filter(|_| round == 0).for_each(|(k, v)| *v += 0.37 * (k as f64).sin());
        let norm = length(&v);
        v.iter_mut().for_each(|v| *v /= norm);
        let once = times(&v);
        spectral = length(&once);
        v = times(&once);
    }
    (spectral, length(&s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_are_ordered_as_they_must_be() {
        for seed in 0..5 {
            let (spectral, frobenius) = norms(6, &mut Replay::from_seed(seed));
            assert!(spectral <= frobenius && frobenius <= 6_f64.sqrt() * spectral * (1.0 + 1e-6));
        }
        // In one dimension they are the same.
        let (spectral, frobenius) = norms(1, &mut Replay::from_seed(1));
        assert!((spectral - frobenius).abs() < 1e-12);
    }
}
