//! The convex function that the later steps leave, as kinks on a grid of losses.
//!
//! Kinks are tilted by e^{θx}, so that those which decide about δ are the heaviest and errors of transforms do not matter.
//! Only the middle half of the circle of a transform is kept: there a cyclic convolution counts all that belongs there.
//!
//! # Guarantee
//! Every operation returns a function that is at least what the exact operation would make of the exact function, up to the
//! factor e^{`slack`} that [`Kinks::delta`] contains. Proof: `proofs/triangles.md`, Section 5.

use crate::AccountantError;
use crate::contour::log1p;
use crate::discretise::{GridLosses, MASS_ULPS};
use crate::spectrum::{planned, refused, transform_error};
use pairdp_units::directed::{larger, smaller};
use realfft::num_complex::Complex;

/// The share of a kink that moves to either neighbour when it is spread over a hat.
const SPREAD: f64 = 1.0 / 6.0;
/// Decay from node to node is a little slower than asked for, by more than it is rounded.
const SLOWER: f64 = 1.0 - 1e-6;

/// The grid and the tilt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) spacing: f64,
    /// Points of a transform, a power of two.
    pub(crate) length: usize,
    pub(crate) tilt: f64,
}

impl Frame {
    /// Nodes on either side of 0.
    fn half(self) -> usize {
        self.length / 4
    }

    fn loss(self, node: usize) -> f64 {
        self.spacing * (node as f64 - self.half() as f64)
    }

    /// The first loss that is not kept.
    fn edge(self) -> f64 {
        self.spacing * self.half() as f64
    }
}

/// The tilted losses of one step, transformed.
pub(crate) struct Law {
    /// Of the masses less a unit mass at 0.
    spectrum: Vec<Complex<f64>>,
    /// The sum of the sizes of these.
    size: f64,
    /// The sum of the tilted masses.
    total: f64,
    infinite: f64,
    /// Bound on the relative error of a mass.
    error: f64,
}

impl Law {
    /// Of a mixture of steps, with the relative error of its weights.
    pub(crate) fn new(
        parts: &[(f64, GridLosses)],
        error: f64,
        frame: Frame,
    ) -> Result<Self, AccountantError> {
        let forward = planned(frame.length, |planner| planner.plan_fft_forward(frame.length));
        let mut input = forward.make_input_vec();
        let mut spectrum = forward.make_output_vec();
        #[expect(clippy::cast_possible_wrap, reason = "at most a few million")]
        let period = frame.length as i64;
        let (mut total, mut infinite, mut top) = (0.0, 0.0, 0.0);
        for (weight, losses) in parts {
            infinite += weight * losses.infinite;
            for &(index, mass) in &losses.finite {
                let tilted = weight * (mass.ln() + frame.tilt * frame.spacing * index).exp();
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "whole and below 10¹⁶, then below the length"
                )]
                let at = (index as i64).rem_euclid(period) as usize;
                input[at] += tilted;
                total += tilted;
                top = larger(top, (frame.tilt * frame.spacing * index).abs() - mass.ln());
            }
        }
        for mass in &mut input {
            *mass /= total;
        }
        input[0] -= 1.0;
        let size = input.iter().map(|mass| mass.abs()).sum();
        forward.process(&mut input, &mut spectrum).map_err(refused)?;
        // Sums of up to some thousand terms beside the masses' own errors.
        let error = error + f64::EPSILON * (MASS_ULPS + 4.0 * top + 8192.0);
        Ok(Self { spectrum, size, total, infinite, error })
    }
}

/// Σᵢ ωᵢ(l − e^{−xᵢ})₊ + ω_∞·l.
#[derive(Debug, Clone)]
pub(crate) struct Kinks {
    frame: Frame,
    /// ωᵢe^{θxᵢ}, scaled to sum to 1.
    weights: Vec<f64>,
    log_scale: f64,
    /// ω_∞.
    infinite: f64,
    slack: f64,
}

impl Kinks {
    /// (l − 1)₊.
    pub(crate) fn hockey_stick(frame: Frame) -> Self {
        let mut weights = vec![0.0; 2 * frame.half()];
        weights[frame.half()] = 1.0;
        Self { frame, weights, log_scale: 0.0, infinite: 0.0, slack: 1e-12 }
    }

