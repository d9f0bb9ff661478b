//! Columns with which a score may only rise, or only fall, as a schema says.
//!
//! The weights of a column's functions are moved to the nearest ones whose curve goes that way from one end of its range to the other. It
//! looks at weights and at a map that were released, so it is post-processing and costs nothing. *Nearest* is by how much the
//! curve moves, as records lie by what was read: |Lᵀ(w − w′)| with LLᵀ the covariance of the functions.
//!
//! The curve rises if every step of the grid is up: ⟨a, w⟩ ≥ 0 for the differences a of the functions between neighbouring
//! points. That is a cone, onto which Dykstra's algorithm projects, here in Hildreth's form, which keeps one multiplier a step. What it leaves, having
//! stopped, is made up by the rank alone, the first function, whose every step is up where any function moves at all.

use super::curves::{Curves, solve_lower};
use crate::representation;
use crate::{Predictor, Task};
use pairdp_data::{Kind, Monotone};
use pairdp_units::directed::{larger, smaller};

/// Rounds through all steps of the grid: what is left after them is made up.
const ROUNDS: usize = 400;

impl Predictor {
    /// Moves weights to the nearest ones whose curves go the way that the columns' schema says, and tells whether any column says one.
    /// Metrics have no curves.
    pub fn follow_schema(&mut self) -> bool {
        let told = |column: &pairdp_data::ColumnEncoding| column.monotone.is_some();
        if self.task == Task::Metric || !self.encoding.columns().iter().any(told) {
            return false;
        }
        let map = representation::map(&self.encoding, self.representation.as_ref());
        let mut entry = 0;
        for (index, column) in self.encoding.columns().iter().enumerate() {
            let sign = match column.monotone {
                Some(Monotone::Increasing) => 1.0,
                Some(Monotone::Decreasing) => -1.0,
                None => 0.0,
            };
            if sign != 0.0 && matches!(column.kind, Kind::Range(_)) {
                match map.as_ref().map(|map| map.curves(index)) {
                    Some((start, Some(curves))) => {
                        rise(curves, sign, &mut self.parameters[start..start + curves.width]);
                    }
                    // By its range a column is a straight line.
                    _ => self.parameters[entry] = sign * larger(sign * self.parameters[entry], 0.0),
                }
            }
            entry += column.width();
        }
        true
    }
}

/// The nearest weights whose curve, times the sign, never falls.
fn rise(curves: &Curves, sign: f64, weights: &mut [f64]) {
    let width = curves.width;
    let steps = steps(curves);
    let factor = curves.scale();
    // Lᵀw, in which distances are those of the curves, and steps as they look from there.
    let mut point: Vec<f64> = (0..width)
        .map(|j| sign * (j..width).map(|i| factor[i * width + j] * weights[i]).sum::<f64>())
        .collect();
    let mut seen = steps.clone();
    seen.chunks_exact_mut(width).for_each(|step| solve_lower(&factor, step));
    project(&mut point, &seen);
    solve_upper(&factor, &mut point);
    // What the rounds have left: the rank's own step is 1.
    let lowest = steps.chunks_exact(width).fold(0.0, |low, step| smaller(low, dot(step, &point)));
    point[0] -= lowest;
    weights.iter_mut().zip(&point).for_each(|(weight, value)| *weight = sign * value);
}

/// The differences of all functions between neighbouring points of the grid, over that of the rank. Where the rank stays, all do.
fn steps(curves: &Curves) -> Vec<f64> {
    /// Of the rank, within about ±√3: what is less is rounding.
    const LEAST: f64 = 1e-9;
    let width = curves.width;
    let points: Vec<&[f64]> = curves.values.chunks_exact(width).collect();
    let up = |pair: &[&[f64]]| {
        let rank = pair[1][0] - pair[0][0];
        let step: Vec<f64> = pair[1].iter().zip(pair[0]).map(|(to, from)| (to - from) / rank).collect();
        (rank > LEAST).then_some(step)
    };
    points.windows(2).filter_map(up).flatten().collect()
}

