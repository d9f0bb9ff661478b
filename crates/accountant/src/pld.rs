//! The certificate: composed privacy losses on a grid, with every rounding error accounted for.
//!
//! Each step's losses are put on a common grid by [`crate::discretise`], tilted by e^{θL}, transformed, raised to
//! their powers and multiplied; what then lies above ε is weighed by [`crate::folded`]. The tilt θ moves the bulk of the
//! composed distribution towards the ε of interest, so that tiny δ do not drown in the round-off of the transform; untilted
//! implementations under-report from δ ≈ 10⁻¹⁰ on. What the transform, the powers, the finite period and the input masses can
//! contribute is bounded and *added* to δ.
//!
//! # Guarantee
//! [`Composed::delta`] is at least the true δ of the composition at every ε ≥ 0, [`Composed::epsilon`] satisfies
//! δ(ε) ≤ δ when recomputed. Proof: `proofs/pld_rounding.md`.
//!
//! # Cost
//! One real transform of N = period/spacing points, at most [`MOST_POINTS`], and a second one where the spectrum does not
//! decay: under 150 MB.
//!
//! # Reference
//! Koskela, Jälkö and Honkela (2020); Doroshenko et al. (2022). The budget is ours.

use crate::AccountantError;
use crate::contour::total_count;
use crate::discretise::{GridLosses, Rounding, discretise};
use crate::folded::{Folded, log_largest_gain};
use crate::moments::Term;
use crate::pair::Pair;
use crate::spectrum::{Spectrum, transform_error};
use crate::window::{Tilted, highest};
use pairdp_units::directed::{larger, smaller};

/// The relative excess of ε that the grid of a certificate may cause.
pub(crate) const FINE: f64 = 3.5e-4;
/// The same while searching.
pub(crate) const COARSE: f64 = 2e-2;
/// The mass one step sends to infinity, relative to δ/T.
const CUT: f64 = 3e-4;
/// What losses that are a period or more off may add to δ, relative to it, from above and from below.
const WRAPPED: f64 = 3e-5;
/// How much cells widen with the loss in a certificate, as a share of it. The error is of second order.
pub(crate) const WIDENING: f64 = 1.0 / 256.0;
/// The longest transform.
pub(crate) const MOST_POINTS: f64 = 4_194_304.0;

/// The period is long enough down to this share of ε: guesses are too high by about what a coarse grid costs.
const LOWER: f64 = 0.93;
/// How much smaller a tilt is tried when the period is stretched.
const CALMER: f64 = 0.85;
/// What round-off may add to δ then, relative to it.
const ROUND_OFF: f64 = 1e-4;

/// The least share of these that must do.
const SMALLEST_SHARE: f64 = 0.01;

/// How fine to compute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    pub(crate) spacing: f64,
    /// P-mass that one side of one step may send to infinity.
    pub(crate) tail: f64,
    /// The δ of interest.
    pub(crate) target: f64,
    /// The share of CUT, WRAPPED and ROUND_OFF that may be spent.
    pub(crate) share: f64,
    /// Cells are at most this share of the losses in them, or one spacing.
    pub(crate) widening: f64,
    pub(crate) rounding: Rounding,
}

impl Grid {
    /// A grid fit for (ε, δ) near `epsilon` and `target` where log δ falls at most at the rate `slope`.
    ///
    /// Connect-the-dots adds spacing²/6 to the variance of a loss on average, so θ(θ + 1)·T·spacing²/12 to log δ with θ about
    /// the slope, and (θ + 1)·T·spacing²/12 to ε.
    pub(crate) fn new(
        terms: &[Term],
        epsilon: f64,
        target: f64,
        slope: f64,
        excess: f64,
    ) -> Result<Self, AccountantError> {
        let count = total_count(terms);
        let steps = ((slope + 1.0) * count / 12.0).recip();
        let mut spacing = smaller((excess * epsilon * steps).sqrt(), 0.1 / (1.0 + slope));
        // Pure releases of one ε fall on the grid exactly.
        if let [Term { pair: Pair::RandomisedResponse { epsilon }, .. }] = terms {
            spacing = epsilon / (epsilon / spacing).ceil();
        } else {
            // A few spare bits, so that multiples of the spacing are exact.
            spacing = round_bits(spacing);
        }
        if spacing > 0.0 && spacing.is_finite() {
            let widening = WIDENING * (excess / FINE).sqrt();
            let grid = Self { spacing, tail: 0.0, target, share: 1.0, widening, rounding: Rounding::Up };
            Ok(grid.spending(terms, 1.0))
        } else {
            Err(AccountantError::NoConvergence("no grid fits the losses"))
        }
    }

