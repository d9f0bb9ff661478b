//! What the losses above ε weigh, when the tilted law is known on a circle only.
//!
//! A transform of N points gives y(L) folded: each entry is the sum over losses a whole period Nh apart. Instead of cutting a
//! window out of the circle, the weight g(z) = (1 − e^{−z})e^{−θz} is folded too: an entry counts at *every* place above ε where
//! it may lie, Σⱼ g(z + jNh) over j ≥ 0, and so at its true one. In terms of δ that is Σⱼ e^{−θjNh}·δ(ε − jNh) over all whole j
//! instead of δ(ε): the others vanish with e^{−θNh} on one side and with the tail of the tilted law on the other.
//!
//! With all composed masses at hand the sum goes over them. Where nearly all frequencies have died out, a few dozen of them
//! say the same without a transform back: the folded weight's own transform is a difference of two geometric series.
//!
//! # Guarantee
//! The error returned with a weight bounds round-off and what was left out. Proof: `proofs/pld_rounding.md`.

use crate::spectrum::{Errors, Kept, Law};
use pairdp_units::directed::smaller;
use realfft::num_complex::Complex;
use std::f64::consts::PI;

/// Losses whose weight is below e^{−DROPPED} are counted at that weight.
const DROPPED: f64 = 60.0;
/// Masses between two fresh exponentials.
const BLOCK: usize = 64;
/// Relative error of a term of the sum over frequencies, in units of 2⁻⁵².
const TERM_ULPS: f64 = 64.0;

/// A composed, tilted law on a circle of grid points.
pub(crate) struct Folded {
    spacing: f64,
    tilt: f64,
    length: usize,
    /// Index of the loss that entry 0 stands for.
    base: f64,
    terms: Terms,
}

enum Terms {
    Masses(Vec<f64>, Errors),
    Frequencies { waves: Vec<Wave>, unknown: f64 },
}

/// One frequency times the two geometric series of the weight, as often as it counts and over N.
struct Wave {
    frequency: u64,
    slow: Complex<f64>,
    fast: Complex<f64>,
    /// Bound on the relative error of the power.
    relative_error: f64,
}

/// A weight and a bound on its error.
pub(crate) struct Weight {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Folded {
    /// `base` is the index of the loss that the law's entry 0 stands for.
    pub(crate) fn new(law: Law, length: usize, base: f64, spacing: f64, tilt: f64) -> Self {
        let terms = match law {
            Law::Masses(masses, errors) => Terms::Masses(masses, errors),
            Law::Frequencies { kept, unknown } => {
                let waves = kept.iter().map(|one| Wave::new(one, length, spacing, tilt)).collect();
                Terms::Frequencies { waves, unknown }
            }
        };
        Self { spacing, tilt, length, base, terms }
    }

    /// The weight of what lies above `epsilon`: at least Σ y(L)·g(L − ε).
    pub(crate) fn weight_above(&self, epsilon: f64) -> Weight {
        // The first index above ε, and how far above.
        let mut index = (epsilon / self.spacing).floor() + 1.0;
        if self.spacing * index <= epsilon {
            index += 1.0;
        } else if self.spacing * (index - 1.0) > epsilon {
            index -= 1.0;
        }
        let excess = self.spacing * index - epsilon;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
        let entry = (index - self.base).rem_euclid(self.length as f64) as usize;
        match &self.terms {
            Terms::Masses(masses, errors) => self.by_masses(masses, *errors, entry, excess),
            Terms::Frequencies { waves, unknown } => self.by_frequencies(waves, *unknown, entry, excess),
        }
    }

