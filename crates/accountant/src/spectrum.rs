//! Powers of a discrete distribution by Fourier transform, with a bound on every rounding error.
//!
//! The transform is taken of the masses *minus a unit mass* at the centre, F = spectrum − 1: with small steps the
//! spectrum is close to 1, its T-th power needs log(1 + F) with full relative precision, and F keeps it.
//!
//! # Guarantee
//! What [`Spectrum::law`] returns differs from the exact cyclic convolution by at most the errors with it.
//! Proof: `proofs/pld_rounding.md`.

use crate::AccountantError;
use crate::contour::log1p;
use crate::window::Tilted;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use std::cell::RefCell;

/// Powers below e^{−DROPPED} are set to 0.
const DROPPED: f64 = 60.0;
/// Up to one kept frequency in so many, the law stays as frequencies: it is then cheaper to sum over them each time.
const FEW: usize = 32;

/// log of a product of powers by frequency (half of them: the masses are real), and a bound on its error.
pub(crate) struct Spectrum {
    length: usize,
    logs: Vec<Complex<f64>>,
    bounds: Vec<f64>,
    /// Bound on the Euclidean norm of all errors over √N.
    euclidean: f64,
}

/// A composed law on the circle of the transform, entry 0 being the sum of the centres.
pub(crate) enum Law {
    /// Its masses, with bounds on their errors.
    Masses(Vec<f64>, Errors),
    /// The frequencies at which it has not died out, and a bound on the mean size of all others.
    Frequencies { kept: Vec<Kept>, unknown: f64 },
}

/// One frequency of a composed law.
pub(crate) struct Kept {
    pub(crate) frequency: usize,
    pub(crate) value: Complex<f64>,
    /// Bound on the relative error.
    pub(crate) relative_error: f64,
}

/// Bounds on the errors of composed masses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Errors {
    /// Of each mass.
    pub(crate) each: f64,
    /// Of all of them together, in the Euclidean norm.
    pub(crate) euclidean: f64,
}

/// Error of one output of a transform of `length` points relative to the sum of the sizes of its inputs: every
/// output is a sum of inputs times products of rounded twiddles, one per level. The logarithm and the power add a
/// few units more. The same factor bounds the Euclidean norm of the errors relative to that of the outputs.
pub(crate) fn transform_error(length: f64) -> f64 {
    4.0 * f64::EPSILON * (length.log2() + 8.0)
}

/// Transforms up to this length are planned once a thread: 2 MB of twiddles at the most for each length.
const KEPT: usize = 1 << 17;

