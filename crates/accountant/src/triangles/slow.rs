//! How much worse than an equilateral step another one can be when what the later steps leave varies slowly.
//!
//! Everything is a mean over the plane of a function of the two likelihood ratios, by the trapezoidal rule: normal densities
//! times analytic functions, for which it is exact to rounding.
//!
//! # Guarantee
//! [`Slowness::counted_twice`] is at least η′ of Lemma 5. Proof: `proofs/triangles.md`.

use pairdp_units::directed::{larger, smaller};
use std::f64::consts::PI;

/// Sides of triangles are tried on so many cells.
const CELLS: u32 = 32;
/// What is left out of a plane integral has at most e to the minus this.
const LEFT_OUT: f64 = 45.0;
/// The farthest that integrals go: beyond it, losses of one step are too large for slowness to say much.
const FARTHEST: f64 = 40.0;
/// Rounding errors of a mean over the plane, relative to the mean size.
const ROUNDING: f64 = 1e-13;
/// The most that is worth using.
const MOST: f64 = 0.5;

/// Steps with a sampling rate and a sensitivity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slowness {
    rate: f64,
    shift: f64,
    /// ρ₀.
    plain: Bracket,
}

/// A value and what it may be off by.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    value: f64,
    error: f64,
}

impl Bracket {
    fn low(self) -> f64 {
        self.value - self.error
    }

    fn high(self) -> f64 {
        self.value + self.error
    }
}

impl Slowness {
    /// None where the numbers would say nothing.
    pub(crate) fn new(rate: f64, shift: f64) -> Option<Self> {
        let unknown = Bracket { value: f64::NAN, error: f64::NAN };
        let known = Self { rate, shift, plain: unknown };
        let plain = known.order(0.0, 1.0)?;
        (plain.value > 0.0 && plain.error <= 1e-4 * plain.value).then_some(Self { plain, ..known })
    }

    /// About the variance of the losses of an equilateral step.
    pub(crate) fn variance(&self) -> f64 {
        2.0 * self.plain.value
    }

    /// η′: an equilateral step, counted twice with this probability, is as bad as any if kinks vary by at most
    /// e^{`power`·x}. None if it is large or not known.
    pub(crate) fn counted_twice(&self, power: f64) -> Option<f64> {
        if !(power > 0.5 + 1e-6 && power.is_finite()) {
            return None;
        }
        let square = power * power;
        let equal = self.order(power, 1.0)?;
        let width = self.shift * self.shift / f64::from(CELLS);
        let mut worst = equal.high();
        for cell in 0..CELLS {
            worst = larger(worst, self.order(power, f64::from(cell) / f64::from(CELLS))?.high());
        }
        let bend = width * width / 8.0 * self.bend(power)?;
        let gap = larger(worst + bend - equal.low(), 0.0);
        let plain = self.plain.low();
        let least =
            plain * (-power * (2.0 * (equal.high() - plain) / (square * plain)).sqrt() * 1.000_001).exp();
        let mass = 1.0 - self.plain.high() / 4.0;
        let moment = 2.002 * (1.0 + (square - 0.25) * equal.high() - mass) / square;
        let kept = mass * (-power * (moment / mass).sqrt()).exp();
        let twice = 1.000_001 * gap / least / kept;
        (least > 0.0 && kept > 0.0 && (0.0..=MOST).contains(&twice)).then_some(twice)
    }

    /// ρ at an order for the triangle of squared sides d², d² and `share`·d².
    fn order(&self, power: f64, share: f64) -> Option<Bracket> {
        let rate = self.rate;
        let ratio = |u: f64, v: f64| {
            let (first, second) = ((rate * (u - 1.0)).ln_1p(), (rate * (v - 1.0)).ln_1p());
            ((0.5 - power) * first + (0.5 + power) * second).exp_m1()
        };
        let scale = 1.0 / (power * power - 0.25);
        let mean = self.mean(power + 0.5, share, ratio)?;
        Some(Bracket { value: scale * mean.value, error: scale.abs() * mean.error })
    }

    /// A bound on the second derivative of ρ in the squared third side.
    fn bend(&self, power: f64) -> Option<f64> {
        let order = power + 0.5;
        let odds = self.rate / (1.0 - self.rate);
        let size = |u: f64, v: f64| {
            let tilt = ((order - 1.0) * (self.rate * (v - 1.0)).ln_1p()).exp();
            let steep = (order + 1.0) * odds * u;
            let growth = (1.0 + steep + (order - 1.0) * odds * v) * (2.0 * u + v + steep * (u + v));
            tilt * u * (growth + steep * (u + v))
        };
        let mean = self.mean(order, 1.0, size)?;
        let constant = 0.25 * self.rate * self.rate * (1.0 - self.rate).powf(-order) * order * (order - 1.0);
        Some(constant * mean.high() / (power * power - 0.25))
    }

    /// The mean of a function of u and v when c₀ is the place of the density and the third side is that of `share`.
    fn mean(&self, order: f64, share: f64, of: impl Fn(f64, f64) -> f64) -> Option<Bracket> {
        let square = self.shift * self.shift;
        let side = share * square;
        let along = side / (2.0 * self.shift);
        let height = larger(side - along * along, 0.0).sqrt();
        let spacing = smaller(0.25, 0.2 / self.shift);
        let points = (self.reach(order)? / spacing).ceil();
        let row = |slope: f64, offset: f64| -> Vec<f64> {
            places(points).map(|place| (slope * place * spacing - offset).exp()).collect()
        };
        let weights: Vec<f64> = places(points)
            .map(|place| (-0.5 * (place * spacing).powi(2)).exp() * spacing / (2.0 * PI).sqrt())
            .collect();
        let (up, first) = (row(height, 0.0), row(along, 0.5 * side));
        let second = row(along - self.shift, 0.5 * square);
        let (mut value, mut size) = (0.0, 0.0);
        for (up, weight) in up.iter().zip(&weights) {
            let (mut inner, mut inner_size) = (0.0, 0.0);
            for ((first, second), across) in first.iter().zip(&second).zip(&weights) {
                let term = across * of(up * first, up * second);
                inner += term;
                inner_size += term.abs();
            }
            value += weight * inner;
            size += weight * inner_size;
        }
        let error = ROUNDING * size;
        (value.is_finite() && error.is_finite()).then_some(Bracket { value, error })
    }

    /// How far out the largest power still counts.
    fn reach(&self, order: f64) -> Option<f64> {
        let counts = |far: f64| {
            let log = order * (self.rate * ((self.shift * far).exp() - 1.0)).ln_1p();
            far * far / 2.0 - log + order * (-self.rate).ln_1p() < LEFT_OUT + 5.0 * self.shift * far
        };
        let mut reach = 10.0;
        let mut far = 10.0;
        while far <= order * self.shift + 2.0 * FARTHEST {
            if counts(far) {
                reach = far + 0.5;
            }
            far += 0.5;
        }
        (reach <= FARTHEST).then_some(reach)
    }
}

fn places(points: f64) -> impl Iterator<Item = f64> {
    #[expect(clippy::cast_possible_truncation, reason = "at most FARTHEST over the spacing")]
    let points = points as i32;
    (-points..=points).map(f64::from)
}
