//! The papers' noise beside ours: how much smaller ours is, and what the printed one really gives.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::{Algorithm, Average, Order, Paper, Released, Shuffle};
use pairdp_data::Encoding;
use pairdp_learn::{Calibration, Settings, explain};
use pairdp_model::{Predictor, PrivateModel, Task};
use pairdp_noise::Secure;
use pairdp_pairwise::{Domain, LossKind, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_release::{Checkpointer, Curator, LearnError, Mechanism, Plan};
use pairdp_stability::bounds::Setting;
use pairdp_stability::paper_noise::{xue_trajectory, yang_output};
use pairdp_units::Budget;
use pairdp_verify::Verdict;

fn verify(model: &PrivateModel) -> Verdict {
    pairdp_verify::verify(&model.to_json().unwrap()).unwrap()
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

/// The papers' settings: n = 1000, T = 100, (1, 1e−6), bipartite logistic in the symmetric form, κ = B = 1.
#[test]
fn noise_is_several_times_smaller_than_printed() {
    let objective = Objective::Ranking { form: RankingForm::Symmetric, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let plan = Plan::new(Algorithm::NoisyGd, 100, 0.1, Average::Last).unwrap();
    let Mechanism::Gradients(gradients) = Mechanism::calibrate(problem, plan, 1000, 10, budget()).unwrap()
    else {
        panic!("not gradients");
    };
    // At the worst iterate of the domain, so that the comparison is like for like.
    let sigma = gradients.release_at(1.0).unwrap().sigma;
    let g = problem.constants().gradient_bound;
    let kang = 8.0 * g * (100.0 * 1e6_f64.ln()).sqrt() / 1000.0;
    assert!(kang / sigma > 3.4, "{}", kang / sigma);
    // What Xue et al.'s Algorithm 2 needs with its own sensitivity 4G/n and exact composition.
    let xue = 4.0 * g * 10.0 / 1000.0 / 0.236_70;
    assert!(xue / sigma > 1.99, "{}", xue / sigma);
    // What it prints is less than it needs.
    assert!(xue_trajectory(g, 100, 1000, &budget()).sigma < xue);
}

/// Output perturbation of history SGD, at the sizes of Yang et al.: at least six times less than their equation (5).
#[test]
fn history_noise_is_six_times_smaller_than_equation_5() {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Hinge };
    let problem = Problem::new(objective, Domain::Ball { radius: 100.0 }, 1.0).unwrap();
    for (n, steps) in [(100, 99), (100, 9999), (1000, 999), (1000, 9999)] {
        let rate = 1e-3;
        for shuffle in [Shuffle::WithReplacement, Shuffle::Reshuffled] {
            let plan = Plan::new(Algorithm::OutputSgd, steps, rate, Average::All)
                .unwrap()
                .with_order(Order { shuffle, seed: 1 });
            let Mechanism::Results(output) = Mechanism::calibrate(problem, plan, n, 10, budget()).unwrap()
            else {
                panic!("not an output");
            };
            let setting = Setting::new(2.0, rate, steps as usize + 1, n).unwrap();
            let printed = yang_output(&setting, &budget()).sigma;
            let ratio = printed / output.phases()[0].sigma;
            assert!(ratio > 6.0, "n = {n}, T = {steps}: {ratio}");
        }
    }
}

fn literal(algorithm: Algorithm, paper: Option<Paper>) -> Settings {
    Settings {
        algorithm: Some(algorithm),
        paper,
        calibration: Calibration::Literal,
        form: RankingForm::Symmetric,
        radius: Some(1.0),
        feature_bound: Some(1.0),
        ..Settings::default()
    }
}

/// A run with printed noise has that noise, and a certificate for what it really gives: less than the paper claims.
#[test]
fn printed_noise_is_certified_at_what_it_really_gives() {
    const N: usize = 300;
    for settings in [
        Settings { steps: Some(20), ..literal(Algorithm::NoisyGd, Some(Paper::Kang)) },
        Settings { ridge: 0.5, steps: Some(20), step_size: Some(0.2), ..literal(Algorithm::OutputGd, None) },
        Settings { loss: Some(LossKind::Hinge), steps: Some(700), ..literal(Algorithm::OutputSgd, None) },
        literal(Algorithm::PhasedGd, None),
        Settings {
            task: Task::Classification,
            intercept: Some(false),
            steps: Some(400),
            ..literal(Algorithm::NoisySgd, Some(Paper::Bassily))
        },
    ] {
        let spec = settings
            .prepare(N, &Encoding::unscaled(2), budget())
            .unwrap_or_else(|e| panic!("{settings:?}: {e}"));
        let (problem, plan, spent) = (spec.problem(), spec.plan(), spec.budget());
        let printed = spec.as_printed().unwrap().clone();
        assert!(spent.epsilon.get() < 1.0, "{:?} spends {}", printed.paper, spent.epsilon);
        let features = (0..2 * N).map(|i| ((i * 37 % 101) as f64 / 50.0) - 1.0).collect();
        let positive = (0..N).map(|i| i % 3 == 0).collect();
        let records = Records::new(features, 2, positive, 1.0).unwrap();
        let curator = Curator::open(records, spec.mechanism().clone(), Secure::from_os().unwrap()).unwrap();
        let (parameters, certificate) = curator.certified(&mut Checkpointer::none()).unwrap();
        let sigma = match &certificate.released {
            Released::Gradients { releases, .. } => {
                assert!(releases.iter().all(|r| r.sigma.to_bits() == releases[0].sigma.to_bits()));
                releases[0].sigma
            }
            Released::SampledGradients { sigma, .. }
            | Released::Online { sigma, .. }
            | Released::Moments { sigma, .. } => *sigma,
            // Of the phase whose sensitivity is the largest for its step size; the others have a little less.
            Released::Output { phases, .. } => phases
                .iter()
                .map(|phase| phase.sigma * phases[0].step_size / phase.step_size)
                .fold(0.0, |most, sigma| if sigma > most { sigma } else { most }),
        };
        assert!((sigma / printed.sigma - 1.0).abs() < 2e-3, "{printed:?}: {sigma}");
        let encoding = Encoding::of_ranges([[-1.0, 1.0]; 2]).unwrap();
        let task = settings.task;
        let predictor = Predictor {
            task,
            encoding,
            label: None,
            feature_bound: 1.0,
            constant: 0.0,
            parameters,
            representation: None,
            probabilities: None,
            random_features: None,
            score: pairdp_pairwise::Score::Linear,
        };
        let mut model = PrivateModel::new(predictor, plan.into(), problem.ridge(), certificate);
        model.as_printed = Some(printed);
        let failures: Vec<_> = verify(&model).failures().cloned().collect();
        assert!(failures.is_empty(), "{failures:?}");
        assert_eq!(PrivateModel::from_json(&model.to_json().unwrap()).unwrap(), model);
    }
}

/// Claims that are false are refused by name, and so is what no paper prints.
#[test]
fn false_claims_are_refused() {
    let refusal = |settings: &Settings, epsilon: f64| {
        settings.prepare(5000, &Encoding::unscaled(10), Budget::new(epsilon, 4e-8).unwrap()).unwrap_err()
    };
    // The constant 1.25, whatever the numbers.
    let xue = refusal(&literal(Algorithm::NoisyGd, Some(Paper::Xue)), 0.1);
    assert!(matches!(xue, LearnError::PrintedRefused { .. }), "{xue}");
    assert!(xue.to_string().contains("1.25"), "{xue}");
    // The classical Gaussian calibration beyond ε = 1.
    let classical = refusal(&Settings { ridge: 0.1, ..literal(Algorithm::OutputGd, None) }, 10.0);
    assert!(classical.to_string().contains("classical"), "{classical}");
    // Side conditions that no β meets.
    let wang = refusal(&Settings { steps: Some(1000), ..literal(Algorithm::NoisySgd, None) }, 0.5);
    assert!(wang.to_string().contains("β"), "{wang}");
    for algorithm in [Algorithm::MatchingSgd, Algorithm::OnlinePair, Algorithm::LocalizedSgd] {
        assert!(matches!(refusal(&literal(algorithm, None), 1.0), LearnError::NotPrinted(_)));
    }
}

/// The comparison has every algorithm, and printed noise is never below ours where its claim holds.
#[test]
fn explanations_compare_every_algorithm() {
    let problem = literal(Algorithm::NoisyGd, None).problem(10).unwrap();
    let rows = explain(problem, 1000, 10, budget());
    assert_eq!(rows.len(), Algorithm::ALL.len());
    for row in &rows {
        assert!(row.refused.is_none(), "{row:?}");
        assert!(row.sigma > 0.0);
        assert!(row.algorithm == Algorithm::Moments || row.excess_risk.unwrap() > 0.0);
        assert!(row.ratio.is_none_or(|ratio| ratio > 1.3), "{row:?}");
    }
    assert!(rows.iter().filter(|row| row.paper.is_some()).count() >= 3);
    let pointwise = Settings { task: Task::Regression, ..Settings::default() }.problem(10).unwrap();
    let refused = explain(pointwise, 1000, 10, budget()).into_iter().filter(|row| row.refused.is_some());
    assert_eq!(refused.count(), 4, "those that learn from pairs");
}
