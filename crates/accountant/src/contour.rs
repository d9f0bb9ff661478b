//! δ(ε) of a composition as a line integral: the engine for values and for root finding.
//!
//! With M(s) = E_P[exp(sL)] of one step and any c > 0,
//!
//! δ(ε) = 1/(2πi) ∫_{Re s = c} M(s)^T e^{−sε} / (s(s+1)) ds.
//!
//! Why not convolve discretised losses: the cost here does not depend on T, and the trapezoidal rule on the line
//! through the saddle point converges exponentially, to about twelve digits. By Poisson's summation formula the
//! infinite trapezoidal sum equals Σⱼ exp(2πcj/h)·δ(ε + 2πj/h) ≥ δ(ε): a step that is too long errs upward.
//!
//! Where M^T decays slowly in t (few steps, rare samples) the sum is tapered by a smooth window: that convolves
//! δ(ε)e^{cε} with a kernel all of whose moments vanish, and the curve is smooth away from ε = 0.
//!
//! # Guarantee
//! None on its own: values are checked against a second window and a second step, and disagreement is an error.
//! A claim rests on [`crate::pld`].
//!
//! # Cost
//! (quadrature nodes) × (points on the line), about 10³ × 10² multiplications by a rotation.

use crate::AccountantError;
use crate::moments::{Losses, Moments, Node, Term};
use crate::rdp;
use pairdp_units::directed::larger;
use realfft::num_complex::Complex;

/// The mass cut from one step, relative to δ/T.
const CUT: f64 = 1e-10;
/// Points on the line in units of the inverse deviation.
const STEPS_PER_DEVIATION: f64 = 2.0;
/// Relative agreement asked of two windows.
pub(crate) const AGREEMENT: f64 = 1e-11;
/// Agreement asked of two step lengths: the error of the shorter step is about the square of their difference.
const STEP_AGREEMENT: f64 = 1e-6;
/// Below this the sum is round-off.
const NOISE: f64 = 1e-15;
/// The most points on the line.
const MOST_POINTS: usize = 1 << 15;

/// log M^T on a vertical line, reusable for every ε near the one it was built for.
pub(crate) struct Line {
    /// Where the line crosses the real axis.
    pub(crate) crossing: f64,
    step: f64,
    /// ΣT·K(c) − log c − log(1+c).
    log_scale: f64,
    /// log of the integrand relative to t = 0, without e^{−sε}.
    values: Vec<Complex<f64>>,
}

impl Line {
    /// Evaluates the line through `crossing` until δ(ε) has settled.
    pub(crate) fn new(
        terms: &[Term],
        tail: f64,
        crossing: f64,
        epsilon: f64,
        agreement: f64,
    ) -> Result<Self, AccountantError> {
        let mut frequency = 0.0;
        let mut fineness = STEPS_PER_DEVIATION;
        for _ in 0..10 {
            let moments = Moments::new(terms, tail, frequency)?;
            let at = moments.cumulants(crossing);
            let spread = at.curvature + crossing.powi(-2) + (crossing + 1.0).powi(-2);
            let step = spread.sqrt().recip() / fineness;
            if !(step > 0.0 && at.value.is_finite()) {
                return Err(AccountantError::NoConvergence("the moments overflow"));
            }
            // First pass: learn the scale of t, so that the nodes can resolve exp(itL).
            if frequency < 40.0 * step {
                frequency = 64.0 * step;
                continue;
            }
            let mut line = Self {
                crossing,
                step,
                log_scale: at.value - crossing.ln() - crossing.ln_1p(),
                values: Vec::new(),
            };
            let mut walk = Walk::new(&moments, crossing, step);
            while line.values.len() as f64 * step <= frequency * 0.99 {
                let more = line.values.len().clamp(64, 4096);
                walk.extend(&mut line.values, more);
                if line.values.len() as f64 * step > frequency * 1.01 {
                    break;
                }
                let (full, half, coarse) = line.sums(epsilon);
                if (full - half).abs() <= agreement * full + NOISE {
                    if (full - coarse).abs() <= STEP_AGREEMENT * full + NOISE {
                        return Ok(line);
                    }
                    break;
                }
            }
            let (full, half, coarse) = line.sums(epsilon);
            if (full - half).abs() <= agreement * full + NOISE
                && (full - coarse).abs() > STEP_AGREEMENT * full + NOISE
            {
                fineness *= 2.0;
            } else if line.values.len() < MOST_POINTS {
                frequency *= 4.0;
            } else {
                break;
            }
        }
        Err(AccountantError::NoConvergence("the contour integral did not settle"))
    }

