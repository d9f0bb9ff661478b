//! A line for each row of a table, a mark for each column, a bar of one standard error.

use crate::axis::{Axis, number};
use crate::escape;
use std::fmt::Write as _;

const WIDTH: f64 = 1000.0;
const ROW: f64 = 15.0;
const TOP: f64 = 58.0;
/// About how wide a letter is.
const LETTER: f64 = 6.0;

/// A value, and its standard error where it has one.
#[derive(Debug, Clone, Copy)]
pub struct Dot {
    /// Where the mark is.
    pub mean: f64,
    /// How far the bar goes to both sides.
    pub error: Option<f64>,
}

impl Dot {
    /// The ends of its bar, if the axis has room for it.
    fn bar(self, axis: &Axis) -> Option<(f64, f64)> {
        let error = self.error?;
        axis.has(self.mean - error).then_some((self.mean - error, self.mean + error))
    }
}

/// A row: its name, and a dot or nothing for each column. One without dots is a heading.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// What stands before it.
    pub name: &'a str,
    /// One for each column.
    pub dots: Vec<Option<Dot>>,
}

/// The picture as a file of its own; columns are names with colours.
pub fn dots(title: &str, columns: &[(&str, &str)], lines: &[Line<'_>], logarithmic: bool) -> String {
    let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let left = 16.0 + LETTER * longest as f64;
    let all = || lines.iter().flat_map(|line| &line.dots).flatten();
    let means = Axis::around(logarithmic, all().map(|dot| dot.mean));
    let ends = all().filter_map(|dot| dot.bar(&means)).flat_map(|(from, to)| [from, to]);
    let axis = Axis::around(logarithmic, all().map(|dot| dot.mean).chain(ends));
    let across = |value: f64| left + 8.0 + axis.place(value) * (WIDTH - 32.0 - left);
    let height = TOP + ROW * lines.len() as f64 + 30.0;
    let mut svg = format!(
        "<!-- a plot of pairdp -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\">\n<title>{0}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\">{0}</text>\n",
        escape(title)
    );
    let mut x = 12.0;
    for (name, colour) in columns {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"34\" r=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"38\">{}</text>",
            x + 8.0,
            escape(name)
        );
        x += 34.0 + LETTER * name.chars().count() as f64;
    }
    for tick in axis.ticks() {
        let (x, bottom) = (across(tick), height - 22.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {}V{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP - 6.0,
            bottom + 14.0,
            number(tick)
        );
    }
    for (k, Line { name, dots }) in lines.iter().enumerate() {
        let y = TOP + ROW * (k as f64 + 0.5);
        let (x, anchor, weight) =
            if dots.is_empty() { (8.0, "start", "bold") } else { (left - 8.0, "end", "normal") };
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-weight=\"{weight}\">{}</text>",
            y + 4.0,
            escape(name)
        );
        for (dot, (_, colour)) in dots.iter().zip(columns) {
            let Some(dot) = dot.filter(|dot| axis.has(dot.mean)) else { continue };
            if let Some((from, to)) = dot.bar(&axis) {
                let (from, to) = (across(from), across(to));
                let _ = writeln!(svg, "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\"/>");
            }
            let x = across(dot.mean);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\" fill-opacity=\"0.8\"/>"
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_within_the_picture_and_what_cannot_be_drawn_is_left_out() {
        let dot = |mean, error| Some(Dot { mean, error });
        let row =
            Line { name: "a < b", dots: vec![dot(0.5, Some(0.2)), dot(0.6, None), dot(f64::NAN, None)] };
        let heading = Line { name: "all", dots: vec![] };
        for logarithmic in [false, true] {
            let lines = [heading.clone(), row.clone()];
            let svg = dots("t", &[("x", "teal"), ("y", "#111"), ("z", "#222")], &lines, logarithmic);
            assert_eq!((svg.matches("r=\"3.5\"").count(), svg.matches("stroke=\"teal\"").count()), (2, 1));
            assert!(svg.contains("a &lt; b") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let end = svg.split("stroke=\"teal\"").next().and_then(|text| text.rsplit_once('H'));
            let end: f64 =
                end.map_or(f64::NAN, |(_, end)| end.trim_end_matches("\" ").parse().unwrap_or(f64::NAN));
            assert!(end <= WIDTH, "{end}");
        }
    }
}
