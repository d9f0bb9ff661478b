//! What each column adds to a score: the model as people can read it.

use super::html::{self, escape};
use pairdp_data::date_text;
use pairdp_model::{PrivateModel, Shape, ShapeParts};
use pairdp_plot::{Axis, Plot, bars};
use pairdp_units::directed::{larger, smaller};
use std::fmt::Write as _;

/// Columns that get a plot; the others a line in the table.
const DRAWN: usize = 6;
/// Standard deviations of the noise around a curve.
const BAND: f64 = 2.0;

/// The section, for models with a score.
pub(super) fn section(model: &PrivateModel) -> Option<String> {
    let mut shapes = model.shapes()?;
    shapes.sort_by(|a, b| b.reach().total_cmp(&a.reach()));
    let mut body = html::paragraph(
        "A score is the sum of what its columns add, those that move it most first. Rows are scaled down to a public length, all parts \
         alike, so a row that is far out in many columns gets less of each. Everything here follows from the model file.",
    );
    for shape in shapes.iter().take(DRAWN) {
        body += &figure(shape);
    }
    body += &table(&shapes);
    Some(html::section("What each column adds", &body))
}

fn figure(shape: &Shape) -> String {
    match &shape.parts {
        ShapeParts::Curve(points) => {
            let (low, high) = shown_range(shape, points);
            let shown: Vec<usize> =
                (0..points.len()).filter(|k| points[*k].0 >= low && points[*k].0 <= high).collect();
            let moved = |times: f64| -> Vec<(f64, f64)> {
                let by = |k: usize| shape.noise.as_ref().map_or(0.0, |noise| times * noise[k]);
                shown.iter().map(|k| (points[*k].0, points[*k].1 + by(*k))).collect()
            };
            let (below, middle, above) = (moved(-BAND), moved(0.0), moved(BAND));
            let bottom = below.iter().fold(0.0, |least, point| smaller(least, point.1));
            let top = above.iter().fold(0.0, |most, point| larger(most, point.1));
            let top = if top > bottom { top } else { bottom + 1.0 };
            let across = Axis::linear(shape.column.clone(), low, high);
            let mut plot = Plot::new(
                if shape.date { across.written(date_text) } else { across },
                Axis::linear("added to the score", bottom, top),
            );
            if shape.noise.is_some() {
                plot = plot.line(&below, "faint").line(&above, "faint");
            }
            let caption = if shape.noise.is_some() {
                "The curve, with two standard deviations of the noise on either side. After many steps the noise is usually smaller than that."
            } else {
                "The curve. The model file does not tell how much of it is noise."
            };
            let missing = shape.missing.map_or(String::new(), |cell| {
                let noise = cell.noise.map_or(String::new(), |noise| format!(" ± {:.3}", BAND * noise));
                format!(" An empty cell adds {:.3}{noise}.", cell.adds)
            });
            html::figure(
                &plot.line(&middle, "main").svg(&format!("What {} adds", shape.column)),
                &format!("{caption}{missing}"),
            )
        }
        ShapeParts::Bars(rows) => html::figure(
            &bars(rows, None, &format!("What {} adds", shape.column)),
            &format!("What the values of {} add.", shape.column),
        ),
    }
}

/// Where the column lies, with as much again on either side; the whole range where that is not known.
fn shown_range(shape: &Shape, points: &[(f64, f64)]) -> (f64, f64) {
    let ends = (points.first().map_or(0.0, |p| p.0), points.last().map_or(1.0, |p| p.0));
    let Some([low, .., high]) = shape.quantiles else { return ends };
    let margin = larger(high - low, (ends.1 - ends.0) / 20.0);
    (larger(low - margin, ends.0), smaller(high + margin, ends.1))
}

/// All columns: how far the score moves from their least to their most, and where they lie.
fn table(shapes: &[Shape]) -> String {
    let mut rows = String::new();
    for shape in shapes {
        let places = shape.quantiles.map_or(String::new(), |places| {
            let written = |place: f64| {
                if shape.date { date_text(place) } else { format!("{}", (place * 1000.0).round() / 1000.0) }
            };
            places.map(written).join(" · ")
        });
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td>{:.3}</td><td>{}</td></tr>",
            escape(&shape.column),
            shape.reach(),
            escape(&places),
        );
    }
    format!(
        "<table>\n<thead><tr><th>column</th><th>from least to most</th><th>released: 5, 25, 50, 75, 95 % lie below</th></tr></thead>\n\
         {rows}</table>\n"
    )
}