    /// The tapered sum, the same with a shorter window, and with every other point.
    fn sums(&self, epsilon: f64) -> (f64, f64, f64) {
        let n = self.values.len() as f64;
        let (mut full, mut half, mut coarse) = (0.5, 0.5, 0.5);
        for (k, value) in self.values.iter().enumerate() {
            let position = k as f64 + 1.0;
            let t = position * self.step;
            let term = value.re.exp() * (value.im - t * epsilon).cos();
            let tapered = term * taper(position / n);
            full += tapered;
            half += term * taper(position / (0.7 * n));
            if k % 2 == 1 {
                coarse += tapered;
            }
        }
        (full, half, 2.0 * coarse)
    }

    /// log δ(ε).
    pub(crate) fn log_delta(&self, epsilon: f64) -> f64 {
        let (full, _, _) = self.sums(epsilon);
        self.log_scale - self.crossing * epsilon
            + (larger(full, NOISE) * self.step / std::f64::consts::PI).ln()
    }
}

/// 1 up to 1/2, then smoothly down to 0 at 1.
fn taper(x: f64) -> f64 {
    if x <= 0.5 {
        1.0
    } else if x >= 1.0 {
        0.0
    } else {
        let v = 2.0 * x - 1.0;
        1.0 / (1.0 + (1.0 / (1.0 - v) - 1.0 / v).exp())
    }
}

/// Walks up the line, turning one phasor per node: M(c+it) − M(c) = Σ aⱼ(e^{itℓⱼ} − 1) with
/// e^{iφ} − 1 = 2i·sin(φ/2)·e^{iφ/2}, so that small angles lose no digits.
struct Walk<'a> {
    moments: &'a Moments,
    crossing: f64,
    step: f64,
    position: f64,
    rotors: Vec<Option<Rotor>>,
}

/// Arrays over the nodes of one pair.
struct Rotor {
    /// Tilted masses relative to M(c).
    mass: Vec<f64>,
    cos: Vec<f64>,
    sin: Vec<f64>,
    turn_cos: Vec<f64>,
    turn_sin: Vec<f64>,
}

impl Rotor {
    fn new(nodes: &[Node], log_total: f64, count: f64, crossing: f64, step: f64) -> Self {
        let mut rotor = Self {
            mass: Vec::new(),
            cos: Vec::new(),
            sin: Vec::new(),
            turn_cos: Vec::new(),
            turn_sin: Vec::new(),
        };
        for &Node { loss, log_mass, .. } in nodes {
            let mass = (log_mass + crossing * loss - log_total).exp();
            // What cannot change T·log M by 1e-18 is not carried along.
            if mass * count > 1e-18 {
                let (sin, cos) = (0.5 * step * loss).sin_cos();
                rotor.mass.push(mass);
                rotor.cos.push(1.0);
                rotor.sin.push(0.0);
                rotor.turn_cos.push(cos);
                rotor.turn_sin.push(sin);
            }
        }
        // A multiple of the lane count, so that the inner loop has no remainder.
        while !rotor.mass.len().is_multiple_of(LANES) {
            rotor.mass.push(0.0);
            rotor.cos.push(1.0);
            rotor.sin.push(0.0);
            rotor.turn_cos.push(1.0);
            rotor.turn_sin.push(0.0);
        }
        rotor
    }

