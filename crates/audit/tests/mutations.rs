//! The audit is audited: every fault that is put into a mechanism on purpose is found, at a stated number of runs, and the same
//! mechanism without the fault is not accused.
//!
//! Faults are built around the real curator, which has no switch for them. Seeds are fixed, so that a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::gaussian;
use pairdp_audit::table_pair::extremes;
use pairdp_audit::{Audit, AuditError, Pair, Runs, TablePair, Verdict, View};
use pairdp_certificate::{Algorithm, Average};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::{
    Domain, Labels, MarginLoss, MetricLoss, Objective, PerPerson, Problem, RankingForm, Records, Strata,
    kernel,
};
use pairdp_release::{Checkpointer, Curator, Exchange, Mechanism, Plan, run};
use pairdp_stability::paper_noise;
use pairdp_units::{Budget, Delta};

const DELTA: f64 = 1e-3;
const N: usize = 20;

fn ranking(kappa: f64) -> Problem {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    Problem::new(objective, Domain::Ball { radius: 0.01 }, kappa).unwrap()
}

fn metric(loss: MetricLoss) -> Problem {
    Problem::new(Objective::Metric { loss }, Domain::Ball { radius: 0.01 }, 1.0).unwrap()
}

fn plan(algorithm: Algorithm, steps: u32) -> Plan {
    Plan::new(algorithm, steps, 1e-3, Average::Last).unwrap()
}

fn claim() -> Budget {
    Budget::new(1.0, DELTA).unwrap()
}

/// The budget that Gaussian noise `factor` times too small really spends.
fn spent(claim: Budget, factor: f64) -> Budget {
    let ratio = gaussian::largest_ratio(claim).unwrap() * factor;
    Budget::new(gaussian::epsilon(claim.delta, ratio).unwrap().get(), claim.delta.get()).unwrap()
}

/// The worst neighbours of a plan, and its own audit.
fn intact(problem: Problem, plan: Plan, claim: Budget) -> Audit {
    Audit::of_plan(problem, plan, (N, 1), claim, Pair::Worst, View::Releases).unwrap()
}

/// The audit of a mechanism calibrated to another budget than is claimed.
fn faulty(problem: Problem, plan: Plan, calibrated: Budget, claim: Budget, neighbours: TablePair) -> Audit {
    let mechanism = Mechanism::calibrate(problem, plan, N, 1, calibrated).unwrap();
    Audit::new(problem, plan, mechanism, claim, neighbours, View::Releases, None).unwrap()
}

fn verdict(
    audit: &Audit,
    runs: usize,
    run: impl Fn(bool, u64) -> Result<Vec<f64>, AuditError> + Sync,
) -> Verdict {
    let mut all = Runs::new(String::new());
    all.collect(runs, &mut Replay::from_seed(99), run, |_| Ok(())).unwrap();
    let report = audit.report(all.all(), 0.999).unwrap();
    report.verdict
}

/// A fresh stream for every run.
fn fresh(run: u64) -> Replay {
    Replay::from_seed(1_000 + run)
}

fn is_caught(audit: &Audit, runs: usize) -> bool {
    verdict(audit, runs, |first, k| audit.run(first, fresh(k))) == Verdict::Violated
}

#[test]
fn half_the_noise_is_caught_in_2000_runs() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::OutputGd, Algorithm::Moments] {
        let plan = plan(algorithm, if algorithm == Algorithm::Moments { 1 } else { 4 });
        let audit = intact(ranking(1.0), plan, claim());
        assert!(!is_caught(&audit, 2000));
        let halved = faulty(ranking(1.0), plan, spent(claim(), 2.0), claim(), audit.neighbours().clone());
        assert!(is_caught(&halved, 2000), "{}", algorithm.name());
    }
}

