//! Curves on logarithmic axes, as SVG.

use pairdp_units::directed::{larger, smaller};
use std::fmt::Write as _;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it shows.
    pub name: String,
    /// Its points; those that a logarithm does not have are left out.
    pub points: Vec<(f64, f64)>,
    /// A dashed line without markers, for references.
    pub dashed: bool,
    /// Any colour of SVG.
    pub colour: &'static str,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// A picture of curves with a grid at powers of ten and a legend beside it.
pub fn log_log(title: &str, horizontal: &str, vertical: &str, series: &[Series]) -> String {
    let usable = |&(x, y): &(f64, f64)| x > 0.0 && y > 0.0 && x.is_finite() && y.is_finite();
    let all: Vec<(f64, f64)> = series.iter().flat_map(|s| s.points.iter().copied().filter(usable)).collect();
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let (low, high) = all.iter().map(pick).fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| {
            (smaller(low, value), larger(high, value))
        });
        let (low, high) = (low.log10(), high.log10());
        // A little air, and something to divide by.
        let air = larger(0.05 * (high - low), 0.05);
        (low - air, high + air)
    };
    let ((x_low, x_high), (y_low, y_high)) =
        if all.is_empty() { ((0.0, 1.0), (0.0, 1.0)) } else { (range(|p| p.0), range(|p| p.1)) };
    let x = |value: f64| LEFT + (value.log10() - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
    let y =
        |value: f64| HEIGHT - BOTTOM - (value.log10() - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
        escape(title)
    );
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for (value, label) in ticks(x_low, x_high) {
        let at = x(value);
        let _ = writeln!(svg, "<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            bottom + 18.0
        );
    }
    for (value, label) in ticks(y_low, y_high) {
        let at = y(value);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(svg, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#444\"/>");
    let middle = f64::midpoint(LEFT, right);
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        HEIGHT - 12.0,
        escape(horizontal)
    );
    let centre = f64::midpoint(TOP, bottom);
    let _ = writeln!(
        svg,
        "<text transform=\"translate(18 {centre}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        escape(vertical)
    );
    for (k, one) in series.iter().enumerate() {
        let Series { name, points, dashed, colour } = one;
        let dash = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let path: Vec<String> =
            points.iter().filter(|p| usable(p)).map(|p| format!("{:.1} {:.1}", x(p.0), y(p.1))).collect();
        if !path.is_empty() {
            let _ =
                writeln!(svg, "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\"{dash}/>", path.join("L"));
        }
        if !dashed {
            for p in points.iter().filter(|p| usable(p)) {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                    x(p.0),
                    y(p.1)
                );
            }
        }
        let at = TOP + 14.0 + 20.0 * k as f64;
        let from = right + 14.0;
        let _ = writeln!(svg, "<path d=\"M{from} {at}h24\" stroke=\"{colour}\"{dash}/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", from + 30.0, at + 4.0, escape(name));
    }
    svg.push_str("</svg>\n");
    svg
}

/// 1, 2 and 5 times powers of ten within a range of logarithms, or the powers alone where that is too many.
fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let steps: &[f64] = if high - low > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    #[expect(clippy::cast_possible_truncation, reason = "exponents of f64")]
    let powers = low.floor() as i32..=high.ceil() as i32;
    powers
        .flat_map(|power| steps.iter().map(move |step| step * 10.0_f64.powi(power)))
        .filter(|value| (low..=high).contains(&value.log10()))
        .map(|value| (value, label(value)))
        .collect()
}

fn label(value: f64) -> String {
    if (1e-3..1e5).contains(&value) {
        format!("{}", (value * 1e6).round() / 1e6)
    } else {
        format!("{value:.0e}")
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_its_curves_and_nothing_that_cannot_be_drawn() {
        let curve = Series {
            name: "a < b".into(),
            points: vec![(1.0, 1.0), (10.0, 100.0), (0.0, 5.0), (100.0, f64::NAN)],
            dashed: false,
            colour: "teal",
        };
        let svg = log_log("t", "x", "y", &[curve]);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!log_log("t", "x", "y", &[]).contains("NaN"));
    }
}
