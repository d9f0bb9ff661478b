//! Bounding the records by a public rule.

use pairdp_units::directed::down_by;

/// Scales `row` down to Euclidean norm at most `bound`, if it is longer; non-finite entries become 0.
///
/// # Guarantee
/// For every input the result has exact norm at most `bound`, and clipping it again changes nothing. Proof: a sum
/// of d squares computed in f64 has relative error at most d·2⁻⁵²; a row is left alone only if its computed norm,
/// raised by that error, is within the bound, and is otherwise scaled by a factor lowered by more than it.
pub fn clip_row(row: &mut [f64], bound: f64) {
    if fits_by_far(row, bound) {
        return;
    }
    for value in row.iter_mut() {
        if !value.is_finite() {
            *value = 0.0;
        }
    }
    let largest = row.iter().fold(0.0_f64, |m, v| if v.abs() > m { v.abs() } else { m });
    if largest == 0.0 {
        return;
    }
    // Relative to the largest entry, so that squares neither overflow nor vanish.
    let relative = row.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt();
    let error = row.len() as f64 + 8.0;
    if largest * relative <= down_by(bound, 2.0 * error) {
        return;
    }
    let factor = down_by(bound / relative, 4.0 * error);
    for value in row.iter_mut() {
        *value = *value / largest * factor;
    }
}

/// Most rows fit by far: a plain sum of squares says so. It is below the exact one by a relative error of at most
/// d·2⁻⁵² and by what underflows, less than d·2⁻¹⁰⁰⁰; and no NaN or infinity passes the comparison.
pub(crate) fn fits_by_far(row: &[f64], bound: f64) -> bool {
    let margin = 1.0 - (row.len() as f64 + 16.0) * f64::EPSILON * 4.0;
    bound > 1e-100 && bound < 1e100 && sum_of_squares(row) <= bound * bound * margin
}

/// In eight partial sums, which vector registers take.
fn sum_of_squares(row: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let mut chunks = row.chunks_exact(8);
    for chunk in &mut chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value * value);
    }
    sums.iter().sum::<f64>() + chunks.remainder().iter().map(|value| value * value).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn clipped_rows_fit_and_stay(mut row in proptest::collection::vec(-1e3..1e3_f64, 1..60), bound in 1e-3..1e3_f64) {
            let before = row.clone();
            clip_row(&mut row, bound);
            let once = row.clone();
            clip_row(&mut row, bound);
            prop_assert_eq!(&once, &row);
            let norm = |r: &[f64]| r.iter().map(|v| v * v).sum::<f64>().sqrt();
            prop_assert!(norm(&once) <= bound);
            // Clipping keeps the direction and wastes next to nothing of the bound.
            let factor = if norm(&before) > bound { bound / norm(&before) } else { 1.0 };
            for (a, b) in before.iter().zip(&once) {
                prop_assert!((a * factor - b).abs() <= 1e-12 * bound);
            }
        }
    }

    #[test]
    fn hostile_rows_are_bounded() {
        for row in [
            vec![f64::MAX; 3],
            vec![f64::NAN, f64::INFINITY, 0.5],
            vec![f64::MIN_POSITIVE / 4.0; 2],
            vec![0.0],
        ] {
            let mut clipped = row.clone();
            clip_row(&mut clipped, 1.0);
            assert!(clipped.iter().map(|v| v * v).sum::<f64>() <= 1.0, "{row:?} -> {clipped:?}");
        }
    }
}
