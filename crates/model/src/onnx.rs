//! A model as an ONNX graph: raw columns in, a score out.
//!
//! The graph holds everything that is done to a row, so that a runtime needs no code of ours: missing values, ranges,
//! categories, the bound on a row's length, the weights. It computes in double precision.
//!
//! | name | what |
//! |---|---|
//! | input `numbers` | float64 `[rows, numeric columns]`; NaN is a missing value |
//! | input `texts` | string `[rows, categorical columns]`, without spaces around; the empty text is a missing value |
//! | output `score` | float64 `[rows]`: rankers and classifiers, and regressors whose label has no range |
//! | output `class` | string `[rows]`: classifiers that know their label |
//! | output `probability` | float64 `[rows]`: of being positive, where labels were counted by cells of the score |
//! | output `prediction` | float64 `[rows]`: regressors, in the label's units |
//! | output `embedding` | float64 `[rows, features]`: metrics; squared Euclidean distance is the metric's |
//!
//! An input without columns is left out. The metadata's `numbers` and `texts` list the columns in order, as JSON.

mod graph;
mod protobuf;
#[cfg(test)]
mod tests;

use crate::representation::map::{CATEGORY_SCALE, NumberTable, Tables};
use crate::representation::{self, Map};
use crate::{HiddenLayer, LogOdds, Predictor, Task, Waves};
use graph::{Graph, Tensor};
use pairdp_data::{ColumnEncoding, Kind, LabelKind, Missing};
use pairdp_pairwise::metric_map;

impl Predictor {
    /// The bytes of an ONNX file that does to raw columns what this predictor does.
    pub fn to_onnx(&self) -> Vec<u8> {
        let mut graph = Graph::default();
        let (vector, places) = encode(&mut graph, self.encoding.columns());
        let (vector, places) = match representation::map(&self.encoding, self.representation.as_ref()) {
            Some(map) => ranks(&mut graph, &map, self.feature_bound, &vector, &places),
            None => (vector, places),
        };
        let row = clip(&mut graph, &vector, places.len(), self.feature_bound);
        let d = places.len();
        if self.task == Task::Metric {
            // Row by row the map's lines; as a factor from the right it is transposed.
            let map = metric_map(&self.parameters);
            let entries =
                places.iter().flat_map(|place| (0..d).map(|line| map[line * d + place]).collect::<Vec<_>>());
            let map = graph.constant("map", Tensor::matrix(d, d, entries.collect()));
            graph.node("MatMul", &[&row, &map], "embedding");
            graph.output("embedding", &["rows", "features"], false);
        } else {
            let (row, places) = match self.waves() {
                Some(waves) => with_waves(&mut graph, &waves, &row, places),
                None => (row, places),
            };
            let weights: Vec<f64> = places.iter().map(|place| self.parameters[*place]).collect();
            score(&mut graph, self, &row, (&weights, &places));
        }
        graph.into_model(self.task.name())
    }
}

/// A row with its waves behind it: cosines first, then sines.
fn with_waves(graph: &mut Graph, waves: &Waves, row: &str, mut places: Vec<usize>) -> (String, Vec<usize>) {
    let (linear, height, directions) = waves.parts();
    let d = places.len();
    let count = directions.len() / d;
    let entries = places.iter().flat_map(|place| (0..count).map(move |k| directions[k * d + place]));
    let directions = graph.constant("directions", Tensor::matrix(d, count, entries.collect()));
    let (linear, height) = (
        graph.constant("row_share", Tensor::scalar(linear)),
        graph.constant("wave_height", Tensor::scalar(height)),
    );
    let angles = graph.node("MatMul", &[row, &directions], "angles");
    let (cosines, sines) = (graph.node("Cos", &[&angles], "cosines"), graph.node("Sin", &[&angles], "sines"));
    let row = graph.node("Mul", &[row, &linear], "row_part");
    let waves = graph.along_columns("Concat", &[&cosines, &sines], "waves");
    let waves = graph.node("Mul", &[&waves, &height], "waves_scaled");
    places.extend((0..2).flat_map(|half| (0..count).map(move |k| d + 2 * k + half)));
    (graph.along_columns("Concat", &[&row, &waves], "row_with_waves"), places)
}

