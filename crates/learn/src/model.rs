//! The model file: one JSON document.

use crate::probabilities::{self, Probabilities};
use crate::representation::map::{CategoryTable, NumberTable};
use crate::representation::{self, Map, Representation};
use crate::spec::settings::record_bound;
use crate::{AsPrinted, Certificate, Plan, certified_problem};
use pairdp_data::{Encoding, Label, LabelKind, Table};
use pairdp_pairwise::kernel::{Layers, score};
use pairdp_pairwise::knots::Spacing;
use pairdp_pairwise::{Objective, PointLoss, Problem, RankingForm, Score, clip_row, metric_map};
use pairdp_units::{FrontEnd, Hint};
use serde::{Deserialize, Serialize};

const PRIVATE_FORMAT: &str = "pairdp-model/2";
const BASELINE_FORMAT: &str = "pairdp-baseline/2";

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A score that puts positive records before negative ones.
    Ranking,
    /// A Mahalanobis metric under which records of one class are near.
    Metric,
    /// A score whose sign is the class.
    Classification,
    /// A score that is near a target.
    Regression,
    /// A score that puts whoever fails first before whoever fails later.
    Survival,
}

impl Task {
    /// What a problem is about.
    pub fn of(problem: Problem) -> Self {
        match problem.objective() {
            Objective::Ranking { form: RankingForm::Comparable, .. } => Self::Survival,
            Objective::Ranking { .. } => Self::Ranking,
            Objective::Metric { .. } => Self::Metric,
            Objective::Pointwise { loss: PointLoss::Margin(_) } => Self::Classification,
            Objective::Pointwise { loss: PointLoss::Residual { .. } } => Self::Regression,
        }
    }

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ranking => "ranking",
            Self::Metric => "metric",
            Self::Classification => "classification",
            Self::Regression => "regression",
            Self::Survival => "survival",
        }
    }

    /// Whether it can be learned from such a label; if not, what a schema has to say instead.
    ///
    /// # Errors
    /// The keys that a schema needs.
    pub fn check_label(self, kind: &LabelKind) -> Result<(), &'static str> {
        let (fits, wanted) = match self {
            Self::Ranking | Self::Classification => {
                let fits = matches!(kind, LabelKind::Binary { .. } | LabelKind::OneAgainstOthers { .. });
                (fits, "`positive` and `negative`")
            }
            Self::Metric => (
                matches!(kind, LabelKind::Binary { .. } | LabelKind::Classes(_)),
                "`classes`, or `positive` and `negative`",
            ),
            Self::Regression => (matches!(kind, LabelKind::Range(_)), "`range`"),
            Self::Survival => {
                (matches!(kind, LabelKind::Times(_)), "`time`, `event`, `occurred`, `censored` and `horizon`")
            }
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}

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
        if self.maps_rows() {
            Map::width_of(&representation::layout(&self.encoding, Spacing::default()))
        } else {
            self.encoding.dimension()
        }
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
        if self.maps_rows() { Map::names(&self.encoding) } else { self.encoding.feature_names() }
    }

    /// Every row of an encoded table as training saw it: mapped, scaled down, with the constant.
    pub fn each_row(&self, table: &Table, mut take: impl FnMut(&[f64])) {
        let map = representation::map(&self.encoding, self.representation.as_ref());
        let mut row = Vec::with_capacity(table.columns);
        for cells in table.features.chunks_exact(table.columns) {
            row.clear();
            match &map {
                Some(map) => map.apply(cells, self.feature_bound, &mut row),
                None => row.extend_from_slice(cells),
            }
            clip_row(&mut row, self.feature_bound);
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

/// A model trained under a guarantee, and the certificate of that guarantee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateModel {
    format: String,
    /// What is done with a row.
    pub predictor: Predictor,
    /// How it was trained.
    pub training: Plan,
    /// λ of the ridge it was trained with.
    pub ridge: f64,
    /// Why this algorithm, if it was left open: from public facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// If the noise is a paper's: what the paper claims for it. The certificate has what it really gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_printed: Option<AsPrinted>,
    /// The run in the ledger that paid for it, if one did; no guarantee rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Why it is private.
    pub certificate: Certificate,
}

/// A model trained without privacy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineModel {
    format: String,
    /// What is done with a row.
    pub predictor: Predictor,
}

/// A file that is not a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not the JSON document that we write.
    #[error("not a pairdp model: {0}")]
    Json(#[from] serde_json::Error),
    /// Another kind or version of file.
    #[error("the format is `{found}`, expected `{expected}`")]
    Format {
        /// What the file says.
        found: String,
        /// What this version reads.
        expected: &'static str,
    },
    /// Parameters and encoding do not fit.
    #[error("{parameters} parameters for {features} features")]
    Shape {
        /// Number of parameters.
        parameters: usize,
        /// Length of an encoded row.
        features: usize,
    },
    /// The encoding is not one.
    #[error("{0}")]
    Encoding(String),
    /// A number of the model is not finite, or a bound not positive.
    #[error("the model holds a number that is not finite")]
    NotFinite,
    /// A model whose scores are computed elsewhere.
    #[error("the scores of this model are those of a function in Python, which the file does not hold")]
    ScoredElsewhere,
}

