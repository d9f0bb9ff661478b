//! Small plots as SVG: axes, lines, bands, dots, bars. In a page they take its style, as files they bring their own. No script, and
//! nothing from elsewhere.

use crate::report::html::escape;
use pairdp_units::directed::{larger, smaller};
use std::fmt::Write as _;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 48.0;
/// Names of curves stand beside a plot.
const LEGEND: f64 = 170.0;
/// What the classes below look like outside a page.
const STYLE: &str = "text { font: 12px sans-serif; fill: #1d2733 } .grid { stroke: #dde3e9; fill: none } \
     .axis { stroke: #8a96a3; fill: none }";

/// One axis of a plot.
pub(crate) struct Axis {
    label: String,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Evenly spaced numbers.
    pub(crate) fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), low, high, logarithmic: false }
    }

    /// Powers of ten, whole ones at both ends.
    pub(crate) fn logarithmic(label: impl Into<String>, low: f64, high: f64) -> Self {
        let (low, high) = (low.log10().floor(), high.log10().ceil());
        let high = if high > low { high } else { low + 1.0 };
        Self { label: label.into(), low: 10_f64.powf(low), high: 10_f64.powf(high), logarithmic: true }
    }

    /// Where a value is, from 0 to 1; what lies outside is at the nearer end.
    fn place(&self, value: f64) -> f64 {
        let at = if self.logarithmic {
            (larger(value, self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if at.is_finite() { larger(0.0, smaller(at, 1.0)) } else { 0.0 }
    }

    /// Values with a grid line.
    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let mut ticks = vec![self.low];
            while ticks[ticks.len() - 1] < self.high * 0.5 {
                ticks.push(ticks[ticks.len() - 1] * 10.0);
            }
            return ticks;
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
}

/// A plot that grows by what is drawn on it.
pub(crate) struct Plot {
    x: Axis,
    y: Axis,
    body: String,
    /// Curves with a name beside the plot.
    named: u32,
}

impl Plot {
    /// Axes and their grid.
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        let mut plot = Self { x, y, body: String::new(), named: 0 };
        plot.grid();
        plot
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.place(x) * (WIDTH - LEFT - RIGHT);
        (across, HEIGHT - BOTTOM - self.y.place(y) * (HEIGHT - TOP - BOTTOM))
    }

    fn grid(&mut self) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.x.ticks() {
            let (x, _) = self.at((tick, self.y.low));
            let _ = write!(
                self.body,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                number(tick),
            );
        }
        for tick in self.y.ticks() {
            let (_, y) = self.at((self.x.low, tick));
            let _ = write!(
                self.body,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                number(tick),
            );
        }
        let _ = write!(
            self.body,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
             <text class=\"name\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"name\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 10.0,
            escape(&self.x.label),
            f64::midpoint(TOP, bottom),
            escape(&self.y.label),
        );
    }

    /// A line through points, in one of the styles of the page: `main`, `faint`.
    pub(crate) fn line(mut self, points: &[(f64, f64)], style: &str) -> Self {
        let path = self.path(points);
        let _ = write!(self.body, "<path class=\"line {style}\" d=\"{path}\"/>");
        self
    }

    /// One of several curves, told apart by colour and by a name beside the plot; dashed without marks, for references.
    pub(crate) fn curve(mut self, name: &str, points: &[(f64, f64)], colour: &str, dashed: bool) -> Self {
        let usable =
            |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && (*y > 0.0 || !self.y.logarithmic);
        let points: Vec<(f64, f64)> = points.iter().copied().filter(usable).collect();
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let path = self.path(&points);
        let _ = write!(self.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\"{dash}/>");
        for point in points.iter().filter(|_| !dashed) {
            let (x, y) = self.at(*point);
            let _ = write!(self.body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        let y = TOP + 14.0 + 20.0 * f64::from(self.named);
        let _ = write!(
            self.body,
            "<path d=\"M{WIDTH} {y}h24\" stroke=\"{colour}\"{dash}/><text x=\"{}\" y=\"{}\">{}</text>",
            WIDTH + 30.0,
            y + 4.0,
            escape(name),
        );
        self.named += 1;
        self
    }

    /// The picture as a file of its own.
    pub(crate) fn file(&self, title: &str) -> String {
        let (width, title) = (WIDTH + LEGEND, escape(title));
        let body = &self.body;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 -24 {width} {}\">\
             <title>{title}</title><style>{STYLE}</style><rect y=\"-24\" width=\"100%\" height=\"100%\" fill=\"white\"/>\
             <text x=\"{LEFT}\" y=\"-6\">{title}</text>{body}</svg>\n",
            HEIGHT + 24.0,
        )
    }

    /// The area between a line and the lower edge.
    pub(crate) fn area(mut self, points: &[(f64, f64)]) -> Self {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return self };
        let (start, _) = self.at(*first);
        let (end, _) = self.at(*last);
        let bottom = HEIGHT - BOTTOM;
        let path = self.path(points);
        let _ =
            write!(self.body, "<path class=\"area\" d=\"{path}L{end:.1} {bottom}L{start:.1} {bottom}Z\"/>");
        self
    }

    /// A point with a few words beside it.
    pub(crate) fn mark(mut self, point: (f64, f64), words: &str) -> Self {
        let (x, y) = self.at(point);
        let left = x > WIDTH * 0.6;
        let (anchor, shift) = if left { ("end", -9.0) } else { ("start", 9.0) };
        let lower = if y < TOP + 24.0 { 18.0 } else { -8.0 };
        let _ = write!(
            self.body,
            "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
             <text class=\"words\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x + shift,
            y + lower,
            escape(words),
        );
        self
    }

    /// A few words without a point.
    pub(crate) fn words(mut self, point: (f64, f64), words: &str) -> Self {
        let (x, y) = self.at(point);
        let _ = write!(self.body, "<text class=\"words\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
        self
    }

    /// Many small points.
    pub(crate) fn dots(mut self, points: &[(f64, f64)]) -> Self {
        for point in points {
            let (x, y) = self.at(*point);
            let _ = write!(self.body, "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\"/>");
        }
        self
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (k, point) in points.iter().enumerate() {
            let (x, y) = self.at(*point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
        }
        path
    }

    /// The picture, with a description for those who do not see it.
    pub(crate) fn svg(&self, description: &str) -> String {
        frame(WIDTH, HEIGHT, description, &self.body)
    }
}

/// Named values as bars from 0, with a band of noise around the end of each where there is one.
pub(crate) fn bars(rows: &[(String, f64)], band: Option<f64>, description: &str) -> String {
    const NAMES: f64 = 190.0;
    const ROW: f64 = 20.0;
    const NUMBERS: f64 = 64.0;
    let reach = rows.iter().fold(0.0, |reach, (_, value)| larger(reach, value.abs())) + band.unwrap_or(0.0);
    let reach = if reach > 0.0 && reach.is_finite() { reach } else { 1.0 };
    let (left, right) = (NAMES + 8.0, WIDTH - NUMBERS);
    let middle = f64::midpoint(left, right);
    let at = |value: f64| middle + value / reach * (right - left) / 2.0;
    let height = ROW * rows.len() as f64 + 6.0;
    let mut body = format!("<path class=\"axis\" d=\"M{middle:.1} 0V{height}\"/>");
    for (k, (name, value)) in rows.iter().enumerate() {
        let y = ROW * k as f64 + 4.0;
        let (start, end) = (smaller(at(0.0), at(*value)), larger(at(0.0), at(*value)));
        let _ = write!(
            body,
            "<text class=\"tick\" x=\"{NAMES}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar\" x=\"{start:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            y + 12.0,
            escape(&shortened(name)),
            end - start,
            ROW - 6.0,
        );
        if let Some(band) = band {
            let (low, high, y) = (at(value - band), at(value + band), y + ROW / 2.0 - 3.0);
            let _ = write!(body, "<path class=\"band\" d=\"M{low:.1} {y:.1}H{high:.1}\"/>");
        }
        let _ = write!(
            body,
            "<text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.3}</text>",
            WIDTH - 4.0,
            y + 12.0,
        );
    }
    frame(WIDTH, height, description, &body)
}

fn frame(width: f64, height: f64, description: &str, body: &str) -> String {
    let description = escape(description);
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{description}\">\
         <title>{description}</title>{body}</svg>\n"
    )
}

fn shortened(name: &str) -> String {
    const MOST: usize = 26;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

/// A number on an axis.
fn number(value: f64) -> String {
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
    fn a_file_has_its_curves_and_nothing_that_cannot_be_drawn() {
        let points = [(1.0, 1.0), (10.0, 100.0), (5.0, 0.0), (100.0, f64::NAN)];
        let axes = || (Axis::logarithmic("x", 1.0, 100.0), Axis::logarithmic("y", 1.0, 100.0));
        let plot = Plot::new(axes().0, axes().1).curve("a < b", &points, "teal", false);
        let svg = plot.curve("bound", &points, "teal", true).file("t");
        assert_eq!((svg.matches("<circle").count(), svg.matches("stroke-dasharray").count()), (2, 2));
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn words_of_a_table_cannot_become_markup() {
        let rows = [("<script>alert('x')</script>&\"".to_owned(), 1.0), ("b".into(), f64::NAN)];
        let svg = bars(&rows, Some(0.1), "a <b>");
        assert!(!svg.contains("<script") && !svg.contains("<b>") && svg.contains("&lt;script"), "{svg}");
    }
}
