//! What is done with a row: encode, map, clip, then score.

use crate::representation::map::{CategoryTable, NumberTable};
use crate::representation::{self, Map};
use crate::{ModelError, Task, Waves};
use pairdp_certificate::{Probabilities, RandomFeatures, Representation};
use pairdp_data::{Encoding, Label, Table};
use pairdp_pairwise::kernel::{Layers, score};
use pairdp_pairwise::knots::Spacing;
use pairdp_pairwise::{Score, clip_row, metric_map};
use pairdp_units::directed::up_by;
use serde::{Deserialize, Serialize};

/// What a row means to a model: encode, clip, then score or map it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predictor {
    /// What it is for.
    pub task: Task,
    /// How a row becomes a vector, from public facts.
    pub encoding: Encoding,
    /// Which column is to be predicted, if it came from a table with one.
    pub label: Option<Label>,
    /// Longer vectors are scaled down to this norm, in training and here.
    pub feature_bound: f64,
    /// A constant that then ends every vector, so that the last weight moves all scores alike; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub constant: f64,
    /// The weights of a score, or the matrix of a metric, row by row.
    pub parameters: Vec<f64>,
    /// What was released of where columns lie, from which a row's map follows; none where rows are as ranges put them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub representation: Option<Representation>,
    /// Counts of labels by cells of the score, from which probabilities follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Probabilities>,
    /// Waves along public random directions of a mapped row, which follow it in the vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_features: Option<RandomFeatures>,
    /// How the vector is scored: by its weights, or by a network of which they are the parameters.
    #[serde(default, skip_serializing_if = "is_linear")]
    pub score: Score,
}

