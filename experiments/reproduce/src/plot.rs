//! One picture for any experiment: a line for each row, a mark for each column, a bar of one standard error.

use crate::{Cell, Experiment, Value};
use pairdp_plot::{Dot, Line};

const COLOURS: [&str; 7] = ["#111", "#c4561d", "#1f5fa8", "#14803c", "#8a3ab9", "#9aa6b2", "#d0a92c"];
/// What most experiments have, in the colours above, so that pictures can be compared.
const USUAL: [&str; 6] = ["printed", "literal", "certified", "auto", "ceiling", "untrained"];

/// Dots for all rows of all cells, as SVG. A cell of several rows has its name in a line of its own.
pub fn dots(experiment: &Experiment, cells: &[Cell]) -> String {
    let mut lines = Vec::new();
    for cell in cells {
        match &cell.rows[..] {
            [only] => lines.push(line(&cell.key, &only.values)),
            rows => {
                lines.push(line(&cell.key, &[]));
                lines.extend(rows.iter().map(|row| line(&row.name, &row.values)));
            }
        }
    }
    let colours = colours(experiment.columns);
    let columns: Vec<(&str, &str)> = experiment.columns.iter().copied().zip(colours).collect();
    pairdp_plot::dots(experiment.title, &columns, &lines, experiment.logarithmic)
}

fn line<'a>(name: &'a str, values: &[Value]) -> Line<'a> {
    let dot = |value: &Value| value.mean.map(|mean| Dot { mean, error: value.error });
    Line { name, dots: values.iter().map(dot).collect() }
}

/// A colour for each column: the usual ones have theirs, others take what is left.
fn colours(columns: &[&str]) -> Vec<&'static str> {
    let usual = |name: &str| USUAL.iter().position(|usual| *usual == name);
    let taken: Vec<usize> = columns.iter().filter_map(|name| usual(name)).collect();
    let mut left = (0..COLOURS.len()).filter(|place| !taken.contains(place)).cycle();
    let place = |name: &&str| usual(name).or_else(|| left.next()).unwrap_or(0);
    columns.iter().map(place).map(|place| COLOURS[place]).collect()
}

/// Three digits or so.
pub fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.2e}")
    }
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
}
