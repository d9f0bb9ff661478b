//! One audit of every private algorithm, with public choices for which its bounds are nearly attained.

use pairdp_certificate::{Algorithm, NoiseKind};
use pairdp_learn::Settings;
use pairdp_model::Task;
use pairdp_pairwise::{LossKind, Unit};

/// Records of each table.
pub const RECORDS: usize = 50;
/// Features of each record. One direction is all that worst cases use.
pub const FEATURES: usize = 1;

/// A named choice of settings.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is special about it, beside task and algorithm.
    pub note: &'static str,
    /// The public choices.
    pub settings: Settings,
}

/// Every algorithm on a ranking task, and the other tasks, samplings and laws of noise with one algorithm each.
///
/// A small domain keeps slopes close to their largest, and small steps keep noisy results inside it: what is lost to slack in
/// constants elsewhere is not lost here, so that a claim that is too low by little would show.
pub fn suite() -> Vec<Case> {
    let mut cases: Vec<Case> =
        Algorithm::ALL.into_iter().map(|algorithm| case("", Task::Ranking, algorithm)).collect();
    // With a hinge a pair's gradient can be replaced by its opposite, which is what this sampling's noise covers.
    let mut poisson = case("poisson-pairs", Task::Metric, Algorithm::NoisySgd);
    poisson.settings.expected_pairs = Some(8.0);
    poisson.settings.loss = Some(LossKind::Hinge);
    cases.push(poisson);
    for (note, law) in [("laplace", NoiseKind::Laplace), ("euclidean", NoiseKind::Euclidean)] {
        let mut other = case(note, Task::Ranking, Algorithm::NoisyGd);
        other.settings.mechanism = Some(law);
        other.settings.steps = Some(1);
        cases.push(other);
    }
    let mut hinge = case("hinge", Task::Ranking, Algorithm::OutputSgd);
    hinge.settings.loss = Some(LossKind::Hinge);
    cases.push(hinge);
    for (task, algorithm) in [
        (Task::Metric, Algorithm::NoisyGd),
        (Task::Metric, Algorithm::OutputGd),
        (Task::Classification, Algorithm::NoisyGd),
        (Task::Classification, Algorithm::NoisySgd),
        (Task::Classification, Algorithm::OutputSgd),
        (Task::Regression, Algorithm::NoisyGd),
    ] {
        cases.push(case("", task, algorithm));
    }
    // Persons with several records, all of which count.
    for algorithm in [Algorithm::NoisyGd, Algorithm::Moments] {
        let mut persons = case("persons", Task::Ranking, algorithm);
        persons.settings.unit = Unit::Person;
        cases.push(persons);
    }
    cases
}

fn case(note: &'static str, task: Task, algorithm: Algorithm) -> Case {
    let steps = match algorithm {
        _ if algorithm.has_fixed_steps() => None,
        Algorithm::NoisyGd | Algorithm::OutputGd if task == Task::Ranking => Some(10),
        Algorithm::NoisyGd | Algorithm::OutputGd => Some(3),
        _ => Some(50),
    };
    let step_size = match algorithm {
        Algorithm::NoisyGd | Algorithm::NoisySgd | Algorithm::OutputGd | Algorithm::PhasedGd => 1e-3,
        _ => 1e-4,
    };
    let settings = Settings {
        task,
        algorithm: Some(algorithm),
        feature_bound: Some(1.0),
        radius: Some(0.01),
        steps,
        step_size: Some(step_size),
        mechanism: Some(NoiseKind::Gaussian),
        order_seed: Some(1),
        // Features alone, as in the proofs' equality cases.
        intercept: Some(false),
        ..Settings::default()
    };
    Case { note, settings }
}
