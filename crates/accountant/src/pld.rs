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
use crate::spectrum::{Errors, Spectrum};
use crate::window::{Tilted, window};
use pairdp_units::directed::{larger, smaller};

/// The relative excess of ε that the grid of a certificate may cause.
pub(crate) const FINE: f64 = 3e-4;
/// The same while searching.
pub(crate) const COARSE: f64 = 2e-2;
/// The mass one step sends to infinity, relative to δ/T.
const CUT: f64 = 1e-5;
/// What losses above the window may add to δ, relative to it.
const ABOVE: f64 = 1e-6;
/// What losses wrapped into the window may add to δ, relative to it.
const WRAPPED: f64 = 3e-5;
/// The longest transform.
pub(crate) const MOST_POINTS: f64 = 4_194_304.0;
/// Losses whose weight is below e^{−DROPPED} are counted at that weight.
const DROPPED: f64 = 60.0;

/// How much smaller a tilt is tried when the window is stretched.
const CALMER: f64 = 0.9;
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
    pub(crate) fn new(
        terms: &[Term],
        epsilon: f64,
        target: f64,
        tilt: f64,
        excess: f64,
    ) -> Result<Self, AccountantError> {
        let count = total_count(terms);
        let tail = larger(CUT * target / count, 1e-315);
        let top = terms.iter().fold(0.0, |top, term| larger(top, largest_loss(term.pair, tail)));
        let fine = smaller((12.0 * excess * epsilon / (tilt * count)).sqrt(), 0.1 / (1.0 + tilt));
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
    /// Bounds on the errors of the tilted masses.
    errors: Errors,
    /// Bound on Σ T·(relative error of the input masses).
    slack: f64,
    infinite: f64,
    /// The δ it was built for.
    target: f64,
    rounding: Rounding,
}

/// Tilted steps and the window that their composition needs.
struct Plan {
    steps: Vec<Tilted>,
    tilt: f64,
    /// ε in grid units.
    here: f64,
    /// Above this index what is left of P weighs at most ABOVE·δ.
    top: f64,
    /// The number of points.
    points: f64,
    /// Whether mass far above ε sets their number.
    stretched: bool,
}

impl Plan {
    fn new(
        losses: &[(GridLosses, f64)],
        tilt: f64,
        epsilon: f64,
        grid: Grid,
    ) -> Result<Self, AccountantError> {
        let steps: Vec<Tilted> = losses
            .iter()
            .map(|(one, count)| Tilted::new(one, grid.spacing, tilt, *count))
            .collect::<Result<_, _>>()?;
        let log_scale: f64 = steps.iter().map(|step| step.count * step.log_total).sum();
        let log_factor = log_scale - tilt * epsilon;
        let top = (epsilon + larger(log_factor - (ABOVE * grid.target).ln(), 0.0) / tilt) / grid.spacing;
        let log_wrapped = (WRAPPED * grid.target).ln() - log_factor - log_largest_gain(tilt);
        let (low, high) = window(&steps, smaller(log_wrapped.exp(), 1e-4));
        // What wraps around from above must land below ε, what wraps from below must land above `top`.
        let here = epsilon / grid.spacing;
        let (above, below) = (high - here, top - smaller(low, here));
        let points = larger(larger(above, below) + 8.0, 16.0);
        if points.is_nan() {
            return Err(AccountantError::NoConvergence("the tilted losses have no window"));
        }
        Ok(Self { steps, tilt, here, top, points, stretched: above > 1.5 * below })
    }
}

