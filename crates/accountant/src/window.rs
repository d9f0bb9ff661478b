//! Tilted one-step losses, and where their composition can lie.

use crate::AccountantError;
use crate::discretise::{GridLosses, MASS_ULPS};
use pairdp_units::directed::{larger, smaller};

/// How near to the best order Chernoff's bound is taken, in the logarithm of what is least there.
const CLOSE: f64 = 0.2;

/// Losses of one step under the law tilted by e^{θL}, repeated `count` times.
pub(crate) struct Tilted {
    pub(crate) count: f64,
    /// log E[e^{θL}] over the finite losses: the scale that was divided out.
    pub(crate) log_total: f64,
    /// P-mass at infinity.
    pub(crate) infinite: f64,
    /// The grid index nearest to the tilted mean.
    pub(crate) centre: f64,
    /// Bound on the relative error of each mass.
    pub(crate) relative_error: f64,
    mean: f64,
    /// (index, mass).
    losses: Vec<(f64, f64)>,
}

/// Norms of what is transformed.
pub(crate) struct Norms {
    /// Σ|x|.
    pub(crate) sum: f64,
    /// √Σx².
    pub(crate) euclidean: f64,
}

impl Tilted {
    pub(crate) fn new(
        losses: &GridLosses,
        spacing: f64,
        tilt: f64,
        count: f64,
    ) -> Result<Self, AccountantError> {
        let rate = tilt * spacing;
        let top = rate * losses.finite.iter().fold(0.0, |top, &(index, _)| larger(top, index.abs()));
        let mut tilted = losses.finite.clone();
        let log_total = if top < 300.0 {
            tilt_directly(&mut tilted, rate)
        } else {
            tilt_by_logarithms(&mut tilted, rate)
        };
        let mean = tilted.iter().map(|(index, mass)| mass * index).sum::<f64>();
        if !(log_total.is_finite() && mean.is_finite()) {
            return Err(AccountantError::NoConvergence("the tilted losses overflow"));
        }
        Ok(Self {
            count,
            log_total,
            infinite: losses.infinite,
            centre: mean.round(),
            relative_error: f64::EPSILON * (MASS_ULPS + 4.0 * top),
            mean,
            losses: tilted,
        })
    }

    /// Writes the masses minus a unit mass at the centre, index 0 being the centre, and returns their norms.
    pub(crate) fn fill(&self, buffer: &mut [f64]) -> Norms {
        #[expect(clippy::cast_possible_wrap, reason = "at most MOST_POINTS")]
        let period = buffer.len() as i64;
        for &(index, mass) in &self.losses {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and below 10¹⁶, then below the length"
            )]
            let at = ((index - self.centre) as i64).rem_euclid(period) as usize;
            buffer[at] += mass;
        }
        buffer[0] -= 1.0;
        Norms {
            sum: buffer.iter().map(|value| value.abs()).sum(),
            euclidean: buffer.iter().map(|value| value * value).sum::<f64>().sqrt(),
        }
    }

    /// K(y) = log E[e^{y(L − mean)}] of the tilted law, L in grid units, and its first two derivatives.
    fn log_moment(&self, y: f64) -> [f64; 3] {
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for (index, mass) in &self.losses {
            let off = index - self.mean;
            let weight = mass * (y * off).exp();
            total += weight;
            first += off * weight;
            second += off * off * weight;
        }
        let slope = first / total;
        [total.ln(), slope, second / total - slope * slope]
    }

    fn variance(&self) -> f64 {
        self.losses.iter().map(|(index, mass)| mass * (index - self.mean).powi(2)).sum()
    }

    /// The largest loss in grid units.
    fn largest(&self) -> f64 {
        self.losses.iter().fold(f64::NEG_INFINITY, |most, &(index, _)| larger(most, index))
    }
}

/// Multiplies masses by e^{rate·index}, scales them to sum to 1, and returns the log of the scale.
fn tilt_directly(losses: &mut [(f64, f64)], rate: f64) -> f64 {
    for (index, mass) in losses.iter_mut() {
        *mass *= (rate * *index).exp();
    }
    let total: f64 = losses.iter().map(|(_, mass)| mass).sum();
    for (_, mass) in losses.iter_mut() {
        *mass /= total;
    }
    total.ln()
}

/// The same where the powers would overflow: relative to the heaviest term.
fn tilt_by_logarithms(losses: &mut [(f64, f64)], rate: f64) -> f64 {
    for (index, mass) in losses.iter_mut() {
        *mass = mass.ln() + rate * *index;
    }
    let heaviest = losses.iter().fold(f64::NEG_INFINITY, |best, &(_, log)| larger(best, log));
    let log_total = heaviest + losses.iter().map(|(_, log)| (log - heaviest).exp()).sum::<f64>().ln();
    for (_, log) in losses.iter_mut() {
        *log = (*log - log_total).exp();
    }
    log_total
}

/// A grid index above which the composed tilted law has at most `outside`.
///
/// Chernoff's bound (K(y) − log outside)/y holds at every order y. It is least where yK′ − K = −log outside: Newton on the
/// logarithms of both, exact for normal laws, and no further than is worth it.
pub(crate) fn highest(steps: &[Tilted], outside: f64) -> f64 {
    let sum = |of: &dyn Fn(&Tilted) -> f64| steps.iter().map(|step| step.count * of(step)).sum::<f64>();
    let deviation = larger(sum(&Tilted::variance).sqrt(), 1e-6);
    let aim = -outside.ln();
    let mut best = f64::INFINITY;
    // The largest order so far at which moments are numbers, and the least at which they are not.
    let (mut known, mut too_large) = (0.0, f64::INFINITY);
    let mut y = (2.0 * aim).sqrt() / deviation;
    for _ in 0..8 {
        let moments = steps.iter().fold([0.0; 3], |sum: [f64; 3], step| {
            let one = step.log_moment(y);
            [0, 1, 2].map(|i| step.count.mul_add(one[i], sum[i]))
        });
        let gained = y * moments[1] - moments[0];
        if !(moments.iter().all(|one| one.is_finite()) && gained > 0.0 && moments[2] > 0.0) {
            too_large = smaller(too_large, y);
            y = if known > 0.0 { (known * y).sqrt() } else { 0.1 * y };
            continue;
        }
        known = larger(known, y);
        best = smaller(best, (moments[0] + aim) / y);
        let ratio = (gained / aim).ln();
        if ratio.abs() < CLOSE {
            break;
        }
        let step = -ratio * gained / (y * y * moments[2]);
        let next = y * smaller(larger(step, -2.0), 2.0).exp();
        y = if next < too_large { next } else { (y * too_large).sqrt() };
    }
    // A margin for the round-off of the moments.
    let bound = sum(&|step| step.mean) + 1.001 * best + 2.0;
    smaller(bound.ceil(), sum(&Tilted::largest))
}
