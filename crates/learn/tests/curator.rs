//! The waist: what the curator lets out, and what it refuses.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_certificate::{Algorithm, Average, Released};
use pairdp_noise::Replay;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_release::{Checkpointer, Curator, LearnError, Mechanism, Plan, run};
use pairdp_units::Budget;

fn problem() -> Problem {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    Problem::new(objective, Domain::Ball { radius: 5.0 }, 1.0).unwrap()
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).unwrap()
}

fn mechanism(n: usize, steps: u32) -> Mechanism {
    let plan = Plan::new(Algorithm::NoisyGd, steps, 1.0, Average::Last).unwrap();
    Mechanism::calibrate(problem(), plan, n, 2, budget()).unwrap()
}

fn gradients(released: Released) -> Vec<pairdp_certificate::GradientRelease> {
    match released {
        Released::Gradients { releases, .. } => releases,
        other => panic!("{other:?}"),
    }
}

fn records(n: usize) -> Records {
    let features = (0..2 * n).map(|i| ((i * 37 % 101) as f64 / 50.0) - 1.0).collect();
    Records::new(features, 2, (0..n).map(|i| i % 3 == 0).collect(), 1.0).unwrap()
}

#[test]
fn no_release_beyond_the_mechanism() {
    let mechanism = mechanism(30, 3);
    let mut curator = Curator::open(records(30), mechanism, Replay::from_seed(1)).unwrap();
    for _ in 0..3 {
        curator.noisy_gradient(&[0.0, 0.0]).unwrap();
    }
    assert!(matches!(curator.noisy_gradient(&[0.0, 0.0]), Err(LearnError::Exhausted(3))));
    assert_eq!(gradients(curator.into_released()).len(), 3);
}

#[test]
fn records_clipped_beyond_the_noise_are_refused() {
    let wide = Records::new(vec![5.0; 60], 2, vec![true; 30], 10.0).unwrap();
    assert!(matches!(
        Curator::open(wide, mechanism(30, 3), Replay::from_seed(1)),
        Err(LearnError::FeatureBound { .. })
    ));
}

