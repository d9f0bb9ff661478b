//! Small plots as SVG: axes, lines, bands, dots, bars. In a page they take its style, as files they bring their own. No script, and
//! nothing from elsewhere. Reports of the command and pages of experiments are drawn by it.

mod axis;
mod dots;

pub use axis::Axis;
pub use dots::{Dot, Line, dots};

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

/// A plot that grows by what is drawn on it.
#[must_use = "a plot is drawn where it is written"]
pub struct Plot {
    x: Axis,
    y: Axis,
    body: String,
    /// Curves with a name beside the plot.
    named: u32,
}

impl Plot {
    /// Axes and their grid.
    pub fn new(x: Axis, y: Axis) -> Self {
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
                (self.x.written)(tick),
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
                (self.y.written)(tick),
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
    pub fn line(mut self, points: &[(f64, f64)], style: &str) -> Self {
        let path = self.path(points);
        let _ = write!(self.body, "<path class=\"line {style}\" d=\"{path}\"/>");
        self
    }

    /// One of several curves, told apart by colour and by a name beside the plot; dashed without marks, for references.
    pub fn curve(mut self, name: &str, points: &[(f64, f64)], colour: &str, dashed: bool) -> Self {
        let usable = |(x, y): &(f64, f64)| x.is_finite() && self.y.has(*y);
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
    pub fn file(&self, title: &str) -> String {
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
    pub fn area(mut self, points: &[(f64, f64)]) -> Self {
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
    pub fn mark(mut self, point: (f64, f64), words: &str) -> Self {
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
    pub fn words(mut self, point: (f64, f64), words: &str) -> Self {
        let (x, y) = self.at(point);
        let _ = write!(self.body, "<text class=\"words\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
        self
    }

    /// Many small points.
    pub fn dots(mut self, points: &[(f64, f64)]) -> Self {
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
    pub fn svg(&self, description: &str) -> String {
        frame(WIDTH, HEIGHT, description, &self.body)
    }
}

/// Named values as bars from 0, with a band of noise around the end of each where there is one.
pub fn bars(rows: &[(String, f64)], band: Option<f64>, description: &str) -> String {
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

/// A text as HTML shows it.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(symbol),
        }
    }
    escaped
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

#[cfg(test)]
mod tests {
    use super::*;

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