#[test]
fn noise_used_twice_is_caught_in_1000_runs() {
    let (problem, plan) = (ranking(1.0), plan(Algorithm::NoisyGd, 2));
    let audit = intact(problem, plan, claim());
    let mechanism = Mechanism::calibrate(problem, plan, N, 1, claim()).unwrap();
    let repeat = |first: bool, run: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        let mut at = vec![0.0];
        let mut trace = Vec::new();
        for _ in 0..2 {
            // A new curator with the same stream: the noise of the first release once more.
            let mut curator = Curator::open(table.records(1.0)?, mechanism.clone(), fresh(run))?;
            let answer = curator.noisy_gradient(&at)?;
            trace.push(Exchange { at: at.clone(), answer: answer.clone() });
            at[0] -= plan.step_size() * answer[0];
            problem.domain().project(&mut at);
        }
        audit.look_at(&trace)
    };
    assert_eq!(verdict(&audit, 1000, repeat), Verdict::Violated);
    assert!(!is_caught(&audit, 1000));
}

#[test]
fn a_forgotten_clip_is_caught_in_300_runs() {
    let plan = plan(Algorithm::NoisyGd, 4);
    let audit = intact(ranking(1.0), plan, claim());
    // Rows up to norm 8 with the noise for norm 1.
    let loud = Mechanism::calibrate(ranking(8.0), plan, N, 1, spent(claim(), 8.0)).unwrap();
    let forgetful = |first: bool, k: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        let mut curator = Curator::open(table.records(8.0)?, loud.clone(), fresh(k))?.traced();
        run(&mut curator, &mut Checkpointer::none())?;
        audit.look_at(curator.trace())
    };
    assert_eq!(verdict(&audit, 300, forgetful), Verdict::Violated);
    assert!(!is_caught(&audit, 300));
}

#[test]
fn noise_from_a_fixed_seed_is_caught_in_300_runs() {
    for algorithm in [Algorithm::NoisyGd, Algorithm::NoisySgd, Algorithm::OnlinePair] {
        let plan = plan(algorithm, if algorithm == Algorithm::NoisyGd { 4 } else { 19 });
        let audit = intact(ranking(1.0), plan, claim());
        let seeded = |first: bool, _: u64| audit.run(first, Replay::from_seed(7));
        assert_eq!(verdict(&audit, 300, seeded), Verdict::Violated, "{}", algorithm.name());
        assert!(!is_caught(&audit, 300));
    }
}