/// The sensitivity of a record's gradient, and of a descent's result, is for parameters of the domain.
#[test]
fn parameters_outside_the_domain_are_refused() {
    let loss = pairdp_pairwise::PointLoss::Margin(MarginLoss::Logistic);
    let pointwise = Problem::new(Objective::Pointwise { loss }, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let whole = Problem::new(problem().objective(), Domain::Whole, 1.0).unwrap();
    let mut out = [0.0; 2];
    for (problem, algorithm, outside) in [
        (pointwise, Algorithm::NoisySgd, [0.8, 0.7]),
        (pointwise, Algorithm::OutputGd, [0.8, 0.7]),
        (pointwise, Algorithm::OutputGd, [f64::NAN, 0.0]),
        (whole, Algorithm::OutputGd, [1e-9, 0.0]),
    ] {
        let plan = Plan::new(algorithm, 3, 0.1, Average::Last).unwrap();
        let mechanism = Mechanism::calibrate(problem, plan, 30, 2, budget()).unwrap();
        let mut curator = Curator::open(records(30), mechanism, Replay::from_seed(1)).unwrap();
        let mut ask = |w: &[f64]| match algorithm {
            Algorithm::NoisySgd => curator.noisy_sample(w, &mut out),
            _ => curator.noisy_result(w).map(|_| ()),
        };
        assert!(matches!(ask(&outside), Err(LearnError::OutsideDomain)), "{algorithm:?} {outside:?}");
        // A refused query is not counted.
        assert!(ask(&[0.0, 0.0]).is_ok());
    }
}

#[test]
fn a_mechanism_is_for_one_size() {
    let mechanism = mechanism(31, 3);
    assert!(matches!(
        Curator::open(records(30), mechanism, Replay::from_seed(1)),
        Err(LearnError::WrongTable { .. })
    ));
}

/// The noise of each release has the standard deviation that the certificate states: over 4,000 releases of 2
/// coordinates the sample variance of a normal stays within 10 % but for one time in 10⁹ (6.3 standard errors).
#[test]
fn releases_carry_the_certified_noise() {
    let steps = 4000;
    let mechanism = mechanism(30, steps);
    let at = [0.3, -0.4];
    let exact = kernel::gradient(problem(), &records(30), &at, Par::Sequential);
    let mut curator = Curator::open(records(30), mechanism, Replay::from_seed(2)).unwrap();
    let mut squares = 0.0;
    for _ in 0..steps {
        let noisy = curator.noisy_gradient(&at).unwrap();
        squares += noisy.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    }
    let sigma = gradients(curator.into_released())[0].sigma;
    let relative = squares / f64::from(2 * steps) / (sigma * sigma);
    assert!((0.9..1.1).contains(&relative), "{relative}");
}

/// At 0 no pair is steep, so an early step needs half the noise of a late one.
#[test]
fn noise_follows_the_slope_at_the_public_iterate() {
    let Mechanism::Gradients(mechanism) = mechanism(1000, 10) else { panic!("not gradients") };
    let early = mechanism.release_at(0.0).unwrap().sigma;
    let late = mechanism.release_at(5.0).unwrap().sigma;
    assert!((late / early - 2.0).abs() < 1e-3, "{early} {late}");
    // σ = Δ√T/μ with Δ = κ/n at 0, and μ = 0.23670 at (1, 1e−6).
    assert!((early * 1000.0 * 0.23670 / 10.0_f64.sqrt() - 1.0).abs() < 1e-3, "{early}");
}

/// What training with noise from a seed ends at.
fn parameters(plan: Plan, budget: Budget, records: Records, seed: u64) -> Vec<f64> {
    let mechanism = Mechanism::calibrate(problem(), plan, records.len(), 2, budget).unwrap();
    let mut curator = Curator::open(records, mechanism, Replay::from_seed(seed)).unwrap();
    run(&mut curator, &mut Checkpointer::none()).unwrap()
}

#[test]
fn replayed_noise_repeats() {
    let plan = Plan::new(Algorithm::NoisyGd, 4, 2.0, Average::Last).unwrap();
    let run = |seed| parameters(plan, budget(), records(40), seed);
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn without_noise_worth_mentioning_training_ranks_perfectly() {
    let positive: Vec<bool> = (0..100).map(|i| i < 50).collect();
    let features = positive.iter().flat_map(|p| [if *p { 0.9 } else { -0.9 }, 0.1]).collect();
    let records = Records::new(features, 2, positive, 1.0).unwrap();
    let generous = Budget::new(50.0, 1e-3).unwrap();
    let plan = Plan::new(Algorithm::NoisyGd, 20, 4.0, Average::SecondHalf).unwrap();
    let found = parameters(plan, generous, records, 1);
    assert!(found[0] > 1.0 && found[1].abs() < 0.3, "{found:?}");
}

/// A trace holds what was returned, in order, and keeping one changes nothing.
#[test]
fn a_trace_is_what_was_released() {
    for algorithm in Algorithm::ALL {
        let plan = Plan::suggested(algorithm, problem(), 30, 2, budget()).unwrap();
        let mechanism = Mechanism::calibrate(problem(), plan, 30, 2, budget()).unwrap();
        let open = || Curator::open(records(30), mechanism.clone(), Replay::from_seed(5)).unwrap();
        let (mut plain, mut traced) = (open(), open().traced());
        let parameters = run(&mut plain, &mut Checkpointer::none()).unwrap();
        assert_eq!(parameters, run(&mut traced, &mut Checkpointer::none()).unwrap());
        assert!(plain.trace().is_empty());
        assert_eq!(traced.trace().len(), traced.made() as usize, "{}", algorithm.name());
    }
    let mut curator = Curator::open(records(30), mechanism(30, 2), Replay::from_seed(1)).unwrap().traced();
    let at = [0.25, -0.5];
    let answer = curator.noisy_gradient(&at).unwrap();
    assert_eq!((&curator.trace()[0].at[..], &curator.trace()[0].answer), (&at[..], &answer));
}