fn is_linear(score: &Score) -> bool {
    score.is_linear()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(constant: &f64) -> bool {
    *constant == 0.0
}

impl Predictor {
    /// What is added to every score; of a network, what its linear term adds.
    pub fn intercept(&self) -> f64 {
        match self.score {
            Score::Linear => self.parameters.last().map_or(0.0, |last| last * self.constant),
            Score::Foreign(_) => 0.0,
            Score::Network(form) => {
                let last = self.parameters.get(self.features()).copied().unwrap_or(0.0);
                form.linear * last * self.constant
            }
        }
    }

    /// The largest norm of a row with its constant, as training bounded it.
    pub(crate) fn record_bound(&self) -> f64 {
        if self.constant == 0.0 {
            self.feature_bound
        } else {
            record_bound(self.feature_bound, self.constant)
        }
    }

    /// Refuses a model whose scores are computed by a function that is not here.
    ///
    /// # Errors
    /// [`ModelError::ScoredElsewhere`].
    pub fn scores_here(&self) -> Result<(), ModelError> {
        if let Score::Foreign(_) = self.score { Err(ModelError::ScoredElsewhere) } else { Ok(()) }
    }

    /// The score of every row of an encoded table: w·x, or a network's. (For metrics use [`Predictor::embed`].) Scores of a function that is
    /// not here are no number: ask [`Predictor::scores_here`] first.
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        let mut scores = Vec::with_capacity(table.rows);
        match self.score {
            Score::Linear => self.each_row(table, |row| scores.push(score(row, &self.parameters))),
            Score::Network(form) => {
                let layers = Layers::new(form, self.record_bound(), &self.parameters);
                self.each_row(table, |row| scores.push(layers.score(row)));
            }
            Score::Foreign(_) => scores.resize(table.rows, f64::NAN),
        }
        scores
    }

    /// A network with its fixed factors multiplied in; none for linear scores.
    pub fn hidden_layer(&self) -> Option<HiddenLayer> {
        let Score::Network(form) = self.score else { return None };
        let (columns, kappa) = (form.columns(self.parameters.len()), self.record_bound());
        let (alpha, k) = form.scales(kappa);
        let (v, rest) = self.parameters.split_at(columns);
        let (u, rest) = rest.split_at(form.hidden);
        let (b, inner) = rest.split_at(form.hidden);
        let times = |part: &[f64], factor: f64| part.iter().map(|value| factor * value).collect::<Vec<_>>();
        Some(HiddenLayer {
            linear: times(v, alpha),
            outer: times(u, k),
            offsets: b.to_vec(),
            inner: inner.chunks_exact(columns).map(|line| times(line, 1.0 / kappa)).collect(),
        })
    }

    /// The rows of an encoded table mapped to where Euclidean distance is the metric's, row by row. Directions that the noise
    /// made negative count as 0.
    pub fn embed(&self, table: &Table) -> Vec<f64> {
        let map = metric_map(&self.parameters);
        let mut rows = Vec::with_capacity(table.rows * self.features());
        self.each_row(table, |row| rows.extend(map.chunks_exact(row.len()).map(|line| score(row, line))));
        rows
    }

    /// Length of the vector that a row becomes, without a constant.
    pub fn features(&self) -> usize {
        self.columns() + self.random_features.map_or(0, RandomFeatures::count)
    }

    /// Length of a mapped row.
    pub(crate) fn columns(&self) -> usize {
        if self.maps_rows() {
            Map::width_of(&representation::layout(&self.encoding, Spacing::default()))
        } else {
            self.encoding.dimension()
        }
    }

    /// The waves that follow a row, if there are any.
    pub fn waves(&self) -> Option<Waves> {
        self.random_features.map(|form| Waves::new(form, self.columns(), self.feature_bound))
    }

    /// Whether a score is a sum of what columns add, each by itself.
    pub fn is_additive(&self) -> bool {
        self.task != Task::Metric && self.score.is_linear() && self.random_features.is_none()
    }

    /// Whether rows are mapped by what was released of where columns lie.
    pub fn maps_rows(&self) -> bool {
        self.representation.as_ref().is_some_and(representation::maps_rows)
    }

    /// What a row is mapped by before it is scaled down and weighed, as tables; none where rows are as ranges put them.
    ///
    /// A number, mapped to [−1, 1] by its range, becomes the values of its `functions`, each given at as many equally distant points and
    /// linear between them; a category becomes √3 times (1 if it is there, else 0) less its `share`. Empty cells with a place of their
    /// own are such a category, and the functions of the number that is not there are 0. All are then multiplied by the feature bound
    /// over `length`.
    pub fn map_tables(&self) -> Option<serde_json::Value> {
        let places: Vec<usize> = (0..self.encoding.dimension()).collect();
        let tables = representation::map(&self.encoding, self.representation.as_ref())?.tables(&places);
        let number =
            |table: &NumberTable| serde_json::json!({ "feature": table.place, "functions": table.functions });
        let category =
            |table: &CategoryTable| serde_json::json!({ "feature": table.place, "share": table.share });
        Some(serde_json::json!({
            "length": tables.length,
            "numbers": tables.numbers.iter().map(number).collect::<Vec<_>>(),
            "categories": tables.categories.iter().map(category).collect::<Vec<_>>(),
        }))
    }

    /// A name for each entry of that vector.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names =
            if self.maps_rows() { Map::names(&self.encoding) } else { self.encoding.feature_names() };
        let directions = self.random_features.map_or(0, |form| form.directions);
        names.extend((0..directions).flat_map(|k| [format!("cosine {k}"), format!("sine {k}")]));
        names
    }

    /// Every row of an encoded table as training saw it: mapped, scaled down, with the constant.
    pub fn each_row(&self, table: &Table, mut take: impl FnMut(&[f64])) {
        let map = representation::map(&self.encoding, self.representation.as_ref());
        let waves = self.waves();
        let mut row = Vec::with_capacity(table.columns);
        for cells in table.features.chunks_exact(table.columns) {
            row.clear();
            match &map {
                Some(map) => map.apply(cells, self.feature_bound, &mut row),
                None => row.extend_from_slice(cells),
            }
            clip_row(&mut row, self.feature_bound);
            if let Some(waves) = &waves {
                waves.apply(&mut row);
            }
            if self.constant != 0.0 {
                row.push(self.constant);
            }
            take(&row);
        }
    }
}

/// s(x) = linear·x + outer·tanh(inner·x + offsets), for rows x with their constant.
#[derive(Debug, Clone, PartialEq)]
pub struct HiddenLayer {
    /// Of the linear term.
    pub linear: Vec<f64>,
    /// Of each unit.
    pub outer: Vec<f64>,
    /// What each unit's input starts from.
    pub offsets: Vec<f64>,
    /// What each unit's input takes of a row.
    pub inner: Vec<Vec<f64>>,
}

/// The largest norm of a record that ends with a constant.
pub fn record_bound(bound: f64, constant: f64) -> f64 {
    up_by(bound.hypot(constant), 4.0)
}