/// Moves a point to the nearest one with ⟨step, point⟩ ≥ 0 for all steps, as far as so many rounds get.
fn project(point: &mut [f64], steps: &[f64]) {
    let squares: Vec<f64> = steps.chunks_exact(point.len()).map(|step| dot(step, step)).collect();
    let mut pushed = vec![0.0; squares.len()];
    for _ in 0..ROUNDS {
        let mut moved = false;
        for ((step, square), pushed) in steps.chunks_exact(point.len()).zip(&squares).zip(&mut pushed) {
            // As far as the step is down, but never more back than it was pushed.
            let by = larger(-dot(step, point) / square, -*pushed);
            if by != 0.0 {
                moved = true;
                *pushed += by;
                point.iter_mut().zip(step).for_each(|(value, along)| *value += by * along);
            }
        }
        if !moved {
            return;
        }
    }
}

/// Puts the solution of Lᵀx = v in place of v.
fn solve_upper(factor: &[f64], vector: &mut [f64]) {
    let width = vector.len();
    for i in (0..width).rev() {
        let known: f64 = (i + 1..width).map(|k| factor[k * width + i] * vector[k]).sum();
        vector[i] = (vector[i] - known) / factor[i * width + i];
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;
    use crate::representation::curves::FUNCTIONS;
    use pairdp_noise::{Replay, Source};
    use pairdp_pairwise::knots::Spacing;

    /// Functions of a bell in the lower half, for much noise or for little.
    fn curves(noise: f64) -> Curves {
        let bump = |knot: &f64| libm::exp(-8.0 * (knot + 0.3) * (knot + 0.3));
        let bell: Vec<f64> = Spacing::Coarse.positions().iter().map(bump).collect();
        let total: f64 = bell.iter().sum();
        let weights: Vec<f64> = bell.iter().map(|weight| 1000.0 * weight / total).collect();
        Curves::new(&read(Spacing::Coarse, &[(&weights, 1000.0)], noise * 1000.0)[0], FUNCTIONS, noise)
    }

    fn curve(curves: &Curves, weights: &[f64]) -> Vec<f64> {
        curves.values.chunks_exact(curves.width).map(|point| dot(point, weights)).collect()
    }

    fn rises(curve: &[f64]) -> bool {
        let size = curve.iter().fold(0.0, |most, value| larger(most, value.abs()));
        curve.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9 * (1.0 + size))
    }

    #[test]
    fn curves_go_the_way_that_is_asked_for_and_move_no_further_than_they_must() {
        let mut random = Replay::from_seed(3);
        let mut number = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        for noise in [0.05, 1e-3] {
            let curves = curves(noise);
            let factor = curves.scale();
            // How far curves are apart where records lie.
            let apart = |a: &[f64], b: &[f64]| {
                let off: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
                let part = |j: usize| {
                    (j..FUNCTIONS).map(|i| factor[i * FUNCTIONS + j] * off[i]).sum::<f64>().powi(2)
                };
                (0..FUNCTIONS).map(part).sum::<f64>()
            };
            for _ in 0..50 {
                let weights: Vec<f64> = (0..FUNCTIONS).map(|_| number()).collect();
                for sign in [1.0, -1.0] {
                    let mut moved = weights.clone();
                    rise(&curves, sign, &mut moved);
                    let told: Vec<f64> = curve(&curves, &moved).iter().map(|value| sign * value).collect();
                    assert!(rises(&told), "{weights:?}");
                    // What goes that way already stays, but for what rounds leave.
                    let mut again = moved.clone();
                    rise(&curves, sign, &mut again);
                    assert!(apart(&again, &moved) < 1e-6 * (1.0 + apart(&moved, &weights)), "{weights:?}");
                    // No curve that goes that way is nearer: neither one of the rank alone nor one on the way to it.
                    for share in [0.0, 0.3, 0.7, 0.95] {
                        let mut other: Vec<f64> = moved.iter().map(|value| share * value).collect();
                        other[0] += sign * (1.0 - share) * number().abs();
                        let slack = 1e-2 * (1.0 + apart(&moved, &weights));
                        assert!(apart(&moved, &weights) <= apart(&other, &weights) + slack, "{weights:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_constant_column_is_left_flat() {
        let mut flat = curves(0.05);
        flat.values.fill(0.0);
        let mut weights = [1.0, -2.0, 3.0, 0.5, 0.0];
        rise(&flat, 1.0, &mut weights);
        assert!(curve(&flat, &weights).iter().all(|value| *value == 0.0));
    }
}
