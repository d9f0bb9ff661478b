//! What AUC to expect, by doing it: models are trained on simulated records, and measured on others.

use crate::{Settings, Training};
use pairdp_data::simulate::Effect;
use pairdp_data::{Encoding, Owners, Table};
use pairdp_model::Task;
use pairdp_pairwise::measure::auc;
use pairdp_release::LearnError;
use pairdp_units::{Budget, Unit};
use serde::Serialize;

/// Records that each model is measured on.
const MEASURED_ON: usize = 20_000;
/// No larger table is simulated.
pub const LARGEST_SIMULATED: usize = 100_000;

/// What came of a few models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedAuc {
    /// Records, or persons, that each was trained on.
    pub records: usize,
    /// ε of each.
    pub epsilon: f64,
    /// How many models.
    pub models: usize,
    /// Their mean AUC on other records.
    pub mean: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
}

/// Trains a few models on simulated records of a population, each on a table and with noise of its own, and measures them on others. The
/// records are nobody's, and the way from table to model is that of every training run.
///
/// # Errors
/// [`LearnError`] where nothing can be trained like this.
pub fn expected_auc(
    effect: &Effect,
    features: usize,
    settings: &Settings,
    budget: Budget,
    records: usize,
    models: usize,
) -> Result<ExpectedAuc, LearnError> {
    let training =
        Training { settings: settings.clone(), encoding: Encoding::unscaled(features), label: None, budget };
    let others = effect.table(MEASURED_ON, u64::MAX);
    let positive = others.positive();
    // What is told is how far a model falls short of the best ranking of the same records: the chance in who they are is in both.
    let best: Vec<f64> = others.features.chunks_exact(features).map(|row| row.iter().sum()).collect();
    let luck = auc(&best, &positive).map_or(0.0, |best| best - effect.best_auc());
    let mut found = Vec::with_capacity(models);
    for model in 0..models {
        let table = effect.table(records, ((records as u64) << 16) + model as u64);
        let owners = match settings.unit {
            Unit::Record => None,
            // With one record each, which is the least that a person may bring.
            Unit::Person => {
                Some(Owners::new((0..records).filter_map(|person| u32::try_from(person).ok()).collect()))
            }
        };
        let model = training.fit(Table { owners, ..table })?;
        // One class only has no AUC; a table of one record a class may.
        found.push(auc(&model.predictor.scores(&others), &positive).map_or(0.5, |auc| auc - luck));
    }
    let fold = |better: fn(&f64, &f64) -> bool| {
        found.iter().fold(found[0], |best, auc| if better(auc, &best) { *auc } else { best })
    };
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    let (lowest, highest) = (fold(f64::lt), fold(f64::gt));
    Ok(ExpectedAuc { records, epsilon: budget.epsilon.get(), models, mean, lowest, highest })
}

/// Tables and budgets around one, of which it is the middle: a quarter, a half, once, twice and four times as many records and as much ε.
pub fn around(records: usize, epsilon: f64) -> (Vec<usize>, Vec<f64>) {
    let sizes = [records / 4, records / 2, records, 2 * records, 4 * records];
    let possible = |size: &usize| (10..=LARGEST_SIMULATED).contains(size);
    (
        sizes.into_iter().filter(possible).collect(),
        [0.25, 0.5, 1.0, 2.0, 4.0].map(|times| times * epsilon).to_vec(),
    )
}

/// Models for each table and budget: fewer where tables are large, as chance then does less.
pub fn models_for(records: usize) -> usize {
    (40_000 / records.max(1)).clamp(2, 8)
}

/// Whether a task's models have an AUC.
pub fn has_auc(task: Task) -> bool {
    matches!(task, Task::Ranking | Task::Classification)
}