    fn by_masses(&self, masses: &[f64], errors: Errors, entry: usize, excess: f64) -> Weight {
        let (theta, spacing) = (self.tilt, self.spacing);
        let period = spacing * self.length as f64;
        // Σⱼ e^{−θ(z + jNh)} is e^{−θz} times the first of these.
        let folds = -((-theta * period).exp_m1().recip());
        let fast_folds = -((-(theta + 1.0) * period).exp_m1().recip());
        let (fade, decay) = ((-theta * spacing).exp(), (-spacing).exp());
        let (mut sum, mut size) = (0.0, 0.0);
        let (mut done, mut at) = (0, entry);
        while done < masses.len() {
            let z = excess + spacing * done as f64;
            if theta * z > DROPPED {
                break;
            }
            // Exponentials by multiplication, started afresh in every block and where the circle closes.
            let block = &masses[at..masses.len().min(at + BLOCK.min(masses.len() - done))];
            let (mut faded, mut decayed) = ((-theta * z).exp(), fast_folds * (-z).exp());
            for mass in block {
                sum += mass * (folds - decayed) * faded;
                size += mass.abs() * faded;
                faded *= fade;
                decayed *= decay;
            }
            done += block.len();
            at = (at + block.len()) % masses.len();
        }
        let (whole, squares) = self.sums_of_weights();
        // Entries a period further weigh e^{−θNh} as much again.
        let further = folds * (-theta * period).exp() / (-(-2.0 * theta * spacing).exp_m1()).sqrt();
        let round_off = smaller(errors.each * whole, errors.euclidean * (squares.sqrt() + further));
        // Products of exponentials drift by a unit per factor.
        let products = 4.0 * BLOCK as f64 * f64::EPSILON * folds * size;
        Weight { value: sum, error: round_off + products + folds * (-DROPPED).exp() }
    }

    fn by_frequencies(&self, waves: &[Wave], unknown: f64, entry: usize, excess: f64) -> Weight {
        let (slow, fast) = ((-self.tilt * excess).exp(), (-(self.tilt + 1.0) * excess).exp());
        let turn = 2.0 * PI / self.length as f64;
        let (mut value, mut error) = (0.0, unknown * self.sums_of_weights().0);
        for wave in waves {
            // Whole turns are taken off exactly.
            let phase = turn * ((entry as u64 * wave.frequency) % self.length as u64) as f64;
            let (sin, cos) = phase.sin_cos();
            let term = wave.slow * slow - wave.fast * fast;
            value += term.re * cos - term.im * sin;
            let sizes = wave.slow.norm() * slow + wave.fast.norm() * fast;
            error += wave.relative_error * term.norm() + TERM_ULPS * f64::EPSILON * sizes;
        }
        Weight { value, error }
    }

    /// Bounds on Σg and Σg² over the grid: a sum of a unimodal function is at most its integral over the spacing plus its
    /// maximum.
    fn sums_of_weights(&self) -> (f64, f64) {
        let (theta, h) = (self.tilt, self.spacing);
        let largest = log_largest_gain(theta).exp();
        let whole = 1.0 / (h * theta * (1.0 + theta)) + largest;
        let squares = 1.0 / (h * 2.0 * theta * (2.0 * theta + 1.0) * (theta + 1.0)) + largest * largest;
        (whole, squares)
    }
}

impl Wave {
    fn new(kept: &Kept, length: usize, spacing: f64, tilt: f64) -> Self {
        let angle = 2.0 * PI * kept.frequency as f64 / length as f64;
        let (sin, cos) = angle.sin_cos();
        let half = (0.5 * angle).sin();
        // 1 − e^{−a + iω} without cancellation.
        let rest = |a: f64| Complex::new(2.0 * half * half - (-a).exp_m1() * cos, -(-a).exp() * sin);
        // Each stands for its conjugate as well, but for the two that are real.
        let alone = kept.frequency == 0 || 2 * kept.frequency == length;
        let value = kept.value * if alone { 1.0 } else { 2.0 } / length as f64;
        Self {
            frequency: kept.frequency as u64,
            slow: value / rest(tilt * spacing),
            fast: value / rest((tilt + 1.0) * spacing),
            relative_error: kept.relative_error,
        }
    }
}

/// log of the largest (1 − e^{−z})e^{−θz}.
pub(crate) fn log_largest_gain(tilt: f64) -> f64 {
    tilt * tilt.ln() - (1.0 + tilt) * tilt.ln_1p()
}