/// A standard normal number from two words.
fn normal(source: &mut Replay) -> f64 {
    let mut unit = || ((source.next_word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos()
}

#[test]
fn samples_that_are_no_secret_are_caught_in_12000_runs() {
    let (problem, plan) = (ranking(1.0), plan(Algorithm::NoisySgd, 20));
    let audit = intact(problem, plan, claim());
    let Mechanism::Samples(sampled) = Mechanism::calibrate(problem, plan, N, 1, claim()).unwrap() else {
        unreachable!()
    };
    // The same pairs in every run: the replaced record is in four of them. By chance it would be in two on average, and in four
    // or more in one run of eight; a seed that is bad for somebody is bad for him in every run.
    let replaced = audit.neighbours().replaced;
    let other = |t: usize| (replaced + 1 + t % (N - 2)) % N;
    let pairs: Vec<(usize, usize)> =
        (0..20).map(|t| (if t % 5 == 0 { replaced } else { other(t + 1) }, other(t))).collect();
    let constants = problem.constants();
    let open = |first: bool, run: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        let records: Records = table.records(1.0)?;
        let mut noise = fresh(run);
        let (mut at, mut trace) = (vec![0.0], Vec::new());
        for &(i, j) in &pairs {
            let pair = if records.targets()[i] < 0.0 { (j, i) } else { (i, j) };
            let mut answer = vec![0.0];
            kernel::pair_gradient(problem, &constants, &records, pair, &at, &mut answer);
            answer[0] += sampled.sigma() * normal(&mut noise);
            trace.push(Exchange { at: at.clone(), answer: answer.clone() });
            at[0] -= plan.step_size() * answer[0];
            problem.domain().project(&mut at);
        }
        audit.look_at(&trace)
    };
    assert_eq!(verdict(&audit, 12_000, open), Verdict::Violated);
    assert!(!is_caught(&audit, 4000));
}

#[test]
fn a_factor_forgotten_in_a_sensitivity_is_caught_in_4000_runs() {
    // Metrics with private labels: a pull can become a push, which doubles the sensitivity for the hinge. Leave it out.
    let problem = metric(MetricLoss::Hinge);
    let plan = plan(Algorithm::NoisyGd, 1);
    let audit = intact(problem, plan, claim());
    assert!(!is_caught(&audit, 4000));
    let forgetful =
        faulty(problem.with_labels(Labels::Public), plan, claim(), claim(), audit.neighbours().clone());
    assert!(is_caught(&forgetful, 4000));
}

#[test]
fn the_printed_constant_of_xue_is_caught_at_a_large_epsilon_in_12000_runs() {
    let problem = metric(MetricLoss::Hinge);
    let (steps, claim) = (1, Budget::new(5.0, 1e-5).unwrap());
    let plan = plan(Algorithm::NoisyGd, steps);
    let sigma =
        paper_noise::xue_trajectory(problem.constants().gradient_bound, steps as usize, N, &claim).sigma;
    let ratio = problem.gradient_sensitivity(0.01, N).unwrap().get() / sigma;
    let really = gaussian::epsilon(Delta::new(1e-5).unwrap(), ratio).unwrap().get();
    assert!(really > 5.5, "{really}");
    let neighbours = intact(problem, plan, claim).neighbours().clone();
    let printed = faulty(problem, plan, Budget::new(really, 1e-5).unwrap(), claim, neighbours);
    assert!(is_caught(&printed, 12_000));
}

/// 20 audits of each of ten algorithms: one of them is accused by chance once in 5000 such tests.
#[test]
fn two_hundred_intact_mechanisms_are_not_accused() {
    for algorithm in Algorithm::ALL {
        let budget = claim();
        let suggested = Plan::suggested(algorithm, ranking(1.0), N, 1, budget).unwrap();
        let average = if algorithm == Algorithm::OfflinePair { Average::Last } else { Average::All };
        let steps = if algorithm.has_fixed_steps() { suggested.steps() } else { 20 };
        let audit = intact(ranking(1.0), Plan::new(algorithm, steps, 1e-4, average).unwrap(), budget);
        for repetition in 0..20 {
            let mut runs = Runs::new(String::new());
            let mut coins = Replay::from_seed(50 + repetition);
            let run = |first: bool, k: u64| audit.run(first, Replay::from_seed(repetition << 32 | k));
            runs.collect(600, &mut coins, run, |_| Ok::<(), AuditError>(())).unwrap();
            let report = audit.report(runs.all(), 0.999).unwrap();
            assert_eq!(report.verdict, Verdict::NotRefuted, "{}: {report:?}", algorithm.name());
        }
    }
}

/// Nothing that the equality cases need is missing from the extremes: they attain nine tenths of the claim's μ.
#[test]
fn the_worst_neighbours_attain_the_sensitivity() {
    for (problem, algorithm) in [
        (ranking(1.0), Algorithm::NoisyGd),
        (ranking(1.0), Algorithm::OnlinePair),
        (ranking(1.0), Algorithm::Moments),
        (metric(MetricLoss::Hinge), Algorithm::NoisyGd),
        (metric(MetricLoss::Logistic), Algorithm::NoisyGd),
    ] {
        let steps = match algorithm {
            Algorithm::OnlinePair => 19,
            Algorithm::Moments => 1,
            _ => 4,
        };
        let audit = intact(problem, plan(algorithm, steps), claim());
        let most = gaussian::largest_ratio(claim()).unwrap();
        let share = audit.separation() / most;
        assert!(share > 0.95 && share <= 1.000_001, "{}: {share}", algorithm.name());
    }
    assert_eq!(extremes(ranking(1.0), 4, 1, 0).len(), 12);
    assert_eq!(extremes(ranking(1.0).with_labels(Labels::Public), 4, 1, 0).len(), 4);
}

/// A person with 50 records, all of which count as one: a mean over records with the noise for a mean over persons.
#[test]
fn weights_left_out_are_caught_in_1000_runs() {
    let (records, plan) = (ranking(1.0), plan(Algorithm::NoisyGd, 4));
    let persons = records.with_persons(Some(PerPerson::Weights));
    // Among all neighbours, those in which the person has 50 records after and one before.
    let crowd = extremes(persons, N, 1, 0).into_iter().filter(|pair| pair.second.targets.len() > N);
    let mechanism = Mechanism::calibrate(persons, plan, N, 1, claim()).unwrap();
    let audits = crowd.map(|pair| {
        Audit::new(persons, plan, mechanism.clone(), claim(), pair, View::Releases, None).unwrap()
    });
    let audit = audits.max_by(|a, b| a.separation().total_cmp(&b.separation())).unwrap();
    assert!(!is_caught(&audit, 1000));
    let plain = |first: bool, k: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        let rows = table.targets.len();
        let all = Records::with_targets(table.features.clone(), 1, table.targets.clone(), 1.0)?;
        // As much noise as there would be for persons.
        let budget = spent(claim(), N as f64 / rows as f64);
        let mechanism = Mechanism::calibrate(records, plan, rows, 1, budget).unwrap();
        let mut curator = Curator::open(all, mechanism, fresh(k))?.traced();
        run(&mut curator, &mut Checkpointer::none())?;
        audit.look_at(curator.trace())
    };
    assert_eq!(verdict(&audit, 1000, plain), Verdict::Violated);
}