    /// The same grid when ε·|d log δ/dε| is this: what is little for δ is not for ε where δ hardly falls.
    pub(crate) fn spending(self, terms: &[Term], fall: f64) -> Self {
        let share = if fall > SMALLEST_SHARE { smaller(fall, 1.0) } else { SMALLEST_SHARE };
        Self { tail: larger(CUT * share * self.target / total_count(terms), 1e-315), share, ..self }
    }
}

/// The value with its last 32 bits cleared.
fn round_bits(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & !0xffff_ffff)
}

/// A composed, tilted loss distribution.
pub(crate) struct Composed {
    tilt: f64,
    law: Folded,
    /// Σ T log M of the tilt.
    log_scale: f64,
    /// Bound on Σ T·(relative error of the input masses).
    slack: f64,
    infinite: f64,
    /// The least ε that its period is long enough for, and the δ it was built for.
    lowest: f64,
    target: f64,
    rounding: Rounding,
}

/// Tilted steps and the period that their composition needs.
struct Plan {
    steps: Vec<Tilted>,
    tilt: f64,
    epsilon: f64,
    /// Hardly any of the tilted law is above this index.
    highest: f64,
    /// The number of points.
    points: f64,
    /// About what round-off can add to δ, relative to it, if the spectrum does not decay.
    round_off: f64,
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
        let log_wrapped = (WRAPPED * grid.share * grid.target).ln();
        let log_factor = log_scale - tilt * epsilon;
        let log_above = log_wrapped - log_factor - log_largest_gain(tilt);
        // Losses a period above ε come back to it, and those a period below at e^{−θNh} of their P-mass.
        let highest = highest(&steps, smaller(log_above.exp(), 1e-4));
        let above = highest - LOWER * epsilon / grid.spacing;
        let below = -log_wrapped / (tilt * grid.spacing);
        let points = larger(larger(above, below) + 8.0, 16.0);
        if points.is_nan() {
            return Err(AccountantError::NoConvergence("the tilted losses have no window"));
        }
        let count: f64 = steps.iter().map(|step| step.count).sum();
        let weights = (grid.spacing * 2.0 * tilt * (2.0 * tilt + 1.0) * (tilt + 1.0)).sqrt().recip();
        let round_off = (log_factor - grid.target.ln()).exp() * count * transform_error(points) * weights;
        Ok(Self { steps, tilt, epsilon, highest, points, round_off, stretched: above > 1.5 * below })
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
                let one = discretise(term.pair, grid)?;
                losses.push((one, term.count as f64));
            }
            let mut plan = Plan::new(&losses, tilt, epsilon, grid)?;
            while plan.stretched {
                // The rarest losses that were kept dominate the tilted law; a smaller tilt calms them.
                let calmer = Plan::new(&losses, CALMER * plan.tilt, epsilon, grid)?;
                if calmer.points >= plan.points || calmer.round_off > ROUND_OFF * grid.share {
                    break;
                }
                plan = calmer;
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
        // Below this, mass that the tilted law still has comes round; how much is known at the planned ε only.
        let lowest = match grid.rounding {
            Rounding::Up => grid.spacing * (plan.highest - length as f64),
            Rounding::Down => plan.epsilon,
        };
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
        let law = product.ok_or(AccountantError::NoConvergence("nothing to compose"))?.law()?;
        Ok(Self {
            tilt: plan.tilt,
            law: Folded::new(law, length, base, grid.spacing, plan.tilt),
            log_scale,
            slack: slack + 1e-12,
            infinite: -infinite_log.exp_m1(),
            lowest,
            target: grid.target,
            rounding: grid.rounding,
        })
    }

    /// Whether its period is long enough for an ε below the planned one.
    pub(crate) fn reaches(&self, epsilon: f64) -> bool {
        epsilon >= self.lowest
    }

    /// The tilt θ, at most the one asked for.
    pub(crate) fn tilt(&self) -> f64 {
        self.tilt
    }

    /// An upper bound on δ(ε) (a lower bound when the losses were rounded down).
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let weight = self.law.weight_above(epsilon);
        let log_factor = self.log_scale - self.tilt * epsilon;
        match self.rounding {
            Rounding::Up => {
                let tilted = larger(weight.value, 0.0) + weight.error;
                smaller((log_factor + self.slack).exp() * tilted + self.infinite, 1.0)
            }
            // What is counted at a wrong place is known to be little from there on.
            Rounding::Down if epsilon < self.lowest => 0.0,
            Rounding::Down => {
                let tilted = weight.value - weight.error;
                larger((log_factor - self.slack).exp() * tilted - 4.0 * WRAPPED * self.target, 0.0)
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
