//! Kang, Liu, Li and Wang, Table 1: utility bounds, with numbers.

use crate::{Experiment, Job, Jobs, Row, Value};
use anyhow::Result;
use pairdp_certificate::Algorithm;
use pairdp_learn::{Settings, explain};
use pairdp_pairwise::RankingForm;
use pairdp_units::Budget;

/// Table 1 with numbers in it.
pub(crate) const TABLE: Experiment = Experiment {
    name: "kang-bounds",
    title: "Excess population risk of private pairwise learning",
    source: "Kang et al., Table 1, for ranking with the logistic loss in the unit ball, p = 10, ε = 1, δ = 1/n². printed rate: \
             what stands inside their O. bound: on the expected excess risk with our noise and the steps of `pairdp plan`, \
             constants and all. noise ratio: the algorithm's printed noise over ours, in root mean square.",
    columns: &["printed rate", "bound", "noise ratio"],
    logarithmic: true,
    quick: "nothing left out",
    jobs: |_| {
        let mut jobs = Jobs::default();
        for records in [1000, 4000, 16_000] {
            jobs.jobs.push(Job {
                key: format!("n = {records}"),
                repetitions: 1,
                work: Box::new(move || rows(records)),
            });
        }
        Ok(jobs)
    },
};

/// Who claims it, for which algorithm, and whether the rate has √n for n.
const LINES: [(&str, Algorithm, bool); 5] = [
    ("Huai et al., strongly convex (offline-pair)", Algorithm::OfflinePair, false),
    ("Huai et al., convex (offline-pair)", Algorithm::OfflinePair, true),
    ("Yang et al., convex (output-sgd)", Algorithm::OutputSgd, true),
    ("Kang et al., expectation (noisy-gd)", Algorithm::NoisyGd, false),
    ("Kang et al., high probability (noisy-gd)", Algorithm::NoisyGd, true),
];

fn rows(records: usize) -> Result<Vec<Row>> {
    const FEATURES: usize = 10;
    let n = records as f64;
    let settings = Settings {
        radius: Some(1.0),
        feature_bound: Some(1.0),
        form: RankingForm::Symmetric,
        ..Settings::default()
    };
    let budget = Budget::new(1.0, n.powi(-2))?;
    let explained = explain(settings.problem(FEATURES)?, records, FEATURES, budget);
    Ok(LINES
        .into_iter()
        .map(|(name, algorithm, root)| {
            let found = explained.iter().find(|found| found.algorithm == algorithm);
            let number = |value: Option<f64>, why: &str| {
                let why = found.and_then(|found| found.refused.clone()).unwrap_or_else(|| why.to_owned());
                value.map_or_else(|| Value::none(why), Value::known)
            };
            let rate = (FEATURES as f64).sqrt() / if root { n.sqrt() } else { n };
            Row {
                name: name.to_owned(),
                values: vec![
                    Value::known(rate),
                    number(found.and_then(|found| found.excess_risk), "no bound"),
                    number(found.and_then(|found| found.ratio), "its noise is not in our papers"),
                ],
            }
        })
        .collect())
}
