//! Models to verify: small tables, real training, real certificates.

#![allow(dead_code, reason = "every test binary uses its own part")]

use pairdp_certificate::{Algorithm, Average, ModelDocument, NoiseKind};
use pairdp_data::Encoding;
use pairdp_model::{Predictor, PrivateModel, Task};
use pairdp_noise::{Replay, Secure, Source};
use pairdp_pairwise::{
    Domain, LossKind, MarginLoss, MetricLoss, Objective, PointLoss, Problem, RankingForm, Records,
};
use pairdp_release::{Checkpointer, Curator, Mechanism, Plan};
use pairdp_units::Budget;

pub(crate) const N: usize = 40;
pub(crate) const D: usize = 2;

/// A number in ±1.
pub(crate) fn uniform(random: &mut Replay) -> f64 {
    (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

pub(crate) fn objectives() -> Vec<Objective> {
    let mut all = vec![
        Objective::Metric { loss: MetricLoss::Hinge },
        Objective::Metric { loss: MetricLoss::Logistic },
        Objective::Pointwise { loss: PointLoss::Residual { q: 2.0, target_bound: 1.0 } },
        Objective::Pointwise { loss: PointLoss::Residual { q: 1.5, target_bound: 0.5 } },
    ];
    for loss in LossKind::all().filter_map(|kind| kind.of_margins(1.5)) {
        all.push(Objective::Ranking { form: RankingForm::Indicator, loss });
        all.push(Objective::Ranking { form: RankingForm::Symmetric, loss });
        all.push(Objective::Pointwise { loss: PointLoss::Margin(loss) });
    }
    all
}

/// A plan of so many steps, or as many as the algorithm must have.
pub(crate) fn plan(algorithm: Algorithm, step_size: f64, steps: u32) -> Plan {
    let n = u32::try_from(N).unwrap();
    let steps = match algorithm {
        Algorithm::OnlinePair | Algorithm::OfflinePair => n - 1,
        Algorithm::PhasedGd => n,
        Algorithm::LocalizedSgd => (1..6).map(|k| (n >> k).saturating_sub(1)).sum(),
        Algorithm::Moments => 1,
        _ => steps,
    };
    let average = if algorithm == Algorithm::OfflinePair { Average::Last } else { Average::SecondHalf };
    Plan::new(algorithm, steps, step_size, average).unwrap()
}

/// A model of N records of D features, if there is a mechanism for it.
pub(crate) fn model(problem: Problem, plan: Plan) -> Option<PrivateModel> {
    let mut random = Replay::from_seed(1);
    let features = (0..N * D).map(|_| uniform(&mut random)).collect();
    let targets = (0..N).map(|_| uniform(&mut random).signum()).collect();
    let records = Records::with_targets(features, D, targets, problem.feature_bound()).unwrap();
    let delta = if plan.law() == NoiseKind::Laplace { 0.0 } else { 1e-5 };
    let budget = Budget::new(1.0, delta).unwrap();
    let mechanism = Mechanism::calibrate(problem, plan, N, D, budget).ok()?;
    let curator = Curator::open(records, mechanism, Secure::from_os().unwrap()).ok()?;
    let (parameters, certificate) = curator.certified(&mut Checkpointer::none()).ok()?;
    let predictor = Predictor {
        task: Task::of(problem),
        encoding: Encoding::of_ranges([[-1.0, 1.0]; D]).unwrap(),
        label: None,
        feature_bound: problem.feature_bound(),
        // Moments give the intercept beside the weights.
        constant: if parameters.len() == D + 1 { 1.0 } else { 0.0 },
        parameters,
        representation: None,
        probabilities: None,
        random_features: None,
        score: pairdp_pairwise::Score::Linear,
    };
    Some(PrivateModel::new(predictor, plan.into(), problem.ridge(), certificate))
}

/// The same as a verifier reads it.
pub(crate) fn document(problem: Problem, plan: Plan) -> Option<ModelDocument> {
    let text = model(problem, plan)?.to_json().unwrap();
    Some(ModelDocument::from_json(&text).unwrap())
}

/// Every algorithm, with a ranker, a metric and a loss of records where it has them.
pub(crate) fn every_algorithm() -> Vec<(String, ModelDocument)> {
    let mut found = Vec::new();
    for objective in [
        Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic },
        Objective::Metric { loss: MetricLoss::Hinge },
        Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::QHinge { q: 1.5 }) },
    ] {
        let problem = Problem::new(objective, Domain::Ball { radius: 2.0 }, 1.0).unwrap();
        let mut plans = Algorithm::ALL.map(|algorithm| plan(algorithm, 0.05, 20)).to_vec();
        plans.push(plan(Algorithm::NoisySgd, 0.05, 20).with_expected_pairs(3.0).unwrap());
        plans.push(plan(Algorithm::OutputGd, 0.05, 20).with_law(NoiseKind::Laplace));
        plans.push(plan(Algorithm::NoisyGd, 0.05, 5).with_law(NoiseKind::Euclidean));
        for plan in plans {
            let ridge = if plan.algorithm().perturbs_output() { 0.1 } else { 0.0 };
            if let Some(document) = document(problem.with_ridge(ridge).unwrap(), plan) {
                found.push((format!("{} of {objective:?}", plan.algorithm().name()), document));
            }
        }
    }
    assert!(found.len() >= 25, "{}", found.len());
    found
}