/// The last steps of models with a score.
fn score(graph: &mut Graph, predictor: &Predictor, row: &str, weights: (&[f64], &[usize])) {
    match (predictor.task, predictor.label.as_ref().map(|label| &label.kind)) {
        (Task::Regression, Some(LabelKind::Range([low, high]))) => {
            weighted(graph, predictor, row, weights, "relative");
            let half = graph.constant("label_half", Tensor::scalar(high / 2.0 - low / 2.0));
            let middle = graph.constant("label_middle", Tensor::scalar(low / 2.0 + high / 2.0));
            graph.node("Mul", &["relative", &half], "spread");
            graph.node("Add", &["spread", &middle], "prediction");
            graph.output("prediction", &["rows"], false);
        }
        (task, kind) => {
            weighted(graph, predictor, row, weights, "score");
            graph.output("score", &["rows"], false);
            if let (Task::Classification, Some(LabelKind::Binary { positive, negative })) = (task, kind) {
                let zero = graph.constant("cut", Tensor::scalar(predictor.cut()));
                let positive = graph.constant("positive", Tensor::text(positive));
                let negative = graph.constant("negative", Tensor::text(negative));
                graph.node("Greater", &["score", &zero], "is_positive");
                graph.node("Where", &["is_positive", &positive, &negative], "class");
                graph.output("class", &["rows"], true);
            }
            if let Some(line) = predictor.log_odds() {
                probability(graph, &line);
            }
        }
    }
}

/// From a score to the probability of being positive.
fn probability(graph: &mut Graph, line: &LogOdds) {
    let ([low, high], (intercept, slope)) = (line.ends(), line.line());
    let low = graph.constant("probability_low", Tensor::scalar(low));
    let high = graph.constant("probability_high", Tensor::scalar(high));
    let slope = graph.constant("probability_slope", Tensor::scalar(slope));
    let intercept = graph.constant("probability_intercept", Tensor::scalar(intercept));
    graph.node("Max", &["score", &low], "score_not_below");
    graph.node("Min", &["score_not_below", &high], "score_inside");
    graph.node("Mul", &["score_inside", &slope], "risen");
    graph.node("Add", &["risen", &intercept], "log_odds");
    graph.node("Sigmoid", &["log_odds"], "probability");
    graph.output("probability", &["rows"], false);
}

/// w·x, and the intercept if there is one; and what hidden units add.
fn weighted(
    graph: &mut Graph,
    predictor: &Predictor,
    row: &str,
    (weights, places): (&[f64], &[usize]),
    name: &str,
) {
    if let Some(layer) = predictor.hidden_layer() {
        let linear = places.iter().map(|place| layer.linear[*place]).collect();
        let linear = graph.constant("weights", Tensor::vector(linear));
        let units = units(graph, &layer, predictor.constant, row, places);
        let linear = graph.node("MatMul", &[row, &linear], "of_linear_term");
        let intercept = graph.constant("intercept", Tensor::scalar(predictor.intercept()));
        let moved = graph.node("Add", &[&linear, &intercept], "with_intercept");
        graph.node("Add", &[&moved, &units], name);
        return;
    }
    let weights = graph.constant("weights", Tensor::vector(weights.to_vec()));
    let weights = weights.as_str();
    if predictor.constant == 0.0 {
        graph.node("MatMul", &[row, weights], name);
        return;
    }
    let intercept = graph.constant("intercept", Tensor::scalar(predictor.intercept()));
    graph.node("MatMul", &[row, weights], "weighted");
    graph.node("Add", &["weighted", &intercept], name);
}

