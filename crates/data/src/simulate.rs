//! A synthetic cohort, for demonstrations and tests.
//!
//! Hospital stays with numeric and categorical columns and a rare outcome, readmission within 30 days, whose
//! probability given the columns is known. Ranking by that probability is optimal, so the best AUC that *any*
//! model can reach in this population is known too: [`optimal_auc`].
//!
//! The generator is seeded, because a simulation must be repeatable. Nothing here is private.

mod effect;

pub use effect::Effect;

use pairdp_noise::{Replay, Source};
use pairdp_units::directed::{larger, smaller};
use std::f64::consts::PI;
use std::fmt::Write as _;

/// The public schema of the cohort.
pub const SCHEMA: &str = r#"# What is publicly known about the simulated cohort: clinical ranges, not the data's own.
private = false   # simulated: there is nobody to protect

[label]
column = "readmitted"
positive = "yes"
negative = "no"

[[column]]
name = "age"
range = [20, 95]

[[column]]
name = "sex"
categories = ["female", "male"]

[[column]]
name = "bmi"
range = [16, 42]

[[column]]
name = "systolic_bp"
range = [90, 190]

[[column]]
name = "glucose"
range = [60, 260]

[[column]]
name = "creatinine"
range = [0.4, 3.0]

[[column]]
name = "prior_visits"
range = [0, 8]

[[column]]
name = "smoker"
categories = ["never", "former", "current"]

[[column]]
name = "admission"
categories = ["elective", "urgent", "emergency"]
"#;

const SMOKER: [&str; 3] = ["never", "former", "current"];
const ADMISSION: [&str; 3] = ["elective", "urgent", "emergency"];

/// One simulated stay.
struct Stay {
    age: f64,
    male: bool,
    bmi: f64,
    systolic: f64,
    glucose: f64,
    creatinine: f64,
    visits: f64,
    smoker: usize,
    admission: usize,
}

impl Stay {
    fn draw(random: &mut Replay) -> Self {
        // A hidden frailty makes the columns correlated, as they are in life.
        let frailty = normal(random);
        Self {
            age: between(58.0 + 15.0 * (0.6 * frailty + 0.8 * normal(random)), 18.0, 99.0).round(),
            male: uniform(random) < 0.48,
            bmi: tenths(between(27.0 + 5.0 * normal(random), 14.0, 55.0)),
            systolic: between(132.0 + 18.0 * (0.3 * frailty + 0.95 * normal(random)), 75.0, 240.0).round(),
            glucose: (60.0 + 55.0 * (0.45 * (0.4 * frailty + 0.9 * normal(random))).exp()).round(),
            creatinine: tenths(0.4 + 0.6 * (0.5 * (0.5 * frailty + 0.85 * normal(random))).exp()),
            visits: between((0.7 * frailty + 0.7 * normal(random)).exp() - 0.4, 0.0, 30.0).round(),
            smoker: category(random, [0.52, 0.30]),
            admission: category(random, [0.45 - 0.1 * frailty.tanh(), 0.30]),
        }
    }

    /// The probability of readmission given the columns.
    fn risk(&self) -> f64 {
        let log_odds = -4.35
            + 0.030 * (self.age - 58.0)
            + 0.15 * f64::from(u8::from(self.male))
            + 0.012 * (self.systolic - 132.0)
            + 0.010 * (self.glucose - 115.0)
            + 1.1 * (self.creatinine - 1.0)
            + 0.42 * smaller(self.visits, 8.0)
            + [0.0, 0.25, 0.6][self.smoker]
            + [0.0, 0.5, 1.1][self.admission];
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// A simulated table, and what is known about it because it is simulated.
pub struct Cohort {
    /// The table as CSV text.
    pub csv: String,
    /// The true risk of each stay: the best score there is.
    pub risks: Vec<f64>,
}

/// `records` stays. The same seed gives the same cohort.
pub fn cohort(records: usize, seed: u64) -> Cohort {
    let mut random = Replay::from_seed(seed);
    let mut risks = Vec::with_capacity(records);
    let mut csv = String::from(
        "stay_id,age,sex,bmi,systolic_bp,glucose,creatinine,prior_visits,smoker,admission,readmitted\n",
    );
    for id in 1..=records {
        let stay = Stay::draw(&mut random);
        let risk = stay.risk();
        let readmitted = uniform(&mut random) < risk;
        risks.push(risk);
        let _ = writeln!(
            csv,
            "{id},{},{},{},{},{},{},{},{},{},{}",
            stay.age,
            if stay.male { "male" } else { "female" },
            stay.bmi,
            stay.systolic,
            stay.glucose,
            stay.creatinine,
            stay.visits,
            SMOKER[stay.smoker],
            ADMISSION[stay.admission],
            if readmitted { "yes" } else { "no" },
        );
    }
    Cohort { csv, risks }
}

/// The AUC of the true risk in the population: no model can rank better. Estimated from 200,000 stays, each
/// counted as positive with its risk, to about ±0.001.
pub fn optimal_auc() -> f64 {
    let mut random = Replay::from_seed(0x000a_11ce);
    let mut risks: Vec<f64> = (0..200_000).map(|_| Stay::draw(&mut random).risk()).collect();
    risks.sort_unstable_by(f64::total_cmp);
    let (mut correct, mut negatives, mut positives) = (0.0, 0.0, 0.0);
    for risk in risks {
        correct += risk * (negatives + 0.5 * (1.0 - risk));
        negatives += 1.0 - risk;
        positives += risk;
    }
    correct / (positives * negatives)
}

fn uniform(random: &mut Replay) -> f64 {
    // 53 bits, never 0: the logarithm of a normal draw needs that.
    ((random.next_word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Box and Muller; fine for a simulation, never for private noise.
fn normal(random: &mut Replay) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (2.0 * PI * uniform(random)).cos()
}

/// 0, 1 or 2 with the first two probabilities given.
fn category(random: &mut Replay, probabilities: [f64; 2]) -> usize {
    let u = uniform(random);
    usize::from(u > probabilities[0]) + usize::from(u > probabilities[0] + probabilities[1])
}

fn between(value: f64, low: f64, high: f64) -> f64 {
    larger(low, smaller(value, high))
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
