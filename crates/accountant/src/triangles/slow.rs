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
/// The most places on either side of 0.
const MOST_PLACES: f64 = 128.0;
/// Rounding errors of a mean over the plane, relative to the mean size and to what rounded likelihood ratios move.
const ROUNDING: f64 = 1e-13;
/// What the trapezoidal rule and its ends leave out, relative to a bound on the integrand off the real plane.
const ALIASING: f64 = 1e-19;

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
    /// e^{`power`·x}. None if it is above `most` or not known.
    pub(crate) fn counted_twice(&self, power: f64, most: f64) -> Option<f64> {
        if !(power > 0.5 + 1e-6 && power.is_finite()) {
            return None;
        }
        let square = power * power;
        let equal = self.order(power, 1.0)?;
        let plain = self.plain.low();
        let least =
            plain * (-power * (2.0 * (equal.high() - plain) / (square * plain)).sqrt() * 1.000_001).exp();
        let mass = 1.0 - self.plain.high() / 4.0;
        let moment = 2.002 * (1.0 + (square - 0.25) * equal.high() - mass) / square;
        let kept = mass * (-power * (moment / mass).sqrt()).exp();
        let width = self.shift * self.shift / f64::from(CELLS);
        let bend = width * width / 8.0 * self.bend(power)?;
        let (mut worst, mut twice) = (equal.high(), f64::NAN);
        for cell in 0..CELLS {
            worst = larger(worst, self.order(power, f64::from(cell) / f64::from(CELLS))?.high());
            let gap = larger(worst + bend - equal.low(), 0.0);
            twice = 1.000_001 * gap / least / kept;
            // It only grows, and the first place is mostly the worst.
            if !(least > 0.0 && kept > 0.0 && (0.0..=most).contains(&twice)) {
                return None;
            }
        }
        Some(twice)
    }

    /// ρ at an order for the triangle of squared sides d², d² and `share`·d².
    fn order(&self, power: f64, share: f64) -> Option<Bracket> {
        let rate = self.rate;
        // A rounded u or v moves the ratio even where both are nearly 1 and little is left of the sum.
        let ratio = |u: f64, v: f64| {
            let (up, down) = (0.5 + power, 0.5 - power);
            let (first, second) = (rate * (u - 1.0), rate * (v - 1.0));
            let value = (down * first.ln_1p() + up * second.ln_1p()).exp_m1();
            let moved = down.abs() * rate * u / (1.0 + first) + up * rate * v / (1.0 + second);
            (value, value.abs() + moved * (value.abs() + 1.0))
        };
        let scale = 1.0 / (power * power - 0.25);
        let order = power + 0.5;
        let mean = self.mean(order, share, ratio)?;
        let left_out =
            ALIASING * (1.0 - rate).powf(smaller(1.0 - order, 0.0)) * larger(self.arrivals(order)?, 1.0);
        Some(Bracket { value: scale * mean.value, error: scale.abs() * (mean.error + left_out) })
    }

    /// A bound on the second derivative of ρ in the squared third side.
    fn bend(&self, power: f64) -> Option<f64> {
        let order = power + 0.5;
        let odds = self.rate / (1.0 - self.rate);
        let size = |u: f64, v: f64| {
            let tilt = ((order - 1.0) * (self.rate * (v - 1.0)).ln_1p()).exp();
            let steep = (order + 1.0) * odds * u;
            let growth = (1.0 + steep + (order - 1.0) * odds * v) * (2.0 * u + v + steep * (u + v));
            let value = tilt * u * (growth + steep * (u + v));
            (value, value)
        };
        let mean = self.mean(order, 1.0, size)?;
        let constant = 0.25 * self.rate * self.rate * (1.0 - self.rate).powf(-order) * order * (order - 1.0);
        Some(constant * mean.high() / (power * power - 0.25))
    }

    /// The mean of a function of u and v when c₀ is the place of the density and the third side is that of `share`; with its value the
    /// function says how large what is rounded was.
    fn mean(&self, order: f64, share: f64, of: impl Fn(f64, f64) -> (f64, f64)) -> Option<Bracket> {
        let square = self.shift * self.shift;
        let side = share * square;
        let along = side / (2.0 * self.shift);
        let height = larger(side - along * along, 0.0).sqrt();
        let (spacing, points) = self.line(order)?;
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
                let (term, rounded) = of(up * first, up * second);
                inner += across * term;
                inner_size += across * rounded;
            }
            value += weight * inner;
            size += weight * inner_size;
        }
        let error = ROUNDING * size;
        (value.is_finite() && error.is_finite()).then_some(Bracket { value, error })
    }

    /// E[B^λ], on which the triangle has no influence.
    fn arrivals(&self, order: f64) -> Option<f64> {
        let (spacing, points) = self.line(order)?;
        let terms = places(points).map(|place| {
            let x = place * spacing;
            let v = (self.shift * x - 0.5 * self.shift * self.shift).exp();
            (order * (self.rate * (v - 1.0)).ln_1p() - 0.5 * x * x).exp()
        });
        Some(terms.sum::<f64>() * spacing / (2.0 * PI).sqrt())
    }

    /// How far apart places are on a line, and how many there are on either side of 0. None where integrals would take long.
    fn line(&self, order: f64) -> Option<(f64, f64)> {
        let spacing = smaller(0.25, 0.2 / self.shift);
        let points = (self.reach(order)? / spacing).ceil();
        (points <= MOST_PLACES).then_some((spacing, points))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// For small d, ρ₀ is q²d²/2 but for a relative O(d²), and little is left of sums of rounded logarithms.
    #[test]
    fn rounding_is_counted_where_steps_are_hardly_felt() {
        for rate in [1e-4, 0.01, 0.5] {
            for shift in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
                let unknown = Bracket { value: f64::NAN, error: f64::NAN };
                let found = Slowness { rate, shift, plain: unknown }.order(0.0, 1.0).unwrap();
                let leading = 0.5 * (rate * shift).powi(2);
                let off = (found.value / leading - 1.0).abs();
                assert!(off <= found.error / leading + shift * shift, "{rate} {shift}: {off} {found:?}");
                // Where that is too much nothing is claimed.
                assert_eq!(Slowness::new(rate, shift).is_some(), found.error <= 1e-4 * found.value);
            }
        }
        assert!(Slowness::new(0.02, 1e-2).is_some() && Slowness::new(0.02, 1e-8).is_none());
    }
}
