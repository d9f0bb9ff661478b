//! Tilted one-step losses, and where their composition can lie.

use crate::AccountantError;
use crate::discretise::{GridLosses, MASS_ULPS};
use pairdp_units::directed::{larger, smaller};

/// Masses between two fresh exponentials.
const BLOCK: usize = 64;

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
    first: f64,
    mean: f64,
    mass: Vec<f64>,
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
        let first = losses.first;
        let top = tilt * spacing * (first + losses.mass.len() as f64).abs();
        let (mass, log_total) = if top < 300.0 {
            tilt_directly(&losses.mass, tilt * spacing, first)
        } else {
            tilt_by_logarithms(&losses.mass, tilt * spacing, first)
        };
        let mean = mass.iter().enumerate().map(|(j, m)| m * (first + j as f64)).sum::<f64>();
        if !(log_total.is_finite() && mean.is_finite()) {
            return Err(AccountantError::NoConvergence("the tilted losses overflow"));
        }
        Ok(Self {
            count,
            log_total,
            infinite: losses.infinite,
            centre: mean.round(),
            relative_error: f64::EPSILON * (MASS_ULPS + 4.0 * top),
            first,
            mean,
            mass,
        })
    }

    /// Writes the masses minus a unit mass at the centre, index 0 being the centre, and returns their norms.
    pub(crate) fn fill(&self, buffer: &mut [f64]) -> Norms {
        let period = buffer.len();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
        let mut at = (self.first - self.centre).rem_euclid(period as f64) as usize;
        for mass in &self.mass {
            buffer[at] += mass;
            at += 1;
            if at == period {
                at = 0;
            }
        }
        buffer[0] -= 1.0;
        Norms {
            sum: buffer.iter().map(|value| value.abs()).sum(),
            euclidean: buffer.iter().map(|value| value * value).sum::<f64>().sqrt(),
        }
    }

    /// log E[e^{y(L − mean)}] of the tilted law, L in grid units.
    fn log_moment(&self, y: f64) -> f64 {
        let factor = y.exp();
        let mut sum = 0.0;
        for (block, masses) in self.mass.chunks(BLOCK).enumerate() {
            // Powers by multiplication, started afresh in every block.
            let mut power = (y * (self.first - self.mean + (BLOCK * block) as f64)).exp();
            for mass in masses {
                sum += mass * power;
                power *= factor;
            }
        }
        sum.ln()
    }

    fn variance(&self) -> f64 {
        self.mass.iter().enumerate().map(|(j, m)| m * (self.first + j as f64 - self.mean).powi(2)).sum()
    }

    /// The largest and smallest loss in grid units.
    fn range(&self) -> (f64, f64) {
        (self.first, self.first + self.mass.len() as f64 - 1.0)
    }
}

/// Masses times e^{rate·index}, scaled to sum to 1, and the log of the scale.
fn tilt_directly(masses: &[f64], rate: f64, first: f64) -> (Vec<f64>, f64) {
    let factor = rate.exp();
    let mut tilted = Vec::with_capacity(masses.len());
    for (block, chunk) in masses.chunks(BLOCK).enumerate() {
        // Powers by multiplication, started afresh in every block.
        let mut power = (rate * (first + (BLOCK * block) as f64)).exp();
        for mass in chunk {
            tilted.push(mass * power);
            power *= factor;
        }
    }
    let total: f64 = tilted.iter().sum();
    for mass in &mut tilted {
        *mass /= total;
    }
    (tilted, total.ln())
}

/// The same where the powers would overflow: relative to the heaviest term.
fn tilt_by_logarithms(masses: &[f64], rate: f64, first: f64) -> (Vec<f64>, f64) {
    let logs: Vec<f64> = masses.iter().enumerate().map(|(j, m)| m.ln() + rate * (first + j as f64)).collect();
    let heaviest = logs.iter().fold(f64::NEG_INFINITY, |best, &log| larger(best, log));
    let total: f64 = logs.iter().map(|log| (log - heaviest).exp()).sum();
    let log_total = heaviest + total.ln();
    (logs.iter().map(|log| (log - log_total).exp()).collect(), log_total)
}

/// An interval of grid indices outside which the composed tilted law has at most `outside` on each side.
///
/// Chernoff's bound with any order is valid; the order is found by golden section.
pub(crate) fn window(steps: &[Tilted], outside: f64) -> (f64, f64) {
    let mean: f64 = steps.iter().map(|step| step.count * step.mean).sum();
    let deviation = steps.iter().map(|step| step.count * step.variance()).sum::<f64>().sqrt();
    let bound = |sign: f64, log_order: f64| {
        let y = log_order.exp() / larger(deviation, 1e-6);
        let moment: f64 = steps.iter().map(|step| step.count * step.log_moment(sign * y)).sum();
        let width = (moment - outside.ln()) / y;
        if width.is_finite() { width } else { f64::INFINITY }
    };
    let one_sided = |sign: f64| {
        let (mut low, mut high) = (-6.0, 3.5);
        let golden = 0.618_033_988_749_894_9;
        let mut best = f64::INFINITY;
        let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_left, mut at_right) = (bound(sign, left), bound(sign, right));
        for _ in 0..7 {
            best = smaller(best, smaller(at_left, at_right));
            if at_left <= at_right && at_left.is_finite() || at_right.is_infinite() {
                (high, right, at_right) = (right, left, at_left);
                left = high - golden * (high - low);
                at_left = bound(sign, left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + golden * (high - low);
                at_right = bound(sign, right);
            }
        }
        // A margin for the round-off of the moments.
        1.001 * smaller(best, smaller(at_left, at_right)) + 2.0
    };
    let (least, most) = steps.iter().fold((0.0, 0.0), |(least, most), step| {
        let (low, high) = step.range();
        (least + step.count * low, most + step.count * high)
    });
    (larger((mean - one_sided(-1.0)).floor(), least), smaller((mean + one_sided(1.0)).ceil(), most))
}
