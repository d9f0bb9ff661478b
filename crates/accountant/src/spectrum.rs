//! Powers of a discrete distribution by Fourier transform, with a bound on every rounding error.
//!
//! The transform is taken of the masses *minus a unit mass* at the centre, F = spectrum − 1: with small steps the
//! spectrum is close to 1, its T-th power needs log(1 + F) with full relative precision, and F keeps it.
//!
//! # Guarantee
//! Entries of [`Spectrum::invert`] differ from the exact cyclic convolution by at most the returned error.
//! Proof: `proofs/pld_rounding.md`.

use crate::AccountantError;
use crate::contour::log1p;
use crate::window::Tilted;
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use std::cell::RefCell;

/// Powers below e^{−DROPPED} are set to 0.
const DROPPED: f64 = 60.0;

/// log of a product of powers by frequency (half of them: the masses are real), and a bound on its error.
pub(crate) struct Spectrum {
    length: usize,
    logs: Vec<Complex<f64>>,
    bounds: Vec<f64>,
    /// Bound on the Euclidean norm of all errors over √N.
    euclidean: f64,
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
fn transform_error(length: usize) -> f64 {
    4.0 * f64::EPSILON * ((length as f64).log2() + 8.0)
}

/// Transforms up to this length are planned once a thread: 2 MB of twiddles at the most for each length.
const KEPT: usize = 1 << 17;

thread_local! {
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

fn planned<T>(length: usize, plan: impl FnOnce(&mut RealFftPlanner<f64>) -> T) -> T {
    if length > KEPT {
        return plan(&mut RealFftPlanner::new());
    }
    PLANNER.with_borrow_mut(plan)
}

fn refused(_: realfft::FftError) -> AccountantError {
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
        let error = transform_error(length) * norms.sum;
        let mut bounds = vec![0.0; logs.len()];
        for (value, bound) in logs.iter_mut().zip(&mut bounds) {
            let magnitude = value.re * (2.0 + value.re) + value.im * value.im;
            let half_log = if magnitude > -1.0 { 0.5 * magnitude.ln_1p() } else { f64::NEG_INFINITY };
            // |a^T − b^T| ≤ T·|a − b|·(|b| + |a − b|)^{T−1}, relative to |b|^T.
            let size = half_log.exp() + error;
            let log_size = step.count * half_log;
            if log_size < -DROPPED {
                // Its own size bounds it, enlarged by the error.
                *bound = step.count * size.ln();
                *value = Complex::new(f64::NEG_INFINITY, 0.0);
            } else {
                *bound = step.count * error / (size - error);
                *value = Complex::new(log_size, step.count * log1p(*value).im);
            }
        }
        // By Parseval the spectrum's norm over √N is that of the masses; powers of numbers of size at most 1 + error
        // move by at most T·(1 + error)^T times as much.
        let growth = (step.count * error).exp();
        let euclidean = step.count * growth * transform_error(length) * norms.euclidean;
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

    /// The masses, index 0 being the sum of the centres, and a bound on the error of each.
    pub(crate) fn invert(self) -> Result<(Vec<f64>, Errors), AccountantError> {
        let Self { length, logs: mut spectrum, bounds, euclidean } = self;
        let (mut sum_size, mut sum_error) = (0.0, 0.0);
        for (value, bound) in spectrum.iter_mut().zip(&bounds) {
            if value.re.is_infinite() {
                *value = Complex::new(0.0, 0.0);
                sum_error += bound.exp();
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
        let each = 2.0 * scale * (sum_error + transform_error(length) * sum_size);
        let norm = masses.iter().map(|mass| mass * mass).sum::<f64>().sqrt();
        // The dropped frequencies are below e^{−DROPPED/2} even with their errors.
        let euclidean = euclidean + 2.0 * transform_error(length) * norm + (-DROPPED / 2.0).exp();
        let errors = Errors { each, euclidean };
        if each.is_finite() {
            Ok((masses, errors))
        } else {
            Err(AccountantError::NoConvergence("the transform's error is not bounded"))
        }
    }
}