impl Hint for ModelError {
    fn code(&self) -> &'static str {
        "model"
    }

    fn hint(&self, to: FrontEnd) -> Option<String> {
        match self {
            Self::Json(_) => Some(format!(
                "give a file that {} wrote",
                to.either("`pairdp train`", "`save` or the command")
            )),
            Self::Format { found, .. } => Some(pairdp_certificate::who_reads(found)),
            Self::Shape { .. } | Self::NotFinite | Self::Encoding(_) => {
                Some("the file was changed after training".into())
            }
            Self::ScoredElsewhere => {
                Some("load it in Python with its function: `load(path, scores=...)`".into())
            }
        }
    }
}

impl PrivateModel {
    /// What its file says it is.
    pub const FORMAT: &str = PRIVATE_FORMAT;

    /// Puts the parts together.
    pub fn new(predictor: Predictor, training: Plan, ridge: f64, certificate: Certificate) -> Self {
        Self {
            format: PRIVATE_FORMAT.into(),
            predictor,
            training,
            ridge,
            because: None,
            as_printed: None,
            run: None,
            certificate,
        }
    }

    /// Reads a model file's text.
    ///
    /// # Errors
    /// [`ModelError`] when it is not a model that can score rows. Whether its claim holds is for `pairdp-verify` to say.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let model: Self = serde_json::from_str(text)?;
        check(&model.format, PRIVATE_FORMAT, &model.predictor)?;
        certified_problem(&model.certificate)?;
        Ok(model)
    }

    /// The model file's text.
    ///
    /// # Errors
    /// [`ModelError::Json`] if a number cannot be written.
    pub fn to_json(&self) -> Result<String, ModelError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl BaselineModel {
    /// Marks a model as trained without privacy.
    pub(crate) fn new(predictor: Predictor) -> Self {
        Self { format: BASELINE_FORMAT.into(), predictor }
    }

    /// Reads a model file's text.
    ///
    /// # Errors
    /// [`ModelError`] when it is not a model that can score rows.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let model: Self = serde_json::from_str(text)?;
        check(&model.format, BASELINE_FORMAT, &model.predictor)?;
        Ok(model)
    }

    /// The model file's text.
    ///
    /// # Errors
    /// [`ModelError::Json`] if a number cannot be written.
    pub fn to_json(&self) -> Result<String, ModelError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

fn check(found: &str, expected: &'static str, predictor: &Predictor) -> Result<(), ModelError> {
    if found != expected {
        return Err(ModelError::Format { found: found.to_owned(), expected });
    }
    predictor.encoding.check().map_err(ModelError::Encoding)?;
    if let Some(released) = &predictor.representation
        && !representation::fits(released, &predictor.encoding)
    {
        return Err(ModelError::Encoding("the released weights do not fit the columns".into()));
    }
    if let Some(counted) = &predictor.probabilities
        && !(probabilities::fits(counted) && predictor.stretch().is_some())
    {
        return Err(ModelError::Encoding("the counts of labels are not of such a model's scores".into()));
    }
    let (parameters, features) = (predictor.parameters.len(), predictor.features());
    let fitting = match predictor.task {
        // Distances do not see a constant.
        Task::Metric if predictor.constant == 0.0 => features.saturating_mul(features),
        Task::Metric => 0,
        _ => {
            let columns = features + usize::from(predictor.constant != 0.0);
            match predictor.score {
                Score::Linear => columns,
                Score::Network(form) if form.hidden > 0 => form.parameters(columns),
                Score::Network(_) => 0,
                Score::Foreign(form) => form.parameters,
            }
        }
    };
    if parameters != fitting || features == 0 {
        return Err(ModelError::Shape { parameters, features });
    }
    let finite = predictor.parameters.iter().all(|v| v.is_finite());
    if !(finite
        && predictor.constant.is_finite()
        && predictor.feature_bound.is_finite()
        && predictor.feature_bound > 0.0)
    {
        return Err(ModelError::NotFinite);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_fit_the_task_and_the_constant() {
        for (task, constant, parameters, fits) in [
            (Task::Ranking, 0.0, 2, true),
            (Task::Ranking, 0.5, 2, false),
            (Task::Classification, 0.5, 3, true),
            (Task::Metric, 0.0, 4, true),
            (Task::Metric, 0.5, 4, false),
        ] {
            let encoding = Encoding::of_ranges([[-1.0, 1.0]; 2]).unwrap();
            let parameters = vec![0.1; parameters];
            let predictor = Predictor {
                task,
                encoding,
                label: None,
                feature_bound: 1.0,
                constant,
                parameters,
                representation: None,
                probabilities: None,
                score: Score::Linear,
            };
            let text = BaselineModel::new(predictor).to_json().unwrap();
            assert_eq!(BaselineModel::from_json(&text).is_ok(), fits, "{text}");
        }
    }
}
