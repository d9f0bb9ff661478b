//! Persons with several records: how well models rank, beside what else could be done, and what weights cost in time.

use crate::report::{Report, best_seconds};
use pairdp_certificate::Algorithm;
use pairdp_data::{Encoding, Owners, Table};
use pairdp_learn::{Settings, Training};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::moments::{self, Target, Weights};
use pairdp_pairwise::{
    Domain, MarginLoss, Objective, PerPerson, PointLoss, Problem, RankingForm, Records, Scored, Shares,
    Strata, Unit,
};
use pairdp_units::Budget;

const FEATURES: usize = 10;
/// Most stays of a person.
const MOST: u32 = 20;
/// Persons of a test table.
const TESTED: usize = 3000;

pub(crate) fn run(report: &mut Report) {
    let cohorts = Report::option("--cohorts").and_then(|count| count.parse().ok()).unwrap_or(60);
    for persons in [300, 1000, 4000] {
        for epsilon in [0.5, 1.0, 2.0] {
            utility(report, persons, epsilon, cohorts);
        }
    }
    speed(report);
}

/// What a custodian could do.
#[derive(Clone, Copy)]
enum Method {
    /// Weights, or one record each.
    Persons(PerPerson),
    /// The textbook: record-level privacy at a twentieth of ε, because nobody has more than twenty records.
    TwentiethOfEpsilon,
}

fn utility(report: &mut Report, persons: usize, epsilon: f64, cohorts: u64) {
    let methods = [
        ("weights", Method::Persons(PerPerson::Weights)),
        ("one record each", Method::Persons(PerPerson::One)),
        ("records at ε/20", Method::TwentiethOfEpsilon),
    ];
    for (name, method) in methods {
        let found: Vec<f64> = (0..cohorts).map(|k| auc_of(method, persons, epsilon, k)).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let spread = found.iter().map(|auc| (auc - mean) * (auc - mean)).sum::<f64>();
        let error = (spread / found.len() as f64).sqrt() / (found.len() as f64).sqrt();
        let sizes = [("persons", persons as f64), ("ε", epsilon)];
        report.row(&format!("person AUC, {name}"), &sizes, mean, "AUC");
        report.row(&format!("its standard error, {name}"), &sizes, error, "AUC");
    }
}

fn auc_of(method: Method, persons: usize, epsilon: f64, seed: u64) -> f64 {
    let mut chance = Chance(Replay::from_seed(7000 + seed));
    let (table, test) = (cohort(persons, &mut chance), cohort(TESTED, &mut chance));
    let delta = (persons as f64).powi(-2);
    let settings = Settings {
        algorithm: Some(Algorithm::Moments),
        feature_bound: Some(1.0),
        unit: Unit::Person,
        ..Settings::default()
    };
    let (settings, table, budget) = match method {
        Method::Persons(how) => {
            (Settings { per_person: Some(how), ..settings }, table, Budget::new(epsilon, delta))
        }
        Method::TwentiethOfEpsilon => {
            let share = (epsilon / f64::from(MOST)).exp_m1() / epsilon.exp_m1();
            let settings = Settings { unit: Unit::Record, ..settings };
            (settings, Table { owners: None, ..table }, Budget::new(epsilon / f64::from(MOST), delta * share))
        }
    };
    let budget = budget.unwrap_or_else(|error| unreachable!("{error}"));
    let training = Training { settings, encoding: Encoding::unscaled(FEATURES), label: None, budget };
    let model = training.fit(table).unwrap_or_else(|error| unreachable!("{error}"));
    person_auc(&model.predictor.scores(&test), &test)
}

/// The AUC of two draws of a person and one of their records.
fn person_auc(scores: &[f64], table: &Table) -> f64 {
    let owners = table.owners.clone().unwrap_or_default();
    let records = owners.records();
    let of = |row: usize| records[owners.of_row()[row] as usize];
    let mut order: Vec<usize> = (0..table.rows).collect();
    order.sort_by_key(|row| of(*row));
    let counts: Vec<u32> = order.iter().map(|row| of(*row)).collect();
    let scores: Vec<f64> = order.iter().map(|row| scores[*row]).collect();
    let targets: Vec<f64> = order.iter().map(|row| table.targets[*row]).collect();
    let strata = Strata::of_persons(&counts, owners.persons());
    let scored = Scored { scores: &scores, targets: &targets, strata: &strata, cut: 0.0 };
    let shares = Shares::Ranking.of(pairdp_pairwise::Norm::Sum, scored);
    let p = 2.0 * shares[1];
    0.5 + shares[0] / (p * (1.0 - p))
}