/// What hidden units add, where the constant that ends a row is part of their offsets. Weights are in the order of the row here.
fn units(graph: &mut Graph, layer: &HiddenLayer, constant: f64, row: &str, places: &[usize]) -> String {
    let (d, count) = (places.len(), layer.outer.len());
    let entries = places.iter().flat_map(|place| layer.inner.iter().map(move |line| line[*place]));
    let inputs = graph.constant("unit_weights", Tensor::matrix(d, count, entries.collect()));
    let offset = |(line, b): (&Vec<f64>, &f64)| b + line.get(d).map_or(0.0, |weight| weight * constant);
    let offsets = layer.inner.iter().zip(&layer.offsets).map(offset).collect();
    let offsets = graph.constant("unit_offsets", Tensor::vector(offsets));
    let outer = graph.constant("unit_effects", Tensor::vector(layer.outer.clone()));
    let product = graph.node("MatMul", &[row, &inputs], "unit_products");
    let input = graph.node("Add", &[&product, &offsets], "unit_inputs");
    let output = graph.node("Tanh", &[&input], "units");
    graph.node("MatMul", &[&output, &outer], "of_units")
}

/// The matrix that has a 1 where a number is missing and its column has a place for that.
const ABSENT: &str = "absent";

/// Raw columns to a vector: numbers first, then what is missing of them, then categories. Returns its name, and for each of its entries the place in the
/// model's own vector.
fn encode(graph: &mut Graph, columns: &[ColumnEncoding]) -> (String, Vec<usize>) {
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    let mut start = 0;
    let mut numbers: Vec<(&ColumnEncoding, [f64; 2])> = Vec::new();
    let mut texts: Vec<(&ColumnEncoding, &[String], usize)> = Vec::new();
    for column in columns {
        match &column.kind {
            Kind::Range(range) => {
                numbers.push((column, *range));
                places.push(start);
            }
            Kind::Categories(values) => texts.push((column, values, start)),
        }
        start += column.width();
    }
    if !numbers.is_empty() {
        graph.input("numbers", numbers.iter().map(|(column, _)| column.name.as_str()), false);
        parts.push(scale(graph, &numbers));
        let own: Vec<bool> = numbers.iter().map(|(column, _)| column.missing == Some(Missing::Own)).collect();
        parts.extend(absent(graph, &own));
        let behind = places.iter().zip(&own).filter(|(_, own)| **own).map(|(place, _)| place + 1);
        places.extend(behind.collect::<Vec<_>>());
    }
    if !texts.is_empty() {
        graph.input("texts", texts.iter().map(|(column, ..)| column.name.as_str()), true);
    }
    for (index, (column, values, start)) in texts.into_iter().enumerate() {
        parts.extend(one_hot(graph, index, column, values));
        places.extend(start..start + column.width());
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    (graph.along_columns("Concat", &parts, "vector"), places)
}

/// Missing values, then ranges, then −1 to 1.
fn scale(graph: &mut Graph, columns: &[(&ColumnEncoding, [f64; 2])]) -> String {
    let each = |of: &dyn Fn(&ColumnEncoding, f64, f64) -> f64| {
        Tensor::vector(columns.iter().map(|(column, [low, high])| of(column, *low, *high)).collect())
    };
    let middle = |low: f64, high: f64| low / 2.0 + high / 2.0;
    // Where nothing was said about empty cells, tables that have one are refused; here they count as the middle.
    let missing = each(&|column, low, high| match column.missing {
        Some(Missing::Number(value)) => value,
        _ => middle(low, high),
    });
    let missing = graph.constant("missing", missing);
    let low = graph.constant("low", each(&|_, low, _| low));
    let high = graph.constant("high", each(&|_, _, high| high));
    let half = graph.constant("half", each(&|_, low, high| high / 2.0 - low / 2.0));
    let middle = graph.constant("middle", each(&|_, low, high| middle(low, high)));
    graph.node("IsNaN", &["numbers"], "is_missing");
    graph.node("Where", &["is_missing", &missing, "numbers"], "filled");
    graph.node("Max", &["filled", &low], "not_below");
    graph.node("Min", &["not_below", &high], "inside");
    graph.node("Sub", &["inside", &middle], "centred");
    graph.node("Div", &["centred", &half], "scaled")
}

/// A 1 behind numbers that are missing, for those columns that have a place for it.
fn absent(graph: &mut Graph, own: &[bool]) -> Option<String> {
    let picked: Vec<usize> = (0..own.len()).filter(|column| own[*column]).collect();
    if picked.is_empty() {
        return None;
    }
    let own = own.iter().map(|own| f64::from(u8::from(*own))).collect();
    let own = graph.constant("has_place", Tensor::vector(own));
    let empty = graph.cast_to_double("is_missing", "is_empty");
    graph.node("Mul", &[&empty, &own], ABSENT);
    let picked = graph.constant("own_places", Tensor::indices(picked.into_iter()));
    Some(graph.along_columns("Gather", &[ABSENT, &picked], "absent_own"))
}

/// A 1 in the place of the category; one more place for all others, if they have one.
fn one_hot(graph: &mut Graph, index: usize, column: &ColumnEncoding, values: &[String]) -> Vec<String> {
    let name = |what: &str| format!("{what}_{index}");
    let place = graph.constant(&name("place"), Tensor::index(index));
    let mut cells = graph.along_columns("Gather", &["texts", &place], &name("cells"));
    if let (Some(Missing::Category(value)), false) = (&column.missing, values.iter().any(String::is_empty)) {
        let empty = graph.constant(&name("empty"), Tensor::text(""));
        let value = graph.constant(&name("missing"), Tensor::text(value));
        let is_empty = graph.node("Equal", &[&cells, &empty], &name("is_empty"));
        cells = graph.node("Where", &[&is_empty, &value, &cells], &name("filled"));
    }
    let values = graph.constant(&name("values"), Tensor::texts(values));
    let equal = graph.node("Equal", &[&cells, &values], &name("equal"));
    let mut parts = vec![graph.cast_to_double(&equal, &name("hot"))];
    if column.other {
        let width = column.width() - 1;
        let ones = graph.constant(&name("ones"), Tensor::matrix(width, 1, vec![1.0; width]));
        let one = graph.constant(&name("one"), Tensor::scalar(1.0));
        let listed = graph.node("MatMul", &[&parts[0], &ones], &name("listed"));
        parts.push(graph.node("Sub", &[&one, &listed], &name("other")));
    }
    parts
}

/// What a map does: every number by functions of it, every category less its share. Numbers come first, function by
/// function. Returns the name of the vector, and for each of its entries the place in the model's own.
fn ranks(graph: &mut Graph, map: &Map, bound: f64, vector: &str, places: &[usize]) -> (String, Vec<usize>) {
    let Tables { numbers, categories, length } = map.tables(places);
    let (mut parts, mut order) = (Vec::new(), Vec::new());
    let scale = graph.constant("length_scale", Tensor::scalar(bound / length));
    if !numbers.is_empty() {
        let d = numbers.len();
        let picked = graph.constant("number_places", Tensor::indices(0..d));
        let x = graph.along_columns("Gather", &[vector, &picked], "numbers_scaled");
        let cell = find_cell(graph, &numbers, &x);
        let present = numbers.iter().any(|number| number.or_missing).then(|| {
            let one = graph.constant("whole", Tensor::scalar(1.0));
            graph.node("Sub", &[&one, ABSENT], "present")
        });
        for function in 0..numbers[0].functions.len() {
            let value = look_up(graph, function, &numbers, &cell);
            parts.push(match &present {
                Some(present) => graph.node("Mul", &[&value, present], &format!("present_{function}")),
                None => value,
            });
            order.extend(numbers.iter().map(|number| number.place + function));
        }
    }
    if !categories.is_empty() {
        let picked = graph.constant("category_places", Tensor::indices(categories.iter().map(|c| c.entry)));
        let hot = graph.along_columns("Gather", &[vector, &picked], "hot_categories");
        let shares = graph.constant("shares", Tensor::vector(categories.iter().map(|c| c.share).collect()));
        let factor = graph.constant("category_scale", Tensor::scalar(CATEGORY_SCALE));
        let off = graph.node("Sub", &[&hot, &shares], "off_shares");
        parts.push(graph.node("Mul", &[&off, &factor], "categories_centred"));
        order.extend(categories.iter().map(|c| c.place));
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let joined = graph.along_columns("Concat", &parts, "mapped");
    (graph.node("Mul", &[&joined, &scale], "mapped_scaled"), order)
}

/// Where numbers lie between two points of the grid that their functions are known on: indices into all columns' tables, one after
/// the other.
struct Cell {
    left: String,
    right: String,
    share: String,
}

fn find_cell(graph: &mut Graph, numbers: &[NumberTable], x: &str) -> Cell {
    let points = numbers[0].functions[0].len();
    let starts = (0..numbers.len()).map(|column| (column * points) as f64).collect();
    let starts = graph.constant("starts", Tensor::vector(starts));
    let one = graph.constant("one", Tensor::scalar(1.0));
    let cells = graph.constant("cells", Tensor::scalar((points - 1) as f64 / 2.0));
    let last = graph.constant("last", Tensor::scalar((points - 2) as f64));
    let zero = graph.constant("none", Tensor::scalar(0.0));
    let up = graph.node("Add", &[x, &one], "from_zero");
    let place = graph.node("Mul", &[&up, &cells], "in_cells");
    let whole = graph.node("Floor", &[&place], "whole_cells");
    let whole = graph.node("Min", &[&whole, &last], "whole_below");
    let whole = graph.node("Max", &[&whole, &zero], "left_cell");
    let share = graph.node("Sub", &[&place, &whole], "cell_share");
    let left = graph.node("Add", &[&whole, &starts], "left_place");
    let right = graph.node("Add", &[&left, &one], "right_place");
    let (left, right) =
        (graph.cast_to_index(&left, "left_index"), graph.cast_to_index(&right, "right_index"));
    Cell { left, right, share }
}

/// One of the functions, of all columns: linear between the points of the grid.
fn look_up(graph: &mut Graph, function: usize, numbers: &[NumberTable], cell: &Cell) -> String {
    let name = |what: &str| format!("{what}_{function}");
    let all = numbers.iter().flat_map(|number| number.functions[function].iter().copied()).collect();
    let table = graph.constant(&name("function"), Tensor::vector(all));
    let low = graph.node("Gather", &[&table, &cell.left], &name("value_left"));
    let high = graph.node("Gather", &[&table, &cell.right], &name("value_right"));
    let rise = graph.node("Sub", &[&high, &low], &name("rise"));
    let part = graph.node("Mul", &[&cell.share, &rise], &name("part"));
    graph.node("Add", &[&low, &part], &name("value"))
}

/// Rows longer than the bound are scaled down to it.
fn clip(graph: &mut Graph, vector: &str, d: usize, bound: f64) -> String {
    let ones = graph.constant("ones", Tensor::matrix(d, 1, vec![1.0; d]));
    let bound = graph.constant("bound", Tensor::scalar(bound));
    graph.node("Mul", &[vector, vector], "squares");
    graph.node("MatMul", &["squares", &ones], "square");
    graph.node("Sqrt", &["square"], "length");
    graph.node("Max", &["length", &bound], "longer");
    graph.node("Div", &[&bound, "longer"], "factor");
    graph.node("Mul", &[vector, "factor"], "row")
}
