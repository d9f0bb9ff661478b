//! The best linear model without privacy, converged: what a private one is measured against.

use pairdp_data::Table;
use pairdp_pairwise::solve_ridge;

/// Weights and intercept of logistic regression by Newton's method, with a trace of a ridge.
pub fn logistic(table: &Table) -> Vec<f64> {
    const ROUNDS: usize = 12;
    let mut w = vec![0.0; table.columns + 1];
    for _ in 0..ROUNDS {
        newton(table, &mut w, |score, target| {
            let p = 1.0 / (1.0 + (-score).exp());
            ((if target > 0.0 { 1.0 } else { 0.0 }) - p, p * (1.0 - p))
        });
    }
    w
}

/// Weights and intercept of least squares.
pub fn least_squares(table: &Table) -> Vec<f64> {
    let mut w = vec![0.0; table.columns + 1];
    newton(table, &mut w, |score, target| (target - score, 1.0));
    w
}

/// One step along slopes and curvatures of the records' losses.
fn newton(table: &Table, w: &mut [f64], slope: impl Fn(f64, f64) -> (f64, f64)) {
    let d = w.len();
    let (mut gradient, mut matrix, mut row) = (vec![0.0; d], vec![0.0; d * d], vec![1.0; d]);
    for (x, target) in table.features.chunks_exact(d - 1).zip(&table.targets) {
        row[..d - 1].copy_from_slice(x);
        let score: f64 = row.iter().zip(w.iter()).map(|(x, w)| x * w).sum();
        let (down, curvature) = slope(score, *target);
        for i in 0..d {
            gradient[i] += down * row[i];
            let scaled = curvature * row[i];
            if scaled != 0.0 {
                for (entry, x) in matrix[i * d..=i * d + i].iter_mut().zip(&row) {
                    *entry += scaled * x;
                }
            }
        }
    }
    for i in 0..d {
        for j in 0..i {
            matrix[j * d + i] = matrix[i * d + j];
        }
    }
    let ridge = 1e-3;
    gradient.iter_mut().zip(w.iter()).for_each(|(g, w)| *g -= ridge * w);
    let step = solve_ridge(&matrix, ridge, &gradient);
    w.iter_mut().zip(step).for_each(|(w, s)| *w += s);
}
