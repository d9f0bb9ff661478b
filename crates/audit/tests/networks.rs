//! A network's releases under the strongest attack: they stay below the claim and come near to it; and faults that an audit must find.
//!
//! Seeds are fixed, so that a failure is never a false alarm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_audit::{Audit, AuditError, Report, Runs, Table, TablePair, Verdict, View};
use pairdp_certificate::{Algorithm, Average};
use pairdp_noise::Replay;
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Activation, Domain, MarginLoss, Network, Objective, PointLoss, Problem, RankingForm, Records, Score,
};
use pairdp_release::{Curator, Exchange, Mechanism, Plan};
use pairdp_units::Budget;

const N: usize = 20;
const STEPS: u32 = 2;

fn claim() -> Budget {
    Budget::new(1.0, 1e-3).unwrap()
}

fn pairs(loss: MarginLoss) -> Objective {
    Objective::Ranking { form: RankingForm::Indicator, loss }
}

fn problem(objective: Objective) -> Problem {
    let form = Network { activation: Activation::Tanh, hidden: 1, linear: 0.5, spread: 1.0, seed: 1 };
    let problem = Problem::new(objective, Domain::Ball { radius: 100.0 }, 1.0).unwrap();
    problem.with_score(Score::Network(form)).unwrap()
}

/// Rows of one column.
fn table(features: Vec<f64>, targets: Vec<f64>) -> Table {
    Table { features, columns: 1, targets, records_of_owner: Vec::new() }
}

/// One positive at −1 among negatives at 1, which becomes one of them.
fn flipped() -> TablePair {
    let with = |first: f64| {
        table([vec![-1.0], vec![1.0; N - 1]].concat(), [vec![first], vec![-1.0; N - 1]].concat())
    };
    TablePair { first: with(1.0), second: with(-1.0), replaced: 0, uniform: true }
}

/// v, u, b, W: tanh is ±1 with the sign of the row, and the gradient of a score of length 1.
const STEEP: [f64; 4] = [3.0, 3.0, 0.0, 50.0];

struct Attack {
    problem: Problem,
    mechanism: Mechanism,
    audit: Audit,
    at: Vec<f64>,
}

impl Attack {
    fn new(problem: Problem, neighbours: TablePair, at: &[f64]) -> Self {
        let plan = Plan::new(Algorithm::NoisyGd, STEPS, 1e-3, Average::Last).unwrap();
        let mechanism = Mechanism::calibrate(problem, plan, N, 1, claim()).unwrap();
        let view = View::Releases;
        let audit = Audit::new(problem, plan, mechanism.clone(), claim(), neighbours, view, None).unwrap();
        Self { problem, mechanism, audit, at: at.to_vec() }
    }

    fn records(&self, first: bool) -> Records {
        let neighbours = self.audit.neighbours();
        let table = if first { &neighbours.first } else { &neighbours.second };
        table.records(1.0).unwrap()
    }

    /// What is seen of a run whose exact answer is another than it should be, by what `change` makes of it.
    fn seen(
        &self,
        first: bool,
        run: u64,
        change: &dyn Fn(&Records) -> Option<Vec<f64>>,
    ) -> Result<Vec<f64>, AuditError> {
        let mut curator =
            Curator::open(self.records(first), self.mechanism.clone(), Replay::from_seed(1_000 + run))?;
        let mut trace = Vec::new();
        for _ in 0..STEPS {
            let mut answer = curator.noisy_gradient(&self.at)?;
            let records = self.records(first);
            if let Some(wrong) = change(&records) {
                let exact = kernel::gradient(self.problem, &records, &self.at, Par::Sequential);
                for ((answer, exact), wrong) in answer.iter_mut().zip(exact).zip(wrong) {
                    *answer += wrong - exact;
                }
            }
            trace.push(Exchange { at: self.at.clone(), answer });
        }
        self.audit.look_at(&trace)
    }

    fn report(&self, runs: usize, change: &(dyn Fn(&Records) -> Option<Vec<f64>> + Sync)) -> Report {
        let mut all = Runs::new(String::new());
        let run = |first: bool, k: u64| self.seen(first, k, &|records| change(records));
        all.collect(runs, &mut Replay::from_seed(99), run, |_| Ok::<_, AuditError>(())).unwrap();
        self.audit.report(all.all(), 0.999).unwrap()
    }
}

