//! Where values stand, and which of them have a grid line.

use pairdp_units::directed::{larger, smaller};

/// One axis of a plot.
pub struct Axis {
    pub(crate) label: String,
    pub(crate) low: f64,
    high: f64,
    logarithmic: bool,
    pub(crate) written: fn(f64) -> String,
}

impl Axis {
    /// Evenly spaced numbers.
    pub fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), low, high, logarithmic: false, written: number }
    }

    /// Powers of ten, whole ones at both ends.
    pub fn logarithmic(label: impl Into<String>, low: f64, high: f64) -> Self {
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        let high = if high > low { high } else { low + 1.0 };
        Self {
            label: label.into(),
            low: 10_f64.powf(low),
            high: 10_f64.powf(high),
            logarithmic: true,
            written: number,
        }
    }

    /// With ticks in words of their own.
    #[must_use]
    pub fn written(self, written: fn(f64) -> String) -> Self {
        Self { written, ..self }
    }

    /// From the least to the largest of some values, powers of ten or not; wider where they are one or none.
    pub(crate) fn around(logarithmic: bool, values: impl Iterator<Item = f64>) -> Self {
        let usable = |value: &f64| value.is_finite() && (*value > 0.0 || !logarithmic);
        let mut values = values.filter(usable);
        let first = values.next().unwrap_or(1.0);
        let (mut low, mut high) =
            values.fold((first, first), |(low, high), value| (smaller(low, value), larger(high, value)));
        if low >= high {
            (low, high) = if logarithmic { (low / 10.0, high * 10.0) } else { (low - 1.0, high + 1.0) };
        }
        Self { label: String::new(), low, high, logarithmic, written: number }
    }

    /// Whether a value can be shown.
    pub(crate) fn has(&self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || !self.logarithmic)
    }

    /// Where a value is, from 0 to 1; what lies outside is at the nearer end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = if self.logarithmic {
            (larger(value, self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if at.is_finite() { larger(0.0, smaller(at, 1.0)) } else { 0.0 }
    }

    /// Values with a grid line.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            return self.powers();
        }
        // 1, 2 or 5 times a power of ten, so that about five fit.
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(rough);
        let first = (self.low / step - 1e-9).ceil();
        let mut ticks = Vec::new();
        while ticks.len() < 20 {
            let tick = (first + ticks.len() as f64) * step;
            if tick > self.high + 1e-9 * step {
                break;
            }
            ticks.push(tick);
        }
        ticks
    }

    /// Powers of ten, every so manieth where there are many; twice and five times them where there are few.
    fn powers(&self) -> Vec<f64> {
        let within = |value: &f64| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value);
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let step = ((last - first) / 9.0).ceil();
        let powers: Vec<f64> = std::iter::successors(Some(first), |power| Some(power + step))
            .take_while(|power| *power <= last)
            .map(|power| 10_f64.powf(power))
            .collect();
        let ticks: Vec<f64> = powers.iter().copied().filter(within).collect();
        if ticks.len() > 1 {
            return ticks;
        }
        powers.iter().flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * power)).filter(within).collect()
    }
}

/// A number on an axis.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if (1e-4..1e5).contains(&value.abs()) {
        let digits = format!("{value:.4}");
        return digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{value:.0e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_ticks_and_keep_values_inside() {
        let axis = Axis::linear("", 0.0, 1.0);
        assert_eq!(axis.ticks().len(), 6);
        let axis = Axis::logarithmic("", 0.03, 20.0);
        let ticks = axis.ticks().into_iter().map(number).collect::<Vec<_>>();
        assert_eq!(ticks, ["0.01", "0.1", "1", "10", "100"]);
        for value in [-1.0, 0.0, 1e9, f64::NAN, f64::INFINITY] {
            assert!((0.0..=1.0).contains(&axis.place(value)), "{value}");
        }
    }

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = |logarithmic, values: &[f64]| -> Vec<String> {
            Axis::around(logarithmic, values.iter().copied()).ticks().into_iter().map(number).collect()
        };
        assert_eq!(ticks(false, &[0.4787, 0.8289]), ["0.5", "0.6", "0.7", "0.8"]);
        assert_eq!(ticks(true, &[0.0075, 16.0]), ["0.01", "0.1", "1", "10"]);
        assert_eq!(ticks(true, &[0.26, 6.0]), ["0.5", "1", "2", "5"]);
        assert_eq!(ticks(false, &[3.0]), ["2", "2.5", "3", "3.5", "4"]);
        assert!(!ticks(false, &[]).is_empty() && !ticks(true, &[0.0]).is_empty());
    }
}