thread_local! {
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

pub(crate) fn planned<T>(length: usize, plan: impl FnOnce(&mut RealFftPlanner<f64>) -> T) -> T {
    if length > KEPT {
        return plan(&mut RealFftPlanner::new());
    }
    PLANNER.with_borrow_mut(plan)
}

pub(crate) fn refused(_: realfft::FftError) -> AccountantError {
    AccountantError::NoConvergence("the transform refused its input")
}

impl Spectrum {
    /// The spectrum of one tilted step to the power of its count.
    pub(crate) fn of(step: &Tilted, length: usize) -> Result<Self, AccountantError> {
        let (mut logs, norms) = {
            let forward = planned(length, |planner| planner.plan_fft_forward(length));
            let mut input = forward.make_input_vec();
            let mut output = forward.make_output_vec();
            let norms = step.fill(&mut input);
            forward.process(&mut input, &mut output).map_err(refused)?;
            (output, norms)
        };
        let error = transform_error(length as f64) * norms.sum;
        // Sizes that e^{−DROPPED} is a power of need no logarithm. A dropped power is bounded by the size of the others, enlarged
        // by the error.
        let least = (-2.0 * DROPPED / step.count).exp();
        let least_excess = (-2.0 * DROPPED / step.count).exp_m1();
        let dropped = step.count * (least.sqrt() + error).ln();
        let mut bounds = vec![dropped; logs.len()];
        for (value, bound) in logs.iter_mut().zip(&mut bounds) {
            // |1 + F|² − 1, and far from 0 the square itself: it may be tiny.
            let excess = value.re * (2.0 + value.re) + value.im * value.im;
            let square = (1.0 + value.re) * (1.0 + value.re) + value.im * value.im;
            let died_out = if excess > -0.5 { excess < least_excess } else { square <= least };
            if died_out {
                *value = Complex::new(f64::NEG_INFINITY, 0.0);
                continue;
            }
            // |a^T − b^T| ≤ T·|a − b|·(|b| + |a − b|)^{T−1}, relative to |b|^T.
            *bound = step.count * error / square.sqrt();
            *value = log1p(*value) * step.count;
        }
        // By Parseval the spectrum's norm over √N is that of the masses; powers of numbers of size at most 1 + error
        // move by at most T·(1 + error)^T times as much.
        let growth = (step.count * error).exp();
        let euclidean = step.count * growth * transform_error(length as f64) * norms.euclidean;
        Ok(Self { length, logs, bounds, euclidean })
    }

    /// The spectrum of the sum of two independent losses.
    pub(crate) fn multiply(&mut self, other: &Self) {
        self.euclidean += other.euclidean;
        let mine = self.logs.iter_mut().zip(&mut self.bounds);
        for ((log, bound), (other_log, other_bound)) in mine.zip(other.logs.iter().zip(&other.bounds)) {
            let dropped = (log.re.is_infinite(), other_log.re.is_infinite());
            *bound = match dropped {
                // Sizes multiply; a kept one is its own size enlarged by its error.
                (true, false) => *bound + other_log.re + other_bound,
                (false, true) => *bound + log.re + other_bound,
                // Relative errors add; so do logs of sizes.
                (false, false) | (true, true) => *bound + other_bound,
            };
            *log = if dropped == (false, false) {
                *log + other_log
            } else {
                Complex::new(f64::NEG_INFINITY, 0.0)
            };
        }
    }

    /// The law whose spectrum this is.
    pub(crate) fn law(self) -> Result<Law, AccountantError> {
        let kept = self.logs.iter().filter(|log| !log.re.is_infinite()).count();
        if kept * FEW <= self.logs.len() { self.few() } else { self.all() }
    }

    /// The law by its frequencies.
    pub(crate) fn few(self) -> Result<Law, AccountantError> {
        let (mut kept, mut unknown) = (Vec::new(), Dropped::default());
        for (frequency, (log, bound)) in self.logs.iter().zip(&self.bounds).enumerate() {
            if log.re.is_infinite() {
                unknown.add(*bound);
            } else {
                let value = Complex::from_polar(log.re.exp(), log.im);
                kept.push(Kept { frequency, value, relative_error: bound.exp_m1() });
            }
        }
        // The two real frequencies are exactly real.
        for one in &mut kept {
            if one.frequency == 0 || 2 * one.frequency == self.length {
                one.value.im = 0.0;
            }
        }
        // The logarithm's and the exponential's own errors.
        for one in &mut kept {
            one.relative_error += transform_error(self.length as f64);
        }
        let unknown = 2.0 * unknown.sum / self.length as f64;
        if unknown.is_finite() && kept.iter().all(|one| one.relative_error.is_finite()) {
            Ok(Law::Frequencies { kept, unknown })
        } else {
            Err(AccountantError::NoConvergence("the transform's error is not bounded"))
        }
    }

    /// The law by its masses.
    pub(crate) fn all(self) -> Result<Law, AccountantError> {
        let Self { length, logs: mut spectrum, bounds, euclidean } = self;
        let (mut sum_size, mut sum_error, mut dropped) = (0.0, 0.0, Dropped::default());
        for (value, bound) in spectrum.iter_mut().zip(&bounds) {
            if value.re.is_infinite() {
                *value = Complex::new(0.0, 0.0);
                dropped.add(*bound);
            } else {
                let size = value.re.exp();
                *value = Complex::from_polar(size, value.im);
                sum_size += size;
                sum_error += size * bound.exp_m1();
            }
        }
        drop(bounds);
        // The two real frequencies must be exactly real for the inverse.
        if let Some(first) = spectrum.first_mut() {
            first.im = 0.0;
        }
        if let Some(last) = spectrum.last_mut() {
            last.im = 0.0;
        }
        let inverse = planned(length, |planner| planner.plan_fft_inverse(length));
        let mut masses = inverse.make_output_vec();
        inverse.process(&mut spectrum, &mut masses).map_err(refused)?;
        let scale = 1.0 / length as f64;
        for mass in &mut masses {
            *mass *= scale;
        }
        // Each entry of the half spectrum stands for two frequencies.
        let each = 2.0 * scale * (sum_error + dropped.sum + transform_error(length as f64) * sum_size);
        let norm = masses.iter().map(|mass| mass * mass).sum::<f64>().sqrt();
        // The dropped frequencies are below e^{−DROPPED/2} even with their errors.
        let euclidean = euclidean + 2.0 * transform_error(length as f64) * norm + (-DROPPED / 2.0).exp();
        let errors = Errors { each, euclidean };
        if each.is_finite() {
            Ok(Law::Masses(masses, errors))
        } else {
            Err(AccountantError::NoConvergence("the transform's error is not bounded"))
        }
    }
}

/// The sizes of dropped powers added up: of one step all bounds are the same.
#[derive(Default)]
struct Dropped {
    sum: f64,
    /// The last bound and its exponential.
    last: (f64, f64),
}

impl Dropped {
    fn add(&mut self, bound: f64) {
        if bound.to_bits() != self.last.0.to_bits() {
            self.last = (bound, bound.exp());
        }
        self.sum += self.last.1;
    }
}
