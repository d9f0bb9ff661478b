//! All combinations of public choices.

use pairdp_learn::{DomainKind, Law, LossKind, PlanKind, RepresentationKind, Settings, Task};
use pairdp_pairwise::RankingForm;
use pairdp_units::{Budget, UnitError};
use std::fmt;

/// One combination, which a plan may accept or refuse.
#[derive(Debug, Clone)]
pub struct Case {
    /// The public choices.
    pub settings: Settings,
    /// What is asked for.
    pub budget: Budget,
}

impl Case {
    /// Records of its tables.
    pub(super) fn records(&self) -> usize {
        match (self.settings.algorithm, self.settings.expected_pairs) {
            (Some(PlanKind::NoisySgd), None) => super::SAMPLED,
            _ => super::RECORDS,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { task, algorithm, loss, form, domain, mechanism, .. } = &self.settings;
        write!(f, "{} {}", task.name(), algorithm.map_or("auto", PlanKind::name))?;
        write!(f, " {}", loss.map_or("usual", LossKind::name))?;
        if *form == RankingForm::Symmetric {
            f.write_str(" symmetric")?;
        }
        if let Some(domain) = domain {
            write!(f, " {domain:?}")?;
        }
        if let Some(law) = mechanism {
            write!(f, " {law:?}")?;
        }
        for (said, word) in [
            (self.settings.public_labels, "public labels"),
            (self.settings.max_records.is_some(), "secret size"),
            (self.settings.expected_pairs.is_some(), "poisson pairs"),
            (self.settings.representation == Some(RepresentationKind::Ranks), "ranks"),
        ] {
            if said {
                write!(f, ", {word}")?;
            }
        }
        Ok(())
    }
}

const TASKS: [Task; 4] = [Task::Ranking, Task::Metric, Task::Classification, Task::Regression];
const LOSSES: [LossKind; 5] =
    [LossKind::Logistic, LossKind::Hinge, LossKind::Squared, LossKind::QHinge, LossKind::QNorm];
const LAWS: [Law; 3] = [Law::Gaussian, Law::Laplace, Law::Euclidean];
const DOMAINS: [DomainKind; 5] = [
    DomainKind::Ball,
    DomainKind::Whole,
    DomainKind::PsdBall,
    DomainKind::PsdDiagonal,
    DomainKind::PsdNuclear,
];

/// Every combination of task, loss, form, domain, labels, adjacency, algorithm, sampling, ranges and law of noise.
///
/// # Errors
/// None that its own numbers can cause.
pub fn cases() -> Result<Vec<Case>, UnitError> {
    let (usual, far) = (Budget::new(1.0, 1e-4)?, Budget::new(3.0, 1e-15)?);
    let mut all = Vec::new();
    for task in TASKS {
        for loss in LOSSES {
            for algorithm in PlanKind::ALL {
                for mechanism in LAWS {
                    for domain in DOMAINS {
                        let one = Settings {
                            task,
                            loss: Some(loss),
                            algorithm: Some(algorithm),
                            mechanism: Some(mechanism),
                            domain: Some(domain),
                            feature_bound: Some(1.0),
                            radius: Some(0.7),
                            // One step of a secret sample has an exact δ; two of the others show that they compose.
                            steps: match algorithm {
                                PlanKind::NoisySgd | PlanKind::Moments => Some(1),
                                _ if algorithm.has_fixed_steps() => None,
                                _ => Some(2),
                            },
                            step_size: (algorithm != PlanKind::Moments).then_some(0.5),
                            order_seed: Some(1),
                            intercept: Some(false),
                            ..Settings::default()
                        };
                        all.extend(variants(&one).into_iter().map(|settings| {
                            // Far out in the tail the distance of samples decides, and not how many there are.
                            let one_drawn =
                                algorithm == PlanKind::NoisySgd && settings.expected_pairs.is_none();
                            Case { settings, budget: if one_drawn { far } else { usual } }
                        }));
                    }
                }
            }
        }
    }
    Ok(all)
}

/// The same with labels public or not, the size secret or not, pairs kept independently or not, ranges looked for or not, in both
/// forms of a ranker.
fn variants(one: &Settings) -> Vec<Settings> {
    let mut all = vec![one.clone()];
    let mut also = |change: &dyn Fn(&mut Settings)| {
        let changed = all.iter().map(|settings| {
            let mut settings = settings.clone();
            change(&mut settings);
            settings
        });
        let changed: Vec<Settings> = changed.collect();
        all.extend(changed);
    };
    also(&|settings| settings.public_labels = true);
    also(&|settings| settings.max_records = Some(super::RECORDS));
    also(&|settings| settings.representation = Some(RepresentationKind::Ranks));
    if one.algorithm == Some(PlanKind::NoisySgd) {
        also(&|settings| settings.expected_pairs = Some(1.5));
    }
    if one.task == Task::Ranking {
        also(&|settings| settings.form = RankingForm::Symmetric);
    }
    all
}
