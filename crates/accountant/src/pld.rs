//! The certificate: composed privacy losses on a grid, with every rounding error accounted for.
//!
//! Each step's losses are put on a common grid by [`crate::discretise`], tilted by e^{θL}, transformed, raised to
//! their powers, multiplied and transformed back. The tilt θ moves the bulk of the composed distribution to the ε
//! of interest, so that tiny δ do not drown in the round-off of the transform; untilted implementations under-report
//! from δ ≈ 10⁻¹⁰ on. What the transform, the powers, the finite window and the input masses can contribute is
//! bounded and *added* to δ.
//!
//! # Guarantee
//! [`Composed::delta`] is at least the true δ of the composition at every ε ≥ 0, [`Composed::epsilon`] satisfies
//! δ(ε) ≤ δ when recomputed. Proof: `proofs/pld_rounding.md`.
//!
//! # Cost
//! Two real transforms of N = window/spacing points, at most [`MOST_POINTS`]: under 150 MB.
//!
//! # Reference
//! Koskela, Jälkö and Honkela (2020); Doroshenko et al. (2022). The budget is ours.

use crate::AccountantError;
use crate::contour::total_count;
use crate::discretise::{GridLosses, MOST_CELLS, Rounding, discretise, largest_loss};
use crate::moments::Term;
use crate::pair::Pair;
use crate::spectrum::Spectrum;
use crate::window::{Tilted, window};
use pairdp_units::directed::{larger, smaller};

/// The relative excess of ε that the grid may cause.
const EXCESS: f64 = 1e-4;
/// The mass one step sends to infinity, relative to δ/T.
const CUT: f64 = 1e-5;
/// What the tilted mass outside the window may add to δ, relative to it, on each side.
const OUTSIDE: f64 = 1e-6;
/// The longest transform.
pub(crate) const MOST_POINTS: f64 = 4_194_304.0;
/// Losses whose weight is below e^{−DROPPED} are counted at that weight.
const DROPPED: f64 = 60.0;

/// Masses between two fresh exponentials.
const BLOCK: usize = 64;

/// How fine to compute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    pub(crate) spacing: f64,
    /// P-mass that one side of one step may send to infinity.
    pub(crate) tail: f64,
    /// The δ of interest.
    pub(crate) target: f64,
    pub(crate) rounding: Rounding,
}

impl Grid {
    /// A grid fit for (ε, δ) near `epsilon` and `target` when losses are tilted by `tilt`.
    ///
    /// Connect-the-dots adds at most spacing²/6 to the variance of a loss on average, hence about
    /// θ·T·spacing²/12 to ε.
    pub(crate) fn new(terms: &[Term], epsilon: f64, target: f64, tilt: f64) -> Result<Self, AccountantError> {
        let count = total_count(terms);
        let tail = larger(CUT * target / count, 1e-315);
        let top = terms.iter().fold(0.0, |top, term| larger(top, largest_loss(term.pair, tail)));
        let fine = smaller((12.0 * EXCESS * epsilon / (tilt * count)).sqrt(), 0.1 / (1.0 + tilt));
        let mut spacing = larger(fine, top / MOST_CELLS);
        // Pure releases of one ε fall on the grid exactly.
        if let [Term { pair: Pair::RandomisedResponse { epsilon }, .. }] = terms {
            spacing = epsilon / (epsilon / spacing).ceil();
        } else {
            // A few spare bits, so that multiples of the spacing are exact.
            spacing = round_bits(spacing);
        }
        if spacing > 0.0 && spacing.is_finite() {
            Ok(Self { spacing, tail, target, rounding: Rounding::Up })
        } else {
            Err(AccountantError::NoConvergence("no grid fits the losses"))
        }
    }
}

/// The value with its last 32 bits cleared.
fn round_bits(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & !0xffff_ffff)
}

/// A composed, tilted loss distribution.
pub(crate) struct Composed {
    spacing: f64,
    tilt: f64,
    /// Index of the loss of `mass[0]`.
    first: f64,
    /// Tilted masses, as computed.
    mass: Vec<f64>,
    /// Σ T log M of the tilt.
    log_scale: f64,
    /// Bound on the error of each tilted mass.
    error: f64,
    /// Bound on Σ T·(relative error of the input masses).
    slack: f64,
    infinite: f64,
    /// Bound on the tilted mass outside the window, on each side.
    outside: f64,
    rounding: Rounding,
}

/// The window of a composed distribution: first index, number of points, mass outside on each side.
#[derive(Clone, Copy)]
struct Span {
    low: f64,
    points: f64,
    outside: f64,
}

/// The least 2^k, 1.25·2^k or 1.5·2^k that holds `points`.
fn transform_length(points: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST_POINTS")]
    let points = points as usize + 1;
    let power = points.next_power_of_two();
    [power / 8 * 5, power / 4 * 3].into_iter().find(|&length| length >= points && power >= 64).unwrap_or(power)
}

/// log of the largest (1 − e^{−z})e^{−θz}.
fn log_largest_gain(tilt: f64) -> f64 {
    tilt * tilt.ln() - (1.0 + tilt) * tilt.ln_1p()
}