/// At ε = 1 the strongest attack finds at least 0.7, and never more than is claimed: pairs and records.
#[test]
fn releases_stay_below_the_claim_and_come_near_to_it() {
    // A record whose gradient becomes its opposite: a positive at −1 and a negative at −1 pull in opposite directions, as steep as a
    // capped loss lets them.
    let with = |first: f64| table(vec![-1.0; N], [vec![first], vec![1.0; N - 1]].concat());
    let records = TablePair { first: with(1.0), second: with(-1.0), replaced: 0, uniform: true };
    for (objective, neighbours, at) in [
        (pairs(MarginLoss::CappedLogistic), flipped(), STEEP),
        (pairs(MarginLoss::Logistic), flipped(), STEEP),
        // At scores of 0, where both slopes are ½.
        (
            Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) },
            records,
            [0.0, 0.0, 0.0, 50.0],
        ),
    ] {
        let attack = Attack::new(problem(objective), neighbours, &at);
        let report = attack.report(20_000, &|_| None);
        assert_eq!(report.verdict, Verdict::NotRefuted, "{objective:?}");
        let found = report.audited_lower_bound;
        assert!((0.7..=1.0).contains(&found), "{objective:?}: {found}");
    }
}

/// s and its gradient for one row, without a clip.
fn unclipped(row: f64, w: &[f64]) -> (f64, [f64; 4]) {
    let (alpha, k) = (0.5, 0.75_f64.sqrt());
    let a = (w[3] * row + w[2]).tanh();
    let delta = k * w[1] * (1.0 - a * a);
    (alpha * w[0] * row + k * w[1] * a, [alpha * row, k * a, delta, delta * row])
}

/// Σ over pairs of a positive and a negative of −steepness·(difference of gradients), over n(n − 1).
fn of_pairs(rows: &[f64], targets: &[f64], w: &[f64], steepness: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; 4];
    for (x, _) in rows.iter().zip(targets).filter(|(_, target)| **target > 0.0) {
        for (y, _) in rows.iter().zip(targets).filter(|(_, target)| **target < 0.0) {
            let ((s, g), (t, h)) = (unclipped(*x, w), unclipped(*y, w));
            (0..4).for_each(|k| sum[k] -= steepness(s - t) * (g[k] - h[k]) / (N * (N - 1)) as f64);
        }
    }
    sum
}

#[test]
fn a_skipped_clip_is_caught_in_300_runs() {
    // A unit that is neither flat nor small: the gradient of a score is many times longer than 1.
    let w = [0.0, 20.0, 0.3, 0.4];
    assert!(unclipped(1.0, &w).1.iter().map(|g| g * g).sum::<f64>() > 100.0);
    let attack = Attack::new(problem(pairs(MarginLoss::CappedLogistic)), flipped(), &w);
    let skipped = |records: &Records| {
        let capped = |margin: f64| MarginLoss::CappedLogistic.steepness(margin);
        Some(of_pairs(records.features(), records.targets(), &w, capped))
    };
    assert_eq!(attack.report(300, &skipped).verdict, Verdict::Violated);
    assert_eq!(attack.report(300, &|_| None).verdict, Verdict::NotRefuted);
}

#[test]
fn a_slope_of_one_under_the_noise_for_a_half_is_caught_in_2000_runs() {
    let attack = Attack::new(problem(pairs(MarginLoss::CappedLogistic)), flipped(), &STEEP);
    let uncapped = |records: &Records| {
        let steep = |margin: f64| MarginLoss::Logistic.steepness(margin);
        Some(of_pairs(records.features(), records.targets(), &STEEP, steep))
    };
    assert_eq!(attack.report(2000, &uncapped).verdict, Verdict::Violated);
    assert_eq!(attack.report(2000, &|_| None).verdict, Verdict::NotRefuted);
}

/// Rows divided by the spread of their batch, as batch normalisation does: one record that is far out changes every other.
#[test]
fn a_statistic_of_the_batch_is_caught_in_2000_runs() {
    let rows = |first: f64| -> Vec<f64> {
        (0..N)
            .map(|i| {
                if i == 0 {
                    first
                } else if i % 2 == 0 {
                    0.001
                } else {
                    -0.001
                }
            })
            .collect()
    };
    let targets: Vec<f64> = (0..N).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let (first, second) = (table(rows(0.001), targets.clone()), table(rows(1.0), targets));
    let neighbours = TablePair { first, second, replaced: 0, uniform: false };
    let w = [0.0, 0.0, 0.0, 1.0];
    let attack = Attack::new(problem(pairs(MarginLoss::CappedLogistic)), neighbours, &w);
    let normalised = |records: &Records| {
        let spread = (records.features().iter().map(|x| x * x).sum::<f64>() / N as f64).sqrt();
        let rows: Vec<f64> = records.features().iter().map(|x| x / spread).collect();
        let capped = |margin: f64| MarginLoss::CappedLogistic.steepness(margin);
        // Every row is within the bound afterwards, too.
        let rows: Vec<f64> = rows.iter().map(|x| if x.abs() > 1.0 { x.signum() } else { *x }).collect();
        Some(of_pairs(&rows, records.targets(), &w, capped))
    };
    assert_eq!(attack.report(2000, &normalised).verdict, Verdict::Violated);
    assert_eq!(attack.report(2000, &|_| None).verdict, Verdict::NotRefuted);
}
