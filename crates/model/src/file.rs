//! The model file: one JSON document.

use crate::{ModelError, Predictor, Task, probabilities, representation};
use pairdp_certificate::{AsPrinted, Average, Certificate, Training};
use pairdp_pairwise::{Problem, Score};
use serde::{Deserialize, Serialize};

const PRIVATE_FORMAT: &str = "pairdp-model/2";
const BASELINE_FORMAT: &str = "pairdp-baseline/2";

/// A model trained under a guarantee, and the certificate of that guarantee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateModel {
    format: String,
    /// What is done with a row.
    pub predictor: Predictor,
    /// How it was trained.
    pub training: Training,
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

impl PrivateModel {
    /// What its file says it is.
    pub const FORMAT: &str = PRIVATE_FORMAT;

    /// Puts the parts together.
    pub fn new(predictor: Predictor, training: Training, ridge: f64, certificate: Certificate) -> Self {
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
        model.training.check()?;
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
    pub fn new(predictor: Predictor) -> Self {
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

/// The problem that a certificate speaks of, to calibrate for it again: both have the same names in files.
///
/// # Errors
/// [`ModelError::Json`] for numbers that no problem has.
pub fn certified_problem(certificate: &Certificate) -> Result<Problem, ModelError> {
    Ok(serde_json::from_value(serde_json::to_value(certificate.problem)?)?)
}

/// How many of the last iterates are averaged.
pub fn kept(average: Average, steps: u32) -> u32 {
    match average {
        Average::Last => 1,
        Average::SecondHalf => steps - steps / 2,
        Average::All => steps,
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
    // What scores can be is asked of a predictor whose numbers fit.
    if let Some(counted) = &predictor.probabilities
        && !(probabilities::fits(counted) && predictor.stretch().is_some())
    {
        return Err(ModelError::Encoding("the counts of labels are not of such a model's scores".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairdp_data::Encoding;

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
                random_features: None,
                score: Score::Linear,
            };
            let text = BaselineModel::new(predictor).to_json().unwrap();
            assert_eq!(BaselineModel::from_json(&text).is_ok(), fits, "{text}");
        }
    }

    /// Counts were compared with scores before it was known whether a network's parameters are enough for any: a panic.
    #[test]
    fn counts_beside_too_few_parameters_of_a_network_are_refused() {
        let counts = r#"{"reading":"log-odds/1","of":"private","low":-1.0,"high":1.0,"noise":1.0,"counted":9.0,"counts":[COUNTS]}"#;
        let zeros = vec!["0.0"; pairdp_pairwise::score_cells::COUNTS].join(",");
        let network = pairdp_pairwise::Network {
            activation: pairdp_pairwise::Activation::Tanh,
            hidden: 4,
            linear: 0.5,
            spread: 1.0,
            seed: 1,
        };
        let predictor = Predictor {
            task: Task::Ranking,
            encoding: Encoding::of_ranges([[-1.0, 1.0]; 2]).unwrap(),
            label: None,
            feature_bound: 1.0,
            constant: 0.0,
            parameters: vec![0.5],
            representation: None,
            probabilities: Some(serde_json::from_str(&counts.replace("COUNTS", &zeros)).unwrap()),
            random_features: None,
            score: Score::Network(network),
        };
        let text = BaselineModel::new(predictor).to_json().unwrap();
        assert!(matches!(BaselineModel::from_json(&text), Err(ModelError::Shape { .. })));
    }
}
