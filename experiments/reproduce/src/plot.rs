//! One picture for any experiment: a line for each row, a mark for each column, a bar of one standard error.

use crate::{Cell, Experiment, Value};
use pairdp_units::directed::{larger, smaller};
use std::fmt::Write as _;

const COLOURS: [&str; 7] = ["#111", "#c4561d", "#1f5fa8", "#14803c", "#8a3ab9", "#9aa6b2", "#d0a92c"];
/// What most experiments have, in the colours above, so that pictures can be compared.
const USUAL: [&str; 6] = ["printed", "literal", "certified", "auto", "ceiling", "untrained"];
const WIDTH: f64 = 1000.0;
const ROW: f64 = 15.0;
const TOP: f64 = 58.0;
/// About how wide a letter is.
const LETTER: f64 = 6.0;

/// Dots for all rows of all cells, as SVG. A cell of several rows has its name in a line of its own.
pub fn dots(experiment: &Experiment, cells: &[Cell]) -> String {
    let mut lines: Vec<(&str, &[Value])> = Vec::new();
    for cell in cells {
        match &cell.rows[..] {
            [only] => lines.push((&cell.key, &only.values)),
            rows => {
                lines.push((&cell.key, &[]));
                lines.extend(rows.iter().map(|row| (&*row.name, &*row.values)));
            }
        }
    }
    let longest = lines.iter().map(|line| line.0.chars().count()).max().unwrap_or(0);
    let axis = Axis::of(
        experiment.logarithmic,
        16.0 + LETTER * longest as f64,
        lines.iter().flat_map(|line| line.1),
    );
    let height = TOP + ROW * lines.len() as f64 + 30.0;
    let mut svg = format!(
        "<!-- a plot of pairdp -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\">\n<title>{0}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\">{0}</text>\n",
        escape(experiment.title)
    );
    let mut x = 12.0;
    let colours = colours(experiment.columns);
    for (name, colour) in experiment.columns.iter().zip(&colours) {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"34\" r=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"38\">{}</text>",
            x + 8.0,
            escape(name)
        );
        x += 34.0 + LETTER * name.chars().count() as f64;
    }
    for tick in axis.ticks() {
        let (x, bottom) = (axis.across(tick), height - 22.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {}V{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - 6.0,
            bottom + 14.0,
            short(tick)
        );
    }
    for (k, (name, values)) in lines.iter().enumerate() {
        let y = TOP + ROW * (k as f64 + 0.5);
        let (x, anchor, weight) =
            if values.is_empty() { (8.0, "start", "bold") } else { (axis.left - 8.0, "end", "normal") };
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-weight=\"{weight}\">{}</text>",
            y + 4.0,
            escape(name)
        );
        for (value, colour) in values.iter().zip(&colours) {
            let Some(mean) = value.mean.filter(|mean| axis.place(*mean).is_finite()) else { continue };
            if let Some((from, to)) = axis.bar(value) {
                let (from, to) = (axis.across(from), axis.across(to));
                let _ = writeln!(svg, "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\"/>");
            }
            let x = axis.across(mean);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\" fill-opacity=\"0.8\"/>"
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A colour for each column: the usual ones have theirs, others take what is left.
fn colours(columns: &[&str]) -> Vec<&'static str> {
    let usual = |name: &str| USUAL.iter().position(|usual| *usual == name);
    let taken: Vec<usize> = columns.iter().filter_map(|name| usual(name)).collect();
    let mut left = (0..COLOURS.len()).filter(|place| !taken.contains(place)).cycle();
    let place = |name: &&str| usual(name).or_else(|| left.next()).unwrap_or(0);
    columns.iter().map(place).map(|place| COLOURS[place]).collect()
}

/// Where values stand.
struct Axis {
    logarithmic: bool,
    left: f64,
    low: f64,
    high: f64,
}

impl Axis {
    /// Wide enough for all values with their bars.
    fn of<'a>(logarithmic: bool, left: f64, values: impl Iterator<Item = &'a Value>) -> Self {
        let mut axis = Self { logarithmic, left, low: f64::INFINITY, high: f64::NEG_INFINITY };
        for value in values {
            let (from, to) = axis.bar(value).or(value.mean.zip(value.mean)).unwrap_or((f64::NAN, f64::NAN));
            for place in [axis.place(from), axis.place(to)].into_iter().filter(|place| place.is_finite()) {
                (axis.low, axis.high) = (smaller(axis.low, place), larger(axis.high, place));
            }
        }
        if axis.low >= axis.high {
            let middle = if axis.low.is_finite() { axis.low } else { 0.0 };
            (axis.low, axis.high) = (middle - 1.0, middle + 1.0);
        }
        axis
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic { value.log10() } else { value }
    }

    fn across(&self, value: f64) -> f64 {
        let right = WIDTH - 24.0;
        self.left + 8.0 + (self.place(value) - self.low) / (self.high - self.low) * (right - self.left - 8.0)
    }

    /// One standard error to both sides, if the axis has room for it.
    fn bar(&self, value: &Value) -> Option<(f64, f64)> {
        let (mean, error) = value.mean.zip(value.error)?;
        self.place(mean - error).is_finite().then_some((mean - error, mean + error))
    }

    /// Round numbers: 1, 2 or 5 times a power of ten.
    fn ticks(&self) -> Vec<f64> {
        let steps = |step: f64| {
            let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
            std::iter::successors(Some(first), |k| Some(k + 1.0))
                .take_while(move |k| *k <= last)
                .map(move |k| k * step)
        };
        if self.logarithmic && self.high - self.low > 2.0 {
            let step = ((self.high - self.low) / 8.0).ceil();
            return steps(step).map(|power| 10_f64.powf(power)).collect();
        }
        if self.logarithmic {
            let powers = steps(1.0).map(|power| 10_f64.powf(power)).chain([10_f64.powf(self.low.floor())]);
            let all = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]);
            return all.filter(|tick| (self.low..=self.high).contains(&tick.log10())).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|step| *step >= rough);
        steps(step.unwrap_or(rough)).collect()
    }
}

/// Three digits or so.
pub fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.2e}")
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_columns_have_their_colours() {
        let found = colours(&["literal", "other", "auto", "another"]);
        assert_eq!(found, [COLOURS[1], COLOURS[0], COLOURS[3], COLOURS[2]]);
        assert_eq!(colours(&USUAL), COLOURS[..6]);
    }

    fn ticks(logarithmic: bool, values: &[f64]) -> Vec<String> {
        let values: Vec<Value> = values.iter().map(|value| Value::known(*value)).collect();
        Axis::of(logarithmic, 100.0, values.iter()).ticks().into_iter().map(short).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks(false, &[0.4787, 0.8289]), ["0.5", "0.6", "0.7", "0.8"]);
        assert_eq!(ticks(true, &[0.0075, 16.0]), ["0.01", "0.1", "1", "10"]);
        assert_eq!(ticks(true, &[0.26, 6.0]), ["1", "2", "5", "0.5"]);
        assert_eq!(ticks(false, &[3.0]), ["2", "2.5", "3", "3.5", "4"]);
        assert!(!ticks(false, &[]).is_empty());
    }

    #[test]
    fn bars_stay_within_the_picture() {
        let value = Value { mean: Some(0.5), error: Some(0.2), note: None };
        let axis = Axis::of(false, 100.0, [value.clone(), Value::known(0.6)].iter());
        let (from, to) =
            axis.bar(&value).map_or((0.0, 0.0), |(from, to)| (axis.across(from), axis.across(to)));
        assert!(from >= 100.0 && to <= WIDTH, "{from} {to}");
    }
}