    /// What is kept of the kinks, by node.
    #[cfg(test)]
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// α times the function at 1/α, for log α = ε: an upper bound on δ.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let mut sum = 0.0;
        for (node, weight) in self.weights.iter().enumerate().rev() {
            let loss = self.frame.loss(node);
            if loss <= epsilon {
                break;
            }
            sum += weight * (self.log_scale - self.frame.tilt * loss).exp() * -(epsilon - loss).exp_m1();
        }
        (sum + self.infinite) * self.slack.exp()
    }

    /// `times` steps, each counted twice with a probability.
    pub(crate) fn advance(&mut self, law: &Law, times: f64, twice: f64) -> Result<(), AccountantError> {
        let Frame { length, tilt, .. } = self.frame;
        let (half, edge) = (self.frame.half(), self.frame.edge());
        // Σωᵢ: what an infinite loss of each step would add, and, relative to the tilt, what can leave on the other side.
        let left: f64 = self.relative_to_first().sum();
        self.infinite += 2.0 * times * law.infinite * left * (self.log_scale + tilt * edge).exp();
        // Tilted, the second step weighs more.
        let growth = 1.0 - twice + twice * law.total;
        let again = twice * law.total / growth;
        let log_growth = times * (law.total * growth).ln();

        let forward = planned(length, |planner| planner.plan_fft_forward(length));
        let mut input = forward.make_input_vec();
        let mut spectrum = forward.make_output_vec();
        input[..half].copy_from_slice(&self.weights[half..]);
        input[length - half..].copy_from_slice(&self.weights[..half]);
        forward.process(&mut input, &mut spectrum).map_err(refused)?;
        let unit = transform_error(length as f64);
        let of_step = 2.0 * unit * law.size * (1.0 + 3.0 * again);
        let mut errors = 0.0;
        for (value, one) in spectrum.iter_mut().zip(&law.spectrum) {
            let step = one + one * (one + 1.0) * again;
            let power = (log1p(step) * times).exp();
            let size = (1.0 + step).norm();
            let off = ((times * of_step).ln() + (times - 1.0) * (size + of_step).ln()).exp();
            errors += off * (1.0 + unit) + 3.0 * unit * power.norm();
            *value *= power;
        }
        // The two real frequencies must be exactly real for the inverse.
        for end in [0, spectrum.len() - 1] {
            spectrum[end].im = 0.0;
        }
        let inverse = planned(length, |planner| planner.plan_fft_inverse(length));
        inverse.process(&mut spectrum, &mut input).map_err(refused)?;
        let scale = 1.0 / length as f64;
        let each = 2.0 * scale * errors;
        let (right, rest) = input.split_at(half);
        let places = rest[length - 2 * half..].iter().chain(right);
        for (weight, place) in self.weights.iter_mut().zip(places) {
            *weight = larger(place * scale, 0.0) + each;
        }
        self.log_scale += log_growth;
        self.infinite += (self.log_scale - tilt * edge).exp();
        self.move_inside(left * (-log_growth).exp());
        self.slack += 2.0 * times * law.error + 1e-11;
        self.normalise()
    }

    /// The slow majorant: the density of kinks varies by at most e^{`power`·x}.
    pub(crate) fn slow_down(&mut self, power: f64) -> Result<(), AccountantError> {
        let Frame { spacing, tilt, .. } = self.frame;
        let fade = 1.0 / (1.0 + SLOWER * power * spacing);
        // Densities of kinks are e^{−(θ + ½)x} times what is kept of them.
        let rise = ((tilt + 0.5) * spacing).exp();
        let (outer, inner) = (fade * (0.5 * spacing).exp(), fade * (-0.5 * spacing).exp());
        if outer >= 1.0 || outer.is_nan() {
            return Err(AccountantError::NoConvergence("kinks do not fade"));
        }
        let mut floor = 0.0;
        for weight in &mut self.weights {
            floor = larger(*weight, floor * fade * rise);
            *weight = floor;
        }
        floor = 0.0;
        for weight in self.weights.iter_mut().rev() {
            floor = larger(*weight, floor * fade / rise);
            *weight = floor;
        }
        let last = self.weights.len() - 1;
        // Beyond the ends: on the right counted as infinite, on the left moved inside, all of it from the first node.
        let at_end = self.weights[last] * (self.log_scale - tilt * self.frame.loss(last)).exp();
        self.infinite += at_end * outer / (1.0 - outer);
        let before_first = self.weights[0] * inner / (1.0 - inner);
        let stays = 1.0 - 2.0 * SPREAD * (0.5 * spacing).cosh();
        let peaks = self.weights.clone();
        self.infinite += at_end * SPREAD * (0.5 * spacing).exp();
        for (node, peak) in peaks.iter().enumerate() {
            self.weights[node] += peak * (stays - 1.0);
            if node < last {
                self.weights[node + 1] += peak * SPREAD * rise;
            }
            if node > 0 {
                self.weights[node - 1] += peak * SPREAD / rise;
            }
        }
        self.move_inside(before_first + peaks[0] * SPREAD / rise * (tilt * spacing).exp());
        self.slack += 1e-11;
        self.normalise()
    }

    /// Kinks from below the first node, with the weight they would have there, evenly over the first ones: to a larger loss is to the
    /// safe side, and in one place they would not be slow.
    fn move_inside(&mut self, weight: f64) {
        let rise = self.frame.tilt * self.frame.spacing;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the least of both")]
        let many = (smaller(rise.recip().ceil(), self.weights.len() as f64) as usize).max(1);
        for (node, place) in self.weights.iter_mut().take(many).enumerate() {
            *place += weight / many as f64 * (rise * node as f64).exp();
        }
    }

    /// ωᵢe^{−θ·edge}, relative to the scale.
    fn relative_to_first(&self) -> impl Iterator<Item = f64> + '_ {
        let fade = -self.frame.tilt * self.frame.spacing;
        self.weights.iter().enumerate().map(move |(node, weight)| weight * (fade * node as f64).exp())
    }

    fn normalise(&mut self) -> Result<(), AccountantError> {
        let sum: f64 = self.weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite() && self.infinite.is_finite() && self.log_scale.is_finite()) {
            return Err(AccountantError::NoConvergence("the kinks overflow"));
        }
        for weight in &mut self.weights {
            *weight /= sum;
        }
        self.log_scale += sum.ln();
        Ok(())
    }
}