/// Weights 1/√m instead of 1/m: a person with 49 records counts seven times.
#[test]
fn weights_that_add_up_to_more_than_one_are_caught_in_1000_runs() {
    let plan = plan(Algorithm::NoisyGd, 4);
    let persons = ranking(1.0).with_persons(Some(PerPerson::Weights));
    let mechanism = Mechanism::calibrate(persons, plan, N, 1, claim()).unwrap();
    let crowd = extremes(persons, N, 1, 0).into_iter().filter(|pair| pair.second.targets.len() > N);
    let audits = crowd.map(|pair| {
        Audit::new(persons, plan, mechanism.clone(), claim(), pair, View::Releases, None).unwrap()
    });
    let audit = audits.max_by(|a, b| a.separation().total_cmp(&b.separation())).unwrap();
    let rooted = |first: bool, k: u64| {
        let neighbours = audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        // As if whoever has 50 records had seven.
        let counts: Vec<u32> = table.records_of_owner.iter().map(|count| count.isqrt()).collect();
        let all = Records::with_targets(table.features.clone(), 1, table.targets.clone(), 1.0)?;
        let all = all.weighed(Strata::of_persons(&counts, N));
        let mut curator = Curator::open(all, mechanism.clone(), fresh(k))?.traced();
        run(&mut curator, &mut Checkpointer::none())?;
        audit.look_at(curator.trace())
    };
    assert_eq!(verdict(&audit, 1000, rooted), Verdict::Violated);
}

/// Rows sampled instead of persons: whoever has 50 of 69 rows is in 93 of 100 samples of two, not in one of ten, and the noise for the
/// latter spends several times the claim.
#[test]
fn sampling_rows_instead_of_persons_breaks_the_claim() {
    use pairdp_accountant::event::{Event, Release, Sampling};
    let persons = ranking(1.0).with_persons(Some(PerPerson::One));
    let mechanism = Mechanism::calibrate(persons, plan(Algorithm::NoisySgd, 60), N, 1, claim()).unwrap();
    let (event, sampler_delta) = mechanism.event().unwrap();
    let delta = Delta::new(DELTA - sampler_delta.get()).unwrap();
    let spent = |event: &Event| pairdp_accountant::epsilon_for(event, delta).unwrap().0.get();
    assert!(spent(&event) <= 1.0 + 1e-9);
    let Release::Gaussian { noise_multiplier, sampling, times } = *event.release() else { unreachable!() };
    assert_eq!(sampling, Sampling::FixedSize { batch: 2, records: N as u64 });
    let missed = (19.0 * 18.0) / (69.0 * 68.0);
    assert!(1.0 - missed > 0.92);
    let sampling = Sampling::FixedSize { batch: 92, records: 100 };
    let by_rows =
        Event::new(event.adjacency(), Release::Gaussian { noise_multiplier, sampling, times }).unwrap();
    assert!(spent(&by_rows) > 3.0, "{}", spent(&by_rows));
}