impl Composed {
    /// Composes `terms` with tilt θ > 0 on `grid`, coarsened when the transform would be too long.
    pub(crate) fn new(
        terms: &[Term],
        tilt: f64,
        epsilon: f64,
        mut grid: Grid,
    ) -> Result<Self, AccountantError> {
        if !(tilt > 0.0 && tilt.is_finite()) {
            return Err(AccountantError::NoConvergence("the tilt is not positive"));
        }
        for _ in 0..30 {
            let mut steps = Vec::new();
            for term in terms {
                let losses = discretise(term.pair, grid.spacing, grid.tail, grid.rounding)?;
                steps.push(Tilted::new(&losses, grid.spacing, tilt, term.count as f64)?);
                drop::<GridLosses>(losses);
            }
            let log_scale: f64 = steps.iter().map(|step| step.count * step.log_total).sum();
            let log_outside = OUTSIDE.ln() + grid.target.ln() - log_scale + tilt * epsilon - log_largest_gain(tilt);
            let outside = smaller(log_outside.exp(), 1e-4);
            let (low, high) = window(&steps, outside);
            let points = larger(high - low + 4.0, 16.0);
            let most = if steps.len() > 1 { MOST_POINTS / 2.0 } else { MOST_POINTS };
            if points <= most {
                return Self::transform(&steps, tilt, grid, Span { low, points, outside });
            }
            grid.spacing = round_bits(smaller(points / most * 1.03, 8.0) * grid.spacing);
        }
        Err(AccountantError::NoConvergence("the composed losses span too wide a range"))
    }

    fn transform(steps: &[Tilted], tilt: f64, grid: Grid, span: Span) -> Result<Self, AccountantError> {
        let Span { low, points, outside } = span;
        let length = transform_length(points);
        let mut product: Option<Spectrum> = None;
        let (mut log_scale, mut slack, mut infinite_log, mut base) = (0.0, 0.0, 0.0, 0.0);
        for step in steps {
            let power = Spectrum::of(step, length)?;
            match &mut product {
                None => product = Some(power),
                Some(product) => product.multiply(&power),
            }
            log_scale += step.count * step.log_total;
            slack += step.count * step.relative_error;
            infinite_log += step.count * (-step.infinite).ln_1p();
            base += step.count * step.centre;
        }
        let (mut mass, error) = product.ok_or(AccountantError::NoConvergence("nothing to compose"))?.invert()?;
        // Index 0 is the loss of `base`; start the window at `low`.
        let shift = (low - base).rem_euclid(length as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
        mass.rotate_left(shift as usize);
        Ok(Self {
            spacing: grid.spacing,
            tilt,
            first: low,
            mass,
            log_scale,
            error,
            slack: slack + 1e-12,
            infinite: -infinite_log.exp_m1(),
            outside,
            rounding: grid.rounding,
        })
    }

    /// An upper bound on δ(ε) (a lower bound when the losses were rounded down).
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let theta = self.tilt;
        // The first index whose loss is above ε.
        let start = larger((epsilon / self.spacing).floor() + 1.0 - self.first, 0.0);
        let mut sum = 0.0;
        if start < self.mass.len() as f64 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            let start = start as usize;
            let (fade, decay) = ((-theta * self.spacing).exp(), (-self.spacing).exp());
            for (block, masses) in self.mass[start..].chunks(BLOCK).enumerate() {
                let excess = self.spacing * (self.first + (start + block * BLOCK) as f64) - epsilon;
                if theta * excess > DROPPED {
                    break;
                }
                // Exponentials by multiplication, started afresh in every block.
                let (mut faded, mut decayed) = ((-theta * excess).exp(), (-excess).exp());
                for mass in masses {
                    sum += mass * (1.0 - decayed) * faded;
                    faded *= fade;
                    decayed *= decay;
                }
            }
        }
        // Σ over the grid of g(z) = (1 − e^{−z})e^{−θz} is at most its integral over the spacing plus its maximum.
        let largest = log_largest_gain(theta).exp();
        let round_off = self.error * (1.0 / (self.spacing * theta * (1.0 + theta)) + largest);
        let products = 4.0 * BLOCK as f64 * f64::EPSILON;
        let outside = 2.0 * self.outside * largest + (-DROPPED).exp() * self.mass.len() as f64 + products;
        let log_factor = self.log_scale - theta * epsilon;
        match self.rounding {
            Rounding::Up => {
                let tilted = larger(sum, 0.0) + round_off + outside;
                smaller((log_factor + self.slack).exp() * tilted + self.infinite, 1.0)
            }
            Rounding::Down => {
                // Wrapped mass may have been counted; it lies outside the window.
                larger((log_factor - self.slack).exp() * (sum - round_off - outside), 0.0)
            }
        }
    }

    /// An ε with [`Composed::delta`] at most `target`, near `guess`: secant steps in log δ, then outward.
    pub(crate) fn epsilon(&self, target: f64, guess: f64) -> f64 {
        let log_target = target.ln();
        let gap = |epsilon: f64| self.delta(epsilon).ln() - log_target;
        if self.delta(0.0) <= target {
            return 0.0;
        }
        if !(self.infinite < target) {
            return f64::INFINITY;
        }
        let (mut here, mut slope) = (guess, -self.tilt);
        let mut value = gap(here);
        for _ in 0..40 {
            if value <= 0.0 && value > -1e-9 {
                return here;
            }
            // Aim a little below the target, so that the last step lands on the safe side.
            let next = larger(here - (value + 5e-10) / slope, 0.5 * here);
            let next_value = gap(next);
            if next_value.is_nan() || (next - here).abs() <= 0.0 {
                break;
            }
            let secant = (next_value - value) / (next - here);
            slope = if secant < 0.0 && secant.is_finite() { secant } else { -self.tilt };
            (here, value) = (next, next_value);
        }
        // Whatever the search did, only a checked ε is returned.
        let mut step = larger(here, guess) * 1e-9;
        for _ in 0..80 {
            if gap(here) <= 0.0 {
                return here;
            }
            here += step;
            step *= 2.0;
        }
        f64::INFINITY
    }
}