/// Persons with 1 to 20 stays, more for the ill; stays of one person are alike, and more than half have stays of both kinds.
fn cohort(persons: usize, chance: &mut Chance) -> Table {
    let direction = direction();
    let along = |x: &[f64]| x.iter().zip(&direction).map(|(x, v)| x * v).sum::<f64>();
    let (mut features, mut targets, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for person in 0..persons {
        let trait_of: Vec<f64> = (0..FEATURES).map(|_| chance.normal()).collect();
        let rate = (1.0 + 0.5 * along(&trait_of) + 0.6 * chance.normal()).exp();
        let stays = (1 + chance.poisson(rate)).min(MOST);
        let effect = 0.5 * chance.normal();
        for _ in 0..stays {
            let x: Vec<f64> = trait_of.iter().map(|b| 0.75 * b + 0.66 * chance.normal()).collect();
            let risk = 1.0 / (1.0 + (-(1.8 * along(&x) + effect - 1.2)).exp());
            targets.push(if chance.uniform() < risk { 1.0 } else { -1.0 });
            features.extend(x.iter().map(|x| x / (1.2 * (FEATURES as f64).sqrt())));
            owners.push(u32::try_from(person).unwrap_or(u32::MAX));
        }
    }
    Table { owners: Some(Owners::new(owners)), ..Table::new(features, FEATURES, targets) }
}

/// What the risk grows along.
fn direction() -> Vec<f64> {
    let mut chance = Chance(Replay::from_seed(11));
    let v: Vec<f64> = (0..FEATURES).map(|_| chance.normal()).collect();
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.into_iter().map(|x| x / length).collect()
}

struct Chance(Replay);

impl Chance {
    /// Above 0, at most 1.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_word() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        radius * angle.cos()
    }

    fn poisson(&mut self, mean: f64) -> u32 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0);
        while product > limit && count < 10 * MOST {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}

/// Gradients and moments of a million records of 200,000 persons, next to those of as many plain records.
pub(crate) fn speed(report: &mut Report) {
    let (rows, columns) = (1_000_000, 50);
    let mut random = Replay::from_seed(3);
    let mut words = vec![0; rows * columns];
    random.fill_words(&mut words);
    let features: Vec<f64> =
        words.into_iter().map(|word| (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).collect();
    let targets: Vec<f64> = (0..rows).map(|i| if i % 10 == 0 { 1.0 } else { -1.0 }).collect();
    // One to nine records each, five in the mean.
    let mut counts: Vec<u32> = Vec::with_capacity(rows);
    let mut persons = 0;
    for records in (1..=9_u32).cycle() {
        let fits = rows - counts.len();
        let records = records.min(u32::try_from(fits).unwrap_or(u32::MAX));
        if records == 0 {
            break;
        }
        counts.extend(std::iter::repeat_n(records, records as usize));
        persons += 1;
    }
    counts.sort_unstable();
    let records = |strata: Option<Strata>| {
        let records = Records::with_targets(features.clone(), columns, targets.clone(), 1.0)
            .unwrap_or_else(|error| unreachable!("{error}"));
        match strata {
            Some(strata) => records.weighed(strata),
            None => records,
        }
    };
    let (plain, weighed) = (records(None), records(Some(Strata::of_persons(&counts, persons))));
    let w: Vec<f64> = (0..columns).map(|k| (k as f64 * 0.7).sin()).collect();
    let sizes = [("n", rows as f64), ("persons", persons as f64), ("d", columns as f64)];
    let ranking = |loss| Objective::Ranking { form: RankingForm::Indicator, loss };
    for (name, objective) in [
        ("logistic, pairs", ranking(MarginLoss::Logistic)),
        ("hinge, pairs", ranking(MarginLoss::Hinge)),
        (
            "capped logistic, records",
            Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) },
        ),
    ] {
        let problem = Problem::new(objective, Domain::Ball { radius: 10.0 }, 1.0)
            .unwrap_or_else(|error| unreachable!("{error}"));
        let of_persons = problem.with_persons(Some(PerPerson::Weights));
        let all = best_seconds(5, || kernel::gradient(problem, &plain, &w, Par::Parallel));
        let weighted = best_seconds(5, || kernel::gradient(of_persons, &weighed, &w, Par::Parallel));
        report.row(&format!("persons/records, gradient, {name}"), &sizes, weighted / all, "ratio");
    }
    let weights = Weights::suggested(true);
    let query = |records: &Records| {
        best_seconds(3, || moments::query(weights, 1.0, Target::Sign, records, persons, Par::Parallel))
    };
    report.row("persons/records, moments", &sizes, query(&weighed) / query(&plain), "ratio");
}