    /// One step up the line; returns (M(c+it) − M(c))/M(c).
    fn turn(&mut self) -> Complex<f64> {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        let chunks = self
            .mass
            .chunks_exact(LANES)
            .zip(self.cos.chunks_exact_mut(LANES))
            .zip(self.sin.chunks_exact_mut(LANES))
            .zip(self.turn_cos.chunks_exact(LANES))
            .zip(self.turn_sin.chunks_exact(LANES));
        for ((((mass, cos), sin), turn_cos), turn_sin) in chunks {
            for i in 0..LANES {
                let c = cos[i] * turn_cos[i] - sin[i] * turn_sin[i];
                let s = sin[i] * turn_cos[i] + cos[i] * turn_sin[i];
                cos[i] = c;
                sin[i] = s;
                let weighted = 2.0 * mass[i] * s;
                re[i] -= weighted * s;
                im[i] += weighted * c;
            }
        }
        Complex::new(re.iter().sum(), im.iter().sum())
    }
}

/// Independent sums of the inner loop.
const LANES: usize = 8;

impl<'a> Walk<'a> {
    fn new(moments: &'a Moments, crossing: f64, step: f64) -> Self {
        let rotors = moments
            .terms
            .iter()
            .map(|(losses, count)| match losses {
                Losses::Gaussian { .. } => None,
                Losses::Nodes(nodes) => {
                    let log_total = losses.cumulants(crossing).value;
                    Some(Rotor::new(nodes, log_total, *count, crossing, step))
                }
            })
            .collect();
        Self { moments, crossing, step, position: 0.0, rotors }
    }

    fn extend(&mut self, values: &mut Vec<Complex<f64>>, points: usize) {
        for _ in 0..points {
            self.position += 1.0;
            let t = self.position * self.step;
            let c = self.crossing;
            let mut value = -log1p(Complex::new(0.0, t / c)) - log1p(Complex::new(0.0, t / (c + 1.0)));
            for ((losses, count), rotor) in self.moments.terms.iter().zip(&mut self.rotors) {
                value += match (losses, rotor) {
                    (Losses::Gaussian { shift }, _) => {
                        let square = shift * shift * count;
                        Complex::new(-0.5 * t * t * square, t * (c + 0.5) * square)
                    }
                    (Losses::Nodes(_), Some(rotor)) => log1p(rotor.turn()) * count,
                    (Losses::Nodes(_), None) => Complex::new(f64::NAN, 0.0),
                };
            }
            values.push(value);
        }
    }
}

/// log(1 + z) with full relative precision for small |z|.
pub(crate) fn log1p(z: Complex<f64>) -> Complex<f64> {
    let half_log = if z.norm_sqr() < 0.25 {
        0.5 * libm::log1p(z.re * (2.0 + z.re) + z.im * z.im)
    } else {
        0.5 * ((1.0 + z.re) * (1.0 + z.re) + z.im * z.im).ln()
    };
    Complex::new(half_log, z.im.atan2(1.0 + z.re))
}

/// What the contour says about a composition: the value and where the line crossed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Value {
    pub(crate) epsilon: f64,
    pub(crate) log_delta: f64,
    /// The crossing, a good exponential tilt for a discretised computation.
    pub(crate) tilt: f64,
}

/// How many steps there are.
pub(crate) fn total_count(terms: &[Term]) -> f64 {
    terms.iter().map(|term| term.count as f64).sum()
}

