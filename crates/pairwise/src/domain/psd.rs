//! Projections of symmetric matrices through their eigenvalues.
//!
//! The Frobenius norm does not change under rotation, so the nearest matrix with constrained eigenvalues keeps the
//! eigenvectors and moves the eigenvalues to their own nearest point.

use faer::{Mat, MatRef, Side};
use pairdp_units::directed::larger;

/// Symmetrises a matrix and maps its eigenvalues. A matrix with non-finite entries becomes 0.
pub(crate) fn project_eigenvalues(matrix: &mut [f64], map: impl FnOnce(&mut [f64])) {
    let d = side(matrix.len());
    let given = MatRef::from_row_major_slice(&*matrix, d, d);
    let symmetric = Mat::from_fn(d, d, |i, j| 0.5 * (given[(i, j)] + given[(j, i)]));
    let Ok(eigen) = symmetric.self_adjoint_eigen(Side::Lower) else {
        matrix.fill(0.0);
        return;
    };
    let mut values: Vec<f64> = (0..d).map(|k| eigen.S()[k]).collect();
    map(&mut values);
    let vectors = eigen.U();
    for i in 0..d {
        for j in 0..=i {
            let entry: f64 = (0..d).map(|k| vectors[(i, k)] * values[k] * vectors[(j, k)]).sum();
            matrix[i * d + j] = entry;
            matrix[j * d + i] = entry;
        }
    }
}

/// The rows √λ_k·u_k of a symmetric matrix with eigenvalues λ and eigenvectors u: (x − y)ᵀW(x − y) is the squared Euclidean
/// distance of the mapped points. Negative eigenvalues count as 0, the nearest metric; a matrix with non-finite entries maps
/// everything to 0.
///
/// # Panics
/// If the number of entries is not a square: a mistake of the caller.
pub fn metric_map(matrix: &[f64]) -> Vec<f64> {
    let d = side(matrix.len());
    let given = MatRef::from_row_major_slice(matrix, d, d);
    let symmetric = Mat::from_fn(d, d, |i, j| 0.5 * (given[(i, j)] + given[(j, i)]));
    let Ok(eigen) = symmetric.self_adjoint_eigen(Side::Lower) else {
        return vec![0.0; d * d];
    };
    let (values, vectors) = (eigen.S(), eigen.U());
    // The longest directions first.
    (0..d)
        .rev()
        .flat_map(|k| {
            let root = larger(values[k], 0.0).sqrt();
            (0..d).map(move |i| root * vectors[(i, k)])
        })
        .collect()
}

/// (M₊ + λI)⁻¹b for a symmetric matrix M, its negative eigenvalues counted as 0, and λ > 0; 0 for what is not finite.
///
/// # Panics
/// If the sizes do not fit: a mistake of the caller.
pub fn solve_ridge(matrix: &[f64], ridge: f64, right: &[f64]) -> Vec<f64> {
    let d = side(matrix.len());
    assert_eq!(d, right.len(), "one entry for each row");
    let given = MatRef::from_row_major_slice(matrix, d, d);
    let symmetric = Mat::from_fn(d, d, |i, j| 0.5 * (given[(i, j)] + given[(j, i)]));
    let Ok(eigen) = symmetric.self_adjoint_eigen(Side::Lower) else {
        return vec![0.0; d];
    };
    let (values, vectors) = (eigen.S(), eigen.U());
    let mut out = vec![0.0; d];
    for k in 0..d {
        let along: f64 = (0..d).map(|i| vectors[(i, k)] * right[i]).sum();
        let factor = along / (larger(values[k], 0.0) + ridge);
        (0..d).for_each(|i| out[i] += factor * vectors[(i, k)]);
    }
    out
}

/// Moves `values` to the nearest point with entries of at least 0 and sum of at most `total`.
///
/// Cut off at 0; if the sum is still too large, subtract the one θ for which Σ(v − θ)₊ = total, found by going
/// through the values from the largest (Duchi et al. 2008).
pub(crate) fn project_to_simplex_below(values: &mut [f64], total: f64) {
    if values.iter().map(|v| larger(*v, 0.0)).sum::<f64>() <= total {
        values.iter_mut().for_each(|v| *v = larger(*v, 0.0));
        return;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (k, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (k as f64 + 1.0);
        if *value > candidate {
            threshold = candidate;
        }
    }
    values.iter_mut().for_each(|v| *v = larger(*v - threshold, 0.0));
}

/// The side of a square matrix with this many entries.
///
/// # Panics
/// If the number is not a square: a mistake of the caller.
fn side(entries: usize) -> usize {
    let side = entries.isqrt();
    assert_eq!(side * side, entries, "a matrix domain holds square matrices");
    side
}
