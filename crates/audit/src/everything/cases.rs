//! All combinations of public choices.

use pairdp_certificate::{Algorithm, Average, NoiseKind, Shuffle};
use pairdp_learn::{DomainKind, RepresentationKind, Risk, ScoreKind, Settings};
use pairdp_model::Task;
use pairdp_pairwise::{Labels, LossKind, Neighbours, RankingForm, Sensitivity};
use pairdp_release::LearnError;
use pairdp_units::{Budget, UnitError};
use std::fmt;

/// One combination, which a plan may accept or refuse.
#[derive(Debug, Clone)]
pub struct Case {
    /// The public choices.
    pub settings: Settings,
    /// What is asked for.
    pub budget: Budget,
    /// Features of a record.
    pub features: usize,
}

impl Case {
    /// Records of its tables.
    pub(super) fn records(&self) -> usize {
        match (self.settings.algorithm, self.settings.expected_pairs) {
            (Some(Algorithm::NoisySgd), None) => super::SAMPLED,
            _ => self.distinct(),
        }
    }

    /// Records that differ from one another.
    pub(super) fn distinct(&self) -> usize {
        if self.settings.expected_pairs.is_some() { super::KEPT } else { super::RECORDS }
    }

    /// Whether samples are secret, which takes longer to attack.
    pub fn samples(&self) -> bool {
        self.settings.algorithm == Some(Algorithm::NoisySgd)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { task, algorithm, loss, form, domain, mechanism, .. } = &self.settings;
        write!(f, "{} {}", task.name(), algorithm.map_or("auto", Algorithm::name))?;
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
            (self.settings.intercept == Some(true), "intercept"),
            (self.settings.risk == Some(Risk::Records), "risk of records"),
            (self.settings.scores == Some(ScoreKind::Network), "network"),
        ] {
            if said {
                write!(f, ", {word}")?;
            }
        }
        if let Some(average) = self.settings.average {
            write!(f, ", average {average:?}")?;
        }
        if self.settings.shuffle != Shuffle::default() {
            write!(f, ", {:?}", self.settings.shuffle)?;
        }
        write!(f, ", {} features", self.features)
    }
}

const TASKS: [Task; 5] =
    [Task::Ranking, Task::Metric, Task::Classification, Task::Regression, Task::Survival];
const DOMAINS: [DomainKind; 5] = [
    DomainKind::Ball,
    DomainKind::Whole,
    DomainKind::PsdBall,
    DomainKind::PsdDiagonal,
    DomainKind::PsdNuclear,
];

/// Every combination of task, loss, form, domain, labels, adjacency, algorithm, sampling, ranges and law of noise, in one dimension
/// and in two; and each of them with an intercept, with the risk of records, with a network, and with every other average and shuffle.
///
/// # Errors
/// None that its own numbers can cause.
pub fn cases() -> Result<Vec<Case>, UnitError> {
    let (usual, far) = (Budget::new(1.0, 1e-4)?, Budget::new(3.0, 1e-15)?);
    let mut all = Vec::new();
    for task in TASKS {
        for loss in LossKind::all() {
            for algorithm in Algorithm::ALL {
                for mechanism in NoiseKind::ALL {
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
                                Algorithm::NoisySgd | Algorithm::Moments => Some(1),
                                _ if algorithm.has_fixed_steps() => None,
                                _ => Some(2),
                            },
                            step_size: (algorithm != Algorithm::Moments).then_some(0.5),
                            order_seed: Some(1),
                            intercept: Some(false),
                            ..Settings::default()
                        };
                        for settings in variants(&one) {
                            // Far out in the tail the distance of samples decides, and not how many there are.
                            let one_drawn =
                                algorithm == Algorithm::NoisySgd && settings.expected_pairs.is_none();
                            let budget = if one_drawn { far } else { usual };
                            for features in super::FEATURES {
                                all.push(Case { settings: settings.clone(), budget, features });
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(all)
}

/// Claims of version 0.1 that did not hold, under the adjacency that they named, and the share that their noise was of what it is now.
///
/// # Errors
/// As [`cases`].
pub(super) fn former(features: usize) -> Result<[(&'static str, Case, f64); 3], LearnError> {
    let one = Settings {
        task: Task::Metric,
        loss: Some(LossKind::Hinge),
        algorithm: Some(Algorithm::NoisyGd),
        mechanism: Some(NoiseKind::Gaussian),
        feature_bound: Some(1.0),
        radius: Some(0.7),
        steps: Some(1),
        step_size: Some(0.5),
        order_seed: Some(1),
        intercept: Some(false),
        ..Settings::default()
    };
    let (usual, far) = (Budget::new(1.0, 1e-4)?, Budget::new(3.0, 1e-15)?);
    let capped =
        Settings { loss: Some(LossKind::Logistic), max_records: Some(super::RECORDS), ..one.clone() };
    let problem = capped.problem(features)?.with_neighbours(Neighbours::ReplaceOne);
    let at =
        |labels| problem.with_labels(labels).gradient_sensitivity(0.0, super::RECORDS).map(Sensitivity::get);
    let spared = at(Labels::Public)? / at(Labels::Private)?;
    let sampled = Settings { public_labels: true, algorithm: Some(Algorithm::NoisySgd), ..one.clone() };
    let case = |settings: Settings, budget: Budget| Case { settings, budget, features };
    Ok([
        ("1: public labels below a cap", case(capped, usual), spared),
        ("2: public labels of uniform pairs", case(sampled, far), 0.5),
        ("3: public labels, claimed for whole records", case(one, usual), 0.5),
    ])
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
    if one.algorithm == Some(Algorithm::NoisySgd) {
        also(&|settings| settings.expected_pairs = Some(1.5));
    }
    if one.task == Task::Ranking {
        also(&|settings| settings.form = RankingForm::Symmetric);
    }
    let changed = all.iter().flat_map(changes).collect::<Vec<_>>();
    all.extend(changed);
    all
}

/// What else may be chosen, one at a time: no constant has two of these in it.
fn changes(one: &Settings) -> Vec<Settings> {
    let mut all = Vec::new();
    let mut also = |change: &dyn Fn(&mut Settings)| {
        let mut settings = one.clone();
        change(&mut settings);
        all.push(settings);
    };
    let of_records = |settings: &mut Settings| settings.risk = Some(Risk::Records);
    if one.task == Task::Ranking && one.form == RankingForm::Indicator {
        also(&of_records);
        also(&|settings| {
            of_records(settings);
            settings.intercept = Some(true);
        });
    } else if matches!(one.task, Task::Classification | Task::Regression) {
        also(&|settings| settings.intercept = Some(true));
    }
    if one.max_records.is_some() {
        also(&|settings| settings.promised = true);
    }
    let network = |settings: &mut Settings| {
        (settings.scores, settings.hidden, settings.linear_share) =
            (Some(ScoreKind::Network), Some(2), Some(0.5));
    };
    also(&network);
    if one.task == Task::Ranking && one.form == RankingForm::Indicator {
        also(&|settings| {
            network(settings);
            of_records(settings);
        });
    }
    let algorithm = one.algorithm.unwrap_or(Algorithm::NoisyGd);
    // Of gradients every iterate is known already.
    if algorithm.perturbs_output() {
        for average in [Average::Last, Average::SecondHalf, Average::All] {
            also(&|settings| settings.average = Some(average));
        }
    }
    if algorithm.has_order() {
        for shuffle in [Shuffle::WithReplacement, Shuffle::FixedPermutation] {
            also(&|settings| settings.shuffle = shuffle);
        }
    }
    all
}
