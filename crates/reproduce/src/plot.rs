//! One picture for any experiment: a line for each row, a mark for each column, a bar of one standard error.

use crate::{Cell, Experiment, Value};
use pairdp_units::directed::{larger, smaller};
use std::fmt::Write as _;

const COLOURS: [&str; 7] = ["#111", "#c4561d", "#1f5fa8", "#14803c", "#8a3ab9", "#9aa6b2", "#d0a92c"];
const NAMES: f64 = 470.0;
const WIDTH: f64 = 1000.0;
const ROW: f64 = 15.0;
const TOP: f64 = 52.0;

/// Dots for all rows of all cells, as SVG.
pub fn dots(experiment: &Experiment, cells: &[Cell]) -> String {
    let rows: Vec<(String, &[Value])> = cells
        .iter()
        .flat_map(|cell| {
            cell.rows.iter().map(move |row| (format!("{}: {}", cell.key, row.name), &*row.values))
        })
        .collect();
    let scale = |value: f64| if experiment.logarithmic { value.log10() } else { value };
    let all = rows.iter().flat_map(|row| row.1).filter_map(|value| value.mean).map(scale);
    let (low, high) = all
        .filter(|value| value.is_finite())
        .fold((f64::MAX, f64::MIN), |(low, high), value| (smaller(low, value), larger(high, value)));
    let (low, high) = if low < high { (low, high) } else { (low - 1.0, low + 1.0) };
    let across = |value: f64| NAMES + 10.0 + (scale(value) - low) / (high - low) * (WIDTH - NAMES - 30.0);
    let height = TOP + ROW * rows.len() as f64 + 30.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\">\n<title>{0}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\">{0}</text>\n",
        escape(experiment.title)
    );
    for (k, (name, colour)) in experiment.columns.iter().zip(COLOURS).enumerate() {
        let x = 12.0 + 140.0 * k as f64;
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"34\" r=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"38\">{}</text>",
            x + 8.0,
            escape(name)
        );
    }
    for tick in 0..=4 {
        let place = low + (high - low) * f64::from(tick) / 4.0;
        let value = if experiment.logarithmic { 10_f64.powf(place) } else { place };
        let (x, bottom) = (across(value), height - 22.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 14.0,
            short(value)
        );
    }
    for (k, (name, values)) in rows.iter().enumerate() {
        let y = TOP + ROW * (k as f64 + 0.5);
        let _ = writeln!(
            svg,
            "<text x=\"{NAMES}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            y + 4.0,
            escape(name)
        );
        for (value, colour) in values.iter().zip(COLOURS) {
            let Some(mean) = value.mean.filter(|mean| scale(*mean).is_finite()) else { continue };
            if let Some(error) = value.error.filter(|error| scale(mean - error).is_finite()) {
                let (from, to) = (across(mean - error), across(mean + error));
                let _ = writeln!(svg, "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\"/>");
            }
            let x = across(mean);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\" fill-opacity=\"0.8\"/>"
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
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
