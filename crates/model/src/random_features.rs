//! Waves along public random directions of a row.
//!
//! A vector of a row x of the ball of radius κ is (αx, βκ·z(x/κ)) with α² + β² = 1 and z = (cos ω₁x, sin ω₁x, …)/√m, whose length is 1: no longer
//! than κ, and a function of the row alone. So what is learned of such vectors has the sensitivity that it has for any rows of the ball, and a
//! linear score of them can be any smooth function of the row (Rahimi and Recht 2007).

use pairdp_certificate::RandomFeatures;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::clip_row;
use pairdp_pairwise::kernel::score;

/// Standard normal numbers, one after the other, that anybody can draw again: where a descent starts, which way waves go. No noise.
pub fn public_normals(seed: u64) -> impl FnMut() -> f64 {
    let mut source = Replay::from_seed(seed);
    move || {
        // Box and Muller; the first is never 0.
        let unit = |word: u64| ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let (a, b) = (unit(source.next_word()), unit(source.next_word()));
        (-2.0 * libm::log(a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
    }
}

/// The directions of a form, drawn from its public seed.
pub struct Waves {
    linear: f64,
    height: f64,
    bound: f64,
    columns: usize,
    /// Direction by direction, over κ.
    directions: Vec<f64>,
}

impl Waves {
    /// For rows of so many columns that are no longer than `bound`.
    pub fn new(form: RandomFeatures, columns: usize, bound: f64) -> Self {
        let RandomFeatures { directions, linear, spread, seed } = form;
        let mut normal = public_normals(seed);
        let height = bound * ((1.0 - linear * linear) / directions as f64).sqrt();
        let directions = (0..directions * columns).map(|_| spread * normal() / bound).collect();
        Self { linear, height, bound, columns, directions }
    }

    /// Columns of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Columns of the vector.
    pub fn width(&self) -> usize {
        self.columns + 2 * self.directions.len() / self.columns
    }

    /// The vector of a row. Rounding does not make it longer than the bound.
    pub fn apply(&self, row: &mut Vec<f64>) {
        debug_assert_eq!(row.len(), self.columns, "columns of a row");
        let waves: Vec<f64> = self
            .directions
            .chunks_exact(self.columns)
            .flat_map(|direction| {
                let (sine, cosine) = libm::sincos(score(row, direction));
                [self.height * cosine, self.height * sine]
            })
            .collect();
        row.iter_mut().for_each(|value| *value *= self.linear);
        row.extend(waves);
        clip_row(row, self.bound);
    }

    /// α, βκ/√m, and the directions, one after the other, over κ.
    pub fn parts(&self) -> (f64, f64, &[f64]) {
        (self.linear, self.height, &self.directions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By their definition, and no longer than the bound to the last bit, for rows at it, at 0 and without a length that is a number.
    #[test]
    fn vectors_are_waves_of_rows_and_no_longer_than_they_may_be() {
        let form = RandomFeatures { directions: 40, linear: 0.7, spread: 2.0, seed: 3 };
        let (columns, bound) = (3, 0.98);
        let waves = Waves::new(form, columns, bound);
        let mut source = Replay::from_seed(9);
        let mut number = || 2.0 * ((source.next_word() >> 11) as f64 / (1_u64 << 53) as f64) - 1.0;
        for at in 0..200 {
            let mut row: Vec<f64> = (0..columns).map(|_| if at == 0 { 0.0 } else { number() }).collect();
            clip_row(&mut row, bound);
            let plain = row.clone();
            waves.apply(&mut row);
            assert_eq!(row.len(), waves.width());
            let square: f64 = row.iter().map(|value| value * value).sum();
            assert!(square.sqrt() <= bound * (1.0 + 1e-15), "{square}");
            for (k, direction) in waves.directions.chunks_exact(columns).enumerate() {
                let angle: f64 = direction.iter().zip(&plain).map(|(d, x)| d * x).sum();
                let height = bound * (0.51_f64 / 40.0).sqrt();
                assert!((row[columns + 2 * k] - height * angle.cos()).abs() < 1e-12);
                assert!((row[columns + 2 * k + 1] - height * angle.sin()).abs() < 1e-12);
            }
            assert!(row.iter().zip(&plain).all(|(vector, x)| (vector - 0.7 * x).abs() < 1e-12));
        }
        // Directions are standard normal but for their scale: a false alarm once in a million (five standard deviations of the mean of squares).
        let many = Waves::new(RandomFeatures { directions: 10_000, ..form }, columns, bound);
        let squares = many.directions.iter().map(|w| (w * bound / 2.0).powi(2));
        let mean = squares.sum::<f64>() / many.directions.len() as f64;
        assert!((mean - 1.0).abs() < 5.0 * (2.0 / many.directions.len() as f64).sqrt(), "{mean}");
    }
}