/// log δ at ε > 0.
pub(crate) fn delta(terms: &[Term], epsilon: f64) -> Result<Value, AccountantError> {
    let count = total_count(terms);
    let mut log_guess = -30.0;
    let mut tilt = 1.0;
    for _ in 0..40 {
        let tail = cut_mass(log_guess, count);
        tilt = Moments::new(terms, tail, 0.0)?.saddle(epsilon, tilt);
        let line = Line::new(terms, tail, tilt, epsilon, AGREEMENT)?;
        let log_delta = line.log_delta(epsilon);
        if log_delta.is_nan() {
            return Err(AccountantError::NoConvergence("the contour integral is not a number"));
        }
        // The cut may cost at most ten times its share: else cut finer.
        if log_delta > log_guess - 2.0 {
            return Ok(Value { epsilon, log_delta, tilt });
        }
        if log_guess < -740.0 {
            return Err(AccountantError::NoConvergence("δ is below the smallest number"));
        }
        log_guess = larger(log_delta - 3.0, log_guess * 3.0);
    }
    Err(AccountantError::NoConvergence("δ did not settle"))
}

/// The smallest ε with δ(ε) ≤ δ, for compositions whose δ(0) is above it; 0 when the search runs into 0.
///
/// `accuracy` is that of log δ; early rounds are rougher.
pub(crate) fn epsilon(terms: &[Term], target: f64, accuracy: f64) -> Result<Value, AccountantError> {
    let log_target = target.ln();
    let tail = cut_mass(log_target, total_count(terms));
    let moments = Moments::new(terms, tail, 0.0)?;
    let first = rdp::epsilon(&rdp::moments(terms, target)?, target);
    if !(first.epsilon > 0.0 && first.epsilon.is_finite()) {
        return Err(AccountantError::NoConvergence("no Rényi order gives a first guess"));
    }
    let mut value = Value { epsilon: first.epsilon, log_delta: log_target, tilt: first.order - 1.0 };
    let mut agreement = larger(1e-3, accuracy);
    for _ in 0..60 {
        value.tilt = moments.saddle(value.epsilon, value.tilt);
        let line = Line::new(terms, tail, value.tilt, value.epsilon, agreement)?;
        let (next, inside) = root(&line, log_target, value.epsilon)?;
        let change = (next - value.epsilon).abs();
        value.epsilon = next;
        if next < 1e-9 * first.epsilon {
            return Ok(Value { epsilon: 0.0, ..value });
        }
        if inside && agreement <= accuracy && change <= larger(1e-7, accuracy) * next {
            return Ok(value);
        }
        if inside && change < 0.02 * next {
            agreement = accuracy;
        }
    }
    Err(AccountantError::NoConvergence("ε did not settle"))
}

/// Where the line's log δ crosses the target, and whether it does within a factor 2 of `start`, for which the line
/// was built; else the end of that range on the right side. Regula falsi with the Illinois rule.
fn root(line: &Line, log_target: f64, start: f64) -> Result<(f64, bool), AccountantError> {
    let gap = |epsilon: f64| line.log_delta(epsilon) - log_target;
    let at_start = gap(start);
    let (mut low, mut high, mut at_low, mut at_high);
    if at_start > 0.0 {
        (low, at_low, high) = (start, at_start, 2.0 * start);
        at_high = gap(high);
    } else {
        (low, high, at_high) = (0.5 * start, start, at_start);
        at_low = gap(low);
    }
    if at_low.is_nan() || at_high.is_nan() {
        return Err(AccountantError::NoConvergence("the contour integral lost its sign"));
    }
    if at_high > 0.0 {
        return Ok((high, false));
    }
    if at_low <= 0.0 {
        return Ok((low, false));
    }
    for _ in 0..100 {
        let middle = high - at_high * (high - low) / (at_high - at_low);
        let value = gap(middle);
        if (high - low) <= 1e-14 * high || value.abs() < 1e-14 {
            return Ok((middle, true));
        }
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high *= 0.5;
        } else {
            (high, at_high) = (middle, value);
            at_low *= 0.5;
        }
        if value.is_nan() {
            break;
        }
    }
    Ok((high, true))
}

/// The mass one step may drop for δ = exp(`log_delta`).
pub(crate) fn cut_mass(log_delta: f64, count: f64) -> f64 {
    let mass = (log_delta + CUT.ln() - count.ln()).exp();
    larger(mass, 1e-318)
}