/// The least 2^k, 1.25·2^k or 1.5·2^k that holds `points`.
fn transform_length(points: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST_POINTS")]
    let points = points as usize + 1;
    let power = points.next_power_of_two();
    [power / 8 * 5, power / 4 * 3]
        .into_iter()
        .find(|&length| length >= points && power >= 64)
        .unwrap_or(power)
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
            let mut losses = Vec::new();
            for term in terms {
                let one = discretise(term.pair, grid.spacing, grid.tail, grid.rounding)?;
                losses.push((one, term.count as f64));
            }
            let mut plan = Plan::new(&losses, tilt, epsilon, grid)?;
            if plan.stretched {
                // The rarest losses that were kept dominate the tilted law; a smaller tilt calms them.
                let calmer = Plan::new(&losses, CALMER * tilt, epsilon, grid)?;
                if calmer.points < plan.points {
                    plan = calmer;
                }
            }
            drop(losses);
            let most = if terms.len() > 1 { MOST_POINTS / 2.0 } else { MOST_POINTS };
            if plan.points <= most {
                return Self::transform(&plan, grid);
            }
            grid.spacing = round_bits(smaller(plan.points / most * 1.03, 8.0) * grid.spacing);
        }
        Err(AccountantError::NoConvergence("the composed losses span too wide a range"))
    }

    fn transform(plan: &Plan, grid: Grid) -> Result<Self, AccountantError> {
        let length = transform_length(plan.points);
        let first = larger(0.5 * plan.here, plan.top + 4.0 - length as f64).floor();
        let mut product: Option<Spectrum> = None;
        let (mut log_scale, mut slack, mut infinite_log, mut base) = (0.0, 0.0, 0.0, 0.0);
        for step in &plan.steps {
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
        let (mut mass, errors) =
            product.ok_or(AccountantError::NoConvergence("nothing to compose"))?.invert()?;
        // Index 0 is the loss of `base`; start the window at `first`.
        let shift = (first - base).rem_euclid(length as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
        mass.rotate_left(shift as usize);
        Ok(Self {
            spacing: grid.spacing,
            tilt: plan.tilt,
            first,
            mass,
            log_scale,
            errors,
            slack: slack + 1e-12,
            infinite: -infinite_log.exp_m1(),
            target: grid.target,
            rounding: grid.rounding,
        })
    }

    /// An upper bound on δ(ε) (a lower bound when the losses were rounded down).
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let theta = self.tilt;
        // The first index whose loss is above ε. Below the window nothing is known.
        let start = (epsilon / self.spacing).floor() + 1.0 - self.first;
        if start < 0.0 {
            return if self.rounding == Rounding::Up { 1.0 } else { 0.0 };
        }
        let (mut sum, mut weight) = (0.0, 0.0);
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
                    weight += mass.abs() * faded;
                    faded *= fade;
                    decayed *= decay;
                }
            }
        }
        // Σ over the grid of g(z) = (1 − e^{−z})e^{−θz} is at most its integral over the spacing plus its maximum.
        let largest = log_largest_gain(theta).exp();
        // The same for the sum of squares and the Euclidean bound; the better of the two holds.
        let squares =
            1.0 / (self.spacing * 2.0 * theta * (2.0 * theta + 1.0) * (theta + 1.0)) + largest * largest;
        let round_off = smaller(
            self.errors.each * (1.0 / (self.spacing * theta * (1.0 + theta)) + largest),
            self.errors.euclidean * squares.sqrt(),
        );
        // Products of exponentials drift by a unit per factor.
        let products = 4.0 * BLOCK as f64 * f64::EPSILON * weight;
        let dropped = (-DROPPED).exp() + products;
        // Losses above the window: (1 − e^{−z})e^{−θz} ≤ e^{−θz}.
        let end = self.spacing * (self.first + self.mass.len() as f64);
        let above = (-theta * (end - epsilon)).exp();
        let log_factor = self.log_scale - theta * epsilon;
        match self.rounding {
            Rounding::Up => {
                let tilted = larger(sum, 0.0) + round_off + dropped + above;
                smaller((log_factor + self.slack).exp() * tilted + self.infinite, 1.0)
            }
            Rounding::Down => {
                // Wrapped mass may have been counted: at most WRAPPED on each side, by Chernoff's bound.
                let tilted = sum - round_off - dropped;
                let wrapped = 4.0 * WRAPPED * self.target;
                larger((log_factor - self.slack).exp() * tilted - wrapped, 0.0)
            }
        }
    }

    /// An ε with [`Composed::delta`] at most `target`, near `guess`: secant steps in log δ, then outward.
    pub(crate) fn epsilon(&self, target: f64, guess: f64) -> f64 {
        let log_target = target.ln();
        let gap = |epsilon: f64| self.delta(epsilon).ln() - log_target;
        if self.first <= 0.0 && self.delta(0.0) <= target {
            return 0.0;
        }
        if self.infinite >= target || self.infinite.is_nan() {
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
